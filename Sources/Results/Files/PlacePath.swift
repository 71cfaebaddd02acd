import Foundation

/// Where a file or folder is to be, as the operating system sees it.
package struct PlacePath: Sendable {
  /// The file or folder itself, where the path is a link to it.
  package let target: String
  /// The folder that it is in.
  let folder: String

  /// What may be at a path.
  enum Kind { case file, folder }

  /// Looks at a path.
  ///
  /// Throws: `ResultFault.notAFile` where something else is there, `.missingFolder`.
  init(_ path: String, _ kind: Kind) throws(ResultFault) {
    var status = stat()
    if stat(path, &status) == 0 {
      let found = status.st_mode & S_IFMT
      switch kind {
      case .file where found != S_IFREG:
        throw .notAFile(path: path, found: found == S_IFDIR ? "a folder" : "a device or socket")
      case .folder where found != S_IFDIR:
        throw .notAFile(path: path, found: "a file in place of a folder")
      default: break
      }
    }
    target = Self.target(of: path)
    let parts = target.split(separator: "/", omittingEmptySubsequences: false)
    let parent = parts.dropLast().joined(separator: "/")
    folder = parts.count == 1 ? "." : parent.isEmpty ? "/" : parent
    guard stat(folder, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
      throw .missingFolder(path: path, folder: folder)
    }
  }

  /// The file that a path leads to: a link stays a link, and what is behind it is replaced, whether
  /// it is there yet or not.
  package static func target(of path: String) -> String {
    var target = path
    // As many links, one behind the other, as Linux follows.
    for _ in 0..<40 {
      var status = stat()
      guard lstat(target, &status) == 0, status.st_mode & S_IFMT == S_IFLNK else { return target }
      if let real = realpath(target, nil) {
        defer { free(real) }
        return String(cString: real)
      }
      guard let next = try? FileManager.default.destinationOfSymbolicLink(atPath: target) else {
        return path
      }
      let folder = target.lastIndex(of: "/").map { String(target[...$0]) } ?? ""
      target = next.hasPrefix("/") ? next : folder + next
    }
    return path
  }
}
