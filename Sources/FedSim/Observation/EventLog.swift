/// What happened, packed: 32 bytes each, in pages, up to a number; what comes later is counted.
public final class EventLog: SavedObserver {
  /// One thing that happened, by codes.
  public struct Row: Sendable, Equatable, Codable {
    /// When it happened, in simulated time.
    public let time: SimTime
    /// The device's number in the fleet; -1: the server.
    public let device: Int32
    /// The update that it concerns; -1: none.
    public let update: Int32
    /// The version that it concerns; -1: none.
    public let version: Int32
    /// The round; for what a device does, the one that was open.
    public let round: Int32
    /// Batches done, or members of a cohort, or updates of a version; -1: none.
    public let count: Int32
    /// The place of its name in `kinds`.
    public let kind: UInt8
    /// The place of its outcome's word in `details`.
    public let detail: UInt8
  }

  /// What can happen, by code.
  public static let kinds = Facts.kinds
  /// The words that say how, by code; 0: there is nothing to say.
  public static let details = Facts.details

  /// The words up to the last one that occurs, and at least those that every result has.
  public static func listed(_ words: [String], later: Int, codes: some Sequence<UInt8>) -> [String]
  {
    let most = codes.reduce(0) { max($0, Int($1)) }
    return Array(words.prefix(max(words.count - later, most + 1)))
  }
  /// How many of the kinds and of the details at their end are listed only where they occur.
  public static let (laterKinds, laterDetails) = (Facts.laterKinds, Facts.laterDetails)

  /// The rows, in the order in which things happened.
  public private(set) var rows = PagedArray<Row>()
  /// How many did not fit.
  public private(set) var missed = 0
  private var limit: Int
  private var round: Int32 = 1

  /// A log of at most this many rows.
  public init(limit: Int) { self.limit = limit }

  /// What a log remembers.
  public struct Memory: Codable {
    let rows: PagedArray<Row>
    let missed: Int
    let limit: Int
    let round: Int32
  }

  public var memory: Memory {
    get { Memory(rows: rows, missed: missed, limit: limit, round: round) }
    set {
      (rows, missed, limit, round) = (
        newValue.rows, newValue.missed, newValue.limit, newValue.round
      )
    }
  }

  /// They are wanted.
  public var wantsEveryEvent: Bool { true }

  /// Keeps it.
  public func happened(_ event: ObservedEvent) {
    guard rows.count < limit else {
      missed += 1
      return
    }
    let facts = event.kind.facts
    rows.append(
      Row(
        time: event.time, device: Int32(event.device), update: Int32(facts.update),
        version: Int32(facts.version), round: facts.round.map { Int32($0) } ?? round,
        count: Int32(facts.count), kind: facts.kind, detail: facts.detail))
  }

  /// The next round is open.
  public func closed(_ record: RoundRecord, _ simulation: borrowing Simulation) {
    round = Int32(record.round) + 1
  }

  /// The parts of what happened.
  struct Facts {
    let kind: UInt8
    let detail: UInt8
    var update = -1
    var version = -1
    var round: Int?
    var count = -1

    init(
      _ kind: String, _ detail: String? = nil, update: Int = -1, version: Int = -1,
      round: Int? = nil, count: Int = -1
    ) {
      self.kind = Self.code(kind, Self.kinds)
      self.detail = detail.map { Self.code($0, Self.details) } ?? 0
      (self.update, self.version, self.round, self.count) = (update, version, round, count)
    }

    private static func code(_ word: String, _ words: [String]) -> UInt8 {
      guard let place = words.firstIndex(of: word) else {
        preconditionFailure("`\(word)` has no code")
      }
      return UInt8(place)
    }

    static let kinds =
      [
        "sessionBegan", "sessionEnded", "accepted", "downloaded", "trainingBegan", "trainingCut",
        "checkpointed", "attemptEnded", "updateCreated", "uploadBegan", "uploadFailed", "arrived",
        "receipt", "killed", "condition", "submitted", "connectivity", "cohortFormed", "published",
        "roundSkipped", "softExpiry", "waited", "checkFailed", "downloadFailed", "rested",
        "serverOffline", "updateEnded", "forceQuit", "processorExceeded", "identity", "rejected",
        "disconnected", "erased", "exchange",
      ] + EventLog.centralKinds + ["serverStopped", "serverStarted"]
    static let laterKinds = 3 + EventLog.centralKinds.count
    static let laterDetails = details.count - earlierDetails.count + later.count

    static let details: [String] = {
      var words = earlierDetails
      let steps = ExchangeStep.allCases.map(\.rawValue) + FileOutcome.allCases.map(\.rawValue)
      let last = steps + DeviceChange.later.map(\.rawValue) + latest
      for word in last where !words.contains(word) { words.append(word) }
      return words
    }()

    private static let earlierDetails: [String] = {
      let all: [[String]] = [
        ["none"], SessionKind.allCases.map(\.rawValue), SessionEnd.allCases.map(\.rawValue),
        AttemptOutcome.allCases.map(\.rawValue), UpdateOutcome.allCases.map(\.rawValue),
        TransmissionOutcome.allCases.map(\.rawValue), Receipt.Status.allCases.map(\.rawValue),
        DeviceChange.allCases.map(\.rawValue), SubmitError.allCases.map { "\($0)" },
        ["online", "offline"], IdentityStep.names, DisconnectReason.allCases.map { "\($0)" },
        Erasure.allCases.map(\.rawValue),
      ]
      var words: [String] = []
      let last = later + DeviceChange.later.map(\.rawValue) + latest
      for word in all.joined() where !words.contains(word) && !last.contains(word) {
        words.append(word)
      }
      return words + later
    }()

    /// Words that came later: they are last, and are listed where they are used.
    static let later = [UpdateOutcome.refusedOffline.rawValue]
    /// Words that came after all others.
    private static let latest = [UpdateOutcome.lostAtRestart.rawValue]
  }
}

extension ObservedEvent.Kind {
  /// Its parts, by codes.
  var facts: EventLog.Facts {
    switch self {
    case .sessionBegan(let kind): .init("sessionBegan", kind.rawValue)
    case .sessionEnded(let end): .init("sessionEnded", end.rawValue)
    case .accepted(let round): .init("accepted", round: round)
    case .downloaded(let version): .init("downloaded", version: version)
    case .trainingBegan(let base, let first, _):
      .init("trainingBegan", version: base, count: first)
    case .trainingCut(let batches, _): .init("trainingCut", count: batches)
    case .checkpointed(let batches, _): .init("checkpointed", count: batches)
    case .attemptEnded(let outcome, let batches):
      .init("attemptEnded", outcome.rawValue, count: batches)
    case .updateCreated(let update, let base, let batches, _):
      .init("updateCreated", update: update, version: base, count: batches)
    case .uploadBegan(let update): .init("uploadBegan", update: update)
    case .uploadFailed(let update, let outcome):
      .init("uploadFailed", outcome.rawValue, update: update)
    case .arrived(let update): .init("arrived", update: update)
    case .receipt(let update, let receipt):
      .init(
        "receipt", receipt.status.rawValue, update: update, version: Int(receipt.newVersion),
        count: Int(receipt.pendingCount))
    case .killed: .init("killed")
    case .condition(let condition): .init("condition", condition.rawValue)
    case .submitted(_, let error): .init("submitted", error.map { "\($0)" })
    case .connectivity(let isOnline): .init("connectivity", isOnline ? "online" : "offline")
    case .cohortFormed(let round, let members):
      .init("cohortFormed", round: round, count: members)
    case .published(let version, let updates):
      .init("published", version: version, count: updates)
    case .roundSkipped(let round): .init("roundSkipped", round: round)
    case .softExpiry: .init("softExpiry")
    case .waited(let round): .init("waited", round: round)
    case .requestFailed(let kind, let outcome):
      .init(kind == .check ? "checkFailed" : "downloadFailed", outcome.rawValue)
    case .rested(let end): .init("rested", end.rawValue)
    case .serverOffline: .init("serverOffline")
    case .updateEnded(let update, let outcome):
      .init("updateEnded", outcome.rawValue, update: update)
    case .forceQuit: .init("forceQuit")
    case .processorExceeded: .init("processorExceeded")
    case .identity(let step): .init("identity", step.name)
    case .rejected: .init("rejected")
    case .disconnected(let reason): .init("disconnected", "\(reason)")
    case .erased(let scope): .init("erased", scope.rawValue)
    case .exchange(let step): .init("exchange", step.rawValue)
    case .serverProcess(let isRunning): .init(isRunning ? "serverStarted" : "serverStopped")
    case .central(let step): EventLog.facts(of: step)
    }
  }
}
