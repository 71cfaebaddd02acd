import Foundation
import Testing

/// `fedsim stress` as processes.
@Suite struct StressCommandTests {
  /// Phones need two updates a version; how many versions there are says nothing about a policy, so
  /// the claim is one that many worlds break.
  private static let section = """
    stress:
      vary:
        server.trigger.threshold: {from: 1, to: 4, integer: true}
        fleet.phones.count: [4, 2, 1]
        fleet.phones.background.processing.earliestBegin: [1 h, 30 min]
      expect: [{attempt.finished: {atMost: 48}, versions: {atLeast: 0}}]

    """

  private func command(_ section: String = Self.section) throws -> Command {
    let command = try Command()
    try command.write(Command.scenario + section, to: "w.yaml")
    return command
  }

  @Test("the world that breaks a claim is written, and the same for 1 and 2 workers")
  func broken() throws {
    let command = try command()
    let base = try command("stress", "w.yaml", "--seeds", "1", "--quiet")
    #expect(base.code == 0, "\(base.out) \(base.error)")
    var files: [Data] = []
    for jobs in ["1", "2"] {
      try FileManager.default.createDirectory(
        atPath: "\(command.folder)/out\(jobs)", withIntermediateDirectories: false)
      let result = try command(
        "stress", "w.yaml", "--seeds", "20", "--jobs", jobs, "--output", "out\(jobs)")
      #expect(result.code == 1, "\(result.out) \(result.error)")
      #expect(result.out.hasPrefix("broken: attempt.finished at the end: at most 48: found "))
      #expect(result.out.contains("fedsim run out\(jobs)/w.stress-1.yaml --audit"))
      #expect(result.error.hasPrefix("world "))
      files.append(try command.bytes("out\(jobs)/w.stress-1.yaml"))
    }
    #expect(files[0] == files[1])
    let lines = String(decoding: files[0], as: UTF8.self).split(separator: "\n")
    #expect(lines.count <= 30)
    let run = try command("run", "out1/w.stress-1.yaml", "--audit", "-o", "r.h5", "-q")
    #expect(run.code == 1)
    #expect(run.error.contains("assertions: 1 of 1 broken"), "\(run.error)")
    let again = try command(
      "stress", "w.yaml", "--seeds", "20", "--output", "out1", "--quiet")
    #expect(again.code == 1)
    #expect(!command.names.contains("out1/w.stress-2.yaml"), "already exists")
  }

  @Test("without a section the built-in changes break nothing, and claims are left alone")
  func builtIn() throws {
    let command = try command("expect: [{attempt.opened: 1}]\n")
    let result = try command("stress", "w.yaml", "--seeds", "24")
    #expect(result.code == 0, "\(result.out) \(result.error)")
    #expect(result.out.hasPrefix("24 worlds in "), "\(result.out)")
    #expect(
      result.error
        == "note: worlds are checked against assertions only if `stress` says what to vary\n")
    #expect(result.out.hasSuffix(": nothing broken\n"))
    let before = command.names
    let dry = try command("stress", "w.yaml", "--dry-run", "-q")
    #expect(dry.code == 0)
    #expect(dry.out.split(separator: "\n").contains("fleet[0].outbox.capacity"))
    #expect(command.names == before)
  }

  @Test("digests show the outcome of each world, failing or not, and of one that changes alone")
  func digests() throws {
    let command = try command()
    func lines(_ options: String...) throws -> [String] {
      let result = try command.run(["stress", "w.yaml", "--digests", "d.txt", "-q"] + options)
      #expect(result.code == 0, "\(result.out) \(result.error)")
      let text = String(decoding: try command.bytes("d.txt"), as: UTF8.self)
      return text.split(separator: "\n").map(String.init)
    }
    let all = try lines("--seeds", "20", "--jobs", "2")
    #expect(all.count == 20)
    for (number, line) in all.enumerated() {
      let words = line.split(separator: " ")
      #expect(words.first == "\(number)" && words.count == 5, "\(line)")
      #expect(words.dropFirst().allSatisfy { $0.count == 16 }, "\(line)")
    }
    #expect(try lines("--seeds", "5", "--jobs", "1") == Array(all.prefix(5)))
    let shaken = try lines("--seeds", "5", "--shake-ties", "1")
    #expect(shaken[0] != all[0] && shaken.dropFirst() == all[1..<5])
    #expect(!command.names.contains { $0.contains("stress-1") }, "claims are not looked at")

    for number in [0, 3] {
      let world = try command("stress", "w.yaml", "--world", "\(number)")
      #expect(world.code == 0 && !world.out.hasPrefix("# --shake-ties"), "\(world.error)")
      try command.write(world.out, to: "world.yaml")
      let run = try command("run", "world.yaml", "-o", "r.h5", "-q", "--json", "--force")
      #expect(run.out.contains(all[number].split(separator: " ")[2]), "the digest of its events")
    }
  }

  @Test("bad input is reported, and nothing is played")
  func badInput() throws {
    let command = try command("stress: {vary: {server.trigger.treshold: [1]}}\n")
    let result = try command("stress", "w.yaml")
    #expect(result.code == 2)
    #expect(result.error.contains("did you mean `threshold`?"), "\(result.error)")
    #expect(try command("validate", "w.yaml").code == 2)
    for option in [
      ["--seeds", "0"], ["--for", "10"], ["--jobs", "0"], ["--failures", "0"],
      ["--timeout", "soon"], ["--output", "nowhere"], ["--digests", "nowhere/d.txt"],
      ["--digests", "d.txt", "--for", "1min"],
    ] {
      let code = try command.run(["stress", "s.yaml", "--seeds", "2"] + option).code
      #expect(code == 2, "\(option)")
    }
  }
}
