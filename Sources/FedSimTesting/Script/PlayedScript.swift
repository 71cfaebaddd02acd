import FedSim
import Learning

/// The outcome of a script.
public struct PlayedScript: Sendable {
  /// An update, from its device to its end.
  public struct Update: Sendable, Equatable {
    /// The device.
    public let device: String
    /// The version that it was trained from.
    public let base: Int
    /// Its samples.
    public let samples: Int
    /// When it reached the server, since the start, in whole milliseconds; nil: it did not.
    public internal(set) var arrivedAt: SimDuration?
    /// What the server answered; nil: nothing that its device heard.
    public internal(set) var receipt: Receipt?
    /// How it ended.
    public internal(set) var outcome = UpdateOutcome.unfinishedAtEnd
    /// The version that it is part of; nil: none.
    public internal(set) var version: Int?
  }

  /// A version.
  public struct Version: Sendable, Equatable {
    /// Its number; 0 is the initial model.
    public let version: Int
    /// When it was published, since the start, in whole milliseconds.
    public let publishedAt: SimDuration
    /// The updates in it.
    public let updates: Int
    /// The sum of their samples.
    public let samples: Int
    /// The largest number of versions published since the base of one of them.
    public let staleness: Int
    /// Its parameters.
    public let model: [Float]
  }

  /// A round.
  public struct Round: Sendable, Equatable {
    /// Its number, from 1.
    public let round: Int
    /// When it ended, since the start, in whole milliseconds.
    public let closedAt: SimDuration
    /// How it ended.
    public let outcome: RoundOutcome
    /// Members of its cohort; 0 where none is formed.
    public let cohort: Int
  }

  /// The updates, in the order of their making.
  public let updates: [Update]
  /// The versions, the initial model first.
  public let versions: [Version]
  /// The rounds that ended.
  public let rounds: [Round]
  /// Rejections of devices, each counted.
  public let rejections: [String]
  /// What the books of the run do not agree in; empty unless the engine is broken.
  public let broken: [String]

  init(_ reader: ScriptReader, broken: [String], _ simulation: borrowing Simulation) {
    updates = reader.updates
    versions = reader.versions
    rounds = reader.rounds
    rejections = reader.rejections
    var broken = broken
    let ledger = simulation.books.ledgers.updates
    for outcome in UpdateOutcome.allCases {
      let found = updates.count { $0.outcome == outcome }
      if found != ledger[outcome] {
        broken.append("updates \(outcome): counted \(ledger[outcome]), found \(found)")
      }
    }
    self.broken = broken
  }

  /// The updates of one device, in the order of their making.
  public func updates(of device: String) -> [Update] { updates.filter { $0.device == device } }

  /// The parameters of the last version.
  public var model: [Float] { versions[versions.count - 1].model }
}

extension PlayedScript.Update: CustomStringConvertible {
  /// Such as `ann on v0, 10 s: pending, v1`.
  public var description: String {
    let arrival = arrivedAt.map { $0.description } ?? "never arrived"
    let answer = receipt.map { $0.status.rawValue } ?? "no receipt"
    let end = version.map { "v\($0)" } ?? outcome.rawValue
    return "\(device) on v\(base), \(arrival): \(answer), \(end)"
  }
}

extension PlayedScript.Version: CustomStringConvertible {
  /// Such as `v1 at 20 s: 2 updates, [1.0, 3.0]`.
  public var description: String {
    "v\(version) at \(publishedAt): \(updates) update\(updates == 1 ? "" : "s"), \(model)"
  }
}

extension PlayedScript.Round: CustomStringConvertible {
  /// Such as `round 1 at 20 s: published`.
  public var description: String { "round \(round) at \(closedAt): \(outcome.rawValue)" }
}

/// Writes down what happens to a script.
final class ScriptReader: Observer {
  private(set) var updates: [PlayedScript.Update] = []
  private(set) var versions: [PlayedScript.Version] = []
  private(set) var rounds: [PlayedScript.Round] = []
  private(set) var rejections: [String] = []
  private let devices: [String]

  init(devices: [String]) { self.devices = devices }

  var wantsEveryEvent: Bool { true }

  func happened(_ event: ObservedEvent) {
    switch event.kind {
    case .updateCreated(let update, let base, _, let samples):
      precondition(update == updates.count, "updates are numbered as they are made")
      updates.append(.init(device: devices[event.device], base: base, samples: samples))
    case .arrived(let update):
      if updates[update].arrivedAt == nil { updates[update].arrivedAt = Self.since(event.time) }
    case .receipt(let update, let receipt):
      updates[update].receipt = receipt
    case .updateEnded(let update, let outcome):
      updates[update].outcome = outcome
      // Its version is published next.
      if outcome == .aggregated { updates[update].version = versions.count }
    case .sessionEnded(.rejected), .rested(.rejected):
      rejections.append(devices[event.device])
    default: break
    }
  }

  func published(_ record: VersionRecord, _ simulation: borrowing Simulation) {
    versions.append(
      .init(
        version: record.version, publishedAt: Self.since(record.publishedAt),
        updates: record.updates, samples: record.samples, staleness: record.maximumStaleness,
        model: simulation.model.values))
  }

  func closed(_ record: RoundRecord, _ simulation: borrowing Simulation) {
    guard record.outcome != .unfinishedAtEnd else { return }
    rounds.append(
      .init(
        round: record.round, closedAt: Self.since(record.closedAt), outcome: record.outcome,
        cohort: record.cohort))
  }

  /// A time since the start, without what is less than a millisecond.
  private static func since(_ time: SimTime) -> SimDuration {
    .milliseconds(time.microseconds / 1000)
  }
}
