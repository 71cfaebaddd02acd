/// A count of what was begun and how each of it ended, kept in O(1) an event.
///
/// Every entry ends in exactly one outcome; what is still open when the run ends is
/// `unfinishedAtEnd`.
public struct Ledger<Outcome: RawRepresentable & CaseIterable & Sendable>: Sendable,
  Codable
where Outcome.RawValue == String {
  /// How many entries were begun.
  public private(set) var opened = 0
  private var counts = [Int](repeating: 0, count: Outcome.allCases.count)

  /// An empty ledger.
  public init() {}

  /// Begins an entry.
  public mutating func open() { opened += 1 }

  /// Opens this many.
  mutating func open(_ count: Int) { opened += count }

  /// Closes this many.
  mutating func close(_ outcome: Outcome, _ count: Int) { counts[Self.place(outcome)] += count }

  /// Ends an entry.
  public mutating func close(_ outcome: Outcome) { counts[Self.place(outcome)] += 1 }

  /// Begins and ends this many entries.
  mutating func record(_ count: Int, _ outcome: Outcome) {
    opened += count
    counts[Self.place(outcome)] += count
  }

  /// How many entries ended so.
  public subscript(outcome: Outcome) -> Int { counts[Self.place(outcome)] }

  /// How many entries have not ended.
  public var stillOpen: Int { opened - counts.reduce(0, +) }

  private static func place(_ outcome: Outcome) -> Int {
    for (place, other) in Outcome.allCases.enumerated() where other.rawValue == outcome.rawValue {
      return place
    }
    preconditionFailure("an outcome is one of its cases")
  }
}

/// How an attempt to train ends.
public enum AttemptOutcome: String, CaseIterable, Sendable {
  /// All batches were done and an update was made.
  case finished
  /// The task expired and an update of the batches done was made.
  case submittedPartial
  /// The task expired and the batches done were thrown away.
  case discardedAtExpiry
  /// The app was killed.
  case killed
  /// A condition of participation was lost.
  case conditionsLost
  /// The training threw an error.
  case threw
  /// The checkpoint was given up for a newer version.
  case restarted
  /// The checkpoint was too old.
  case outdated
  /// The app was removed, and its checkpoint with it.
  case uninstalled
  /// The run ended first.
  case unfinishedAtEnd
  /// Its user had it erased.
  case erased
  /// The device left the fleet.
  case deviceLeft

  /// Ends that only features bring; results list them where they occur.
  package static let rare: [AttemptOutcome] = [.uninstalled, .erased, .deviceLeft]
}

/// How an update ends.
public enum UpdateOutcome: String, CaseIterable, Sendable, Codable {
  /// It is part of a version.
  case aggregated
  /// A later update of the same device on the same version took its place.
  case replaced
  /// An earlier update of the same device on the same version was there.
  case rejectedDuplicate
  /// Its base was too old when it arrived.
  case rejectedStale
  /// Its round was over when it arrived.
  case rejectedLate
  /// Its parameters were not finite.
  case rejectedNotFinite
  /// Its round was skipped.
  case roundSkipped
  /// It could not be sent and the device keeps none.
  case dropped
  /// A newer update needed its place in the outbox.
  case evicted
  /// It waited in the outbox for too long.
  case outdated
  /// The app was killed and keeps no outbox.
  case lostAtKill
  /// The app was removed, and its outbox with it.
  case uninstalled
  /// The server refused it: the device's tokens are of another organisation or for other purposes.
  case forbidden
  /// The run ended first: on the device, on its way, or waiting at the server.
  case unfinishedAtEnd
  /// The device found its loss or its weights not finite and did not send it.
  case rejectedLocally
  /// Its training had failed and sent no samples.
  case weightless
  /// Its user had it erased.
  case erased
  /// The device left the fleet before it was sent.
  case deviceLeft
  /// The server believed itself offline and takes nothing in then.
  case refusedOffline
  /// It waited at the server, which restarted.
  case lostAtRestart

  /// Ends that only features bring; results list them where they occur.
  package static let rare: [UpdateOutcome] = [
    .uninstalled, .forbidden, .rejectedLocally, .weightless, .erased, .deviceLeft, .refusedOffline,
    .lostAtRestart,
  ]
}

/// How a transmission ends, as the device sees it.
public enum TransmissionOutcome: String, CaseIterable, Sendable {
  /// The answer came whole.
  case delivered
  /// The link was lost before all was sent, or while the answer came.
  case linkLost
  /// The link or the process was lost after all was sent and before an answer came: the server may
  /// have acted on it.
  case unacknowledged
  /// No answer came in time.
  case timedOut
  /// The task or the process ended before all was sent, or while the answer came.
  case cancelled
  /// The server refused it for lack of a good token (401).
  case unauthorised
  /// The server refused it, though the token is good (403).
  case forbidden
  /// A service is down (503): the one that issues tokens, or an offline server that takes nothing.
  case unavailable
  /// The run ended first.
  case unfinishedAtEnd

  /// Ends that only features bring; results list them where they occur.
  package static let rare: [TransmissionOutcome] = [.unauthorised, .forbidden, .unavailable]
}

/// The three ledgers of a run, with sums that must agree with them.
public struct Ledgers: Sendable, Codable {
  /// Training attempts.
  public internal(set) var attempts = Ledger<AttemptOutcome>()
  /// Updates.
  public internal(set) var updates = Ledger<UpdateOutcome>()
  /// Transmissions.
  public internal(set) var transmissions = Ledger<TransmissionOutcome>()
  /// Batches done in attempts that made an update, and in all others.
  public internal(set) var batchesUsed = 0
  /// Batches done whose result was thrown away.
  public internal(set) var batchesWasted = 0
  /// Bytes that devices sent, failed transmissions included.
  public internal(set) var bytesUp: Int64 = 0
  /// Bytes that devices received, failed transmissions included.
  public internal(set) var bytesDown: Int64 = 0
}

/// How many sessions the app refused, by the first condition that did not hold.
public struct Refusals: Sendable, Equatable, Codable {
  /// By the conditions' raw values, as far as there are any.
  private var counts: [Int] = []

  /// Counts one.
  mutating func count<Reason: RawRepresentable<UInt8>>(_ reason: Reason) {
    let place = Int(reason.rawValue)
    if counts.count <= place { counts += Array(repeating: 0, count: place + 1 - counts.count) }
    counts[place] += 1
  }

  /// Those by the condition with this raw value.
  public subscript(place: Int) -> Int { place < counts.count ? counts[place] : 0 }
}

/// How many processes the operating system ended, by its reason.
public struct SystemEnds: Sendable, Codable {
  /// Kills of apps that used the processor for too long.
  public internal(set) var processorKills = 0
  /// Suspended apps that the system removed from memory.
  public internal(set) var evictions = 0
}

/// What happened along the way, counted.
public struct Tallies: Sendable, Codable {
  /// Events handled.
  public internal(set) var events = 0
  /// Events skipped because they had been cancelled.
  public internal(set) var cancelledEvents = 0
  /// Sessions begun: tasks, windows, activations.
  public internal(set) var sessions = 0
  /// Sessions in which a device could not take part, because a condition did not hold.
  public internal(set) var ineligibleSessions = 0
  /// The same by the first condition that did not hold.
  public internal(set) var ineligible = Refusals()
  /// Sessions of devices without data.
  public internal(set) var sessionsWithoutData = 0
  /// Trainings that were running when their task expired.
  public internal(set) var expiredTrainings = 0
  /// Checkpoints of trainings.
  public internal(set) var checkpoints = Checkpoints()
  /// Kills of the app.
  public internal(set) var kills = 0
  /// Updates that could not be sent when they were made and waited in the outbox.
  public internal(set) var waitedOffline = 0
  /// Updates that reached the server again after it had them.
  public internal(set) var repeatedDeliveries = 0
  /// Updates aggregated a second time, which `duplicates: append` allows.
  public internal(set) var aggregatedTwice = 0
  /// Scripted events that found nothing to act on.
  public internal(set) var injectionsWithoutEffect = 0
  /// Requests that the operating system did not take.
  public internal(set) var refusedRequests = 0
  /// Kills after which the operating system gives the app less time.
  public internal(set) var penalties = 0
  /// Processes that the operating system ended.
  public internal(set) var bySystem = SystemEnds()
  /// Sessions of devices that cannot train the model.
  public internal(set) var declinedSessions = 0
  /// Devices that joined the fleet after the start, each time counted.
  public internal(set) var joins = 0
  /// Devices that left it.
  public internal(set) var leaves = 0
  /// Trainings whose value was needed.
  public internal(set) var trainingsNeeded = 0

  /// What happened to checkpoints of trainings, counted.
  public struct Checkpoints: Sendable, Codable {
    /// Times at which one was written.
    public internal(set) var written = 0
    /// Times at which a training continued from its own.
    public internal(set) var resumed = 0
    /// Those that were moved to a newer base.
    public internal(set) var rebased = 0
  }

  /// Nothing was counted yet.
  package init() {}
}
