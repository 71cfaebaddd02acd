import ArgumentParser
import Foundation
import Runs

/// Where a run is computed besides this process.
struct RankArguments: ParsableArguments {
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Processes that compute the trainings; by default the threads do. No result depends on it.",
      valueName: "count"))
  var workers: Int?

  @Flag(
    help: """
      Play the run together with the other processes that mpirun or srun has started \
      (docs/scale-out.md). No result depends on it.
      """)
  var mpi = false

  func validate() throws { try CountOption.check("workers", workers) }

  /// Takes over what was said, and how many threads a process has.
  func set(_ options: inout RunOptions, threads: Int?) {
    options.workers = workers ?? 0
    options.threads = threads ?? workers ?? ProcessInfo.processInfo.activeProcessorCount
  }
}

/// A run that is played by one process, or by several ranks of which rank 0 speaks.
enum RankedRun {
  /// Makes a run and plays it; the exit code.
  static func exitCode(
    _ usesMPI: Bool, _ make: (MPIRanks?) throws(RunFailure) -> Run,
    playing play: (Run) throws(RunFailure) -> Int32
  ) -> Int32 {
    guard usesMPI else {
      do throws(RunFailure) { return try play(make(nil)) } catch { return Output.report(error) }
    }
    let ranks: MPIRanks
    do throws(RunFailure) { ranks = try MPIRanks() } catch { return Output.report(error) }
    if ranks.rank > 0 { Output.silence() }
    if ranks.count == 1 {
      Output.error("note: there is one rank; `mpirun -n N fedsim run … --mpi` starts several")
    }
    do throws(RunFailure) {
      let run = try RankTalk.read(ranks) { () throws(RunFailure) in try make(ranks) }
      var code: Int32 = 0
      if ranks.rank == 0 { code = try play(run) } else { try run.follow() }
      ranks.end()
      return code
    } catch {
      let code = Output.report(error)
      ranks.end(failed: code)
      return code
    }
  }
}
