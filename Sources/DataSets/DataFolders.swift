import Foundation

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
    for folder in isAbsolute ? [""] : paths {
      let stem = isAbsolute || folder.isEmpty ? name : folder + "/" + name
      for path in [stem, stem + ".gz"] where Self.isFile(path) { return path }
    }
    let places = paths.map { "`\($0)`" }.joined(separator: ", ")
    let searched = isAbsolute ? "" : paths.isEmpty ? " in any folder" : " in \(places)"
    throw DataFault(
      .missingFile, in: name, found: "not found\(searched) (also looked for `\(name).gz`)",
      expected: "the file, plain or as .gz", advice: advice)
  }

  private static func isFile(_ path: String) -> Bool {
    var isDirectory: ObjCBool = false
    return FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory)
      && !isDirectory.boolValue
  }
}
