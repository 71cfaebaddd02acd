import FedSim
import Foundation
import Learning
import PythonParts
import Results
import Scenarios
import Schema

/// One run of a scenario into a result file.
public struct Run {
  /// The resolved scenario that is played.
  public let scenario: Scenario
  /// How it is computed.
  public let options: RunOptions
  /// Where the result goes.
  public let output: String
  /// Where the times of its rounds go, as JSON; nil: nowhere.
  public let timings: String?
  /// The command that asked for it, for the provenance.
  public let commandLine: [String]
  /// How it is kept while it lives.
  public var safety = RunSafety()
  /// What is resumed; nil: it begins again.
  let unfinished: UnfinishedRun?

  /// A run of a scenario into a file; nothing is read or written yet.
  ///
  /// Without an output it is `results/NAME.h5`. The folder `results` is made if it is not there, no
  /// other.
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
    unfinished = nil
  }

  /// Resumption of a run that was interrupted, into its own result.
  init(_ unfinished: UnfinishedRun, output: String, options: RunOptions) {
    scenario = unfinished.scenario
    self.options = options
    self.output = output
    timings = nil
    commandLine = unfinished.manifest.commandLine
    self.unfinished = unfinished
  }

  /// Plays the run and writes its result, with the provenance next to it.
  ///
  /// Order: everything wrong is found before the run begins, and before any file is made. Whether
  /// the folder takes files is not tried where `safety` says that it has taken one. `tell` is sent
  /// what the user should know meanwhile.
  /// Throws: `RunFailure`; unless model files or timings failed, no result is there then, and what
  /// was begun can be resumed.
  public func perform(
    observers: [any Observer] = [], gate: RunGate = RunGate(),
    tell: (String) -> Void = { _ in }
  ) throws(RunFailure) -> RunSummary {
    try perform(observers: observers, gate: gate, tell: tell) { _ in }
  }

  /// The same; `written` is given what the result holds, once it is in its place.
  package func perform(
    observers: [any Observer] = [], gate: RunGate, tell: (String) -> Void = { _ in },
    written: (ResultDocument) -> Void
  ) throws(RunFailure) -> RunSummary {
    let began = (date: Date(), clock: ContinuousClock.now)
    let inputs = try readInputs()
    (inputs.executor as? TrainingWorkers)?.lastResort.arrange { reason in Self.end(gate, reason) }
    PolicyCode.lastResort.arrange { reason in Self.end(gate, reason) }
    let trainer = inputs.task.network.foreign as? PythonTrainer
    trainer?.lastResort.arrange { reason in Self.end(gate, reason) }
    let program = inputs.program as? FlowerProgram
    program?.lastResort.arrange { reason in
      Self.end(gate, reason, "what was played: fedsim recover")
    }
    let file: ResultFile
    let modelFiles: ModelFiles?
    let timings: (file: PlacedFile, times: RoundTimes)?
    let start = began.date.formatted(.iso8601)
    var play: Play
    do throws(RunFailure) {
      file = try prepareOutput()
      if unfinished == nil, !safety.replacesOthers {
        try StandingResult.refuseOther(
          output, than: scenario, inputs, discardsUnfinished: safety.restarts)
      }
      modelFiles = try prepareModelFiles(gate)
      timings = try prepareTimings()
      play = try begin(inputs, file, gate, (start, began.clock), tell)
    } catch {
      RankTalk.start(options.ranks, false)
      throw error
    }
    RankTalk.start(options.ranks, true)
    let own: [any Observer] =
      [play.recorder] + (play.persistence.map { [$0] } ?? []) + (modelFiles.map { [$0] } ?? [])
      + (timings.map { [$0.times] } ?? []) + (play.invariants.map { [$0] } ?? [])
    let told = play.persistence.map { persistence in
      observers.map { JournaledObserver($0, of: persistence) }
    }
    let simulation = try self.play(&play, own + (told ?? observers))
    try RankTalk.end(options.ranks, simulation)
    var document = play.recorder.document(simulation, of: scenario)
    var summary = RunSummary(simulation, play.recorder, of: scenario, result: output)
    summary.trainerWarnings = trainer?.warnings ?? []
    summary.warnings += summary.trainerWarnings
    summary.holdTo(scenario, RunFacts(simulation, play.recorder))
    summary.audit = play.invariants.map {
      RunSummary.Audit(looks: $0.looks, recounts: $0.audits, broken: $0.broken)
    }
    do throws(ResultFault) {
      try gate.pass(isLast: true) { () throws(ResultFault) in
        summary.contentDigest = try file.write(
          document, through: play.persistence?.gatheringPath(of: .result))
        summary.wallSeconds = play.persistence?.wallSeconds ?? Self.seconds(since: began.clock)
        try provenance(unfinished?.manifest.startedAt ?? start, summary, simulation)
          .write(
            beside: output, through: play.persistence?.gatheringPath(of: .provenance),
            calls: safety.calls)
      }
    } catch {
      throw withdraw(file, error, isKept: play.persistence?.gatheringPath(of: .result) != nil)
    }
    play.persistence?.end(tell)
    try finish(timings, modelFiles, simulation)
    document.keep(digest: summary.contentDigest)
    written(document)
    return summary
  }

  /// Ends the process where a training cannot be computed, at a moment at which no file is half
  /// written.
  private static func end(
    _ gate: RunGate, _ reason: String, _ advice: String = "resume with: fedsim resume"
  ) -> Never {
    _ = gate.close()
    let advice = gate.resumable.map { "; \(advice) \($0)" } ?? ""
    try? FileHandle.standardError.write(contentsOf: Data("\(reason)\(advice)\n".utf8))
    _exit(3)
  }

  private static func seconds(since began: ContinuousClock.Instant) -> Double {
    let span = (ContinuousClock.now - began).components
    return Double(span.seconds) + Double(span.attoseconds) * 1e-18
  }

  /// Plays to the end.
  private func play(
    _ play: inout Play, _ observers: [any Observer]
  ) throws(RunFailure) -> Simulation {
    let persistence = play.persistence
    // Nobody else may have it, or all that changes is there twice.
    guard var simulation = play.simulation.take() else { preconditionFailure("played once") }
    do throws(RunFailure) {
      try simulation.run(observers: observers) { simulation throws(RunFailure) in
        try persistence?.look(simulation)
      }
      if let failure = persistence?.failure { throw failure }
    } catch {
      throw error.advising(output)
    }
    return simulation
  }

  /// Takes away a result that is whole and may yet be lost, for which the run counts as failed;
  /// what failed, in words.
  private func withdraw(_ file: ResultFile, _ fault: ResultFault, isKept: Bool) -> RunFailure {
    var isPlaced = true
    if case .disk(file.path, let step, _) = fault, !step.hasSuffix("folder") { isPlaced = false }
    if case .malformed = fault { isPlaced = false }
    if case .hdf5 = fault { isPlaced = false }
    if isPlaced { try? file.withdraw() }
    let failure = RunFailure.failed("the result cannot be written: \(fault)")
    return isKept ? failure.advising(output) : failure
  }

  /// Writes what is next to the result.
  private func finish(
    _ timings: (file: PlacedFile, times: RoundTimes)?, _ modelFiles: ModelFiles?,
    _ simulation: Simulation
  ) throws(RunFailure) {
    if let timings {
      do throws(ResultFault) {
        let kernels = simulation.inputs.kernels.body.rawValue
        try timings.file.place(timings.times.json(threads: options.threads, kernels: kernels))
      } catch {
        throw .failed("\(output) is written, but the timings are not: \(error)")
      }
    }
    if let fault = modelFiles?.fault {
      throw .failed("\(output) is written, but some model files are not: \(fault)")
    }
  }

  private func prepareOutput() throws(RunFailure) -> ResultFile {
    if let slash = output.lastIndex(of: "/"), slash > output.startIndex {
      // One folder, as of the default `results/`; a failure shows when the file is prepared.
      try? FileManager.default.createDirectory(
        atPath: String(output[..<slash]), withIntermediateDirectories: false)
    }
    return try Run.output { () throws(ResultFault) in
      try ResultFile.prepare(
        output, calls: safety.calls, isTried: safety.isFolderTried)
    }
  }

  /// Reads what is run; of several ranks each reads it, and none continues where one cannot.
  private func readInputs() throws(RunFailure) -> SimulationInputs {
    let inputs = try RankTalk.agree(options.ranks, self) { () throws(RunFailure) in
      try refuseUnfinished()
      return try prepareInputs()
    }
    // The others have taken up the checkpoint, if there is one, before anything is written.
    try RankTalk.read(options.ranks) {}
    return inputs
  }

  /// Reads what is run, and starts the workers that compute its trainings.
  func prepareInputs() throws(RunFailure) -> SimulationInputs {
    var inputs: SimulationInputs
    if let unfinished {
      inputs = try unfinished.manifest.inputs(
        scenario, options, unfinished.folder.path(of: .manifest))
    } else {
      do throws(Faults) {
        inputs = try scenario.inputs(options)
      } catch {
        throw .input(error.faults)
      }
    }
    if options.workers > 0, !inputs.omitsArithmetic {
      inputs.executor = try TrainingWorkers(options.workers, scenario, options, inputs)
    }
    return inputs
  }

  private func prepareModelFiles(_ gate: RunGate) throws(RunFailure) -> ModelFiles? {
    guard let folder = scenario.settings.record.modelFiles else { return nil }
    let beside = output.lastIndex(of: "/").map { String(output[...$0]) } ?? ""
    let path = folder.hasPrefix("/") ? folder : beside + folder
    return try Run.output { () throws(ResultFault) in try ModelFiles(folder: path, gate: gate) }
  }

  private func prepareTimings() throws(RunFailure) -> (file: PlacedFile, times: RoundTimes)? {
    guard let timings else { return nil }
    guard !StandingFile.isSame(timings, output) else {
      throw StoredRun.refusal(timings, "this is the path of the result; give --timings another")
    }
    return (try StandingFile.place(for: timings, replacing: RoundTimes.isTimes), RoundTimes())
  }

  /// What goes wrong with files before the run begins: the disk's fault, or the user's.
  static func output<Value>(
    _ body: () throws(ResultFault) -> Value
  ) throws(RunFailure) -> Value {
    do throws(ResultFault) {
      return try body()
    } catch {
      throw error.isOfTheDisk ? .failed("\(error); nothing was run") : .output(error)
    }
  }

  /// The machine's own name for itself, without a question to any other.
  private static var hostName: String {
    var name = [CChar](repeating: 0, count: 256)
    guard gethostname(&name, name.count - 1) == 0 else { return "" }
    return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  private func provenance(
    _ started: String, _ summary: RunSummary, _ simulation: Simulation
  ) -> Provenance {
    Provenance(
      host: Self.hostName, startedAt: started,
      wallSeconds: summary.wallSeconds, commandLine: commandLine, threads: options.threads,
      kernels: simulation.inputs.kernels.body.rawValue,
      versions: ["FedSim": FedSimVersion.current, "HDF5": ResultFile.libraryVersion],
      contentDigest: summary.contentDigest,
      scenario: URL(fileURLWithPath: scenario.file).standardizedFileURL.path)
  }
}
