import ArgumentParser
import Foundation
import Runs

/// Plays a run into its result, before the eyes of a person or a program.
struct ConsoleRun {
  private let run: Run
  private let source: ScenarioArguments?
  private let progress: ProgressArguments
  private let isJSON: Bool

  /// A run of a scenario's file; nil: one that is resumed.
  init(_ run: Run, source: ScenarioArguments?, _ progress: ProgressArguments, isJSON: Bool) {
    self.run = run
    self.source = source
    self.progress = progress
    self.isJSON = isJSON
  }

  /// Plays it; the exit code.
  func exitCode() throws(RunFailure) -> Int32 {
    let gate = RunGate()
    Interruption.watch(gate)
    let isOfLines = progress.progress == .json
    let lines = ProgressLines { Output.progress($0 + "\n") }
    let shown = progress.quiet || isOfLines ? nil : Progress(isTerminal: isatty(2) == 1)
    let summary = try run.perform(
      observers: isOfLines ? [lines] : shown.map { [$0.ticker] } ?? [], gate: gate,
      tell: { Output.error($0) })
    shown?.clear()
    if !summary.standstill.isEmpty {
      let what =
        summary.version == 0 ? "no version was published" : "no further version is possible"
      Output.error("warning: \(what): " + summary.standstill.joined(separator: "; "))
    }
    if let notice = summary.divergence { Output.error("warning: \(notice)") }
    for notice in summary.trainerWarnings { Output.error("warning: \(notice)") }
    if let notice = summary.missedEvents { Output.error("warning: \(notice)") }
    if isJSON {
      Output.out(summary.json)
    } else {
      Output.out(SummaryText(summary, command: CommandLine.arguments[0], source: source).text)
    }
    return max(summary.audit.map(report) ?? 0, ClaimText.report(summary))
  }

  /// What an audit found; the exit code.
  private func report(_ audit: RunSummary.Audit) -> Int32 {
    for finding in audit.broken { Output.error("broken: \(finding)") }
    let looks = "\(audit.looks) checks of devices, \(audit.recounts) recounts"
    Output.error("audit: \(looks), \(audit.broken.isEmpty ? "nothing" : "something") broken")
    return audit.broken.isEmpty ? 0 : 1
  }
}

/// What is said on standard error during a run.
struct ProgressArguments: ParsableArguments {
  /// For whom the progress is.
  enum Form: String, ExpressibleByArgument, CaseIterable { case text, json }

  @Option(
    help: ArgumentHelp(
      "json: a line of JSON per version, and one per second, on standard error, for programs.",
      valueName: "form"))
  var progress: Form = .text

  @Flag(name: .shortAndLong, help: "No progress on standard error.")
  var quiet = false

  func validate() throws {
    if quiet, progress == .json {
      throw ValidationError("found --quiet with --progress json; expected one of them")
    }
  }
}

/// How a run is kept while it lives.
struct KeepingArguments: ParsableArguments {
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "How often to write a checkpoint: 30 s, 5 rounds, or 0 for never. No result depends on it.",
      valueName: "interval"))
  var checkpointEvery: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "How often to write the partial result under the result's name, such as 30 s.",
      valueName: "time"))
  var publishEvery: String?

  /// Whether any of it was said.
  var isGiven: Bool { checkpointEvery != nil || publishEvery != nil }

  func validate() throws {
    if let checkpointEvery, CheckpointPace(checkpointEvery) == nil {
      throw ValidationError(
        "--checkpoint-every: found `\(checkpointEvery)`, expected a time such as `30 s`, a number"
          + " of rounds such as `5 rounds`, or `0` for never")
    }
    if let publishEvery, WallTime(publishEvery) == nil {
      throw ValidationError(
        "--publish-every: found `\(publishEvery)`, expected a time such as `30 s`")
    }
  }

  /// Takes over what was said.
  func set(_ safety: inout RunSafety) {
    if let pace = checkpointEvery.flatMap({ CheckpointPace($0) }) { safety.checkpoints = pace }
    if let time = publishEvery.flatMap({ WallTime($0) }) { safety.publishEvery = time }
  }
}
