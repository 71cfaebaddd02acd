import Foundation
import Schema

/// The folders in which data files are looked for, first to last.
///
/// Readers know nothing of the environment: the code that builds this value decides what is
/// searched and what a user reads when nothing is found.
public struct DataFolders: Sendable, Equatable {
  /// The folders, in the order of the search.
  public var paths: [String]
  /// Whether a data source may add the folder into which its package installs it.
  public var includesInstalled: Bool
  /// What to do when a file is in none of them: a package to install, a variable to set.
  public var advice: String?

  /// Folders to search, and what to say in vain.
  public init(_ paths: [String], includesInstalled: Bool = true, advice: String? = nil) {
    self.paths = paths
    self.includesInstalled = includesInstalled
    self.advice = advice
  }

  /// The path of the first file called `name` or `name.gz`; an absolute name is taken as it is.
  ///
  /// Throws: `missingFile`, with the list of folders that were searched.
  public func locate(_ name: String) throws(DataFault) -> String {
    let isAbsolute = name.hasPrefix("/")
    let stems = (isAbsolute ? [""] : paths).map { $0.isEmpty ? name : $0 + "/" + name }
    for stem in stems {
      for path in [stem, stem + ".gz"] where Self.isFile(path) { return path }
    }
    // The nearest may be another file of the same set, so other advice is not left out.
    let nearest = stems.lazy.compactMap(Self.nearest).first.map { "the nearest there is `\($0)`" }
    let words = [nearest, advice].compactMap { $0 }.joined(separator: "; ")
    let places = paths.map { "`\($0)`" }.joined(separator: ", ")
    let searched = isAbsolute ? "" : paths.isEmpty ? " in any folder" : " in \(places)"
    throw DataFault(
      .missingFile, in: name, found: "not found\(searched) (also looked for `\(name).gz`)",
      expected: "the file, plain or as .gz", advice: words.isEmpty ? nil : words)
  }

  /// The file whose name is nearest, in the folder in which a file is missing; nil: none is near.
  ///
  /// In a folder of more than a thousand files nobody looks.
  private static func nearest(to path: String) -> String? {
    let (folder, name) = (
      (path as NSString).deletingLastPathComponent, (path as NSString).lastPathComponent
    )
    let names = try? FileManager.default.contentsOfDirectory(atPath: folder.isEmpty ? "." : folder)
    guard let names, names.count <= 1_000,
      let nearest = Spelling.nearest(to: name, among: names.sorted())
    else { return nil }
    let found = folder.isEmpty ? nearest : folder + "/" + nearest
    return isFile(found) ? found : nil
  }

  private static func isFile(_ path: String) -> Bool {
    var isDirectory: ObjCBool = false
    return FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory)
      && !isDirectory.boolValue
  }
}
