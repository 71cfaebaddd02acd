import Foundation
import Runs

/// The cells of one task, found by the numbers that its script is given.
///
/// A task may begin before this machine sees what another one wrote, so it looks for a while.
public enum SweepPart {
  /// The cells of a task of a submission, `count` each.
  ///
  /// Throws: `RunFailure.input` for a folder without the submission, a task that it does not have,
  /// and a program that is not the one that the sweep was begun with.
  public static func cells(
    of folder: SweepFolder, submission: Int, task: Int, each count: Int, fileDelay: Double
  ) throws(RunFailure) -> [SweepManifest.Cell] {
    let manifest = try manifest(of: folder, fileDelay: fileDelay)
    let list = try list(of: folder, submission: submission, fileDelay: fileDelay)
    let ids = SlurmPlan.cells(list, ofTask: task, each: count)
    guard !ids.isEmpty else {
      throw SweepFolder.refusal(
        folder.submissionListPath(submission),
        "\(list.count) cells, \(count) per task: there is no task \(task)")
    }
    let cells = Dictionary(
      manifest.cells.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    var found: [SweepManifest.Cell] = []
    for id in ids {
      guard let cell = cells[id] else {
        throw SweepFolder.refusal(folder.manifestPath, "the sweep has no cell \(id)")
      }
      found.append(cell)
    }
    return found
  }

  /// The manifest, once it shows.
  static func manifest(
    of folder: SweepFolder, fileDelay: Double
  ) throws(RunFailure) -> SweepManifest {
    _ = FileWait(fileDelay).wait(listing: folder.path) { folder.exists }
    return try folder.manifestOfThisBuild()
  }

  /// The cells of a submission, once the list shows.
  static func list(
    of folder: SweepFolder, submission: Int, fileDelay: Double
  ) throws(RunFailure) -> [String] {
    let path = folder.submissionListPath(submission)
    var text: Data?
    let isThere = FileWait(fileDelay).wait(listing: folder.submissionPath(submission)) {
      text = FileManager.default.contents(atPath: path)
      return text != nil
    }
    guard isThere, let text else {
      throw SweepFolder.refusal(path, "the list of cells cannot be read")
    }
    return String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init)
  }
}
