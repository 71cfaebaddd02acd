import Scenarios
import Schema

extension Run {
  /// Reads a scenario file.
  ///
  /// Throws: `RunFailure.input` with every fault.
  public static func scenario(
    _ path: String, overrides: [String] = [], registry: Registry = .standard
  ) throws(RunFailure) -> Scenario {
    do throws(Faults) {
      return try Scenario(contentsOf: path, overrides: overrides, registry: registry)
    } catch {
      throw .input(error.faults)
    }
  }

  /// Reads everything that a scenario names, and gives it up again: all that a run checks first.
  ///
  /// Throws: `RunFailure.input` with every fault.
  public static func check(_ scenario: Scenario, _ options: RunOptions) throws(RunFailure) {
    do throws(Faults) {
      _ = try scenario.inputs(options)
      _ = try SeedClaim.all(of: scenario)
    } catch {
      throw .input(error.faults)
    }
  }
}
