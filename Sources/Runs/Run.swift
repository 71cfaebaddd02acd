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
  /// Where the times of its rounds go, as JSON; nil: nowhere.
  public let timings: String?
  /// The command that asked for it, for the provenance.
  public let commandLine: [String]
  private let makesFolder: Bool

  /// A run of a scenario into a file; nothing is read or written yet.
  ///
  /// Without an output it is `results/NAME.h5`; only that folder is made if it is not there.
  public init(
    _ scenario: Scenario, output: String? = nil, options: RunOptions = RunOptions(),
    timings: String? = nil, commandLine: [String] = CommandLine.arguments
  ) {
    let name = (scenario.settings.name ?? "scenario").replacing("/", with: "-")
    self.scenario = scenario
    self.options = options
    self.output = output ?? "results/\(name).h5"
    self.timings = timings
    self.commandLine = commandLine
    makesFolder = output == nil
  }

  /// Plays the run and writes its result, with the provenance beside it.
  ///
  /// Order: everything wrong is found before the run begins, and before any file is made.
  /// Throws: `RunFailure`; unless model files or the provenance failed, no result is there then.
  public func perform(
    observers: [any Observer] = [], gate: RunGate = RunGate()
  ) throws(RunFailure) -> RunSummary {
    let began = (date: Date(), clock: ContinuousClock.now)
    var simulation = try prepareSimulation()
    let file = try prepareOutput()
    let modelFiles = try prepareModelFiles(gate)
    let timings = try prepareTimings()
    let recorder = RunRecorder()
    let invariants = options.audits ? Invariants() : nil
    let own: [any Observer] =
      [recorder] + (modelFiles.map { [$0] } ?? []) + (timings.map { [$0.times] } ?? [])
      + (invariants.map { [$0] } ?? [])
    simulation.run(observers: own + observers)
    let document = recorder.document(simulation, of: scenario)
    var summary = RunSummary(simulation, recorder, of: scenario, result: output)
    summary.holdTo(scenario, RunFacts(simulation, recorder))
    summary.audit = invariants.map {
      RunSummary.Audit(looks: $0.looks, recounts: $0.audits, broken: $0.broken)
    }
    do throws(ResultFault) {
      try gate.pass(isLast: true) { () throws(ResultFault) in
        summary.contentDigest = try file.write(document)
        let wall = (ContinuousClock.now - began.clock).components
        summary.wallSeconds = Double(wall.seconds) + Double(wall.attoseconds) * 1e-18
        try provenance(began.date, summary, simulation).write(beside: output)
      }
    } catch {
      throw .failed("the result cannot be written: \(error)")
    }
    if let timings {
      do throws(ResultFault) {
        let kernels = simulation.inputs.kernels.body.rawValue
        try timings.file.place(timings.times.json(threads: options.threads, kernels: kernels))
      } catch {
        throw .failed("\(output) is written, but not the timings: \(error)")
      }
    }
    if let fault = modelFiles?.fault {
      throw .failed("\(output) is written, but not all model files: \(fault)")
    }
    return summary
  }

  private func prepareOutput() throws(RunFailure) -> ResultFile {
    if makesFolder {
      // A failure shows when the file is prepared.
      try? FileManager.default.createDirectory(
        atPath: "results", withIntermediateDirectories: false)
    }
    return try Run.output { () throws(ResultFault) in try ResultFile.prepare(output) }
  }

  private func prepareSimulation() throws(RunFailure) -> Simulation {
    do throws(Faults) {
      return try scenario.makeSimulation(options)
    } catch {
      throw .input(error.faults)
    }
  }

  private func prepareModelFiles(_ gate: RunGate) throws(RunFailure) -> ModelFiles? {
    guard let folder = scenario.settings.record.modelFiles else { return nil }
    let beside = output.lastIndex(of: "/").map { String(output[...$0]) } ?? ""
    let path = folder.hasPrefix("/") ? folder : beside + folder
    return try Run.output { () throws(ResultFault) in try ModelFiles(folder: path, gate: gate) }
  }

  private func prepareTimings() throws(RunFailure) -> (file: PlacedFile, times: RoundTimes)? {
    guard let timings else { return nil }
    return (try Run.output { () throws(ResultFault) in try PlacedFile(timings) }, RoundTimes())
  }

  private static func output<Value>(
    _ body: () throws(ResultFault) -> Value
  ) throws(RunFailure) -> Value {
    do throws(ResultFault) { return try body() } catch { throw .output(error) }
  }

  /// The machine's own name for itself, without a question to any other.
  private static var hostName: String {
    var name = [CChar](repeating: 0, count: 256)
    guard gethostname(&name, name.count - 1) == 0 else { return "" }
    return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  private func provenance(
    _ started: Date, _ summary: RunSummary, _ simulation: Simulation
  ) -> Provenance {
    Provenance(
      host: Self.hostName, startedAt: started.formatted(.iso8601),
      wallSeconds: summary.wallSeconds, commandLine: commandLine, threads: options.threads,
      kernels: simulation.inputs.kernels.body.rawValue,
      versions: ["FedSim": FedSimVersion.current, "HDF5": ResultFile.libraryVersion],
      contentDigest: summary.contentDigest,
      scenario: URL(fileURLWithPath: scenario.file).standardizedFileURL.path)
  }
}
