import ArgumentParser
import Foundation
import Runs
import Scenarios

/// `fedsim explain`.
struct ExplainCommand: RegistryCommand {
  static let configuration = CommandConfiguration(
    commandName: "explain",
    abstract: "Explain why a device contributed to a round or a run, or why it did not.",
    discussion: """
      Replays the run of a result and lists what happened to the device, with virtual times. The \
      last line names the cause.
      """)

  @Argument(help: "The result file of a run.", completion: .file(extensions: ["h5"]))
  var result: String

  @Option(help: ArgumentHelp("The device, such as phones/17.", valueName: "group/number"))
  var device: String

  @Option(parsing: .unconditional, help: "The round, numbered from 1; by default the whole run.")
  var round: Int?

  @Option(
    help: ArgumentHelp(
      "Base folder of paths in the scenario; by default the scenario's folder at the time of the "
        + "run.",
      valueName: "path"), completion: .file())
  var folder: String?

  @Flag(help: "Print all events, without a limit.")
  var all = false

  @Flag(help: "Print the explanation as JSON.")
  var json = false

  func run(_ registry: Registry) -> Int32 {
    do throws(RunFailure) {
      var options = RunOptions()
      options.threads = ProcessInfo.processInfo.activeProcessorCount
      Environment.set(&options)
      let explanation = try Explanation(
        result: result, device: device, round: round, folder: folder,
        mostSentences: all ? .max : 60, options: options, registry: registry)
      for warning in explanation.warnings { Output.error("warning: \(warning)") }
      Output.out(json ? explanation.json : explanation.text)
      return 0
    } catch {
      return Output.report(error)
    }
  }
}

extension Explanation {
  /// The explanation as JSON.
  var json: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(self) else {
      preconditionFailure("an explanation holds words only")
    }
    return String(decoding: data, as: UTF8.self)
  }
}
