import ArgumentParser
import Foundation
import Runs
import Scenarios

/// `fedsim plan-ranks`.
struct PlanRanksCommand: RegistryCommand {
  static let configuration = CommandConfiguration(
    commandName: "plan-ranks",
    abstract: "Estimate how long a version takes on 1 to 64 ranks (docs/scale-out.md).",
    discussion: """
      Counts what a version of the scenario needs, measures trainings, sums and evaluations on \
      this machine, and computes the rest by a formula. Ranks are taken to be nodes with this \
      machine's processor and a network between any two of them.
      """)

  @OptionGroup var source: ScenarioArguments

  @Option(parsing: .unconditional, help: "Threads of a rank.")
  var threads = 1

  @Option(help: ArgumentHelp("Until a message arrives.", valueName: "time"))
  var latency = "50 us"

  @Option(help: ArgumentHelp("Of a node, in each direction.", valueName: "bandwidth"))
  var bandwidth = "10 Gbit/s"

  @Flag(help: "Print figures and rows as JSON.")
  var json = false

  func validate() throws {
    try CountOption.check("threads", threads)
    if RankPlan.latency(latency) == nil {
      throw ValidationError("--latency: found `\(latency)`, expected a time such as `50 us`")
    }
    if RankPlan.bandwidth(bandwidth) == nil {
      throw ValidationError(
        "--bandwidth: found `\(bandwidth)`, expected a bandwidth such as `10 Gbit/s`")
    }
  }

  func run(_ registry: Registry) -> Int32 {
    do throws(RunFailure) {
      var options = RunOptions()
      Environment.set(&options)
      let scenario = try source.scenario(registry)
      let plan = RankPlan(
        figures: try RankPlan.Figures(of: scenario, options), threads: threads,
        latency: RankPlan.latency(latency) ?? 0, bandwidth: RankPlan.bandwidth(bandwidth) ?? 1)
      Output.out(json ? plan.json : plan.text)
      return 0
    } catch {
      return Output.report(error, nothingWas: "planned")
    }
  }
}
