import Foundation
import Runs

extension SweepDriver.Options {
  /// The command that starts ranks where none is named.
  public static let usualLauncher = "mpirun"

  /// Makes each worker several ranks, which a command such as `mpirun` starts. The first of them
  /// reads what the driver sends.
  ///
  /// Throws: `RunFailure.input` where there is no such command.
  public mutating func startRanks(
    _ count: Int, by launcher: String
  ) throws(RunFailure) {
    let words = launcher.split(separator: " ").map(String.init)
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    let places = words[0].contains("/") ? [words[0]] : folders.map { "\($0)/\(words[0])" }
    guard places.contains(where: { access($0, X_OK) == 0 }) else {
      throw SweepFolder.refusal(
        words[0],
        "there is no such command to start ranks; install MPI, or name another one "
          + "with --launcher")
    }
    // A rank that is lost ends the others, by Slurm's launcher, too.
    setenv("SLURM_KILL_BAD_EXIT", "1", 0)
    let own = arguments.prefix(2) + ["--mpi"] + arguments.dropFirst(2)
    arguments = words + ["-n", String(count), program] + own
    program = "/usr/bin/env"
  }
}
