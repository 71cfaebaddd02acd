import Foundation
import Testing

/// `fedsim sweep --slurm` against scripts in place of Slurm; `make test-slurm` has the real one.
@Suite struct SlurmCommandTests {
  private static let section = """
    sweep:
      grid: {server.trigger.threshold: [1, 2, 3]}
      replicas: 2

    """

  private func slurm(_ section: String = Self.section) throws -> FakeSlurm {
    try FakeSlurm(Command(), section: section)
  }

  /// The tables of the same sweep on one machine.
  private func local(_ slurm: FakeSlurm) throws -> (csv: Data, arrays: Data) {
    let command = slurm.command
    let result = try command("sweep", "\(slurm.home)/sweep.yaml", "-o", "local/s")
    #expect(result.code == 0, "\(result.error)")
    return try (command.bytes("local/s/table.csv"), command.bytes("local/s/table.h5"))
  }

  @Test("an array a limit, a collector after all of them, and their numbers in the folder")
  func submitted() throws {
    let slurm = try slurm()
    try slurm.command.write("MaxArraySize = 2\n", to: "said/config")
    let result = try slurm.sweep(
      "--cells-per-task", "2", "--partition", "long one", "--time", "10", "--mem", "1G", "--jobs",
      "2", "--threads", "3", "--timeout", "5 min", "--slurm-option", "qos=low")
    #expect(result.code == 0, "\(result.error)")
    // Six cells, two a task: three tasks, in arrays of two and one.
    let calls = try slurm.calls()
    #expect(calls.count == 3)
    let whole = slurm.command.folder + "/" + slurm.folder
    let log = "--output=\(whole.replacing("%", with: "%%"))/slurm/1"
    let common = [
      "--parsable", "--job-name=fedsim-sweep", "--ntasks=1", "--cpus-per-task=6",
      "--partition=long one", "--time=10", "--mem=1G", "--requeue", "--open-mode=append",
      "--qos=low",
    ]
    let task = "\(whole)/slurm/task.sh"
    #expect(calls[0] == common + ["--array=0-1", "\(log)/task-%A_%a.log", task, "1", "0", "2"])
    #expect(calls[1] == common + ["--array=0-0", "\(log)/task-%A_%a.log", task, "1", "2", "2"])
    #expect(
      calls[2] == common + [
        "--dependency=afterany:101:102", "\(log)/collect.log", "\(whole)/slurm/collect.sh", "1",
        "6",
        "0",
      ])
    #expect(
      result.out == """
        submitted: job 101, 2 tasks
        submitted: job 102, 1 task
        submitted: job 103, the collector, for 6 cells
        status: fedsim sweep status \(slurm.folder)

        """)
    let script = try slurm.lines("\(slurm.folder)/slurm/task.sh").last ?? ""
    #expect(script.contains("sweep part --jobs 2 --threads 3 --retries 2 --timeout '5 min'"))
    #expect(
      try slurm.lines("\(slurm.folder)/slurm/1/cells.txt")
        == slurm.lines("\(slurm.folder)/cells.txt"))
  }

  @Test("a lost task is submitted again by the collector, and the tables are those of one machine")
  func lostTask() throws {
    let slurm = try slurm()
    #expect(try slurm.sweep("--cells-per-task", "2", "--versions").code == 0)
    let first = try slurm.calls()
    #expect(first.count == 2)
    // Of the tasks 0, 1 and 2 the second is lost with its node; the first is played twice.
    for task in [0, 2, 0] {
      #expect(try slurm.job(first[0], task: task) == 0, "\(slurm.log)")
    }
    #expect(try slurm.job(first[1]) == 0, "\(slurm.log)")
    #expect(slurm.log.contains("2 cells to play, 2 of them lost in submission 1"))
    #expect(!slurm.command.names.contains("\(slurm.folder)/table.csv"))
    let again = try slurm.calls()
    #expect(again.count == 4)
    // A collector that is played again, because its node was lost too, adds nothing.
    #expect(try slurm.job(first[1]) == 0)
    #expect(slurm.log == "submission 2 already exists\n")
    #expect(try slurm.calls().count == 4)
    let cells = try slurm.lines("\(slurm.folder)/cells.txt")
    #expect(try slurm.lines("\(slurm.folder)/slurm/2/cells.txt") == Array(cells[2..<4]))
    #expect(try slurm.job(again[2], task: 0) == 0)
    #expect(try slurm.job(again[3]) == 0)
    #expect(slurm.log.hasPrefix("6 cells, none failed\n"), "\(slurm.log)")
    let local = try local(slurm)
    #expect(try slurm.command.bytes("\(slurm.folder)/table.csv") == local.csv)
    #expect(try slurm.command.bytes("\(slurm.folder)/table.h5") == local.arrays)
    #expect(slurm.command.names.contains("\(slurm.folder)/versions.csv"))
    // A task that the submission does not have.
    #expect(try slurm.job(again[2], task: 1) == 2)
    #expect(slurm.log.contains("2 cells, 2 per task: there is no task 1"))
  }

  @Test(
    "the collector stops after too many submissions that finished nothing, and a driver continues")
  func fruitless() throws {
    let slurm = try slurm()
    #expect(try slurm.sweep("--resubmissions", "1").code == 0)
    #expect(try slurm.job(slurm.calls()[1]) == 0)
    let second = try slurm.calls()
    #expect(second.count == 4)
    #expect(second[3].suffix(3) == ["2", "6", "1"])
    #expect(try slurm.job(second[3]) == 3)
    let log = slurm.log
    #expect(log.hasPrefix("6 cells missing, and 2 submissions in a row finished nothing; logs: "))
    #expect(try slurm.calls().count == 4)
    let here = try slurm.command.run(
      ["sweep", "\(slurm.home)/sweep.yaml", "-o", slurm.folder], slurm.environment)
    #expect(here.out.contains("6 cells, none failed"), "\(here.error)")
    let over = try slurm.sweep()
    #expect(over.out.contains("6 cells, none failed"), "\(over.error)")
    #expect(try slurm.calls().count == 4)
  }

  @Test("a collector that was lost before it had submitted the next one ends what it submitted")
  func lostCollector() throws {
    let slurm = try slurm()
    #expect(try slurm.sweep().code == 0)
    let first = try slurm.calls()
    // No task has played anything: an array, 103, and a collector are submitted.
    #expect(try slurm.job(first[1]) == 0, "\(slurm.log)")
    let path = "\(slurm.folder)/slurm/2/jobs.json"
    let text = String(decoding: try slurm.command.bytes(path), as: UTF8.self)
    #expect(text.contains("\"collector\""))
    try slurm.command.write(text.replacing("\"collector\"", with: "\"lost\""), to: path)
    #expect(try slurm.job(first[1]) == 0, "\(slurm.log)")
    #expect(try slurm.lines("said/cancelled") == ["103"])
    let calls = try slurm.calls()
    #expect(calls.count == 6)
    #expect(calls[5].suffix(3) == ["3", "6", "1"])
  }

  @Test("each rung of a halving is a submission, and the tables are those of one machine")
  func halving() throws {
    let slurm = try slurm(
      """
      sweep:
        grid: {server.trigger.threshold: [1, 2, 3, 4]}
        replicas: 2
        halving: {rungs: [6 h, 9 h], keep: 1/2}

      """)
    #expect(try slurm.sweep("--cells-per-task", "4").code == 0)
    var handed: [String] = []
    for rung in 0..<3 {
      let calls = try slurm.calls()
      #expect(calls.count == 2 * rung + 2)
      handed.append(calls[2 * rung + 1].suffix(3).joined(separator: " "))
      for task in try FakeSlurm.tasks(calls[2 * rung]) {
        #expect(try slurm.job(calls[2 * rung], task: task) == 0, "\(slurm.log)")
      }
      #expect(try slurm.job(calls[2 * rung + 1]) == 0, "\(slurm.log)")
    }
    // Four variants of two replicas, then two, then one.
    #expect(handed == ["1 8 0", "2 4 0", "3 2 0"])
    let local = try local(slurm)
    #expect(try slurm.command.bytes("\(slurm.folder)/table.csv") == local.csv)
    #expect(try slurm.command.bytes("\(slurm.folder)/table.h5") == local.arrays)
  }

  @Test("cells that fail are in the table, and retry submits them again")
  func failures() throws {
    let slurm = try slurm()
    #expect(try slurm.sweep("--timeout", "1 us", "--retries", "0").code == 0)
    let calls = try slurm.calls()
    for task in 0...5 {
      #expect(try slurm.job(calls[0], task: task) == 3)
      #expect(slurm.log.hasSuffix("1 cell, 1 failed\n"), "\(slurm.log)")
    }
    #expect(try slurm.job(calls[1]) == 3)
    #expect(slurm.log.hasPrefix("6 cells, 6 failed\n"))
    #expect(try slurm.lines("\(slurm.folder)/failed.csv").count == 7)
    let again = try slurm.command.run(
      ["sweep", "retry", slurm.folder, "--failed", "--slurm", "--cells-per-task", "6"],
      slurm.environment)
    #expect(again.out.contains("submitted: job 103, 1 task\n"), "\(again.error)")
    #expect(try slurm.job(slurm.calls()[2], task: 0) == 0)
    #expect(try slurm.job(slurm.calls()[3]) == 0)
    #expect(try slurm.command.bytes("\(slurm.folder)/table.csv") == local(slurm).csv)
  }

  @Test("files of another machine that show late are waited for, and nothing is submitted again")
  func lateFiles() throws {
    let slurm = try slurm()
    #expect(try slurm.sweep("--cells-per-task", "6", "--file-delay", "1 min").code == 0)
    let calls = try slurm.calls()
    func hide(_ path: String) throws -> () throws -> Void {
      let (shown, hidden) = ("\(slurm.command.folder)/\(path)", "\(slurm.command.folder)/hidden")
      try FileManager.default.moveItem(atPath: shown, toPath: hidden)
      return {
        usleep(400_000)
        try FileManager.default.moveItem(atPath: hidden, toPath: shown)
      }
    }
    for path in ["\(slurm.folder)/sweep.json", "\(slurm.folder)/slurm/1/cells.txt"] {
      #expect(try slurm.job(calls[0], task: 0, meanwhile: hide(path)) == 0, "\(slurm.log)")
    }
    let result = try #require(slurm.command.names.first { $0.hasSuffix(".h5") })
    #expect(try slurm.job(calls[1], meanwhile: hide(result)) == 0)
    #expect(slurm.log.hasPrefix("6 cells, none failed\n"), "\(slurm.log)")
    #expect(try slurm.calls().count == 2)
  }

  @Test("a dry run writes scripts and prints commands that do the same, and submits nothing")
  func dryRun() throws {
    let slurm = try slurm()
    try slurm.command.write("MaxArraySize = 4\n", to: "said/config")
    let dry = try slurm.sweep("--dry-run", "--account", "it's ours")
    #expect(dry.code == 0, "\(dry.error)")
    #expect(try slurm.calls().isEmpty)
    #expect(
      dry.out
        == String(
          decoding: try slurm.command.bytes("\(slurm.folder)/slurm/1/commands.sh"), as: UTF8.self))
    #expect(try slurm.sweep("--account", "it's ours").code == 0)
    let direct = try slurm.calls()
    #expect(direct.count == 3)
    let process = try slurm.command.process([], slurm.environment)
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["\(slurm.folder)/slurm/1/commands.sh"]
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit(within: 180)
    // The same words, in submission 1 and after the jobs 104 and 105.
    let byHand = try slurm.calls().suffix(3)
    #expect(
      byHand.map { $0.map { $0.replacing(":104:105", with: ":101:102") } }
        == direct.map { call in
          call.map { $0 == "2" ? "1" : $0.replacing("/slurm/2/", with: "/slurm/1/") }
        })
  }

  @Test("while jobs are alive nobody else plays the sweep, and the status tells of them")
  func living() throws {
    let slurm = try slurm()
    #expect(try slurm.sweep().code == 0)
    try slurm.command.write(
      "101 RUNNING\n101 PENDING\n101 PENDING\n102 PENDING\n", to: "said/queue")
    let refusal = """
      \(slurm.folder): Slurm's jobs 101 102 play this sweep (tasks: 1 running, 2 waiting); wait \
      for them, or end them: scancel 101 102
      1 fault; nothing was run

      """
    for arguments in [["--slurm"], []] {
      let result = try slurm.command.run(
        ["sweep", "\(slurm.home)/sweep.yaml", "-o", slurm.folder] + arguments, slurm.environment)
      #expect(result.code == 2)
      #expect(result.error == refusal)
    }
    let status = try slurm.command.run(["sweep", "status", slurm.folder], slurm.environment)
    #expect(
      status.out.contains(
        "\nslurm, submission 1: 6 tasks (job 101), 1 running, 2 waiting; "
          + "collector (job 102) pending\n"
      ), "\(status.out)")
    try slurm.command.write("", to: "said/queue")
    let over = try slurm.command.run(["sweep", "status", slurm.folder], slurm.environment)
    #expect(over.out.contains("6 tasks (job 101), none left; collector (job 102) ended"))
    #expect(try slurm.sweep().code == 0)
    let json = try slurm.command.run(
      ["sweep", "status", slurm.folder, "--json"], slurm.environment)
    #expect(json.out.contains("\"collector\" : \"104\""), "\(json.out)")
  }

  @Test("what sbatch refuses is reported in its words, and nothing is left behind half submitted")
  func refused() throws {
    let slurm = try slurm()
    let words = "sbatch: error: Batch job submission failed: Job violates accounting/QOS policy"
    try slurm.command.write("1\n", to: "said/refuse")
    let first = try slurm.sweep()
    #expect(first.code == 3)
    #expect(first.error.hasPrefix("sbatch refuses it: \(words)"), "\(first.error)")
    #expect(first.error.hasSuffix("--max-tasks N submits fewer tasks at once, the rest later\n"))
    // The second of three arrays (calls 2 to 4) is refused: the collector submits the rest.
    try slurm.command.write("MaxArraySize = 2\n", to: "said/config")
    try slurm.command.write("3\n", to: "said/refuse")
    let second = try slurm.sweep()
    #expect(second.code == 0)
    #expect(
      second.out.contains("\nsubmitted: job 104, the collector, for 2 cells\n4 cells left to"))
    // The collector (calls 5 to 7 are arrays) is refused: the arrays are ended.
    try slurm.command.write("8\n", to: "said/refuse")
    let third = try slurm.sweep()
    #expect(third.code == 3)
    #expect(third.error.hasPrefix("the collector: sbatch refuses it: \(words)"), "\(third.error)")
    #expect(try slurm.lines("said/cancelled") == ["105 106 107"])
    let path = ["PATH": "\(slurm.command.folder)/\(slurm.home)"]
    let none = try slurm.command.run(
      ["sweep", "\(slurm.home)/sweep.yaml", "-o", "other/s", "--slurm"], path)
    #expect(none.code == 3)
    #expect(none.error.hasPrefix("sbatch is not on the PATH: "), "\(none.error)")
    let dry = try slurm.command.run(
      ["sweep", "\(slurm.home)/sweep.yaml", "-o", "other/s", "--slurm", "--dry-run"], path)
    #expect(dry.code == 0, "\(dry.error)")
    #expect(dry.out.contains(" --array=0-5 "))
  }

  @Test("options that mean nothing, or that the sweep sets itself, are refused")
  func options() throws {
    let slurm = try slurm()
    for (arguments, words) in [
      (["--partition", "x"], "--partition: needs --slurm"),
      (["--slurm", "--shard", "1/2"], "--shard: Slurm's tasks are the shards"),
      (["--slurm", "--plan"], "--plan: with --slurm use --dry-run"),
      (
        ["--slurm", "--cells-per-task", "0"], "--cells-per-task: found 0, expected a number from 1"
      ),
      (["--slurm", "--file-delay", "soon"], "--file-delay: found soon, expected a duration"),
      (["--slurm", "--slurm-option", "array=1"], "--slurm-option: found array, which the sweep"),
      (["--slurm", "--time="], "Missing value for '--time"),
    ] {
      let result = try slurm.command.run(
        ["sweep", "\(slurm.home)/sweep.yaml"] + arguments, slurm.environment)
      #expect(result.code == 2)
      #expect(result.error.contains(words), "\(result.error)")
    }
    let bent = try slurm.command.run(
      ["sweep", "\(slurm.home)/sweep.yaml", "--slurm", "-o", "a\\b"], slurm.environment)
    #expect(bent.code == 2)
    #expect(bent.error.contains("Slurm does not accept paths with a backslash"), "\(bent.error)")
    #expect(try slurm.calls().isEmpty)
  }
}
