import Foundation

/// The reader that FUZZ_READER names, and a file for it in memory.
final class Desk: Sendable {
  static let shared = Desk()

  let reader: FuzzedReader
  private let path: String
  private let folder: String

  private init() {
    let name = ProcessInfo.processInfo.environment["FUZZ_READER"] ?? ""
    guard let reader = fuzzedReaders[name] else {
      fatalError("FUZZ_READER: found `\(name)`, expected one of \(fuzzedReaders.keys.sorted())")
    }
    self.reader = reader
    let base = FileManager.default.fileExists(atPath: "/dev/shm") ? "/dev/shm" : "/tmp"
    folder = "\(base)/fedsim-fuzz-\(getpid())"
    path = "\(folder)/\(reader.file)"
    do {
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      try reader.prepare(folder)
    } catch { fatalError("\(folder): \(error)") }
    atexit { try? FileManager.default.removeItem(atPath: Desk.shared.folder) }
  }

  /// Hands an input to the reader. What it refuses is no finding; a trap in it is, and a file that
  /// it takes and the second opinion does not.
  func take(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    guard let file = fopen(path, "wb") else { fatalError("\(path) cannot be written") }
    if let bytes { fwrite(bytes, 1, count, file) }
    fclose(file)
    let input = Array(UnsafeBufferPointer(start: bytes, count: count))
    do { try reader.read(path, input) } catch is Misread { abort() } catch {}
    return 0
  }
}

/// A reader took what it should have refused, or gave other values than the file has.
struct Misread: Error {}

/// A rule about a file that a reader took; libFuzzer keeps an input that breaks one.
func require(_ holds: Bool, _ rule: String) throws {
  guard !holds else { return }
  FileHandle.standardError.write(Data("false accept: \(rule)\n".utf8))
  throw Misread()
}
