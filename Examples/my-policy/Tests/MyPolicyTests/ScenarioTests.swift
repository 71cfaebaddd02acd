import FedSim
import FedSimTesting
import Foundation
import MyPolicy
import Runs
import Scenarios
import Schema
import Testing

@Suite("The scenario with these parts")
struct ScenarioTests {
  private static let path = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../scenarios/olympic.yaml").standardized.path

  private func scenario(_ overrides: [String] = []) throws -> Scenario {
    try Scenario(contentsOf: Self.path, overrides: overrides, registry: .withMyPolicy)
  }

  @Test("it is played, twice the same")
  func plays() throws {
    var simulation = try scenario().makeSimulation()
    let invariants = Invariants()
    simulation.run(observers: [invariants])
    #expect(simulation.version > 5)
    #expect(invariants.broken == [])
    var again = try scenario().makeSimulation()
    again.run()
    #expect(again.eventDigest == simulation.eventDigest)
    #expect(again.model.values == simulation.model.values)
  }

  @Test("its policy keeps what every policy promises")
  func conformance() throws {
    let scenario = try scenario()
    #expect(Conformance().findings(ofPolicy: "olympic") { scenario.settings.server } == [])
  }

  @Test("what is misspelt or out of range is told as for any part")
  func faults() {
    func fault(_ override: String) -> String {
      do throws(Faults) {
        _ = try Scenario(
          contentsOf: Self.path, overrides: [override], registry: .withMyPolicy)
        return "no fault"
      } catch {
        return error.faults[0].message
      }
    }
    #expect(
      fault("server.aggregator=olimpic-mean")
        == "there is no aggregator `olimpic-mean`; did you mean `olympic-mean`?")
    #expect(
      fault("server.trigger={patient: {patiense: 1 h}}")
        == "unknown key `patiense`; did you mean `patience`?")
    #expect(
      fault("server.trigger={patient: {minimum: 9, updates: 8}}")
        == "`minimum` is above `updates`: it would never count")
  }
}

@Suite("The command with these parts")
struct CommandTests {
  /// Tests and the command are built into one folder.
  private static let command = URL(filePath: CommandLine.arguments[0])
    .deletingLastPathComponent().appending(path: "my-fedsim")

  private func run(_ arguments: [String]) throws -> (code: Int32, out: String, error: String) {
    let process = Process()
    process.executableURL = Self.command
    process.arguments = arguments
    process.currentDirectoryURL =
      URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../..").standardized
    let (out, error) = (Pipe(), Pipe())
    (process.standardOutput, process.standardError) = (out, error)
    try process.run()
    let texts = [out, error].map {
      String(decoding: $0.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    }
    process.waitUntilExit()
    return (process.terminationStatus, texts[0], texts[1])
  }

  @Test("it lists them, and validates the scenario")
  func lists() throws {
    #expect(try run(["list", "aggregator"]).out.contains("olympic-mean: Per parameter"))
    #expect(try run(["list"]).out.contains("patient: Aggregates many updates"))
    #expect(
      try run(["validate", "scenarios/olympic.yaml"]).out == "scenarios/olympic.yaml: valid\n")
  }

  @Test("a wrong word ends it with code 2, place and nearest word")
  func wrongWord() throws {
    let told = try run(
      ["validate", "scenarios/olympic.yaml", "--set", "server.aggregator=olympic-men"])
    #expect(told.code == 2)
    #expect(
      told.error.contains("there is no aggregator `olympic-men`; did you mean `olympic-mean`?"))
  }

  @Test("it runs the scenario into a result, and replays that")
  func result() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "my-policy-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let result = folder.appending(path: "olympic.h5").path
    let told = try run(
      ["run", "scenarios/olympic.yaml", "--set", "stop.after=1 d", "-o", result, "-q", "--audit"])
    #expect(told.code == 0, "\(told.error)")
    let replayed = try run(["replay", result])
    #expect(replayed.code == 0, "\(replayed.out)\(replayed.error)")
  }
}
