import ArgumentParser
import Foundation
import Runs
import Scenarios

/// `fedsim resume`.
struct ResumeCommand: RegistryCommand {
  static let configuration = CommandConfiguration(
    commandName: "resume",
    abstract: "Resume an interrupted run; the result is identical to an uninterrupted one.",
    discussion: """
      Continues from the last checkpoint in the run's folder (RESULT.h5.run). The result has the \
      same bytes as that of an uninterrupted run. A resumed run can itself be resumed again.
      """)

  @Argument(help: "The result that the run was to write.", completion: .file(extensions: ["h5"]))
  var result: String

  @Option(
    parsing: .unconditional,
    help: "Computing threads; by default one per processor. No result depends on it.")
  var threads: Int?

  @OptionGroup var ranks: RankArguments

  @OptionGroup var keeping: KeepingArguments

  @OptionGroup var progress: ProgressArguments

  @Flag(help: "Print the summary as JSON.")
  var json = false

  func validate() throws { try CountOption.check("threads", threads) }

  func run(_ registry: Registry) -> Int32 {
    RankedRun.exitCode(ranks.mpi) { ranks throws(RunFailure) in
      var options = RunOptions()
      self.ranks.set(&options, threads: threads)
      options.ranks = ranks
      Environment.set(&options)
      var run = try Run.resuming(result, options: options, registry: registry)
      keeping.set(&run.safety)
      return run
    } playing: { run throws(RunFailure) in
      try ConsoleRun(run, source: nil, progress, isJSON: json).exitCode()
    }
  }
}
