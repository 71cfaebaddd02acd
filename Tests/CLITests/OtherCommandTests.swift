import Foundation
import Testing

@Suite("fedsim validate, list and init")
struct OtherCommandTests {
  @Test("the resolved scenario is a scenario that resolves to itself and runs to the same bytes")
  func resolved() throws {
    let fedsim = try Command()
    let resolved = try fedsim("validate", "s.yaml", "--resolved", "--seed", "9")
    #expect(resolved.code == 0 && resolved.error == "")
    try fedsim.write(resolved.out, to: "r.yaml")
    #expect(try fedsim("validate", "r.yaml", "--resolved").out == resolved.out)
    #expect(try fedsim("validate", "r.yaml").out == "r.yaml: valid\n")
    _ = try fedsim("run", "s.yaml", "-q", "-o", "s.h5", "--seed", "9")
    _ = try fedsim("run", "r.yaml", "-q", "-o", "r.h5")
    #expect(try fedsim.areEqual("s.h5", "r.h5"))
  }

  @Test("the list names parts, for people and for programs, and the kernels of this processor")
  func list() throws {
    let fedsim = try Command()
    let page = try fedsim("list")
    #expect(page.code == 0)
    #expect(page.out.contains("  sample-weighted-mean: ") && page.out.contains("  baseline: "))
    let seam = try fedsim("list", "aggregation-trigger").out
    #expect(seam.contains("  threshold: ") && !seam.contains("sample-weighted-mean"))
    let policies = try fedsim("list", "policy")
    #expect(policies.code == 0 && policies.out.hasPrefix("policy: "))
    #expect(policies.out.contains("\n  fedbuff: ") && !policies.out.contains("  iphone: "))
    let profiles = try fedsim("list", "profile").out
    #expect(profiles.contains("\n  iphone: ") && !profiles.contains("fedbuff"))
    let result = try fedsim("list", "--json")
    let tree = try JSONSerialization.jsonObject(with: Data(result.out.utf8)) as? [String: Any]
    #expect(tree?["kernels"] != nil)
  }

  @Test("the JSON Schema takes one base or several, and what a base may supply is not required")
  func schemaOfBases() throws {
    let text = try Command()("schema").out
    let tree = try #require(
      try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    let properties = try #require(tree["properties"] as? [String: Any])
    let base = try #require(properties["base"] as? [String: Any])
    let kinds = (base["anyOf"] as? [[String: Any]])?.compactMap { $0["type"] as? String }
    #expect(kinds == ["string", "array"])
    #expect(tree["required"] == nil)
    let either = (tree["anyOf"] as? [[String: Any]])?.compactMap { $0["required"] as? [String] }
    #expect(either == [["base"], ["fleet"]])
  }

  @Test("a schema is written where init looks for it, and over nothing but a schema")
  func schemaFile() throws {
    let fedsim = try Command()
    let begun = try fedsim("init", "my.yaml")
    let name = "fedsim.schema.json"
    #expect(begun.out.contains("fedsim schema -o \(name)\n"), "\(begun.out)")
    let first = String(decoding: try fedsim.bytes("my.yaml"), as: UTF8.self)
      .split(separator: "\n").first
    #expect(first.map(String.init) == "# yaml-language-server: $schema=\(name)")
    #expect(try fedsim("schema", "-o", name).code == 0)
    let written = try fedsim.bytes(name)
    #expect(String(decoding: written, as: UTF8.self) == (try fedsim("schema").out))
    #expect(try fedsim("schema", "-o", name).code == 0)
    let refused = try fedsim("schema", "-o", "my.yaml")
    #expect(refused.code == 2 && refused.error.contains("my.yaml: holds something else"))
    #expect(try fedsim("schema", "-o", "nowhere/x.json").code == 2)
    #expect(fedsim.names == [name, "my.yaml", "s.yaml"])
  }

  @Test("--version --verbose names the build, libraries, processor and kernels")
  func verboseVersion() throws {
    let fedsim = try Command()
    let report = try fedsim("--version", "--verbose")
    let lines = report.out.split(separator: "\n").map(String.init)
    #expect(report.code == 0 && lines.count == 5)
    #expect(lines.first == "fedsim " + (try fedsim("--version").out.dropLast()))
    let patterns = [
      "build: (debug|release), Swift 6", "libraries: HDF5 1\\.", "processor: .+ in use",
      "kernels: ",
    ]
    for (line, pattern) in zip(lines.dropFirst(), patterns) {
      #expect(line.range(of: "^" + pattern, options: .regularExpression) != nil, "\(line)")
    }
    #expect(lines.last?.hasSuffix("baseline") == true)
  }

  @Test("a seam is found by a word that it alone has, and its JSON is of that seam alone")
  func seamByWord() throws {
    let fedsim = try Command()
    let whole = try fedsim("list", "client-selector")
    #expect(whole.code == 0 && whole.out.hasPrefix("client selector: "))
    #expect(try fedsim("list", "selector").out == whole.out)
    let two = try fedsim("list", "optimizer")
    #expect(two.code == 2)
    #expect(
      two.error
        == "there is no seam `optimizer`; did you mean `local optimizer` or `server optimizer`?\n")
    #expect(
      try fedsim("list", "agregator").error
        == "there is no seam `agregator`; did you mean `aggregator`?\n")
    func tree(_ seam: String) throws -> [String: [[String: Any]]] {
      let out = try fedsim("list", seam, "--json").out
      return try JSONSerialization.jsonObject(with: Data(out.utf8)) as? [String: [[String: Any]]]
        ?? [:]
    }
    let trigger = try tree("trigger")
    #expect(trigger.keys.sorted() == ["seams"])
    #expect(trigger["seams"]?.map { $0["name"] as? String } == ["aggregation trigger"])
    let profiles = try tree("profile")
    #expect(profiles.keys.sorted() == ["profiles"])
    #expect(profiles["profiles"]?.contains { $0["name"] as? String == "iphone" } == true)
    let help = try fedsim("help", "sweeep")
    #expect(help.code == 2 && help.error == "there is no command `sweeep`; did you mean `sweep`?\n")
    #expect(try fedsim("help", "sweep").code == 0 && fedsim("help").code == 0)
  }

  @Test("a starter scenario runs without any data file", arguments: ["phones", "synchronous"])
  func starters(template: String) throws {
    let fedsim = try Command()
    #expect(try fedsim("init", "my.yaml", "--template", template).code == 0)
    let text = String(decoding: try fedsim.bytes("my.yaml"), as: UTF8.self)
    #expect(text.hasPrefix("# "))
    let result = try fedsim("run", "my.yaml", "-q", environment: ["FEDSIM_DATA": "/nowhere"])
    #expect(result.code == 0, "\(result.error)")
    #expect(fedsim.names.contains("results/my.h5"))
  }

  @Test("the example has another name, is the starter with phones, and takes no template")
  func example() throws {
    let fedsim = try Command()
    let written = try fedsim("init", "--example")
    #expect(written.code == 0 && written.out.hasSuffix("run example.yaml\n"), "\(written.error)")
    #expect(try fedsim("init").code == 0)
    #expect(try fedsim.areEqual("example.yaml", "scenario.yaml"))
    let two = try fedsim("init", "two.yaml", "--example", "--template", "synchronous")
    #expect(two.code == 2 && two.error.contains("--example is a template, too"))
    #expect(fedsim.names == ["example.yaml", "s.yaml", "scenario.yaml"])
  }

  @Test("explain tells a device's story and exits with 2 for what it cannot tell")
  func explain() throws {
    let fedsim = try Command()
    #expect(try fedsim("run", "s.yaml", "-q", "-o", "r.h5").code == 0)
    let story = try fedsim("explain", "r.h5", "--device", "phones/1", "--round", "1")
    #expect(story.code == 0 && story.error == "")
    #expect(story.out.hasPrefix("Round 1 was open from 0 d 00:00:00 to "))
    let last = story.out.split(separator: "\n").last ?? ""
    #expect(last.hasPrefix("Cause: ") && last.hasSuffix("."))
    let whole = try fedsim("explain", "r.h5", "--device", "phones/1", "--json")
    let tree = try JSONSerialization.jsonObject(with: Data(whole.out.utf8)) as? [String: Any]
    #expect(tree?["device"] as? String == "phones/1" && tree?["cause"] is String)
    for arguments in [
      ["r.h5", "--device", "phone/1"], ["r.h5", "--device", "phones/4"],
      ["r.h5", "--device", "phones/1", "--round", "99999"], ["s.yaml", "--device", "phones/1"],
      ["none.h5", "--device", "phones/1"], ["r.h5"],
    ] {
      let result = try fedsim.run(["explain"] + arguments)
      #expect(result.code == 2 && result.out == "" && !result.error.isEmpty, "\(arguments)")
    }
  }

  @Test("a run without a version is complete, with a warning that says what never holds")
  func standstill() throws {
    let fedsim = try Command()
    let result = try fedsim(
      "run", "s.yaml", "-q", "--json", "-o", "r.h5", "--set", "fleet.phones.link={fixed: offline}")
    #expect(result.code == 0)
    #expect(
      result.error
        == "warning: no version was published: never online: 4 of 4 phones; no device could "
        + "ever contribute, so the run stopped early, at 0 d 00:00:00\n")
    let tree = try JSONSerialization.jsonObject(with: Data(result.out.utf8)) as? [String: Any]
    #expect((tree?["standstill"] as? [String])?.first == "never online: 4 of 4 phones")
  }

  @Test("a log of events that is full is reported, in the summary and as a warning")
  func missedEvents() throws {
    let fedsim = try Command()
    func run(_ limit: Int?, _ more: String...) throws -> Command.Result {
      let set = limit.map { ["--set", "record.eventLimit=\($0)"] } ?? []
      return try fedsim.run(
        ["run", "s.yaml", "-q", "-o", "r.h5", "--force", "--set", "record.events=true"] + set
          + more)
    }
    func events(_ result: Command.Result) throws -> [String: Int]? {
      let tree = try JSONSerialization.jsonObject(with: Data(result.out.utf8)) as? [String: Any]
      return tree?["storedEvents"] as? [String: Int]
    }
    let whole = try run(nil, "--json")
    let stored = try #require(try events(whole)?["stored"])
    #expect(try events(whole) == ["stored": stored, "missed": 0])
    #expect(whole.code == 0 && whole.error == "" && stored > 3 && stored < 1000)
    // A limit that is just reached misses nothing; one lower misses the last event.
    #expect(try events(run(stored, "--json")) == ["stored": stored, "missed": 0])
    let notice =
      "only the first \(stored - 1) events are stored, and 1 more did not fit (record.eventLimit)"
    let full = try run(stored - 1, "--json")
    #expect(full.code == 0 && full.error == "warning: \(notice)\n")
    #expect(try events(full) == ["stored": stored - 1, "missed": 1])
    let text = try run(stored - 1)
    #expect(text.out.contains("\n\(notice)\n") && text.error == "warning: \(notice)\n")
    let plain = try fedsim("run", "s.yaml", "-q", "--json", "-o", "r.h5", "--force")
    #expect(try events(plain) == nil)
  }

  @Test("help and version exit with 0")
  func help() throws {
    let fedsim = try Command()
    for arguments in [["--help"], ["run", "--help"], ["help", "run"], [], ["--version"]] {
      let result = try fedsim.run(arguments)
      #expect(result.code == 0 && !result.out.isEmpty, "\(arguments)")
    }
  }

  @Test(
    "bash completes commands, scenarios and results, each where it is taken",
    arguments: [
      (["ru"], ["run"]), (["run", "q"], ["quick.yaml"]), (["report", "q"], ["quest.h5"]),
      (["run", "quick.yaml", "--outp"], ["--output"]),
      (["run", "quick.yaml", "--output", "qui"], ["quick.yaml", "quiet.txt"]),
    ])
  func completion(_ words: [String], _ expected: [String]) throws {
    let fedsim = try Command()
    let made = try fedsim("--generate-completion-script", "bash")
    #expect(made.code == 0)
    try fedsim.write(made.out, to: "completion")
    for name in ["quick.yaml", "quiet.txt", "quest.h5"] { try fedsim.write("", to: name) }
    let line = (["fedsim"] + words).joined(separator: " ")
    let before = (["fedsim"] + words).dropLast().last!
    // What bash does when Tab is pressed; `compopt` may only be called by bash itself.
    let press = """
      source ./completion; compopt() { :; }
      COMP_WORDS=(\(line)); COMP_CWORD=\(words.count); COMP_LINE="\(line)"; COMP_POINT=\(line.count)
      _fedsim fedsim \(words.last!) \(before)
      printf '%s\\n' "${COMPREPLY[@]}" | sort
      """
    let process = try fedsim.process(["-c", press])
    process.executableURL = URL(fileURLWithPath: "/bin/bash")
    let out = Pipe()
    process.standardOutput = out
    try process.run()
    process.waitUntilExit(within: 60)
    let text = String(decoding: out.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    #expect(text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) } == expected)
  }
}
