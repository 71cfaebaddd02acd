import ArgumentParser
import Foundation
import Runs
import Scenarios

/// `fedsim resume`.
struct ResumeCommand: RegistryCommand {
  static let configuration = CommandConfiguration(
    commandName: "resume",
    abstract: "Go on with a run that was interrupted, to the same result.",
    discussion: """
      Takes up the last checkpoint in the folder beside the result (RESULT.h5.run) and ends in the \
      bytes of a run that nobody interrupted. It may be interrupted, and gone on with, again.
      """)

  @Argument(help: "The result that the run was to write.")
  var result: String

  @Option(help: "Threads that compute; by default one a processor. No result depends on it.")
  var threads: Int?

  @OptionGroup var keeping: KeepingArguments

  @Flag(name: .shortAndLong, help: "No progress on standard error.")
  var quiet = false

  @Flag(help: "The summary as JSON.")
  var json = false

  func validate() throws { try CountOption.check("threads", threads) }

  func run(_ registry: Registry) -> Int32 {
    do throws(RunFailure) {
      var options = RunOptions()
      options.threads = threads ?? ProcessInfo.processInfo.activeProcessorCount
      Environment.set(&options)
      var run = try Run.resuming(result, options: options, registry: registry)
      keeping.set(&run.safety)
      return try ConsoleRun(run, source: nil, isQuiet: quiet, isJSON: json).exitCode()
    } catch {
      return Output.report(error)
    }
  }
}
