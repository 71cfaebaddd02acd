import ArgumentParser
import Runs
import Scenarios
import Sweeps

/// `fedsim validate`.
struct ValidateCommand: RegistryCommand {
  static let configuration = CommandConfiguration(
    commandName: "validate", abstract: "Check a scenario and the files that it names.")

  @OptionGroup var source: ScenarioArguments

  @Flag(help: "Print the scenario with every value explicit.")
  var resolved = false

  func run(_ registry: Registry) -> Int32 {
    do throws(RunFailure) {
      let scenario = try source.scenario(registry)
      var options = RunOptions()
      Environment.set(&options)
      try Run.check(scenario, options)
      if scenario.settings.sweep != nil { try SweepPreparation.check(scenario, options) }
      if scenario.settings.stress != nil { _ = try Stress(scenario) }
      for warning in scenario.warnings { Output.error("warning: \(warning)") }
      Output.out(resolved ? scenario.resolvedTextWithOrigins : "\(source.file): valid")
      return 0
    } catch {
      return Output.report(error)
    }
  }
}
