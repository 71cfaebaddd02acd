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
  /// The server restarted and forgot it.
  case lostAtRestart

  /// How many outcomes at the end of the list are listed only where they occur.
  package static let later = 1
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
