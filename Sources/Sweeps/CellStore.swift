import Foundation
import Results
import Runs

/// The results of cells, by their ids, shared by all sweeps that name the folder.
public struct CellStore: Sendable {
  /// The folder.
  public let folder: String

  /// The store in a folder.
  public init(_ folder: String) { self.folder = folder }

  /// Where the result of a cell is, or will be.
  public func path(_ id: String) -> String { "\(folder)/\(id).h5" }

  /// Whether something is there; whether it is whole, `row` finds out.
  public func mayHave(_ id: String) -> Bool { FileManager.default.fileExists(atPath: path(id)) }

  /// The row of a cell that is finished; nil where there is no result, or none that is whole and of
  /// this cell.
  ///
  /// Whole means that the digest in the file is that of its content.
  public func row(of cell: SweepManifest.Cell, targets: [Double]) -> CellRow? {
    guard mayHave(cell.id), let document = try? ResultFile.read(path(cell.id)),
      document.text(ResultDocument.digestAttribute) == document.contentDigest
    else { return nil }
    return row(of: cell, document, targets: targets)
  }

  /// The row of what a result holds; nil where it is no result of this cell.
  func row(
    of cell: SweepManifest.Cell, _ document: ResultDocument, targets: [Double]
  ) -> CellRow? {
    guard document.text("engineVersion") == FedSimVersion.current,
      document.text("scenarioDigest") == cell.scenario
    else { return nil }
    // A result of a run that is not over says so.
    if case .integer(0)? = document.root[attribute: "isComplete"] { return nil }
    return CellRow(document, targets: targets)
  }

  /// Removes the result of a cell.
  func remove(_ id: String) {
    unlink(path(id))
    unlink(path(id) + ".provenance.json")
  }

  /// Removes what a process that is no more has left of a cell.
  func removePartials(of id: String, process: Int32) {
    for ending in [".h5", ".h5.provenance.json"] {
      for n in 0..<4 { unlink("\(folder)/\(id)\(ending).partial-\(process)-\(n)") }
    }
  }
}
