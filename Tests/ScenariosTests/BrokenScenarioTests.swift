import Foundation
import Testing

import Scenarios
import Schema

/// Each file in `Fixtures/broken` begins with lines `# expect: line:column: path: message`.
///
/// Adding a file adds a case. The lines are the faults of the file, in order and without its name;
/// an `# override: path=value` line gives `--set path=value`.
@Suite("Broken scenarios")
struct BrokenScenarioTests {
  static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("Fixtures/broken").path

  static let names: [String] = {
    let all = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return all.filter { $0.hasSuffix(".yaml") }.sorted()
  }()

  private static func values(_ key: String, in lines: [Substring]) -> [String] {
    lines.filter { $0.hasPrefix("# \(key): ") }.map { String($0.dropFirst(key.count + 4)) }
  }

  @Test("there are at least 60 files")
  func thereAreFiles() {
    #expect(Self.names.count >= 60, "\(Self.folder)")
  }

  @Test("a broken file gives exactly the faults that it expects", arguments: names)
  func faults(name: String) throws {
    let path = Self.folder + "/" + name
    let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    let text = String(decoding: bytes, as: UTF8.self)
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let expected = Self.values("expect", in: lines)
    try #require(!expected.isEmpty, "no expectation in \(name)")
    var found: [String] = []
    do throws(Faults) {
      _ = try Scenario(contentsOf: path, overrides: Self.values("override", in: lines))
    } catch {
      // What lines with two blanks in front add is not repeated here.
      found = error.faults.map {
        String($0.description.prefix { $0 != "\n" }).replacingOccurrences(of: path + ":", with: "")
          .replacingOccurrences(of: Self.folder + "/", with: "")
      }
    }
    #expect(found == expected)
  }
}
