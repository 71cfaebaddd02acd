import Foundation

/// How scenario files are read; nothing else in this module touches a file.
public struct ScenarioFiles: Sendable {
  /// Why a file cannot be read, in words.
  public struct Failure: Error, Hashable, Sendable {
    /// The reason, such as `No such file or directory`.
    public var reason: String

    /// A reason.
    public init(_ reason: String) { self.reason = reason }
  }

  /// The bytes of a file, or why there are none.
  public let contents: @Sendable (String) -> Result<[UInt8], Failure>

  /// Files from anywhere, such as a dictionary in a test.
  public init(_ contents: @escaping @Sendable (_ path: String) -> Result<[UInt8], Failure>) {
    self.contents = contents
  }

  /// The files of the machine, up to a byte more than `YAMLReader.mostBytes`.
  public static let disk = ScenarioFiles { path in
    guard let file = fopen(path, "rb") else {
      return .failure(Failure(String(cString: strerror(errno))))
    }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while bytes.count <= YAMLReader.mostBytes {
      let count = fread(&buffer, 1, buffer.count, file)
      if count == 0 { break }
      bytes += buffer[..<count]
    }
    guard ferror(file) == 0 else { return .failure(Failure(String(cString: strerror(errno)))) }
    return .success(bytes)
  }
}

/// Paths as texts, without a look at any file.
enum FilePath {
  /// The folder of a file: everything up to the last `/`, empty for a bare name.
  static func folder(of path: String) -> String {
    path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
  }

  /// A path taken from a folder; an absolute one stays. `.` and `..` are resolved as text.
  static func joined(_ folder: String, _ path: String) -> String {
    path.hasPrefix("/") ? normal(path) : normal(folder + path)
  }

  /// A path without `.`, empty pieces, and `..` that follow a name.
  static func normal(_ path: String) -> String {
    var pieces: [Substring] = []
    for piece in path.split(separator: "/") where piece != "." {
      if piece == "..", let last = pieces.last, last != ".." {
        pieces.removeLast()
      } else if piece != ".." || !path.hasPrefix("/") {
        pieces.append(piece)
      }
    }
    let text = (path.hasPrefix("/") ? "/" : "") + pieces.joined(separator: "/")
    return text.isEmpty ? "." : text
  }
}
