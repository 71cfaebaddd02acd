import Foundation
import Testing

/// `fedsim sweep` as processes: the tables are the same however the cells were played.
@Suite struct SweepCommandTests {
  private static let section = """
    sweep:
      grid: {server.trigger.threshold: [1, 2, 3]}
      replicas: 2
      targets: [0.4]

    """

  /// A folder with `sweep.yaml`: six cells of some milliseconds.
  private func command(_ section: String = Self.section) throws -> Command {
    let command = try Command()
    try command.write(
      Command.scenario.replacing(
        "    partition: {iid: {clients: 4}}\n",
        with: "    partition: {iid: {clients: 4}}\n    validationFraction: 0.2\n")
        + section, to: "sweep.yaml")
    return command
  }

  private func lines(_ command: Command, _ path: String) throws -> [String] {
    String(decoding: try command.bytes(path), as: UTF8.self).split(separator: "\n").map(String.init)
  }

  @Test("six cells give the same tables for 1, 2 and 4 workers, and by shards")
  func workers() throws {
    let command = try command()
    for jobs in ["1", "2", "4"] {
      let result = try command(
        "sweep", "sweep.yaml", "--jobs", jobs, "-o", "out\(jobs)/s", "--versions")
      #expect(result.code == 0, "\(result.error)")
      #expect(result.out.contains("6 cells, none failed"))
    }
    let first = try command(
      "sweep", "sweep.yaml", "--shard", "1/2", "-o", "shards/s", "--jobs", "1")
    #expect(first.out.contains("3 cells are left to other shards; no table yet"), "\(first.out)")
    let early = try command("sweep", "table", "shards/s")
    #expect(early.code == 3)
    #expect(early.error == "3 cells are not finished; no table\n")
    let last = try command(
      "sweep", "sweep.yaml", "--shard", "2/2", "-o", "shards/s", "--versions", "--jobs", "1")
    #expect(last.out.contains("6 cells, none failed"), "\(last.out) \(last.error)")
    for table in ["table.csv", "table.h5", "versions.csv"] {
      for other in ["out2/s", "out4/s", "shards/s"] {
        #expect(try command.areEqual("out1/s/\(table)", "\(other)/\(table)"), "\(other)/\(table)")
      }
    }
    let rows = try lines(command, "out1/s/table.csv")
    #expect(rows.count == 7)
    #expect(rows[0].hasPrefix("cell,variant,replica,seed,threshold,outcome,versions,rounds,"))
    #expect(rows[0].contains(",timeToAccuracy_0.4,"))
    // The seeds of replica 0 and of replica 1, the same for each threshold.
    let fields = rows.dropFirst().map { $0.split(separator: ",", omittingEmptySubsequences: false) }
    #expect(fields.map { $0[4] } == ["1", "1", "2", "2", "3", "3"])
    #expect(Set(fields.map { "\($0[2]) \($0[3])" }).count == 2)
    #expect(fields[0][3] == "1")
  }

  @Test("a cell is the run of its scenario")
  func cells() throws {
    let command = try command()
    _ = try command("sweep", "sweep.yaml", "-o", "out/s", "--store", "kept")
    let run = try command(
      "run", "sweep.yaml", "--set", "server.trigger.threshold=2", "-q", "-o", "plain.h5")
    #expect(run.code == 0)
    let row = try lines(command, "out/s/table.csv")[3].split(separator: ",")
    #expect(row[1] == "1" && row[2] == "0")
    #expect(try command.areEqual("kept/\(row[0]).h5", "plain.h5"))
  }

  @Test("what is finished is never played again, in this sweep or in another with the same cell")
  func again() throws {
    let command = try command()
    _ = try command("sweep", "sweep.yaml", "-o", "out/s", "--store", "kept")
    let table = try command.bytes("out/s/table.csv")
    let results = command.names.filter { $0.hasPrefix("kept/") && $0.hasSuffix(".h5") }
    #expect(results.count == 6)
    func times() throws -> [Date?] {
      try results.map {
        try FileManager.default.attributesOfItem(atPath: "\(command.folder)/\($0)")[
          .modificationDate] as? Date
      }
    }
    let before = try times()
    let again = try command("sweep", "sweep.yaml", "-o", "out/s", "--store", "kept")
    #expect(again.code == 0)
    #expect(!again.error.contains("played in"))
    #expect(try command.bytes("out/s/table.csv") == table)
    let other = try command(
      "sweep", "sweep.yaml", "-o", "elsewhere", "--store", "kept",
      "--set", "sweep.grid={server.trigger.threshold: [3, 1, 4]}")
    #expect(other.error.components(separatedBy: "played in").count == 3, "\(other.error)")
    #expect(try times() == before)
  }

  @Test("a damaged result is played again, and nothing else")
  func damaged() throws {
    let command = try command()
    _ = try command("sweep", "sweep.yaml", "-o", "out/s", "--store", "kept")
    let table = try command.bytes("out/s/table.csv")
    let id = try lines(command, "out/s/cells.txt")[2]
    var bytes = try command.bytes("kept/\(id).h5")
    // A letter of the stored scenario: a tenth of a file's bytes hold nothing, and no reader minds.
    let word = try #require(bytes.range(of: Data("threshold".utf8)))
    bytes[word.lowerBound] ^= 1
    try bytes.write(to: URL(fileURLWithPath: "\(command.folder)/kept/\(id).h5"))
    let again = try command("sweep", "sweep.yaml", "-o", "out/s", "--store", "kept")
    #expect(again.error.components(separatedBy: "played in").count == 2, "\(again.error)")
    #expect(again.error.contains("  the result that was there was damaged, and is replaced\n"))
    #expect(try command.bytes("out/s/table.csv") == table)
    // One that libhdf5 does not survive: a table is not waited for, and a sweep plays it again.
    let crash = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../ResultsTests/Fixtures/crash.h5").standardized
    try Data(contentsOf: crash).write(
      to: URL(fileURLWithPath: "\(command.folder)/kept/\(id).h5"))
    let early = try command("sweep", "table", "out/s")
    #expect(early.code == 3 && early.error == "1 cell is not finished; no table\n", "\(early)")
    let third = try command("sweep", "sweep.yaml", "-o", "out/s", "--store", "kept")
    #expect(third.error.components(separatedBy: "played in").count == 2, "\(third.error)")
    #expect(try command.bytes("out/s/table.csv") == table)
  }

  @Test("a cell that takes too long is given up with its log, and retry plays it")
  func failures() throws {
    let command = try command()
    let failed = try command(
      "sweep", "sweep.yaml", "-o", "out/s", "--timeout", "1 us", "--retries", "1", "--jobs", "2")
    #expect(failed.code == 3)
    #expect(failed.out.contains("6 cells, 6 failed"), "\(failed.out)")
    #expect(failed.error.contains("retry: fedsim sweep retry out/s --failed"))
    let rows = try lines(command, "out/s/failed.csv")
    #expect(rows.count == 7)
    #expect(rows[1].hasSuffix(",2,the time limit of 1e-06 s was exceeded"), "\(rows[1])")
    #expect(try lines(command, "out/s/table.csv")[1].contains(",failed,,,"))
    let status = try command("sweep", "status", "out/s")
    #expect(status.out.contains("cells finished: 0 of 6\nfailed: 6\n"), "\(status.out)")
    // The same command leaves them as they are.
    let same = try command("sweep", "sweep.yaml", "-o", "out/s")
    #expect(same.code == 3)
    let retried = try command("sweep", "retry", "out/s", "--failed")
    #expect(retried.code == 0, "\(retried.error)")
    #expect(!command.names.contains("out/s/failed.csv"))
    _ = try command("sweep", "sweep.yaml", "-o", "other/s")
    #expect(try command.areEqual("out/s/table.csv", "other/s/table.csv"))
    #expect(try command.areEqual("out/s/table.h5", "other/s/table.h5"))
  }

  @Test("a cell whose scenario was changed is refused, and the others are played")
  func changedCell() throws {
    let command = try command()
    let planned = try command("sweep", "sweep.yaml", "-o", "out/s", "--plan")
    #expect(planned.out.hasPrefix("6 cells planned in out/s\nlist: out/s/cells.txt\n"))
    let id = try lines(command, "out/s/cells.txt")[0]
    let text = String(decoding: try command.bytes("out/s/cells/\(id).yaml"), as: UTF8.self)
    try command.write(
      text.replacing("updates: 1", with: "updates: 4"), to: "out/s/cells/\(id).yaml")
    let single = try command("sweep", "cell", "out/s", id)
    #expect(single.code == 2)
    #expect(single.error.contains("the cell's scenario was changed"))
    let result = try command("sweep", "sweep.yaml", "-o", "out/s", "--jobs", "1")
    #expect(result.out.contains("6 cells, 1 failed"), "\(result.out) \(result.error)")
    #expect(try lines(command, "out/s/logs/\(id).log").count == 1)
    // Its text comes again from the file.
    try FileManager.default.removeItem(atPath: "\(command.folder)/out/s/cells/\(id).yaml")
    #expect(try command("sweep", "sweep.yaml", "-o", "out/s").code == 3)
    #expect(String(decoding: try command.bytes("out/s/cells/\(id).yaml"), as: UTF8.self) == text)
    let retried = try command("sweep", "retry", "out/s", "--failed")
    #expect(retried.out.contains("6 cells, none failed"), "\(retried.out) \(retried.error)")
  }

  @Test("a planned sweep can be played cell by cell, as GNU parallel does, and then be collected")
  func parallel() throws {
    let command = try command()
    _ = try command("sweep", "sweep.yaml", "-o", "out/s", "--plan")
    let ids = try lines(command, "out/s/cells.txt")
    for id in ids { #expect(try command("sweep", "cell", "out/s", id).out == "\(id): played\n") }
    #expect(try command("sweep", "cell", "out/s", ids[0]).out == "\(ids[0]): already finished\n")
    for wrong in [["table", "out/s", "--jobs", "0"], ["cell", "out/s", ids[0], "--threads", "0"]] {
      let refused = try command.run(["sweep"] + wrong)
      #expect(refused.code == 2, "\(refused.error)")
      #expect(refused.error.contains("found 0, expected a number from 1 to 1024"))
    }
    #expect(try command("sweep", "table", "out/s").code == 0)
    _ = try command("sweep", "sweep.yaml", "-o", "other/s")
    #expect(try command.areEqual("out/s/table.csv", "other/s/table.csv"))
  }

  @Test("halving gives up the worst variants, and the same ones for any number of workers")
  func halving() throws {
    let section = """
      sweep:
        grid: {server.trigger.threshold: [4, 3, 2, 1]}
        replicas: 2
        halving: {rungs: [6 h, 9 h], keep: 1/2}

      """
    let command = try command(section)
    // 4 variants with 2 replicas, 3 rungs; the list has what is certain to be played.
    let planned = try command("sweep", "sweep.yaml", "-o", "out1/s", "--plan")
    #expect(
      planned.out.hasPrefix(
        "24 cells planned in out1/s\nlist: out1/s/cells.txt, of which the first rung has 8\n"))
    #expect(try lines(command, "out1/s/cells.txt").count == 8)
    let shard = try command("sweep", "sweep.yaml", "--dry-run", "--shard", "1/2")
    #expect(shard.code == 2)
    #expect(shard.error.hasPrefix("--shard 1/2: with `halving` the cells"), "\(shard.error)")
    for jobs in ["1", "3"] {
      let result = try command("sweep", "sweep.yaml", "--jobs", jobs, "-o", "out\(jobs)/s")
      #expect(result.code == 0, "\(result.error)")
      #expect(result.error.components(separatedBy: "played in").count - 1 == 8 + 4 + 2)
    }
    #expect(try command.areEqual("out1/s/table.csv", "out3/s/table.csv"))
    #expect(try command.areEqual("out1/s/table.h5", "out3/s/table.h5"))
    let status = try command("sweep", "status", "out1/s")
    #expect(
      status.out.contains(
        "rung 0 cells finished: 8 of 8\nrung 1 cells finished: 4 of 4\n"
          + "whole cells finished: 2 of 2\n"), "\(status.out)")
    let rows = try lines(command, "out1/s/table.csv").dropFirst()
    // Two variants end at rung 0, one at rung 1, one is played to the end; two replicas each.
    #expect(rows.count { $0.contains(",stopped,0,") } == 4)
    #expect(rows.count { $0.contains(",stopped,1,") } == 2)
    #expect(rows.count { $0.contains(",finished,2,") } == 2)
    // Those that continue from rung 0 are the two that whole runs of its length find best: the mean
    // over the replicas of the last accuracy on validation samples, of equal ones the first.
    let plain = try self.command(
      "sweep:\n  grid: {server.trigger.threshold: [4, 3, 2, 1]}\n  replicas: 2\n")
    let short = try plain("sweep", "sweep.yaml", "-o", "r/s", "--set", "stop.after=6 h")
    #expect(short.code == 0, "\(short.error)")
    let table = try self.lines(plain, "r/s/table.csv").map {
      $0.split(separator: ",", omittingEmptySubsequences: false)
    }
    let column = try #require(table[0].firstIndex(of: "finalValidationAccuracy"))
    let means = try (0..<4).map { variant -> Double in
      let values = try (1...2).map { try #require(Double(table[2 * variant + $0][column])) }
      return (values[0] + values[1]) / 2
    }
    let ranked = (0..<4).sorted { means[$0] != means[$1] ? means[$0] > means[$1] : $0 < $1 }
    #expect(Set(ranked.prefix(2)) != [0, 1], "chance or the first two would do: \(means)")
    for (place, row) in rows.enumerated() {
      let goesOn = ranked.prefix(2).contains(place / 2)
      #expect(row.contains(",stopped,0,") != goesOn, "\(row)")
    }
  }

  @Test("a dry run tells the cells and leaves nothing")
  func dryRun() throws {
    let command = try command()
    let before = command.names
    let result = try command("sweep", "sweep.yaml", "--dry-run")
    #expect(result.code == 0)
    let lines = result.out.split(separator: "\n")
    #expect(lines.count == 8)
    #expect(lines[0] == "variants 3, replicas 2")
    #expect(lines[1].hasSuffix("  variant 0  replica 0  seed=1  threshold=1"))
    #expect(lines[7] == "6 cells, 0 of them finished; folder results/sweep")
    // Every fourth cell from the second on: the second and the sixth.
    let shard = try command("sweep", "sweep.yaml", "--dry-run", "--shard", "2/4")
    let ofShard = shard.out.split(separator: "\n")
    #expect(ofShard.count == 4, "\(shard.out) \(shard.error)")
    #expect(Array(ofShard[1...2]) == [lines[2], lines[6]])
    #expect(ofShard[3] == "2 of 6 cells, 0 of them finished; folder results/sweep")
    #expect(command.names == before)
  }

  @Test("a folder with another sweep is refused, and so is one with none")
  func refusals() throws {
    let command = try command()
    _ = try command("sweep", "sweep.yaml", "-o", "out/s", "--plan")
    let other = try command(
      "sweep", "sweep.yaml", "-o", "out/s", "--set", "sweep.replicas=3")
    #expect(other.code == 2)
    #expect(
      other.error == """
        out/s: this folder contains another sweep than the scenario's; give another \
        --output, or remove the folder
        1 fault; nothing was run

        """)
    #expect(try command("sweep", "status", "nowhere").code == 2)
    let help = try command("sweep", "--help")
    #expect((help.out + help.error).contains("fedsim sweep run --help"))
    #expect(try command("sweep", "retry", "out/s").code == 2)
    #expect(
      try command("sweep", "s.yaml").error
        == "s.yaml: missing key `sweep`: expected what to vary, such as `grid: {seed: [1, 2, 3]}`\n"
        + "1 fault; nothing was run\n")
    for option in [
      ["--shard", "3/2"], ["--timeout", "10"], ["--jobs", "0"], ["--retries", "-1"],
      ["--output", ""], ["--store", ""],
    ] {
      #expect(try command.run(["sweep", "sweep.yaml"] + option).code == 2, "\(option)")
    }
  }

  @Test("a folder below a file is reported")
  func belowFile() throws {
    let command = try command()
    let result = try command("sweep", "sweep.yaml", "-o", "s.yaml/s")
    #expect(result.code == 2)
    #expect(result.error.hasPrefix("s.yaml/s: the folder cannot be made: /"), "\(result.error)")
    #expect(result.error.contains("/s.yaml is a file\n"), "\(result.error)")
  }

  @Test(
    "a folder that cannot be made is reported in the system's words",
    .enabled(if: FileManager.default.fileExists(atPath: "/proc/self")))
  func noFolder() throws {
    let command = try command()
    let result = try command("sweep", "sweep.yaml", "-o", "/proc/s", "--store", "cells")
    #expect(result.code == 2)
    #expect(
      result.error == "/proc/s: mkdir failed: No such file or directory\n1 fault; nothing was run\n"
    )
  }

  @Test("a single run says that it leaves the section alone, and validate checks it")
  func besides() throws {
    let command = try command()
    let run = try command("run", "sweep.yaml", "-o", "r.h5")
    #expect(run.code == 0)
    #expect(run.error.hasPrefix("note: only the base scenario is run; `fedsim sweep` plays"))
    #expect(try command("validate", "sweep.yaml").code == 0)
    let broken = try command(
      "validate", "sweep.yaml", "--set", "sweep.grid={server.trigger.treshold: [1]}")
    #expect(broken.code == 2)
    #expect(broken.error.contains("did you mean `threshold`?"), "\(broken.error)")
  }

  @Test("a second driver learns of the first, and workers of a dead driver end")
  func deadDriver() throws {
    let section = """
      sweep:
        grid: {server.trigger.threshold: [1, 2]}
        replicas: 3

      """
    let command = try command(section)
    let text = String(decoding: try command.bytes("sweep.yaml"), as: UTF8.self)
    // Long enough to be killed in the middle.
    try command.write(text.replacing("{after: 12 h}", with: "{after: 3000 d}"), to: "sweep.yaml")
    let driver = try command.process(["sweep", "sweep.yaml", "-o", "out/s", "--jobs", "2"])
    driver.standardOutput = FileHandle.nullDevice
    driver.standardError = FileHandle.nullDevice
    try driver.run()
    let lock = "\(command.folder)/out/s/lock"
    for _ in 0..<300 where !FileManager.default.fileExists(atPath: lock) { usleep(20_000) }
    var workers: [Int32] = []
    for _ in 0..<3000 where workers.count < 2 {
      usleep(20_000)
      workers = try Self.children(of: driver.processIdentifier)
    }
    let second = try command("sweep", "sweep.yaml", "-o", "out/s")
    #expect(second.code == 2)
    #expect(
      second.error.contains(
        "another `fedsim sweep` (process \(driver.processIdentifier)) is running here"),
      "\(second.error)")
    #expect(workers.count == 2)
    kill(driver.processIdentifier, SIGKILL)
    driver.waitUntilExit()
    var alive = workers
    for _ in 0..<200 where !alive.isEmpty {
      usleep(20_000)
      alive = try alive.filter { try Self.isAlive($0) }
    }
    #expect(alive.isEmpty)
    let status = try command("sweep", "status", "out/s")
    #expect(status.out.contains("no driver is running"))
  }

  /// Whether a process runs; one that nobody has waited for does not.
  private static func isAlive(_ process: Int32) throws -> Bool {
    guard let stat = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8) else {
      return false
    }
    return stat.split(separator: ")").last?.split(separator: " ").first != "Z"
  }

  /// The processes that a process has started.
  private static func children(of parent: Int32) throws -> [Int32] {
    try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap { Int32($0) }.filter {
      guard let stat = try? String(contentsOfFile: "/proc/\($0)/stat", encoding: .utf8) else {
        return false
      }
      // "PID (name) state parent …"
      let fields = stat.split(separator: ")").last?.split(separator: " ") ?? []
      return fields.count > 1 && fields[1] == "\(parent)" && fields[0] != "Z"
    }
  }
}
