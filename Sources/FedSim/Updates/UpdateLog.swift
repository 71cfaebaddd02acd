import Learning

/// The outcome of each update, where `record.updates` asks for it.
///
/// It changes nothing and is saved with the run.
public struct UpdateLog: Sendable, Codable {
  /// One update.
  public struct Row: Sendable, Equatable, Codable {
    /// Its device's number in the fleet.
    public let device: Int32
    /// The version that it was trained from.
    public let base: Int32
    /// Distinct samples that its training used, at most the device's share.
    public let samples: Int32
    /// Samples that its training processed, repetitions counted.
    public let samplesProcessed: Int32
    /// When it was made.
    public let createdAt: SimTime
    /// When it reached the server for the first time; `never`: it did not.
    public internal(set) var receivedAt = SimTime.never
    /// The round that it went into; −1: none.
    public internal(set) var round: Int32 = -1
    /// The version that it became a part of; −1: none.
    public internal(set) var version: Int32 = -1
    /// Versions published since its base when it was aggregated, else when it was received; −1: it
    /// was not.
    public internal(set) var staleness: Int32 = -1
    /// Mean loss over the samples processed; NaN: its training was not needed.
    public internal(set) var trainingLoss = Double.nan
    /// Answers of its device used for validation, and those that the trained model got right; where
    /// targets are numbers, samples.
    public internal(set) var validated: (count: Int32, correct: Int32) {
      get { (validationCount, validationCorrect) }
      set { (validationCount, validationCorrect) = newValue }
    }
    private var validationCount: Int32 = 0
    private var validationCorrect: Int32 = 0
    /// Bytes that its device sent for it, all tries together.
    public internal(set) var bytesUp: Int64 = 0
    /// How it ended; nil: it has not.
    public internal(set) var outcome: UpdateOutcome?

    /// A new update.
    init(_ record: UpdateRecord) {
      (device, base, createdAt) = (record.device, record.base, record.createdAt)
      samples = Int32(record.samples)
      samplesProcessed = Int32(record.samplesProcessed)
    }
  }

  /// The updates, in the order of their making.
  public private(set) var rows = PagedArray<Row>()

  /// No update yet.
  init() {}

  /// An update is made.
  mutating func append(_ record: UpdateRecord) { rows.append(Row(record)) }

  /// An update reaches the server, where this version is the current one.
  mutating func receive(_ update: Int32, at time: SimTime, version: Int32) {
    let place = Int(update)
    guard rows[place].receivedAt == .never else { return }
    rows[place].receivedAt = time
    rows[place].staleness = version - rows[place].base
  }

  /// An update becomes a part of the version after this one; the first time counts.
  mutating func aggregate(
    _ update: Int32, after version: Int32, round: Int32, lossSum: Double?,
    validation: Evaluation?
  ) {
    let place = Int(update)
    guard rows[place].version < 0 else { return }
    rows[place].version = version + 1
    rows[place].round = round
    rows[place].staleness = version - rows[place].base
    if let lossSum, rows[place].samplesProcessed > 0 {
      rows[place].trainingLoss = lossSum / Double(rows[place].samplesProcessed)
    }
    if let validation {
      let answers = validation.answers > 0 ? validation.answers : validation.count
      rows[place].validated = (Int32(answers), Int32(validation.correct))
    }
  }

  /// A device has sent bytes for an update.
  mutating func send(_ update: Int32, bytes: Int64) { rows[Int(update)].bytesUp += bytes }

  /// An update ends.
  mutating func end(_ update: Int32, _ outcome: UpdateOutcome) {
    rows[Int(update)].outcome = outcome
  }
}
