import Foundation
import Results

/// Where an export goes: a file, or a folder of files.
struct ExportPlace {
  private enum Kind {
    case file(PlacedFile)
    case folder(PlacedFolder)
  }

  private let kind: Kind

  /// Checks the place before anything is read.
  ///
  /// A file that is there already needs `replaces`; so does a folder that an export made, and any
  /// other folder with something in it is refused. Throws: `RunFailure`.
  init(_ path: String, isFolder: Bool, replaces: Bool) throws(RunFailure) {
    do throws(ResultFault) {
      kind = isFolder ? .folder(try PlacedFolder(path)) : .file(try PlacedFile(path))
    } catch {
      throw .output(error)
    }
    switch kind {
    case .file:
      guard replaces || !FileManager.default.fileExists(atPath: path) else {
        throw StoredRun.refusal(path, "the file exists; --force replaces it")
      }
    case .folder(let folder):
      let names = folder.names
      guard !names.isEmpty else { return }
      if let foreign = Self.foreign(names, in: path) {
        throw StoredRun.refusal(
          path, "the folder contains `\(foreign)`, which is not from an export; give another folder"
        )
      }
      guard replaces else {
        throw StoredRun.refusal(path, "the export exists; --force replaces it")
      }
    }
  }

  /// Puts files there: one without a name, or those of the folder.
  ///
  /// Throws: `RunFailure.failed`; then everything is as it was before.
  func put(_ files: [(name: String, bytes: [UInt8])]) throws(RunFailure) {
    do throws(ResultFault) {
      switch kind {
      case .file(let file): try file.place(files[0].bytes)
      case .folder(let folder): try folder.place(files)
      }
    } catch {
      throw .failed("the export cannot be written: \(error)")
    }
  }

  /// A file that is written piece by piece, and appears as a whole.
  ///
  /// Throws: `RunFailure.failed`.
  func stream() throws(RunFailure) -> StreamedFile {
    guard case .file(let file) = kind else { preconditionFailure("a folder has several files") }
    do throws(ResultFault) {
      return try StreamedFile(file)
    } catch {
      throw .failed("the export cannot be written: \(error)")
    }
  }

  /// The first name in a folder that no export put there.
  private static func foreign(_ names: [String], in folder: String) -> String? {
    let path = "\(folder)/\(ExportTables.schemaName)"
    let text = FileManager.default.contents(atPath: path).map {
      String(decoding: $0, as: UTF8.self)
    }
    let lines = (text ?? "").split(separator: "\n")
    guard lines.first == ExportTables.schemaHeader[...] else { return names.first }
    let known = Set(lines.dropFirst().map { $0.prefix { $0 != "," } })
    return names.first { $0 != ExportTables.schemaName && !known.contains($0[...]) }
  }
}
