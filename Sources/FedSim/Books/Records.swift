import Learning

/// The funnel of participation: each stage is a part of the one before.
public enum Stage: UInt8, CaseIterable, Sendable {
  /// A session began and every condition held, or it asks for work again.
  case eligible
  /// Its request for work reached the server.
  case checkedIn
  /// The server accepted it.
  case accepted
  /// Training began.
  case started
  /// Training ended in an update, whole or partial.
  case trained
  /// The update reached the server.
  case delivered
  /// The server took it in.
  case admitted
  /// It became part of a version.
  case aggregated
}

/// Counts of participations by stage.
public struct Funnel: Sendable, Equatable, Codable {
  // In place, for a run keeps one for every round and hour.
  private var places = SIMD8<UInt32>(repeating: 0)

  /// One count a stage.
  public var counts: [Int] { places.indices.map { Int(places[$0]) } }

  /// The count of a stage.
  public subscript(stage: Stage) -> Int {
    get { Int(places[Int(stage.rawValue)]) }
    set { places[Int(stage.rawValue)] = UInt32(newValue) }
  }

  subscript(stage: Int) -> Int {
    get { Int(places[stage]) }
    set { places[stage] = UInt32(newValue) }
  }
}

/// How a round ended.
public enum RoundOutcome: String, CaseIterable, Sendable, Codable {
  /// A version was published.
  case published
  /// Its deadline passed with too few updates.
  case skipped
  /// None of its updates could be used.
  case failed
  /// The run ended first.
  case unfinishedAtEnd
}

/// One server attempt.
public struct RoundRecord: Sendable, Codable {
  /// Its number, from 1.
  public let round: Int
  /// When it was opened.
  public let openedAt: SimTime
  /// When it was closed.
  public let closedAt: SimTime
  /// How it ended.
  public let outcome: RoundOutcome
  /// The version that it published, or −1.
  public let version: Int
  /// Members of its cohort; 0 where none is formed.
  public let cohort: Int
}

/// The quality of a version, as an oracle sees it: no virtual time, no events, no draws.
public struct CentralEvaluation: Sendable, Equatable, Codable {
  /// On the test samples.
  public let test: Evaluation
  /// On the devices' validation samples together; nil where there are none.
  public let validation: Evaluation?

  /// What was found.
  public init(test: Evaluation, validation: Evaluation?) {
    self.test = test
    self.validation = validation
  }
}

/// How long a tensor is, as a vector.
public struct TensorNorms: Sendable, Equatable, Codable {
  /// Its L2 norm.
  public let norm: Double
  /// The L2 norm of its change since the version before; NaN without one.
  public let step: Double
}

/// A device at the end of the run.
public struct DeviceRecord: Sendable {
  /// Its fleet group's place.
  public let group: Int
  /// Its number in the group.
  public let ordinal: Int
  /// The client whose data it has.
  public let client: Int
  /// Its training samples.
  public let samples: Int
  /// The version that it holds; −1: none.
  public let heldVersion: Int
  /// What it did.
  public let activity: DeviceActivity
  /// Digest of its exogenous series until the run ended: to compare runs that end at one time.
  public let exogenousDigest: UInt64
  /// Its battery at the start and at the end, and what came between; nil: it has none.
  public let energy: (initial: Int64, final: Int64, flows: EnergyLedger)?
  /// What it is made of; nil: its group does not say.
  public let hardware: (name: String, speedRank: Double, unfitness: Unfitness?)?
  /// How often it joined and left, and how long it was there; nil: it always is.
  public let presence: (joins: Int, leaves: Int, total: SimDuration)?
  /// Samples that have arrived; nil: all are there from the start.
  public let arrived: Int?
  /// The traces that it has, by what they give, each by its place in its file.
  public let traces: [(name: String, number: Int)]
  /// The version that its own model was trained from, −1: it has trained none; nil: no device keeps
  /// one.
  public let ownBase: Int?
}

/// What a device did, counted.
public struct DeviceActivity: Sendable, Equatable, Codable {
  // A fleet has very many of these: counts of single devices are kept small.
  private struct Counts: Sendable, Equatable, Codable {
    var sessions: UInt32 = 0
    var attempts: UInt32 = 0
    var expired: UInt32 = 0
    var updates: UInt32 = 0
    var aggregated: UInt32 = 0
  }
  private var counts = Counts()

  /// Sessions begun.
  public internal(set) var sessions: Int {
    get { Int(counts.sessions) }
    set { counts.sessions = UInt32(newValue) }
  }
  /// Training attempts begun.
  public internal(set) var attempts: Int {
    get { Int(counts.attempts) }
    set { counts.attempts = UInt32(newValue) }
  }
  /// Trainings that were running when their task expired.
  public internal(set) var expired: Int {
    get { Int(counts.expired) }
    set { counts.expired = UInt32(newValue) }
  }
  /// Updates made.
  public internal(set) var updates: Int {
    get { Int(counts.updates) }
    set { counts.updates = UInt32(newValue) }
  }
  /// Its updates that became part of a version.
  public internal(set) var aggregated: Int {
    get { Int(counts.aggregated) }
    set { counts.aggregated = UInt32(newValue) }
  }
  /// Bytes sent.
  public internal(set) var bytesUp: Int64 = 0
  /// Bytes received.
  public internal(set) var bytesDown: Int64 = 0
}

/// Something that happened, for observers: the story of a device or of the server.
public struct ObservedEvent: Sendable, Equatable {
  /// When it happened, in simulated time.
  public let time: SimTime
  /// The device's number in the fleet; −1 for the server.
  public let device: Int
  /// What.
  public let kind: Kind

  /// What can happen.
  public enum Kind: Sendable, Equatable {
    case sessionBegan(SessionKind)
    case sessionEnded(SessionEnd)
    case accepted(round: Int)
    case downloaded(version: Int)
    case trainingBegan(base: Int, firstBatch: Int, batches: Int)
    case trainingCut(batches: Int, of: Int)
    case checkpointed(batches: Int, of: Int)
    case attemptEnded(AttemptOutcome, batches: Int)
    case updateCreated(update: Int, base: Int, batches: Int, samples: Int)
    case uploadBegan(update: Int)
    case uploadFailed(update: Int, TransmissionOutcome)
    case arrived(update: Int)
    case receipt(update: Int, Receipt)
    case killed
    case condition(DeviceChange)
    case submitted(task: String, SubmitError?)
    case identity(IdentityStep)
    case connectivity(Bool)
    case cohortFormed(round: Int, members: Int)
    case published(version: Int, updates: Int)
    case roundSkipped(round: Int)
    case rejected(RetryAfter?)
    case disconnected(DisconnectReason)
    case erased(Erasure)
    /// A session's soft expiry came.
    case softExpiry
    /// The server holds a device's request until a cohort is formed.
    case waited(round: Int)
    /// A request without an update failed, or was given up.
    case requestFailed(RequestKind, TransmissionOutcome)
    /// A session that repeats has nothing to do for now.
    case rested(SessionEnd)
    /// The server answered a device that it believes itself offline.
    case serverOffline
    /// An update ended.
    case updateEnded(update: Int, UpdateOutcome)
    /// The app was swiped away.
    case forceQuit
    /// The app used the processor for too long.
    case processorExceeded
    /// A step between device and server that is no training.
    case exchange(ExchangeStep)
    /// A step on the way of a file that was collected, or of a model that is trained centrally.
    case central(CentralStep)
  }
}

/// A request that carries no update.
public enum RequestKind: String, Sendable, CaseIterable { case check, download }

/// Why a session began.
public enum SessionKind: String, Sendable, CaseIterable, Codable {
  case task, window, activation, refresh, continued
  /// An open app gets what its next heartbeat needs.
  case heartbeat

  /// Whether it only looks for news, and sends what waits.
  package var isPoll: Bool { self == .activation || self == .refresh || self == .heartbeat }
  /// Whether it ends when the device is locked, and makes way for any other.
  var endsOnLock: Bool { self == .activation || self == .heartbeat }
  /// Whether a person sees the app.
  var isInUse: Bool { endsOnLock || self == .continued }
  /// Whether it is a task of the operating system's scheduler.
  var isTask: Bool { self == .task || self == .refresh || self == .continued }
}

/// Why a session ended.
public enum SessionEnd: String, Sendable, CaseIterable {
  case completed, expired, killed, ineligible, withoutData, unreachable, rejected, nothingNew
  case conditionsLost, threw, locked, unauthorised, unregistered, keychainLocked
  case unknownError, expiredRound, undecodable, streamBroken, disconnected, wrongURL, erased
  /// The device cannot train the model; it has left the fleet.
  case declined, left
}
