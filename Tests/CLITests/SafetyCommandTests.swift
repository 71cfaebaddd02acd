import Foundation
import Testing

/// Runs that are killed, and commands that meet what they left.
@Suite("fedsim resume and recover")
struct SafetyCommandTests {
  /// A run that takes half a second or so.
  private static let long = ["s.yaml", "-o", "o.h5", "--set", "stop.after=250 d"]
  /// A run that does not end while a test looks at it.
  private static let endless = ["s.yaml", "-o", "o.h5", "--set", "stop.after=36500 d"]

  /// Starts a run, and lets it live until it has reported a version.
  private func begin(_ fedsim: Command, _ arguments: [String]) throws -> Process {
    let process = try fedsim.process(["run"] + arguments)
    let error = Pipe()
    process.standardError = error
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    var text = Data()
    while !String(decoding: text, as: UTF8.self).contains("  version 3 ") {
      let more = error.fileHandleForReading.availableData
      if more.isEmpty { break }
      text += more
    }
    // Nobody reads on; the run may not wait for that.
    DispatchQueue.global().async { _ = error.fileHandleForReading.readDataToEndOfFile() }
    return process
  }

  /// A run that was killed after some versions.
  private func killed(_ fedsim: Command, _ arguments: [String]) throws {
    let process = try begin(fedsim, arguments)
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    #expect(process.terminationReason == .uncaughtSignal)
  }

  @Test("a run that is killed resumes to the same bytes, and its folder is removed")
  func resume() throws {
    let fedsim = try Command()
    #expect(try fedsim.run(["run"] + Self.long + ["-q"]).code == 0)
    try FileManager.default.moveItem(
      atPath: fedsim.folder + "/o.h5", toPath: fedsim.folder + "/w.h5")
    try killed(fedsim, Self.long + ["--checkpoint-every", "20 rounds"])
    #expect(fedsim.names.contains("o.h5.run/run.json") && !fedsim.names.contains("o.h5"))
    let result = try fedsim("resume", "o.h5", "--threads", "2")
    #expect(result.code == 0, "\(result.error)")
    #expect(try fedsim.areEqual("o.h5", "w.h5"))
    #expect(!fedsim.names.contains { $0.hasPrefix("o.h5.run") })
    #expect(result.out.hasPrefix("s: central accuracy ") && !result.out.contains("next:"))
    let again = try fedsim("resume", "o.h5")
    #expect(again.code == 2)
    #expect(
      again.error.hasPrefix(
        "o.h5: there is no unfinished run of this file (o.h5.run): its run is complete\n"))
    let scenario = try fedsim("recover", "s.yaml")
    #expect(scenario.code == 2)
    #expect(
      scenario.error.hasPrefix(
        "s.yaml: there is no unfinished run of this file (s.yaml.run), which is not a result\n"))
  }

  @Test("two runs on one result: the second ends at once and names the first")
  func inUse() throws {
    let fedsim = try Command()
    let first = try begin(fedsim, Self.endless)
    defer {
      kill(first.processIdentifier, SIGKILL)
      first.waitUntilExit()
    }
    let text =
      "o.h5: process \(first.processIdentifier) is writing this result; wait for its end, or name"
      + " another file\n"
    for words in [["run"] + Self.endless, ["resume", "o.h5"], ["recover", "o.h5"]] {
      let result = try fedsim.run(words)
      #expect(result.code == 2 && result.error.hasPrefix(text), "\(words): \(result.error)")
    }
    let restart = try fedsim.run(["run"] + Self.endless + ["--restart"])
    #expect(restart.code == 2 && restart.error.hasPrefix(text))
    #expect(first.isRunning)
  }

  @Test("next to an unfinished run a run is refused, with the three ways out")
  func refusal() throws {
    let fedsim = try Command()
    try killed(fedsim, Self.endless)
    let refused = try fedsim("run", "s.yaml", "-o", "o.h5")
    #expect(refused.code == 2)
    #expect(refused.error.hasPrefix("o.h5: there is an unfinished run of 2"))
    for way in ["`fedsim resume o.h5`", "`fedsim recover o.h5`", "--restart"] {
      #expect(refused.error.contains(way))
    }
    #expect(fedsim.names.contains("o.h5.run/journal"))
    let restarted = try fedsim("run", "s.yaml", "-o", "o.h5", "-q", "--restart")
    #expect(restarted.code == 0, "\(restarted.error)")
    #expect(fedsim.names == ["o.h5", "o.h5.provenance.json", "s.yaml"])
    _ = try fedsim("run", "s.yaml", "-o", "p.h5", "-q")
    #expect(try fedsim.areEqual("o.h5", "p.h5"))
  }

  @Test("recover writes what there is and leaves the run as it was")
  func recover() throws {
    let fedsim = try Command()
    try killed(fedsim, Self.endless)
    let before = try fedsim.bytes("o.h5.run/journal")
    let result = try fedsim("recover", "o.h5", "--output", "r.h5", "--json")
    #expect(result.code == 0, "\(result.error)")
    struct Recovery: Decodable {
      var versions: Int
      var rounds: Int
      var reachedSeconds: Double
      var asOfSeconds: Double?
    }
    let found = try JSONDecoder().decode(Recovery.self, from: Data(result.out.utf8))
    // Versions from 0; the round of the last one may not have been closed yet.
    #expect(found.versions > 3 && found.rounds >= found.versions - 2 && found.reachedSeconds > 0)
    #expect(found.asOfSeconds == nil, "ten seconds had not passed")
    #expect(try fedsim.bytes("o.h5.run/journal") == before)
    let text = try fedsim("recover", "o.h5.run/")
    #expect(text.code == 0 && text.out.contains("incomplete; resume with: fedsim resume o.h5"))
    #expect(try fedsim.areEqual("o.h5", "r.h5"))
    let explained = try fedsim("explain", "r.h5", "--device", "phones/0")
    #expect(
      explained.code == 2 && explained.error.contains("this result is incomplete"),
      "\(explained.error)")
  }

  @Test("there is nothing to resume or recover, where nothing was begun")
  func nothing() throws {
    let fedsim = try Command()
    for word in ["resume", "recover"] {
      let result = try fedsim(word, "o.h5")
      #expect(result.code == 2)
      #expect(
        result.error.contains("there is neither a result nor an unfinished run (o.h5.run) here"))
    }
    #expect(fedsim.names == ["s.yaml"])
  }

  @Test("a run of another version, or on other data, is not resumed")
  func another() throws {
    let fedsim = try Command()
    try killed(fedsim, Self.endless)
    let manifest = String(decoding: try fedsim.bytes("o.h5.run/run.json"), as: UTF8.self)
    let digest = try #require(
      manifest.split(separator: "\n").first { $0.contains("\"dataDigest\"") }?.split(
        separator: "\""
      )
      .last { $0.count == 16 })
    try fedsim.write(
      manifest.replacing("\"engineVersion\" : \"", with: "\"engineVersion\" : \"9"),
      to: "o.h5.run/run.json")
    for word in ["resume", "recover"] {
      let result = try fedsim(word, "o.h5")
      #expect(result.code == 2 && result.error.contains("this run was begun by FedSim 9"))
    }
    try fedsim.write(
      manifest.replacing(digest, with: "00000000deadbeef"), to: "o.h5.run/run.json")
    for word in ["resume", "recover"] {
      let result = try fedsim(word, "o.h5")
      #expect(result.code == 2 && result.error.contains("the run's data have changed since"))
      #expect(result.error.contains("00000000deadbeef"))
    }
    try fedsim.write("{", to: "o.h5.run/run.json")
    let broken = try fedsim("resume", "o.h5")
    #expect(broken.code == 2 && broken.error.contains("this does not describe the run"))
  }

  @Test("the result so far is under the result's name, and the whole one takes its place")
  func publishing() throws {
    let fedsim = try Command()
    let first = try begin(fedsim, Self.endless + ["--publish-every", "20 ms"])
    for _ in 0..<400 where !fedsim.names.contains("o.h5") { usleep(25_000) }
    kill(first.processIdentifier, SIGKILL)
    first.waitUntilExit()
    #expect(fedsim.names.contains("o.h5"))
    let refused = try fedsim("explain", "o.h5", "--device", "phones/0")
    #expect(
      refused.code == 2 && refused.error.contains("this result is incomplete"), "\(refused.error)")
    _ = try fedsim.run(["run"] + Self.long + ["-q", "--restart", "--publish-every", "50 ms"])
    _ = try fedsim.run(["run"] + Self.long.map { $0 == "o.h5" ? "w.h5" : $0 } + ["-q"])
    #expect(try fedsim.areEqual("o.h5", "w.h5"))
  }

  @Test("a whole result is not replaced by the result so far")
  func publishingOverAWhole() throws {
    let fedsim = try Command()
    #expect(try fedsim("run", "s.yaml", "-q", "-o", "o.h5").code == 0)
    let bytes = try fedsim.bytes("o.h5")
    let refused = try fedsim("run", "s.yaml", "-q", "-o", "o.h5", "--publish-every", "1 ms")
    #expect(refused.code == 2 && refused.error.contains("a complete result of an earlier run"))
    #expect(try fedsim.bytes("o.h5") == bytes)
    #expect(fedsim.names == ["o.h5", "o.h5.provenance.json", "s.yaml"])
    // What is left of a result that was taken away is of no other.
    try FileManager.default.removeItem(atPath: fedsim.folder + "/o.h5")
    let first = try begin(fedsim, Self.endless + ["--publish-every", "20 ms"])
    for _ in 0..<400 where !fedsim.names.contains("o.h5") { usleep(25_000) }
    for _ in 0..<40 where fedsim.names.contains("o.h5.provenance.json") { usleep(25_000) }
    kill(first.processIdentifier, SIGKILL)
    first.waitUntilExit()
    #expect(fedsim.names.contains("o.h5") && !fedsim.names.contains("o.h5.provenance.json"))
  }

  @Test("a folder is no result, unless it is that of a run")
  func folders() throws {
    let fedsim = try Command()
    try FileManager.default.createDirectory(
      atPath: fedsim.folder + "/f", withIntermediateDirectories: false)
    for word in ["resume", "recover"] {
      for path in [".", "f", "f/", "/"] {
        let result = try fedsim(word, path)
        #expect(result.code == 2, "\(word) \(path)")
        #expect(result.error.contains("this is a folder; expected the result"), "\(result.error)")
      }
    }
    try killed(fedsim, Self.endless)
    let result = try fedsim("recover", "o.h5.run/.", "-o", "r.h5")
    #expect(result.code == 0, "\(result.error)")
  }

  @Test("how often is checked before anything is done")
  func options() throws {
    let fedsim = try Command()
    for wrong in ["soon", "3", "0 rounds", "-1 s", "2.5 rounds"] {
      let result = try fedsim("run", "s.yaml", "--checkpoint-every=\(wrong)")
      #expect(result.code == 2 && result.error.contains("--checkpoint-every: found `\(wrong)`"))
    }
    let result = try fedsim("run", "s.yaml", "--publish-every", "0")
    #expect(result.code == 2 && result.error.contains("--publish-every: found `0`"))
    #expect(fedsim.names == ["s.yaml"])
    for right in ["30 s", "5 rounds", "0", "10 ms"] {
      #expect(try fedsim("run", "s.yaml", "-q", "--checkpoint-every", right).code == 0)
    }
  }

  @Test("without a journal there is no folder and no way to resume")
  func noJournal() throws {
    let fedsim = try Command()
    let first = try begin(fedsim, Self.endless + ["--no-journal"])
    #expect(fedsim.names == ["s.yaml"])
    kill(first.processIdentifier, SIGKILL)
    first.waitUntilExit()
  }
}
