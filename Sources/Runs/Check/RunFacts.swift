import FedSim
import Learning
import Numerics
import Scenarios

/// The outcome of a run that is over, as far as claims can be about it.
package struct RunFacts: Sendable {
  /// The versions, the last of them with the evaluations at the end.
  let series: VersionSeries
  /// The rounds that were closed, from the first.
  let rounds: [RoundRecord]
  let funnels: [Funnel]
  let ledgers: Ledgers
  let tallies: Tallies
  let eventDigest: String
  let modelDigest: String
  let endedAt: SimTime

  /// The facts of a run that a recorder followed.
  init(_ simulation: Simulation, _ recorder: RunRecorder) {
    series = recorder.series(simulation)
    rounds = recorder.rounds.filter { $0.outcome != .unfinishedAtEnd }
    funnels = rounds.map { simulation.participations.rounds[$0.round] }
    ledgers = simulation.books.ledgers
    tallies = simulation.books.tallies
    eventDigest = simulation.eventDigest.value.hexDigits
    modelDigest = simulation.model.hexDigest
    endedAt = simulation.now
  }

  var versions: [VersionRecord] { series.records }
}

extension ParameterBuffer {
  /// The digest of the parameters, in 16 digits.
  var hexDigest: String {
    var digest = Digest()
    combine(into: &digest)
    return digest.value.hexDigits
  }
}

extension RunFacts {
  /// What a run has to say of a metric.
  enum Finding: Equatable {
    /// A number; durations are in microseconds, infinity is never.
    case value(Double)
    case word(String)
    /// Nothing, and why.
    case nothing(String)
  }

  /// A place in the tables.
  private struct Spot {
    /// The version in force; nil: none was published yet.
    var version: Int?
    /// The last round that was closed; nil: none was.
    var round: Int?
    var time: SimTime
  }

  /// What a metric was at a moment; `target` is the accuracy to reach.
  func find(_ metric: Metric, at moment: ClaimMoment, target: Double?) -> Finding {
    let spot: Spot
    switch self.spot(moment) {
    case .success(let found): spot = found
    case .failure(let reason): return .nothing(reason.text)
    }
    switch metric.domain {
    case .version:
      guard let version = spot.version else { return .nothing("no version was published by then") }
      return ofVersion(metric.name, version)
    case .round:
      guard let round = spot.round else { return .nothing("no round was closed by then") }
      return ofRound(metric.name, round)
    case .count:
      if metric.name == "versions" {
        return .value(Double(spot.version.map { versions[$0].version } ?? 0))
      }
      return .value(Double(rounds.count { $0.closedAt <= spot.time }))
    case .end:
      return ofRun(metric, target)
    }
  }

  private struct Reason: Error { let text: String }

  private func spot(_ moment: ClaimMoment) -> Result<Spot, Reason> {
    func inForce(_ time: SimTime) -> Int? { versions.lastIndex { $0.publishedAt <= time } }
    if let version = moment.version {
      guard version < versions.count else {
        return .failure(Reason(text: "the run reached version \(versions.count - 1) only"))
      }
      let record = versions[version]
      let round = rounds.firstIndex { $0.round == record.round }
      return .success(Spot(version: version, round: round, time: record.publishedAt))
    }
    if let round = moment.round {
      guard round <= rounds.count else {
        return .failure(
          Reason(text: "the run closed \(Words.count(rounds.count, "round")) only"))
      }
      let record = rounds[round - 1]
      let version = record.version >= 0 ? record.version : inForce(record.closedAt)
      return .success(Spot(version: version, round: round - 1, time: record.closedAt))
    }
    if let time = moment.time {
      guard time <= endedAt else {
        return .failure(Reason(text: "the run ended at \(endedAt.words)"))
      }
      return .success(
        Spot(
          version: inForce(time), round: rounds.lastIndex { $0.closedAt <= time }, time: time))
    }
    return .success(
      Spot(version: versions.indices.last, round: rounds.indices.last, time: endedAt))
  }

  private func ofVersion(_ name: String, _ index: Int) -> Finding {
    guard let column = VersionColumn.named(name) else {
      preconditionFailure("`\(name)` is not a column of versions")
    }
    let record = versions[index]
    switch (column.value(record, series), column.kind) {
    case (.time(let time), _): return .value(Double(time.microseconds))
    case (.code(let code), .code(let words)): return .word(words[Int(code)])
    case (let value, _):
      let number = value.asDouble
      return number.isNaN ? .nothing(column.whyNone(record)) : .value(number)
    }
  }

  private func ofRound(_ name: String, _ index: Int) -> Finding {
    let record = rounds[index]
    switch name {
    case "outcome": return .word(record.outcome.rawValue)
    case "closedAt": return .value(Double(record.closedAt.microseconds))
    case "cohort": return .value(Double(record.cohort))
    default:
      guard let stage = Stage.allCases.first(where: { "\($0)" == name }) else {
        preconditionFailure("`\(name)` is not a column of rounds")
      }
      return .value(Double(funnels[index][stage]))
    }
  }

  private func ofRun(_ metric: Metric, _ target: Double?) -> Finding {
    if metric.kind == .timeToTarget || metric.kind == .countToTarget {
      let reached = versions.first { ($0.evaluation?.test.accuracy ?? -1) >= target ?? 2 }
      guard let record = reached else { return .value(.infinity) }
      switch metric.name {
      case "timeToAccuracy": return .value(Double(record.publishedAt.microseconds))
      case "versionsToAccuracy": return .value(Double(record.version))
      default: return .value(Double(record.round))
      }
    }
    switch metric.name {
    case "bestAccuracy":
      let best = versions.compactMap { $0.evaluation?.test.accuracy }.max()
      return best.map { .value($0) } ?? .nothing("no version was evaluated")
    case "endedAt": return .value(Double(endedAt.microseconds))
    case "eventDigest": return .word(eventDigest)
    case "modelDigest": return .word(modelDigest)
    default:
      guard let count = counts.first(where: { $0.name == metric.name })?.count else {
        preconditionFailure("`\(metric.name)` is not a figure of a run")
      }
      return .value(Double(count))
    }
  }

  /// The names of the counts that a baseline may hold besides those of files.
  static var countNames: [String] {
    let metrics = Metric.all.filter { $0.kind == .count && $0.domain == .end }.map(\.name)
    let tallies = Tallies().named.map(\.name).filter { !metrics.contains($0) }
    return (metrics + tallies).filter { $0 != "events" }
  }

  /// Ledgers and tallies by the names of their metrics.
  var counts: [(name: String, count: Int)] {
    func ledger<Outcome>(_ name: String, _ ledger: Ledger<Outcome>) -> [(String, Int)] {
      [("\(name).opened", ledger.opened)]
        + Outcome.allCases.map { ("\(name).\($0.rawValue)", ledger[$0]) }
    }
    return ledger("attempt", ledgers.attempts) + ledger("update", ledgers.updates)
      + ledger("transmission", ledgers.transmissions)
      + [
        ("batchesUsed", ledgers.batchesUsed), ("batchesWasted", ledgers.batchesWasted),
        ("bytesUp", Int(ledgers.bytesUp)), ("bytesDown", Int(ledgers.bytesDown)),
      ] + tallies.named.map { ($0.name, $0.count) }
  }
}
