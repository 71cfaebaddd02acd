import FedSim
import Foundation
import Learning
import Results
import Scenarios
import Schema

/// One run of a scenario into a result file.
public struct Run {
  /// The scenario.
  public let scenario: Scenario
  /// How it is computed.
  public let options: RunOptions
  /// Where the result goes.
  public let output: String
  /// The command that asked for it, for the provenance.
  public let commandLine: [String]

  /// A run of a scenario into a file; nothing is read or written yet.
  public init(
    _ scenario: Scenario, output: String, options: RunOptions = RunOptions(),
    commandLine: [String] = CommandLine.arguments
  ) {
    self.scenario = scenario
    self.options = options
    self.output = output
    self.commandLine = commandLine
  }

  /// Plays the run and writes its result, with the provenance beside it.
  ///
  /// Order: everything wrong is found before the run begins, and before any file is made.
  /// Throws: `RunFailure`; then no result is there.
  public func perform(observers: [any Observer] = []) throws(RunFailure) -> RunSummary {
    let started = Date()
    let clock = ContinuousClock()
    let begin = clock.now
    var simulation = try prepareSimulation()
    let file = try Run.output { () throws(ResultFault) in try ResultFile.prepare(output) }
    let modelFiles = try prepareModelFiles()
    let recorder = RunRecorder()
    simulation.run(observers: [recorder] + (modelFiles.map { [$0] } ?? []) + observers)
    if let fault = modelFiles?.fault { throw .failed("the model files: \(fault)") }
    var summary = RunSummary(
      simulation, recorder, scenario: scenario.settings.name ?? "", result: output)
    do throws(ResultFault) {
      summary.contentDigest = try file.write(recorder.document(simulation, of: scenario))
      let wall = clock.now - begin
      summary.wallSeconds =
        Double(wall.components.seconds) + Double(wall.components.attoseconds) * 1e-18
      try provenance(started, summary, simulation).write(beside: output)
    } catch {
      throw .failed("the result cannot be written: \(error)")
    }
    return summary
  }

  private func prepareSimulation() throws(RunFailure) -> Simulation {
    do throws(Faults) {
      return try scenario.makeSimulation(options)
    } catch {
      throw .input(error.faults)
    }
  }

  private func prepareModelFiles() throws(RunFailure) -> ModelFiles? {
    guard let folder = scenario.settings.record.modelFiles else { return nil }
    let beside = output.lastIndex(of: "/").map { String(output[...$0]) } ?? ""
    let path = folder.hasPrefix("/") ? folder : beside + folder
    return try Run.output { () throws(ResultFault) in try ModelFiles(folder: path) }
  }

  private static func output<Value>(
    _ body: () throws(ResultFault) -> Value
  ) throws(RunFailure) -> Value {
    do throws(ResultFault) { return try body() } catch { throw .output(error) }
  }

  private func provenance(
    _ started: Date, _ summary: RunSummary, _ simulation: Simulation
  ) -> Provenance {
    Provenance(
      host: ProcessInfo.processInfo.hostName, startedAt: started.formatted(.iso8601),
      wallSeconds: summary.wallSeconds, commandLine: commandLine, threads: options.threads,
      kernels: simulation.inputs.kernels.body.rawValue,
      versions: ["FedSim": FedSimVersion.current, "HDF5": ResultFile.libraryVersion],
      contentDigest: summary.contentDigest)
  }
}
