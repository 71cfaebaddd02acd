import FedSim
import Foundation
import Learning
import Numerics
import Scenarios
import Schema

extension Run {
  /// Plays the run together with rank 0, which keeps it and writes its result: nothing is written
  /// here.
  ///
  /// Throws: `RunFailure` where this rank or another cannot begin; rank 0 says why.
  public func follow() throws(RunFailure) {
    let inputs = try RankTalk.agree(options.ranks, self) { () throws(RunFailure) in
      try prepareInputs()
    }
    var saved = try RankTalk.read(options.ranks) { () throws(RunFailure) in
      guard let unfinished else { return LoadedCheckpoint?.none }
      return try LoadedCheckpoint(unfinished, inputs) { _ in }
    }
    guard RankTalk.start(options.ranks, true) else { throw .failed("rank 0 has not begun") }
    // What rank 0 records, evaluations at the end among it, takes all ranks.
    let recorder = saved?.recorder ?? RunRecorder()
    var playing = saved?.simulation.take() ?? Simulation(inputs)
    saved = nil
    playing.run(observers: [recorder])
    try RankTalk.end(options.ranks, playing)
  }
}

/// What ranks say to each other about a run, besides its numbers. One process has nobody to talk
/// to.
public enum RankTalk {
  /// What a rank has read, or why it could not.
  private struct Report: Codable {
    var host = ProcessInfo.processInfo.hostName
    /// What all ranks must have alike.
    var facts: [String: String] = [:]
    var fault: String?
    /// Whether it is the user's.
    var isBadInput = false
  }

  /// What a rank has played.
  private struct Played: BitwiseCopyable, Equatable {
    var events: UInt64
    var model: UInt64
  }

  /// Reads something on every rank.
  ///
  /// Throws: this rank's own failure, or where another rank has failed or has read something else,
  /// which shows in `facts`.
  public static func read<Value>(
    _ ranks: (any Ranks)?, _ body: () throws(RunFailure) -> Value,
    facts: (Value) -> [String: String] = { _ in [:] }
  ) throws(RunFailure) -> Value {
    guard let ranks else { return try body() }
    let result = Result { () throws(RunFailure) in try body() }
    var report = Report()
    switch result {
    case .success(let value): report.facts = facts(value)
    case .failure(let failure):
      report.fault = "\(failure)"
      report.isBadInput = failure.isBadInput
    }
    let own = (try? JSONEncoder().encode(report)) ?? Data()
    let reports = ranks.gather(bytes: Array(own)).map {
      (try? JSONDecoder().decode(Report.self, from: Data($0))) ?? Report(fault: "it said nothing")
    }
    let value = try result.get()
    for (rank, other) in reports.enumerated() {
      let name = "rank \(rank) on \(other.host)"
      if let fault = other.fault {
        let words = "\(name): \(fault)"
        throw other.isBadInput ? badInput(words) : .failed("\(words)\nnothing was run")
      }
      for (what, found) in reports[0].facts.sorted(by: { $0.key < $1.key })
      where other.facts[what] != found {
        throw badInput(
          "\(name) has another \(what) than rank 0 (\(other.facts[what] ?? "none"), and \(found))")
      }
    }
    return value
  }

  private static func digest(_ bytes: [UInt8]) -> String {
    var digest = Digest()
    bytes.withUnsafeBytes { digest.combine(bytes: $0) }
    return String(digest.value, radix: 16)
  }

  private static func badInput(_ words: String) -> RunFailure {
    .input([Fault(at: .none, .contradiction(words))])
  }

  /// Reads what is run, on every rank.
  static func agree(
    _ ranks: (any Ranks)?, _ run: Run, _ body: () throws(RunFailure) -> SimulationInputs
  ) throws(RunFailure) -> SimulationInputs {
    try read(ranks, body) { inputs in
      let (scenario, folder) = (run.scenario, run.unfinished?.folder)
      let checkpoint = folder.flatMap { folder in
        (try? folder.contents(of: .checkpoint)).flatMap { $0 }.map(digest)
      }
      return [
        "version of FedSim": FedSimVersion.current, "scenario": scenario.digest,
        "data": inputs.task.digest.hexDigits, "number of threads": "\(inputs.pool.threads)",
        "order of simultaneous events": inputs.shakeTies.map { "\($0)" } ?? "the fleet's",
        "checkpoint": checkpoint ?? "none",
      ]
    }
  }

  /// Whether the run begins, which rank 0 says.
  @discardableResult
  static func start(_ ranks: (any Ranks)?, _ begins: Bool) -> Bool {
    guard let ranks else { return begins }
    let begins = ranks.gather(begins)[0]
    (ranks as? MPIRanks)?.isPlaying = begins
    return begins
  }

  /// Compares what all ranks have played.
  ///
  /// Throws: where it differs, on every rank.
  static func end(
    _ ranks: (any Ranks)?, _ simulation: borrowing Simulation
  ) throws(RunFailure) {
    guard let ranks else { return }
    var model = Digest()
    simulation.model.combine(into: &model)
    let own = Played(events: simulation.eventDigest.value, model: model.value)
    let all = ranks.gather(own)
    (ranks as? MPIRanks)?.isPlaying = false
    for (rank, other) in all.enumerated() where other != own {
      throw .failed(
        "rank \(rank) played another run than rank \(ranks.rank): their processors or libraries "
          + "do not compute alike; no result was written")
    }
  }
}
