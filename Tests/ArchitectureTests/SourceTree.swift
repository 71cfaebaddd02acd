import Foundation

/// The repository that these tests were compiled from.
enum SourceTree {
  static let root = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// Every source, script and build file, and the pages about them, in the order of their paths;
  /// fixtures are data, and what protoc generates is nobody's.
  static let sources: [Source] = {
    let paths =
      ["Package.swift", "Makefile", "README.md", "CONTRIBUTING.md", "DESIGN.md", "CHANGELOG.md"]
      + ["Sources", "Tests", "Examples", "Scripts", ".ci", "docs"].flatMap(files)
    return paths.sorted().compactMap { path in
      let text = try? String(contentsOf: root.appending(path: path), encoding: .utf8)
      return text.map { Source(path: path, text: $0) }
    }
  }()

  private static func files(in folder: String) -> [String] {
    let top = root.appending(path: folder).path
    let names = FileManager.default.enumerator(atPath: top)?.compactMap { $0 as? String } ?? []
    return names.map { "\(folder)/\($0)" }.filter { path in
      let parts = path.split(separator: "/")
      return !parts.contains("Fixtures") && !parts.contains("__pycache__")
        && !parts.contains(".build") && !path.hasSuffix(".pb.swift")
        && (["Scripts", ".ci"].contains(folder)
          || [".swift", ".c", ".h"].contains { path.hasSuffix($0) }
          || ["Sources", "docs"].contains(folder) && path.hasSuffix(".md"))
    }
  }
}
