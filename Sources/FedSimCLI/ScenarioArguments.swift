import ArgumentParser
import Runs
import Scenarios

/// A scenario file and what is laid over it.
struct ScenarioArguments: ParsableArguments {
  @Argument(
    help: "The scenario file; -: standard input, whose paths start in this folder.",
    completion: .file(extensions: ["yaml", "yml"]))
  var file: String

  // A minus is part of the value: what is wrong with it is then said.
  @Option(
    parsing: .unconditional, help: "The scenario's seed, same as `--set seed=N`.",
    transform: CountOption.key)
  var seed: UInt64?

  @Option(
    help: ArgumentHelp(
      "Override a value of the file, such as server.trigger.threshold=5; a mapping is laid over the"
        + " file's, a list replaces it, null brings back the default; repeatable.",
      valueName: "path=value"))
  var set: [String] = []

  /// Whether the scenario is what comes on standard input.
  var isStandardInput: Bool { file == "-" }

  func scenario(_ registry: Registry) throws(RunFailure) -> Scenario {
    let overrides = set + (seed.map { ["seed=\($0)"] } ?? [])
    if isStandardInput {
      return try Run.scenarioOfStandardInput(overrides: overrides, registry: registry)
    }
    return try Run.scenario(file, overrides: overrides, registry: registry)
  }
}
