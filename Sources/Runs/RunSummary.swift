import FedSim
import Scenarios

/// The outcome of a run, for a person or a program.
public struct RunSummary: Codable, Equatable, Sendable {
  /// A ledger's totals.
  public struct LedgerTotals: Codable, Equatable, Sendable {
    /// What it counts.
    public var name: String
    /// Entries begun.
    public var opened: Int
    /// Entries by how they ended; only outcomes that came up.
    public var outcomes: [Outcome]
    /// Whether the outcomes add up to `opened`.
    public var balances: Bool
  }

  /// How many entries ended in one way.
  public struct Outcome: Codable, Equatable, Sendable {
    /// The outcome.
    public var name: String
    /// How many.
    public var count: Int
  }

  /// The findings of the checks after every event.
  public struct Audit: Codable, Equatable, Sendable {
    /// How often a device was looked at.
    public var looks: Int
    /// How often everything was recounted.
    public var recounts: Int
    /// What was broken, the first ones.
    public var broken: [String]
  }

  /// The outcome of `record.events`.
  public struct StoredEvents: Codable, Equatable, Sendable {
    /// How many things are stored.
    public var stored: Int
    /// How many came after `record.eventLimit` was reached, and are not.
    public var missed: Int
  }

  /// The outcome of central training.
  public struct Central: Codable, Equatable, Sendable {
    /// One model.
    public struct Model: Codable, Equatable, Sendable {
      /// The name of the model in the scenario.
      public var name: String
      /// Its latest version; 0: none.
      public var version: Int
      /// The samples and the users of its latest training.
      public var samples: Int
      /// The users.
      public var users: Int
      /// Its accuracy on the test samples, or the mean of users' models on their own.
      public var accuracy: Double?
      /// The same of the RMSE, where targets are numbers.
      public var rmse: Double?
      /// Whether that is a mean of users' models.
      public var isOwn: Bool
    }

    /// The models, in their order.
    public var models: [Model]
    /// Uploads of files that failed.
    public var failedUploads: Int
    /// Whether devices train for rounds, too.
    public var hasTrainers: Bool
  }

  /// The scenario's name; empty where it has none.
  public var scenario: String
  /// The scenario's seed.
  public var seed: UInt64
  /// The result file, as it was asked for.
  public var result: String
  /// The digest of the result's content.
  public var contentDigest = ""
  /// The digest of the run's events.
  public var eventDigest: String
  /// The last version.
  public var version: Int
  /// Whether anything was learned; without, only times are known.
  public var learns: Bool
  /// The last version's accuracy on the test samples; nil: there are none, or targets are numbers.
  public var accuracy: Double?
  /// The last version's RMSE on the test samples; nil: targets are no numbers, or it is infinite.
  public var rmse: Double?
  /// The lowest RMSE of any evaluated version.
  public var bestRMSE: Double?
  /// The best accuracy of any evaluated version.
  public var bestAccuracy: Double?
  /// The first version with that accuracy or RMSE.
  public var bestVersion: Int?
  /// Devices in the fleet.
  public var devices: Int
  /// Virtual time, in seconds.
  public var simulatedSeconds: Double
  /// Time by the wall clock, in seconds.
  public var wallSeconds = 0.0
  /// Rounds that the server closed, without the one that was open at the end.
  public var rounds: Int
  /// What happened along the way, by name.
  public var tallies: [Outcome]
  /// The three ledgers.
  public var ledgers: [LedgerTotals]
  /// Bytes that devices sent and received.
  public var bytes: Int64
  /// What an audit found; nil where none was asked for.
  public var audit: Audit?
  /// The outcome of the scenario's claims about this run; nil where there are none.
  public var claims: [ClaimVerdict]?
  /// Claims that take several runs, which `fedsim check` plays; nil where there are none.
  public var untestedClaims: Int?
  /// The events in the result; nil where they were not asked for.
  public var storedEvents: StoredEvents?
  /// What came of central training; nil where nobody collects.
  public var central: Central?
  /// From the last version to the end, in seconds, where that is more than twice as long as any two
  /// versions before were apart; nil: it is not.
  public var quietSeconds: Double?
  /// Why there is no version, or no further one: a line each; empty where there is nothing to say.
  public var standstill: [String]
  /// What the run warned of, a line each: before it began, that no version can be published; at
  /// its end, a training that diverged, or that another computation did not give again.
  public var warnings: [String]
  /// Of these, what a trainer in Python computed twice with another outcome.
  public var trainerWarnings: [String] = []

  /// The summary of a run that is over.
  init(_ simulation: Simulation, _ recorder: RunRecorder, of scenario: Scenario, result: String) {
    self.scenario = scenario.settings.name ?? ""
    seed = scenario.settings.seed
    self.result = result
    eventDigest = simulation.eventDigest.value.hexDigits
    version = simulation.version
    learns = !simulation.inputs.omitsArithmetic
    let evaluated = zip(recorder.versions, recorder.evaluations).compactMap { version, evaluation in
      evaluation.map { (version: version.version, test: $0.test) }
    }
    if simulation.inputs.task.train.kind == .values {
      rmse = recorder.evaluations.last??.test.rmse.finite
      for (version, test) in evaluated where test.rmse < bestRMSE ?? .infinity {
        (bestRMSE, bestVersion) = (test.rmse, version)
      }
    } else {
      accuracy = recorder.evaluations.last??.test.accuracy.finite
      for (version, test) in evaluated where test.accuracy > bestAccuracy ?? -1 {
        (bestAccuracy, bestVersion) = (test.accuracy, version)
      }
    }
    devices = simulation.inputs.deviceCount
    simulatedSeconds = simulation.now.seconds
    rounds = recorder.rounds.count { $0.outcome != .unfinishedAtEnd }
    tallies = simulation.books.tallies.named.map { Outcome(name: $0.name, count: $0.count) }
    let ledgers = simulation.books.ledgers
    self.ledgers = [
      LedgerTotals("training attempts", ledgers.attempts),
      LedgerTotals("updates", ledgers.updates),
      LedgerTotals("transmissions", ledgers.transmissions),
    ]
    bytes = ledgers.bytesUp + ledgers.bytesDown
    storedEvents = recorder.storedEvents.map { StoredEvents(stored: $0, missed: $1) }
    if simulation.collection.isOn {
      central = Central(simulation)
      self.ledgers.append(LedgerTotals("files", simulation.collection.ledger))
    }
    standstill = simulation.stallReport?.lines(simulation.inputs) ?? []
    warnings = scenario.warnings
    quietSeconds = Self.quiet(recorder.versions.map(\.publishedAt.seconds), until: simulatedSeconds)
    if let divergence { warnings.append(divergence) }
  }

  private static func quiet(_ versions: [Double], until end: Double) -> Double? {
    guard let last = versions.last,
      let longest = zip(versions, versions.dropFirst()).map({ $1 - $0 }).max(),
      end - last > 2 * longest
    else { return nil }
    return end - last
  }

  /// A tally by its name.
  public func tally(_ name: String) -> Int { tallies.first { $0.name == name }?.count ?? 0 }

  /// Events by second of the wall clock.
  public var eventsPerSecond: Double { Double(tally("events")) / max(wallSeconds, 1e-9) }
}

extension RunSummary.LedgerTotals {
  fileprivate init<Outcome>(_ name: String, _ ledger: Ledger<Outcome>) {
    self.name = name
    opened = ledger.opened
    outcomes = Outcome.allCases.compactMap { outcome in
      ledger[outcome] == 0
        ? nil : RunSummary.Outcome(name: outcome.rawValue, count: ledger[outcome])
    }
    balances = ledger.stillOpen == 0
  }
}

extension RunSummary.Central {
  fileprivate init(_ simulation: Simulation) {
    failedUploads = simulation.collection.tallies.failedUploads
    hasTrainers = simulation.inputs.hasTrainers
    models = simulation.collection.tasks.enumerated().map { place, model in
      let last = simulation.collection.versions.last { $0.model == place }
      let own = last.flatMap { $0.userAccuracy.isNaN ? nil : $0.userAccuracy }
      let targets = simulation.inputs.task.test.kind
      let score = (last?.evaluation?.score(targets) ?? own)?.finite
      return Model(
        name: model.name, version: last?.version ?? 0, samples: last?.samples ?? 0,
        users: last?.users ?? 0, accuracy: targets == .values ? nil : score,
        rmse: targets == .values ? score : nil,
        isOwn: simulation.collection.isOwn(place))
    }
  }
}

extension Double {
  /// The number itself, which text formats can hold; nil: it is infinite or none.
  fileprivate var finite: Double? { isFinite ? self : nil }
}
