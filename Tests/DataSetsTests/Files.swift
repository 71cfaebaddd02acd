import DataSets
import Foundation
import Testing

/// The fixtures of this target, made by Tests/Fixtures-scripts/make_data_files.py.
enum Fixture {
  static func path(_ name: String) -> String {
    URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("Fixtures/\(name)").path
  }

  static func bytes(_ name: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: URL(fileURLWithPath: path(name))))
  }
}

/// A folder that is there for one test.
final class TemporaryFolder {
  let path: String

  init() throws {
    path = NSTemporaryDirectory() + "/fedsim-tests-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func write(_ bytes: [UInt8], as name: String) throws -> String {
    let file = path + "/" + name
    try Data(bytes).write(to: URL(fileURLWithPath: file))
    return file
  }

  func write(_ text: String, as name: String) throws -> String {
    try write(Array(text.utf8), as: name)
  }
}

/// One way to spoil something, and the fault that has to come of it.
struct Damage: CustomTestStringConvertible, Sendable {
  var testDescription: String
  var kind: DataFault.Kind
  var place: DataFault.Place
  var base: String
  var spoil: @Sendable (inout [UInt8]) -> Void

  init(
    _ description: String, _ base: String, _ kind: DataFault.Kind, _ place: DataFault.Place,
    _ spoil: @escaping @Sendable (inout [UInt8]) -> Void = { _ in }
  ) {
    testDescription = description
    self.kind = kind
    self.place = place
    self.base = base
    self.spoil = spoil
  }

  func bytes() throws -> [UInt8] {
    var bytes = try Fixture.bytes(base)
    spoil(&bytes)
    return bytes
  }
}

/// Runs something that has to fail and gives back its fault.
func fault(_ body: () throws -> Void, _ at: SourceLocation = #_sourceLocation) -> DataFault? {
  do {
    try body()
    Issue.record("nothing was thrown", sourceLocation: at)
  } catch let fault as DataFault {
    return fault
  } catch {
    Issue.record(error, sourceLocation: at)
  }
  return nil
}
