import ArgumentParser
import Foundation
import Runs
import Scenarios

/// `fedsim check`.
struct CheckCommand: RegistryCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Check scenarios against their assertions and recordings.",
    discussion: """
      Plays each scenario that has assertions (`expect`) or a recording (the golden file \
      NAME.baseline next to it). Reports broken assertions, and the first difference from the \
      recorded run. In folders, scenarios with neither are skipped, and other YAML is bad input. \
      Exit code 1: something is broken, 2: bad input, 3: a run failed.
      """)

  @Argument(
    help: "Scenario files, and folders with such files below.",
    completion: .file(extensions: ["yaml", "yml"]))
  var paths: [String]

  @Option(parsing: .unconditional, help: "Number of runs at once; by default one per processor.")
  var jobs: Int?

  @Flag(
    help: """
      Write the recordings of the named files, and of files in folders that have one, and report \
      what changed.
      """)
  var record = false

  @Flag(help: "With --record: also record scenarios in folders that have no recording.")
  var all = false

  @Flag(help: "With --record: store every event in words, regardless of their number.")
  var events = false

  @Option(
    help: ArgumentHelp("Write the report as JUnit's XML.", valueName: "path"), completion: .file())
  var junit: String?

  @Flag(help: "Print the report as JSON.")
  var json = false

  @Flag(name: .shortAndLong, help: "No progress on standard error.")
  var quiet = false

  func validate() throws {
    if paths.isEmpty { throw ValidationError("expected a scenario file or a folder") }
    try CountOption.check("jobs", jobs)
    if (all || events) && !record {
      throw ValidationError("\(all ? "--all" : "--events") needs --record")
    }
  }

  func run(_ registry: Registry) -> Int32 {
    if let problem = junit.flatMap(CheckReport.problem) {
      Output.error(problem)
      return 2
    }
    var check = Check(paths, registry: registry)
    check.jobs = jobs ?? ProcessInfo.processInfo.activeProcessorCount
    (check.records, check.recordsAll, check.keepsEvents) = (record, all, events)
    Environment.set(&check.options)
    let shows = !quiet && isatty(2) == 1
    Interruption.watch(saying: "the check is not finished, and nothing is reported")
    let report = check.perform { done, of in
      if shows { Output.progress("\r\(done) of \(of) runs") }
    }
    if shows { Output.progress("\r\u{1B}[K") }
    if json {
      Output.out(report.json)
    } else {
      for scenario in report.scenarios { Output.out(scenario.text) }
      Output.out(report.summary)
    }
    guard !report.scenarios.isEmpty else {
      let what = record ? "a recording yet; --all records them" : "assertions or a recording"
      Output.error("there is nothing to check: no scenario here has \(what)")
      return 2
    }
    if let junit, let problem = report.writeJUnit(to: junit) {
      Output.error(problem)
      return max(2, report.exitCode)
    }
    return report.exitCode
  }
}

/// What `fedsim run` says of a scenario's claims.
enum ClaimText {
  /// The broken ones on standard error; the exit code.
  static func report(_ summary: RunSummary) -> Int32 {
    if let untested = summary.untestedClaims {
      Output.error(
        untested == 1
          ? "one assertion over several seeds is not tested here; `fedsim check` does"
          : "\(untested) assertions over several seeds are not tested here; `fedsim check` does")
    }
    guard let claims = summary.claims else { return 0 }
    let broken = claims.filter { !$0.holds }
    for claim in broken { Output.error("broken: \(claim.text)") }
    Output.error(
      broken.isEmpty
        ? "assertions: all \(claims.count) hold"
        : "assertions: \(broken.count) of \(claims.count) broken")
    return broken.isEmpty ? 0 : 1
  }
}
