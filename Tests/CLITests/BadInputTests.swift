import Foundation
import Testing

@Suite("Bad input to the command")
struct BadInputTests {
  private static let broken = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("../ScenariosTests/Fixtures/broken").standardized.path

  private static let files: [String] = {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: broken)) ?? []
    return names.filter { $0.hasSuffix(".yaml") }.sorted()
  }()

  @Test("every broken scenario exits with 2, says where, and leaves no file")
  func brokenScenarios() throws {
    try #require(Self.files.count >= 30)
    let fedsim = try Command()
    for name in Self.files {
      let path = "\(Self.broken)/\(name)"
      let text = String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self)
      let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
      let overrides = lines.filter { $0.hasPrefix("# override: ") }.flatMap {
        ["--set", String($0.dropFirst("# override: ".count))]
      }
      let count = lines.count { $0.hasPrefix("# expect: ") }
      let result = try fedsim.run(["run", path, "-o", "o.h5"] + overrides)
      #expect(result.code == 2, "\(name)")
      #expect(result.out == "", "\(name)")
      // A line with two blanks in front continues the one before.
      let found = result.error.split(separator: "\n").filter { !$0.hasPrefix("  ") }
      #expect(found.count == count + 1, "\(name): a line a fault, and their number")
      #expect(
        found.last
          == (count == 1 ? "1 fault; nothing was run" : "\(count) faults; nothing was run"),
        "\(name)")
    }
    #expect(fedsim.names == ["s.yaml"])
  }

  @Test("of many faults the first twenty are printed, with their number")
  func many() throws {
    let fedsim = try Command()
    let keys = (1...5000).map { "unheardOf\($0): 1" }.joined(separator: "\n")
    try fedsim.write(Command.scenario + "\n" + keys + "\n", to: "many.yaml")
    let result = try fedsim("validate", "many.yaml")
    let lines = result.error.split(separator: "\n")
    #expect(result.code == 2 && lines.count == 21)
    #expect(lines.last == "5000 faults, the first 20 are shown; nothing was run")
  }

  @Test("a threshold that the fleet can never reach, and a run that diverges, are warned of")
  func warnings() throws {
    let fedsim = try Command()
    let never = ["s.yaml", "--set", "server.trigger={threshold: 5000}"]
    for command in [["validate"], ["run", "-q", "-o", "n.h5"]] {
      let result = try fedsim.run(command + never)
      #expect(result.code == 0)
      #expect(
        result.error.hasPrefix(
          "warning: no version will be published: `server.trigger.threshold` waits for 5000 updates"
        ),
        "\(result.error)")
    }
    // A buffer, and the greatest need of several triggers that all have to agree.
    for (trigger, words) in [
      ("[{buffer: 500}]", "`server.trigger.buffer` waits for 500 updates"),
      ("[{all: {of: [{threshold: 400}, {every: 1 h}]}}]", "`server.trigger.all` waits for 400"),
    ] {
      let given = ["--set", "server.trigger=\(trigger)"]
      let result = try fedsim.run(["validate", "s.yaml"] + given)
      #expect(result.error.contains(words), "\(result.error)")
    }
    let open = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../scenarios/smoke/open.yaml").standardized.path
    let diverged = try fedsim(
      "run", open, "-q", "-o", "d.h5", "--set", "task.training.optimizer={sgd: 1e9}")
    #expect(diverged.code == 0)
    #expect(diverged.error.contains("warning: the training diverged: "), "\(diverged.error)")
    let json = try fedsim(
      "run", open, "-q", "--json", "-o", "d.h5", "--set", "task.training.optimizer={sgd: 1e9}")
    #expect(json.out.contains("\"the training diverged: "), "\(json.out)")
  }

  @Test("a result in a scenario's place is named as what it is")
  func result() throws {
    let fedsim = try Command()
    #expect(try fedsim("run", "s.yaml", "-q", "-o", "r.h5").code == 0)
    let again = try fedsim("run", "r.h5")
    #expect(again.code == 2)
    #expect(again.error.contains("this is a result, not a scenario"), "\(again.error)")
  }

  @Test("control characters of a file are escaped in messages")
  func controls() throws {
    let fedsim = try Command()
    try fedsim.write(
      "\"na\\e[31mme\": x\n\"be\\x07ll\": 1\n\"c1\\x9b\": 2\n", to: "raw.yaml")
    let result = try fedsim("validate", "raw.yaml")
    #expect(result.code == 2)
    for escaped in ["na\\x1b[31mme", "be\\x07ll", "c1\\u{9b}"] {
      #expect(result.error.contains(escaped), "\(result.error)")
    }
    #expect(
      result.error.unicodeScalars.allSatisfy {
        $0 == "\n" || $0.properties.generalCategory != .control
      })
  }

  @Test(
    "arguments that are wrong exit with 2 and name the nearest right word",
    arguments: [
      (["rnu", "s.yaml"], "there is no command `rnu`; did you mean `run`?"),
      (["run", "s.yaml", "--thread", "2"], "Did you mean '--threads'?"),
      (["run"], "Missing expected argument '<file>'"),
      (["run", "s.yaml", "--threads", "0"], "expected a number from 1 to 1024"),
      (["run", "s.yaml", "--kernels", "avx"], "'avx512', 'avx2' or 'baseline'"),
      (["run", "s.yaml", "--seed", "-1"], "'-1' is invalid for '--seed <seed>'"),
      (
        ["run", "s.yaml", "--seed", "-1"], "expected a whole number from 0 to 18446744073709551615"
      ),
      (["run", "s.yaml", "--shake-ties", "-1"], "expected a whole number from 0 to"),
      (["run", "s.yaml", "--publish-every", "-1"], "--publish-every: found `-1`, expected a time"),
      (
        ["run", "s.yaml", "--checkpoint-every", "-5"],
        "--checkpoint-every: found `-5`, expected a time such as `30 s`, a number of rounds"
      ),
      (["run", "s.yaml", "--threads", "-1"], "--threads: found -1, expected a number from 1"),
      (["check", "s.yaml", "--jobs", "-1"], "--jobs: found -1, expected a number from 1"),
      (["stress", "s.yaml", "--for", "-1 s"], "--for: found -1 s, expected a duration"),
      (["sweep", "s.yaml", "--retries", "-1"], "--retries: found -1, expected a number from 0"),
      (["trace", "s.yaml", "-o", "t", "--days", "-1"], "--days: found -1, expected a number from"),
      (["report", "s.yaml"], "not a result of FedSim, but a scenario: `fedsim run` plays it"),
      (["compare", "s.yaml", "s.yaml"], "but a scenario: `fedsim run` plays it"),
      (["replay", "s.yaml"], "but a scenario: `fedsim run` plays it and writes its result"),
      (["replay", "nix.zip"], "expected the result of a run, or a bundle of one"),
      (["replay", "."], "not a result of FedSim, but a folder"),
      (["run", "s.yaml", "--seed", "one"], "'one' is invalid for '--seed <seed>'"),
      (["run", "s.yaml", "--set", "server.trigger.treshold=3"], "did you mean `threshold`?"),
      (["run", "none.yaml"], "none.yaml: cannot read `none.yaml`: No such file or directory"),
      (["list", "agregator"], "there is no seam `agregator`; did you mean `aggregator`?"),
      (["list", "polices"], "there is no seam `polices`; did you mean `policy`?"),
      (["list", "csv"], "`csv` is no seam, and is listed by `fedsim list data-source`"),
      (["list", "fedbuff"], "`fedbuff` is no seam, and is listed by `fedsim list policy`"),
      (["list", "fedbuf"], "there is no seam `fedbuf`; did you mean `fedbuff`?"),
      (["init", "s.yaml"], "s.yaml: already exists"),
      (["s.yaml"], "a scenario is played by: fedsim run s.yaml"),
      (["r.h5"], "a result is shown by: fedsim report r.h5"),
      (
        ["run", "s.yaml", "--rounds", "5"],
        "--rounds: here that is, for example, `--set 'stop.rounds=20'`"
      ),
      (["validate", "s.yaml", "--set", "fleet=[]"], "fleet: "),
    ])
  func arguments(arguments: [String], message: String) throws {
    let fedsim = try Command()
    let result = try fedsim.run(arguments)
    #expect(result.code == 2)
    #expect(result.error.contains(message), "\(result.error)")
    #expect(result.out == "" && fedsim.names == ["s.yaml"])
  }
}
