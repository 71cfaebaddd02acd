import Foundation
import Testing

/// What `fedsim run` tells and takes where another program drives it.
@Suite struct ProgressLinesTests {
  /// The lines of JSON on standard error.
  private func lines(_ error: String) throws -> [[String: Any]] {
    try error.split(separator: "\n").map { line in
      try #require(
        JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any], "\(line)")
    }
  }

  @Test("--progress json has a line of JSON for each version, and changes no byte of the result")
  func versions() throws {
    let fedsim = try Command()
    let result = try fedsim("run", "s.yaml", "-o", "a.h5", "--json", "--progress", "json")
    #expect(result.code == 0, "\(result.error)")
    let lines = try lines(result.error)
    let versions = lines.filter { $0["kind"] as? String == "version" }
    let summary = try #require(
      JSONSerialization.jsonObject(with: Data(result.out.utf8)) as? [String: Any])
    let last = try #require(summary["version"] as? Int)
    #expect(versions.compactMap { $0["version"] as? Int } == Array(0...last))
    #expect(versions.last?["centralAccuracy"] as? Double == summary["accuracy"] as? Double)
    // Version 0 has no trainings, so no loss; the others are of two updates.
    #expect(versions[0]["trainingLoss"] is NSNull)
    #expect(versions.dropFirst().allSatisfy { $0["updates"] as? Int == 2 })
    #expect(lines.contains { $0["kind"] as? String == "status" && $0["share"] is Double })
    #expect(try fedsim("run", "s.yaml", "-o", "b.h5", "-q").code == 0)
    #expect(try fedsim.areEqual("a.h5", "b.h5"))
    let both = try fedsim("run", "s.yaml", "-q", "--progress", "json")
    #expect(both.code == 2 && both.error.contains("expected one of them"))
  }

  @Test("a scenario comes on standard input; its faults have its lines, its paths start here")
  func standardInput() throws {
    let fedsim = try Command()
    func run(_ text: String, _ words: String...) throws -> (code: Int32, error: String) {
      try fedsim.write(text, to: "in.yaml")
      let process = try fedsim.process(words)
      process.standardInput = FileHandle(forReadingAtPath: "\(fedsim.folder)/in.yaml")
      let error = Pipe()
      process.standardError = error
      process.standardOutput = FileHandle.nullDevice
      try process.run()
      let text = String(decoding: error.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      process.waitUntilExit()
      return (process.terminationStatus, text)
    }
    let whole = try run(Command.scenario, "run", "-", "-q", "--set", "name=s")
    #expect(whole.code == 0, "\(whole.error)")
    #expect(try fedsim("run", "s.yaml", "-q", "-o", "b.h5").code == 0)
    #expect(try fedsim.areEqual("results/s.h5", "b.h5"))
    let wrong = try run("stop: {after: 12 h}\nserver: {trigger: {treshold: 2}}\n", "validate", "-")
    #expect(wrong.code == 2)
    #expect(wrong.error.contains("stdin:2:20: server.trigger: there is no"), "\(wrong.error)")
    try fedsim.write(Command.scenario, to: "base.yaml")
    let based = try run("base: base.yaml\nname: t\n", "run", "-", "-q")
    #expect(based.code == 0, "\(based.error)")
    #expect(fedsim.names.contains("results/t.h5"))
  }
}
