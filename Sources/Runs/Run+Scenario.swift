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

  /// Reads a scenario from standard input. It is called `stdin`, and its paths start where the
  /// program runs.
  ///
  /// Throws: `RunFailure.input` with every fault.
  public static func scenarioOfStandardInput(
    overrides: [String] = [], registry: Registry = .standard
  ) throws(RunFailure) -> Scenario {
    let name = "stdin"
    do throws(Faults) {
      switch ScenarioFiles.disk.contents("/dev/stdin") {
      case .success(let bytes):
        return try Scenario(
          text: String(decoding: bytes, as: UTF8.self), file: name, overrides: overrides,
          registry: registry)
      case .failure(let failure):
        throw Faults([Fault(at: Place(file: name), .file("cannot be read: \(failure.reason)"))])
      }
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
