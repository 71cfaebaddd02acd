import Foundation
import Results

/// A file that a command makes besides results: it replaces an earlier one of the same kind, and
/// never a scenario, a result or anything else.
package enum StandingFile {
  /// How many bytes of a file say of what kind it is.
  private static let headBytes = 1024

  /// The place for such a file; `isOurs` says by the first characters of a file whether it is of
  /// the same kind.
  ///
  /// Nothing is written, and nothing is read of a pipe or a device, which may never end.
  /// Throws: `RunFailure.input` where a file of another kind is there, `.output` where none can be
  /// placed.
  package static func place(
    for path: String, replacing isOurs: (String) -> Bool
  ) throws(RunFailure) -> PlacedFile {
    let file: PlacedFile
    do throws(ResultFault) { file = try PlacedFile(path) } catch { throw .output(error) }
    if FileManager.default.fileExists(atPath: path) {
      guard let head = head(path), head.isEmpty || isOurs(String(decoding: head, as: UTF8.self))
      else {
        throw StoredRun.refusal(path, "there is a file of another kind, which is not replaced")
      }
    }
    return file
  }

  /// Whether two paths lead to one file, whether it is there yet or not.
  static func isSame(_ one: String, _ other: String) -> Bool {
    func file(_ path: String) -> String {
      URL(fileURLWithPath: PlacePath.target(of: path)).resolvingSymlinksInPath()
        .standardizedFileURL.path
    }
    return file(one) == file(other)
  }

  /// How a file begins; nil: there is none that can be read.
  static func head(_ path: String) -> Data? {
    guard let file = FileHandle(forReadingAtPath: path) else { return nil }
    defer { try? file.close() }
    // At its end nothing is read, not even no bytes.
    do { return try file.read(upToCount: headBytes) ?? Data() } catch { return nil }
  }
}
