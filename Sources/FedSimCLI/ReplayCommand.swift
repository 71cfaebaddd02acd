import ArgumentParser
import Foundation
import Runs
import Scenarios

/// `fedsim replay`.
struct ReplayCommand: RegistryCommand {
  static let configuration = CommandConfiguration(
    commandName: "replay",
    abstract: "Play the run of a result again, and say whether the same file comes out.",
    discussion: """
      In memory: no file is written. Exit code 0 if the file holds what comes out, 1 if not; then \
      the first event (where events are stored), hour, round, version and cells that differ are \
      told.
      """)

  @Argument(help: "The result file of a run.")
  var result: String

  @Option(
    help: ArgumentHelp(
      "Where paths in the scenario start; by default where the scenario stood when it was run.",
      valueName: "path"))
  var folder: String?

  @Option(help: "Threads that compute; by default one a processor. No answer depends on it.")
  var threads: Int?

  @Flag(name: .shortAndLong, help: "No progress on standard error.")
  var quiet = false

  @Flag(help: "The answer as JSON.")
  var json = false

  func validate() throws { try CountOption.check("threads", threads) }

  func run(_ registry: Registry) -> Int32 {
    do throws(RunFailure) {
      let progress = quiet || isatty(2) == 0 ? nil : Progress(isTerminal: true)
      let replay = try Replay(
        result, folder: folder, observers: progress.map { [$0.ticker] } ?? [],
        options: Self.options(threads), registry: registry)
      progress?.clear()
      Output.out(json ? JSONText.of(replay) : replay.text)
      return replay.isSame ? 0 : 1
    } catch {
      return Output.report(error)
    }
  }

  /// How a run is played again.
  static func options(_ threads: Int?) -> RunOptions {
    var options = RunOptions()
    options.threads = threads ?? ProcessInfo.processInfo.activeProcessorCount
    Environment.set(&options)
    return options
  }
}
