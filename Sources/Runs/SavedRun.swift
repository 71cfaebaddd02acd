import FedSim
import Results

/// A run as it stands, as the parts of a checkpoint: the simulation, and what was recorded of it.
enum SavedRun {
  /// The parts.
  static func parts(_ simulation: borrowing Simulation, _ recorder: RunRecorder) -> [[UInt8]]? {
    nil
  }

  /// The run that the parts are; nil: they are of another one.
  static func restore(
    _ parts: [[UInt8]], _ inputs: SimulationInputs
  ) -> (simulation: Simulation, recorder: RunRecorder)? {
    nil
  }
}
