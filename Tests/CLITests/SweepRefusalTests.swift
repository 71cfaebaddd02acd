import Foundation
import Testing

/// What `fedsim sweep`'s commands refuse, and what they leave as it is then.
@Suite struct SweepRefusalTests {
  /// A folder with a sweep of six cells, all of which were given up.
  private func failed() throws -> Command {
    let command = try Command()
    try command.write(
      Command.scenario + "sweep: {grid: {server.trigger.threshold: [1, 2, 3]}, replicas: 2}\n",
      to: "sweep.yaml")
    let result = try command(
      "sweep", "sweep.yaml", "-o", "out/s", "--store", "kept", "--timeout", "1 us", "--retries",
      "0", "--jobs", "2")
    #expect(result.out.contains("6 cells, 6 failed"), "\(result.out) \(result.error)")
    return command
  }

  private func failures(_ command: Command) -> Int {
    command.names.count { $0.hasPrefix("out/s/failures/") }
  }

  @Test("a retry that is refused forgets no failure, and one of a shard its own alone")
  func retries() throws {
    let command = try failed()
    let lock = open("\(command.folder)/out/s/lock", O_RDWR | O_CLOEXEC)
    #expect(lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == 0)
    let refused = try command("sweep", "retry", "out/s", "--failed")
    #expect(refused.code == 2)
    #expect(refused.error.contains("is running here"), "\(refused.error)")
    #expect(failures(command) == 6)
    close(lock)
    let shard = try command("sweep", "retry", "out/s", "--failed", "--shard", "1/2")
    #expect(shard.code == 3)
    #expect(shard.out.contains("6 cells, 3 failed"), "\(shard.out) \(shard.error)")
    #expect(failures(command) == 3)
    // Drivers of shards are several: none of them is in the lock, nor those that had it before.
    #expect(try command.bytes("out/s/lock").isEmpty)
  }

  @Test("another build plays no cell of a sweep until its own command has begun it again")
  func otherBuild() throws {
    let command = try failed()
    let text = String(decoding: try command.bytes("out/s/sweep.json"), as: UTF8.self)
    let other = text.replacing(#/"build":"[0-9a-f]+"/#, with: "\"build\":\"0\"")
    #expect(other != text)
    try command.write(other, to: "out/s/sweep.json")
    let ids = try command.bytes("out/s/cells.txt").split(separator: 10)
    let id = String(decoding: ids[0], as: UTF8.self)
    for arguments in [["cell", "out/s", id], ["retry", "out/s", "--failed"]] {
      let result = try command.run(["sweep"] + arguments)
      #expect(result.code == 2)
      #expect(result.error.contains("another build of fedsim began this sweep"), "\(result.error)")
    }
    #expect(failures(command) == 6)
    // What failed in the other build is played again in this one.
    let here = try command("sweep", "sweep.yaml", "-o", "out/s", "--store", "kept")
    #expect(here.code == 0, "\(here.error)")
    #expect(here.error.hasPrefix("note: another build of fedsim began this sweep\n"))
    #expect(here.out.contains("6 cells, none failed"), "\(here.out)")
    #expect(failures(command) == 0)
  }

  @Test("a file that was changed since is named, wherever the command is given")
  func changedFile() throws {
    let command = try Command()
    let table = "device,from,to,state\n*,0,12 h,wifi\n"
    try command.write(table, to: "links.csv")
    try command.write(
      Command.scenario.replacing(
        "    count: 4\n", with: "    count: 4\n    link: {csv: links.csv}\n")
        + "sweep: {grid: {server.trigger.threshold: [1, 2]}}\n", to: "sweep.yaml")
    #expect(try command("sweep", "sweep.yaml", "-o", "out/s", "--plan").code == 0)
    let manifest = String(decoding: try command.bytes("out/s/sweep.json"), as: UTF8.self)
    #expect(manifest.contains(#/"path":"/[^"]*/links.csv"/#), "\(manifest)")
    try command.write(table.replacing("12 h", with: "13 h"), to: "links.csv")
    // The manifest is written already; workers look for themselves.
    let retried = try command("sweep", "retry", "out/s", "--failed", "--jobs", "1")
    #expect(retried.code == 3)
    #expect(retried.error.contains("links.csv: this file has changed since"), "\(retried.error)")
    #expect(retried.out.contains("2 cells, 2 failed"), "\(retried.out)")
    try command.write(table, to: "links.csv")
    let again = try command("sweep", "retry", "out/s", "--failed")
    #expect(again.out.contains("2 cells, none failed"), "\(again.out) \(again.error)")
  }
}
