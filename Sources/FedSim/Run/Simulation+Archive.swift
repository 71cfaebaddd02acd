import Learning
import Numerics

extension Simulation {
  /// The bytes of the run as it is between two turns, to resume from later (`between` of
  /// `run(observers:every:between:)` is the place).
  ///
  /// Trainings are saved as they are, computed or described with all that they start from; none
  /// is computed for it. Series of the world, settings and data are no part of it.
  /// Complexity: O(devices + events to come + what lives of updates and participations).
  public func archive() throws -> [UInt8] { Array(joining: try archivePieces()) }

  /// The same bytes in pieces, to be written one after the other: those of a large fleet are not
  /// copied.
  package func archivePieces() throws -> [[UInt8]] {
    precondition(!cx.ahead.isAhead, "a run is saved between two turns")
    return try Archive.pieces(
      of: SavedRun(self), marks: cx.inputs.archiveMarks, known: cx.inputs.archivedObjects,
      contexts: [SavedRun.trainings(of: cx)])
  }

  /// A run that continues where it was saved, from the same inputs; what cannot change a result
  /// (threads, kernels, the mode of computing) may be other than it was.
  ///
  /// Throws: `ArchiveFault` where the bytes are damaged, or of a run from other inputs.
  public init(_ inputs: SimulationInputs, archive bytes: [UInt8]) throws(ArchiveFault) {
    self.init(bare: inputs)
    let catalog = SavedRun.trainings(of: cx)
    let saved = try Archive.value(
      SavedRun.self, from: bytes, marks: inputs.archiveMarks, known: inputs.archivedObjects,
      types: [ParameterBuffer.self, DeferredTraining.self, DeferredUpdate.self],
      contexts: [catalog, PartCatalog(cx.inputs.server.parts)])
    try saved.continueIn(&self)
    cx.computations.take(described: catalog.trainings)
  }
}
