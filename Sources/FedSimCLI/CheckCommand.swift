import ArgumentParser
import Foundation
import Runs
import Scenarios

/// `fedsim check`.
struct CheckCommand: RegistryCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Hold scenarios to their claims and to what was recorded of them.",
    discussion: """
      Plays each scenario that has claims (`expect`) or a baseline beside it (NAME.baseline), and \
      says what is broken and where a run first differs from the recorded one. In folders, \
      scenarios without either are passed over, and other YAML is bad input. Exit code 1: \
      something is broken, 2: bad input, 3: a run failed.
      """)

  @Argument(help: "Scenario files, and folders with such files below.")
  var paths: [String]

  @Option(help: "How many runs are played at once; by default one a processor.")
  var jobs: Int?

  @Flag(
    help: """
      Write the baselines of the files named, and of those in folders that have one, and say what \
      moved.
      """)
  var record = false

  @Flag(help: "With --record: of scenarios in folders that have none, too.")
  var all = false

  @Flag(help: "With --record: store every event in words, however many there are.")
  var events = false

  @Option(help: ArgumentHelp("Write the report as JUnit's XML.", valueName: "path"))
  var junit: String?

  @Flag(help: "The report as JSON.")
  var json = false

  @Flag(name: .shortAndLong, help: "No progress on standard error.")
  var quiet = false

  func validate() throws {
    if paths.isEmpty { throw ValidationError("expected a scenario file or a folder") }
    try CountOption.check("jobs", jobs)
    if (all || events) && !record {
      throw ValidationError("\(all ? "--all" : "--events") goes with --record")
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
    Interruption.watch(saying: "the check is not over, and nothing is reported")
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
      let what = record ? "a baseline yet; --all records them" : "claims or a baseline"
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
          ? "a claim over several seeds is not tested here; `fedsim check` does"
          : "\(untested) claims over several seeds are not tested here; `fedsim check` does")
    }
    guard let claims = summary.claims else { return 0 }
    let broken = claims.filter { !$0.holds }
    for claim in broken { Output.error("broken: \(claim.text)") }
    Output.error(
      broken.isEmpty
        ? "claims: all \(claims.count) hold" : "claims: \(broken.count) of \(claims.count) broken")
    return broken.isEmpty ? 0 : 1
  }
}
