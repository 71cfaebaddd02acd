import ArgumentParser
import Foundation
import Runs
import Scenarios

/// `fedsim recover`.
struct RecoverCommand: RegistryCommand {
  static let configuration = CommandConfiguration(
    commandName: "recover",
    abstract: "Make a result from the files of an interrupted run, without continuing the run.",
    discussion: """
      The result has all rounds and versions; everything else is as of the last checkpoint, and \
      absent without a checkpoint. The result is marked incomplete, and the run can still be \
      resumed (`fedsim resume`).
      """)

  @Argument(help: "The result that the run was to write.", completion: .file(extensions: ["h5"]))
  var result: String

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp("The file to write; by default the result itself.", valueName: "path"),
    completion: .file())
  var output: String?

  @Flag(help: "Print what was recovered, as JSON.")
  var json = false

  func run(_ registry: Registry) -> Int32 {
    do throws(RunFailure) {
      var options = RunOptions()
      options.threads = ProcessInfo.processInfo.activeProcessorCount
      Environment.set(&options)
      let recovery = try Recovery.perform(
        result, output: output, options: options, registry: registry, tell: { Output.error($0) })
      Output.out(json ? JSONText.of(recovery) : text(recovery))
      return 0
    } catch {
      return Output.report(error)
    }
  }

  private func text(_ recovery: Recovery) -> String {
    let none =
      recovery.isCheckpointLeftOut ? "the checkpoint could not be used" : "there is no checkpoint"
    let rest = recovery.asOfSeconds.map { "everything else as of \(Format.time($0))" }
    return """
      wrote \(recovery.result): \(Format.count(recovery.versions, "version")), \
      \(Format.count(recovery.rounds, "round")), until \(Format.time(recovery.reachedSeconds)); \
      \(rest ?? "nothing else, because \(none)")
      incomplete; resume with: fedsim resume \(result)
      """
  }
}
