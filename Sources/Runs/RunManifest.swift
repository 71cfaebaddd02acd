import FedSim
import Foundation
import Results
import Scenarios
import Schema

/// What an unfinished run is of, in its folder's `run.json`: all that is needed to resume it.
struct RunManifest: Codable, Equatable {
  /// The engine that began it.
  var engineVersion: String
  /// The resolved scenario.
  var scenario: String
  /// The scenario's file; paths in the scenario start in its folder.
  var scenarioFile: String
  /// The digests of scenario and data.
  var scenarioDigest: String
  var dataDigest: String
  /// The digests of further files, by the path that the scenario gives.
  var fileDigests: [String: String]
  /// What the command said that matters to the result.
  var shakeTies: UInt64?
  /// What it said of how the run is looked after.
  var audits: Bool
  var checkpointEvery: String?
  var publishEvery: String?
  /// The result's path as it was given, and the whole command.
  var output: String
  var commandLine: [String]
  /// When it began, by the wall's clock.
  var startedAt: String

  /// The bytes of the file.
  var bytes: [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(self) else {
      preconditionFailure("a card holds words only")
    }
    return Array(data) + [10]
  }

  /// What the bytes of a file say; nil: they are no manifest.
  init?(_ bytes: [UInt8]) {
    guard let manifest = try? JSONDecoder().decode(RunManifest.self, from: Data(bytes)) else {
      return nil
    }
    self = manifest
  }

  /// The manifest of a run.
  init(_ run: Run, dataDigest: String, startedAt: String) {
    engineVersion = FedSimVersion.current
    scenario = run.scenario.resolvedText
    scenarioFile = URL(fileURLWithPath: run.scenario.file).standardizedFileURL.path
    scenarioDigest = run.scenario.digest
    self.dataDigest = dataDigest
    fileDigests = NamedFiles.digests(of: run.scenario)
    shakeTies = run.options.shakeTies
    audits = run.options.audits
    checkpointEvery = run.safety.checkpoints.text
    publishEvery = run.safety.publishEvery?.text
    output = run.output
    commandLine = run.commandLine
    self.startedAt = startedAt
  }

  /// The scenario, read again.
  ///
  /// Throws: `RunFailure.input` where this engine cannot continue with the run.
  func readScenario(_ path: String, _ registry: Registry) throws(RunFailure) -> Scenario {
    guard engineVersion == FedSimVersion.current else {
      throw StoredRun.refusal(
        path,
        "this run was begun by FedSim \(engineVersion), and this is \(FedSimVersion.current): "
          + "resume"
          + " the run with the version that began it, or start again with `fedsim run … --restart`")
    }
    let scenario: Scenario
    do throws(Faults) {
      scenario = try Scenario(text: self.scenario, file: scenarioFile, registry: registry)
    } catch {
      throw .input(error.faults)
    }
    guard scenario.digest == scenarioDigest else {
      throw StoredRun.refusal(
        path, "the scenario in this file was changed since the run began")
    }
    return scenario
  }

  /// All that the run depends on, read again.
  ///
  /// Throws: `RunFailure.input` for files that are missing, wrong, or not as they were.
  func inputs(
    _ scenario: Scenario, _ options: RunOptions, _ path: String
  ) throws(RunFailure) -> SimulationInputs {
    let digests = NamedFiles.digests(of: scenario)
    for file in fileDigests.keys.sorted() where digests[file] != fileDigests[file] {
      throw StoredRun.refusal(
        scenario.path(of: file),
        "this file has changed since the run began; restore the file, or start again with "
          + "`fedsim run … --restart`")
    }
    let inputs: SimulationInputs
    do throws(Faults) { inputs = try scenario.inputs(options) } catch { throw .input(error.faults) }
    let digest = inputs.task.digest.hexDigits
    guard digest == dataDigest else {
      throw StoredRun.refusal(
        path,
        "the run's data have changed since the run began: their digest was "
          + "\(dataDigest) and is \(digest)")
    }
    return inputs
  }
}
