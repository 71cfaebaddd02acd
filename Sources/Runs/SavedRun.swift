import FedSim
import Numerics

/// A run as it is, as the parts of a checkpoint: the simulation, and what its observers
/// remember.
enum SavedRun {
  /// The parts, each in pieces; nil: some value of the run cannot be saved.
  static func parts(
    _ simulation: borrowing Simulation, _ observers: [any SavedObserver]
  ) -> [[[UInt8]]]? {
    guard let run = try? simulation.archivePieces() else { return nil }
    var parts = [run]
    for observer in observers {
      guard let memory = try? observer.archive() else { return nil }
      parts.append([memory])
    }
    return parts
  }

  /// The run that the parts are, with the memories of its observers put back into these.
  ///
  /// Throws: `ArchiveFault` where they are of another run.
  static func restore(
    _ parts: [[UInt8]], _ inputs: SimulationInputs, _ observers: [any SavedObserver]
  ) throws(ArchiveFault) -> Simulation {
    guard parts.count == observers.count + 1 else { throw .noArchive }
    let simulation = try Simulation(inputs, archive: parts[0])
    for (observer, memory) in zip(observers, parts.dropFirst()) {
      try restore(observer, memory)
    }
    return simulation
  }

  private static func restore(
    _ observer: some SavedObserver, _ memory: [UInt8]
  ) throws(ArchiveFault) {
    try observer.restore(memory)
  }
}
