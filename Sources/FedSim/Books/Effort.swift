/// Work that devices did for trainings, in sums that are exact.
public struct Effort: Sendable, Equatable, Codable {
  /// Training attempts.
  public internal(set) var attempts = 0
  /// Batches done.
  public internal(set) var batches = 0
  /// Samples processed, repetitions counted.
  public internal(set) var samples = 0
  /// Time that devices trained, in microseconds; batches that were broken off are in it.
  public internal(set) var microseconds: Int64 = 0
  /// Energy drawn by training, in nanojoules.
  public internal(set) var training: Int64 = 0
  /// Energy drawn by sending the update and receiving the answer, in nanojoules.
  public internal(set) var radio: Int64 = 0

  /// Adds another's work.
  static func += (a: inout Effort, b: Effort) {
    a.attempts += b.attempts
    a.batches += b.batches
    a.samples += b.samples
    a.microseconds += b.microseconds
    a.training += b.training
    a.radio += b.radio
  }
}

/// The outcome of work.
public enum EffortEnd: Sendable, Equatable {
  /// It went into an update, which ended so.
  case update(UpdateOutcome)
  /// Its attempt ended so and made no update.
  case attempt(AttemptOutcome)
  /// The app was killed and its attempt continued from a checkpoint without it.
  case lostSinceCheckpoint

  /// All ends, in the order in which results list them.
  public static let all: [EffortEnd] =
    UpdateOutcome.allCases.map { .update($0) }
    + AttemptOutcome.allCases.filter { $0 != .finished && $0 != .submittedPartial }
    .map { .attempt($0) } + [.lostSinceCheckpoint]

  /// Its name in results.
  public var name: String {
    switch self {
    case .update(.aggregated): UpdateOutcome.aggregated.rawValue
    case .update(let outcome): "update" + Self.capital(outcome.rawValue)
    case .attempt(let outcome): "training" + Self.capital(outcome.rawValue)
    case .lostSinceCheckpoint: "lostSinceCheckpoint"
    }
  }

  private static func capital(_ word: String) -> String {
    word.prefix(1).uppercased() + word.dropFirst()
  }
}

/// A ledger of work: by its outcome, booked as it ends.
public struct EffortLedger: Sendable, Codable {
  private var rows = [Effort](repeating: Effort(), count: EffortEnd.all.count)
  /// Work of evaluations that the server asked devices for.
  public internal(set) var evaluations = Effort()
  /// Energy drawn by requests that carry no update, in nanojoules.
  public internal(set) var otherRadio: Int64 = 0
  /// All stretches that have ended, evaluations too, counted apart from the rows: for audits.
  var stretches = Effort()

  /// The work that ended so.
  public subscript(end: EffortEnd) -> Effort { rows[Self.place(end)] }

  /// All work that has ended.
  public var total: Effort {
    var sum = Effort()
    for row in rows { sum += row }
    return sum
  }

  /// Books work that has ended.
  mutating func book(_ effort: Effort, _ end: EffortEnd) { rows[Self.place(end)] += effort }

  private static func place(_ end: EffortEnd) -> Int {
    guard let place = EffortEnd.all.firstIndex(of: end) else {
      preconditionFailure("an attempt that made an update ends with that update")
    }
    return place
  }
}

/// Bytes by link and by how their transmission ended, booked as it ends.
public struct TrafficLedger: Sendable, Codable {
  private var rows = [CarriedBytes](
    repeating: CarriedBytes(), count: TransmissionOutcome.allCases.count)

  /// Bytes that devices sent over a link in transmissions that ended so.
  public func up(_ carrier: Carrier, _ outcome: TransmissionOutcome) -> Int64 {
    rows[Self.place(outcome)].up(carrier)
  }

  /// Bytes that devices received over a link in transmissions that ended so.
  public func down(_ carrier: Carrier, _ outcome: TransmissionOutcome) -> Int64 {
    rows[Self.place(outcome)].down(carrier)
  }

  mutating func book(_ bytes: CarriedBytes, _ outcome: TransmissionOutcome) {
    rows[Self.place(outcome)] += bytes
  }

  private static let outcomes = TransmissionOutcome.allCases

  private static func place(_ outcome: TransmissionOutcome) -> Int {
    outcomes.firstIndex(of: outcome)!
  }
}

/// The outcomes of one device's work.
public struct DeviceEffort: Sendable, Equatable, Codable {
  /// Distinct samples of its updates that became part of a version.
  public internal(set) var samplesAggregated: Int64 = 0
  /// Time that it trained for such updates, in microseconds.
  public internal(set) var aggregated: Int64 = 0
  /// Time that it trained for nothing, in microseconds.
  public internal(set) var wasted: Int64 = 0
}

/// What one device's work drew from its battery.
public struct DeviceEnergy: Sendable, Equatable, Codable {
  /// For updates that became part of a version, in nanojoules.
  public internal(set) var aggregated: Int64 = 0
  /// For nothing, in nanojoules.
  public internal(set) var wasted: Int64 = 0
}
