import Foundation
import Testing

@Suite("fedsim run")
struct RunCommandTests {
  @Test("a run exits with 0 and leaves the result in results/, with the provenance")
  func run() throws {
    let fedsim = try Command()
    let result = try fedsim("run", "s.yaml")
    #expect(result.code == 0, "\(result.error)")
    #expect(
      fedsim.names == [
        "results", "results/s.h5", "results/s.h5.provenance.json", "s.yaml",
      ])
    #expect(result.out.hasPrefix("s: central accuracy "))
    #expect(result.out.contains("result: results/s.h5\n"))
    #expect(result.out.contains("ledgers (they balance)\n"))
    #expect(result.error.contains("  version 1  accuracy "), "a line a version on standard error")
  }

  @Test("the next command that it prints really works")
  func next() throws {
    let fedsim = try Command()
    let result = try fedsim("run", "s.yaml", "--quiet")
    #expect(result.error == "")
    let line = try #require(result.out.split(separator: "\n").last { $0.hasPrefix("next: ") })
    let words = line.dropFirst("next: ".count).split(separator: " ").map(String.init)
    #expect(words[0] == Command.executable)
    #expect(try fedsim.run(Array(words.dropFirst())).code == 0)
    #expect(fedsim.names.contains("results/s-seed2.h5"))
  }

  @Test("the result of another seed, other settings or other ties is not replaced without --force")
  func otherResult() throws {
    let fedsim = try Command()
    #expect(try fedsim("run", "s.yaml", "-q").code == 0)
    let bytes = try fedsim.bytes("results/s.h5")
    let others: [(options: [String], difference: String)] = [
      (["--seed", "2"], "seed: 1 | 2"),
      (["--set", "server.trigger.threshold=3"], "server.trigger.threshold.updates: 2 | 3"),
      (["--shake-ties", "4"], "--shake-ties: (absent) | 4"),
      (["-o", "results/s.h5", "--seed", "2", "--restart"], "seed: 1 | 2"),
    ]
    for (options, difference) in others {
      let refused = try fedsim.run(["run", "s.yaml", "-q"] + options)
      #expect(refused.code == 2 && refused.out == "", "\(options)")
      #expect(
        refused.error.hasPrefix("results/s.h5: the result of another run is here")
          && refused.error.contains(difference) && refused.error.contains("--output")
          && refused.error.contains("--force"), "\(refused.error)")
      #expect(try fedsim.bytes("results/s.h5") == bytes)
    }
    // Its own result is replaced, even where it asks other questions of it.
    #expect(try fedsim("run", "s.yaml", "-q", "--threads", "1").code == 0)
    let asking = "expect=[{versions: {atLeast: 1}}]"
    #expect(try fedsim("run", "s.yaml", "-q", "--set", asking).code == 0)
    #expect(try fedsim("run", "s.yaml", "-q", "--seed", "2", "--force").code == 0)
    #expect(try fedsim.bytes("results/s.h5") != bytes)
  }

  @Test("a table of a sweep, or any other HDF5 file, is no result that a run replaces")
  func otherFile() throws {
    let fedsim = try Command()
    try Data([0x89, 0x48, 0x44, 0x46, 0x0D, 0x0A, 0x1A, 0x0A]).write(
      to: URL(fileURLWithPath: "\(fedsim.folder)/o.h5"))
    let refused = try fedsim("run", "s.yaml", "-q", "-o", "o.h5")
    #expect(refused.code == 2 && refused.error.contains("not the result of a run"))
    #expect(try fedsim("run", "s.yaml", "-q", "-o", "o.h5", "--force").code == 0)
  }

  @Test("the folder results is made for --output, too, and the next seed that is named is new")
  func ownFolder() throws {
    let fedsim = try Command()
    #expect(try fedsim("run", "s.yaml", "-q", "-o", "results/x.h5").code == 0)
    let second = try fedsim("run", "s.yaml", "-q", "-o", "results/x-seed2.h5", "--seed", "2")
    #expect(second.out.contains(" --seed 3 --output results/x-seed3.h5\n"), "\(second.out)")
    let first = try fedsim("run", "s.yaml", "-q", "-o", "results/x.h5")
    #expect(first.out.contains(" --seed 3 --output results/x-seed3.h5\n"), "\(first.out)")
  }

  @Test("a run that has had no version for long says so, and names commands that there are")
  func quiet() throws {
    let fedsim = try Command()
    // Tasks run each hour or so, and nobody reaches the server from 03:00 to 12:00.
    let server = "server.reachable={fixed: {intervals: [{from: 0 s, to: 3 h}]}}"
    let result = try fedsim("run", "s.yaml", "-q", "--set", server)
    let line = try #require(
      result.out.split(separator: "\n").first { $0.hasPrefix("  last version ") })
    let words = line.split(separator: "`", omittingEmptySubsequences: false).enumerated()
      .filter { $0.offset % 2 == 1 }.map { String($0.element) }
    #expect(words == ["report", "explain"])
    for word in words { #expect(try fedsim(word, "--help").code == 0, "\(word)") }
    #expect(try !fedsim("run", "s.yaml", "-q", "-o", "b.h5").out.contains("  last version "))
  }

  @Test("the summary as JSON has the ledgers, which balance")
  func json() throws {
    let fedsim = try Command()
    let result = try fedsim("run", "s.yaml", "--output", "o.h5", "--json")
    #expect(result.code == 0)
    struct Summary: Decodable {
      struct Outcome: Decodable {
        var name: String
        var count: Int
      }
      struct Ledger: Decodable {
        var name: String
        var opened: Int
        var outcomes: [Outcome]
        var balances: Bool
      }
      var result: String
      var version: Int
      var accuracy: Double
      var simulatedSeconds: Double
      var ledgers: [Ledger]
    }
    let summary = try JSONDecoder().decode(Summary.self, from: Data(result.out.utf8))
    #expect(summary.result == "o.h5")
    #expect(summary.simulatedSeconds == 43_200)
    #expect(summary.version > 0 && (0...1).contains(summary.accuracy))
    #expect(summary.ledgers.map(\.name) == ["training attempts", "updates", "transmissions"])
    for ledger in summary.ledgers {
      #expect(ledger.balances && ledger.outcomes.reduce(0) { $0 + $1.count } == ledger.opened)
    }
  }

  @Test("two runs, at once and with other options, leave equal bytes")
  func sameBytes() throws {
    let fedsim = try Command()
    let processes = try (0..<2).map {
      try fedsim.process(["run", "s.yaml", "-q", "-o", "\($0).h5"])
    }
    for process in processes {
      process.standardOutput = FileHandle.nullDevice
      try process.run()
    }
    for process in processes {
      process.waitUntilExit(within: 180)
      #expect(process.terminationStatus == 0)
    }
    let options = ["--threads", "3", "--compute", "eager", "--kernels", "baseline"]
    #expect(try fedsim.run(["run", "s.yaml", "-q", "-o", "2.h5"] + options).code == 0)
    #expect(try fedsim.areEqual("0.h5", "1.h5"))
    #expect(try fedsim.areEqual("0.h5", "2.h5"))
  }

  @Test("--timings writes the seconds of every version next to an unchanged result")
  func timings() throws {
    let fedsim = try Command()
    _ = try fedsim("run", "s.yaml", "-q", "-o", "a.h5")
    let options = ["--set", "record.evaluateEvery=2", "--threads", "2", "--kernels", "baseline"]
    let run = ["run", "s.yaml", "-q", "--json"]
    let result = try fedsim.run(run + ["-o", "b.h5", "--timings", "t.json"] + options)
    #expect(result.code == 0, "\(result.error)")
    struct Summary: Decodable { var version: Int }
    struct Timings: Decodable {
      struct Round: Decodable {
        var version: Int
        var seconds: Double
        var isEvaluated: Bool
      }
      var threads: Int
      var kernels: String
      var medianSeconds: Double?
      var rounds: [Round]
    }
    let last = try JSONDecoder().decode(Summary.self, from: Data(result.out.utf8)).version
    let timings = try JSONDecoder().decode(Timings.self, from: fedsim.bytes("t.json"))
    #expect(timings.threads == 2 && timings.kernels == "baseline")
    try #require(last >= 5)
    #expect(timings.rounds.map(\.version) == Array(1...last))
    #expect(timings.rounds.allSatisfy { $0.seconds > 0 })
    #expect(timings.rounds.allSatisfy { $0.isEvaluated == ($0.version % 2 == 0) })
    // The median is over the odd versions from the third on.
    let counted = timings.rounds.filter { $0.version > 1 && !$0.isEvaluated }.map(\.seconds)
      .sorted()
    let median = (counted[(counted.count - 1) / 2] + counted[counted.count / 2]) / 2
    #expect(timings.medianSeconds == median)
    _ = try fedsim("run", "s.yaml", "-q", "-o", "c.h5", "--timings", "u.json")
    #expect(try fedsim.areEqual("a.h5", "c.h5"))
  }

  @Test("timings that cannot be written are bad input, found before the run")
  func timingsNowhere() throws {
    let fedsim = try Command()
    let result = try fedsim("run", "s.yaml", "-q", "-o", "a.h5", "--timings", "nowhere/t.json")
    #expect(result.code == 2)
    #expect(result.error.contains("nowhere/t.json"))
    #expect(!fedsim.names.contains("a.h5"))
  }

  @Test("--seed is --set seed=, and another seed is another result")
  func seed() throws {
    let fedsim = try Command()
    _ = try fedsim("run", "s.yaml", "-q", "-o", "a.h5", "--seed", "5")
    _ = try fedsim("run", "s.yaml", "-q", "-o", "b.h5", "--set", "seed=5")
    _ = try fedsim("run", "s.yaml", "-q", "-o", "c.h5")
    #expect(try fedsim.areEqual("a.h5", "b.h5"))
    #expect(try !fedsim.areEqual("a.h5", "c.h5"))
  }

  @Test("a missing folder for the result is bad input, found before the run")
  func missingFolder() throws {
    let fedsim = try Command()
    let result = try fedsim("run", "s.yaml", "--output", "nowhere/at/all/o.h5")
    #expect(result.code == 2)
    #expect(
      result.error == "nowhere/at/all/o.h5: the folder nowhere/at/all does not exist; create it, or"
        + " give another path\n1 fault; nothing was run\n")
    #expect(result.out == "" && fedsim.names == ["s.yaml"])
    // One folder is made, as of the default.
    #expect(try fedsim("run", "s.yaml", "-q", "-o", "new/o.h5").code == 0)
    #expect(fedsim.names.contains("new/o.h5"))
    // The same words whatever the option is called.
    _ = try fedsim("run", "s.yaml", "-q", "-o", "r.h5")
    #expect(
      try fedsim("export", "r.h5", "--to", "nowhere/r.npz").error
        == "nowhere/r.npz: the folder nowhere does not exist; create it, or give another path\n"
        + "1 fault; nothing was written\n")
  }

  @Test("missing data are bad input; FEDSIM_DATA is searched")
  func data() throws {
    let fedsim = try Command()
    let source = [
      "--set",
      "task.data.source={idx: {trainImages: a, trainLabels: b, testImages: c, testLabels: d}}",
    ]
    let missing = try fedsim.run(
      ["run", "s.yaml"] + source, ["FEDSIM_DATA": "\(fedsim.folder)/one:\(fedsim.folder)/two"])
    #expect(missing.code == 2)
    #expect(missing.error.contains("task.data.source: a: not found in `.`, "))
    #expect(missing.error.contains("/one`, ") && missing.error.contains("/two` ("))
    #expect(fedsim.names == ["s.yaml"])
  }

  @Test("Ctrl-C ends a run with 130, no result, and a message that says how to resume it")
  func interrupt() throws {
    let fedsim = try Command()
    // A hundred years, so that it cannot be over too soon.
    let process = try fedsim.process(
      ["run", "s.yaml", "-o", "o.h5", "--set", "stop.after=36500 d", "--set", "fleet[0].count=4"])
    let error = Pipe()
    process.standardError = error
    try process.run()
    // The first line of progress says that the run is continuing.
    _ = error.fileHandleForReading.readData(ofLength: 1)
    process.interrupt()
    let rest = String(decoding: error.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationReason == .exit && process.terminationStatus == 130)
    #expect(
      rest.hasSuffix(
        "interrupted; no complete result was written; resume with: fedsim resume o.h5\n"))
    #expect(fedsim.names.contains("o.h5.run/run.json") && !fedsim.names.contains("o.h5"))
    let again = try fedsim("run", "s.yaml", "-o", "o.h5", "-q")
    #expect(again.code == 2 && again.error.contains("`fedsim resume o.h5`"))
  }
}
