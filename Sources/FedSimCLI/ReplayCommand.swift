import ArgumentParser
import Foundation
import Runs
import Scenarios

/// `fedsim replay`.
struct ReplayCommand: RegistryCommand {
  static let configuration = CommandConfiguration(
    commandName: "replay",
    abstract: "Check that a run is reproducible: play the run of a result or bundle again.",
    discussion: """
      Works in memory and leaves no file. Exit code 0 if the replay gives the same content, 1 if \
      not; then the output has the first event (if events are stored), hour, round, version and \
      cells that differ. For a bundle (`fedsim bundle`) the data files that its run read must be \
      there with the same digests; exit code 2 if one is missing or another, or if the bundle is \
      damaged.
      """)

  @Argument(
    help: "The result file of a run, or a bundle.", completion: .file(extensions: ["h5", "zip"]))
  var result: String

  @Option(
    help: ArgumentHelp(
      "Base folder of paths in the scenario; by default the scenario's folder at the time of the "
        + "run; for a bundle, the bundle's folder.",
      valueName: "path"), completion: .file())
  var folder: String?

  @Option(
    parsing: .unconditional,
    help: "Computing threads; by default one per processor. No answer depends on it.")
  var threads: Int?

  @Flag(name: .shortAndLong, help: "No progress on standard error.")
  var quiet = false

  @Flag(help: "Print the answer as JSON.")
  var json = false

  func validate() throws { try CountOption.check("threads", threads) }

  func run(_ registry: Registry) -> Int32 {
    do throws(RunFailure) {
      let progress = quiet || isatty(2) == 0 ? nil : Progress(isTerminal: true)
      let observers = progress.map { [$0.ticker] } ?? []
      let options = Self.options(threads)
      let (isSame, text): (Bool, String)
      if ResultBundle.isBundle(result) {
        let replay = try BundleReplay(
          result, folder: folder, observers: observers, options: options, registry: registry)
        (isSame, text) = (replay.isSame, json ? JSONText.of(replay) : replay.text)
      } else {
        let replay = try Replay(
          result, folder: folder, observers: observers, options: options, registry: registry)
        (isSame, text) = (replay.isSame, json ? JSONText.of(replay) : replay.text)
      }
      progress?.clear()
      Output.out(text)
      return isSame ? 0 : 1
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
