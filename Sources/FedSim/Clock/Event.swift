import Numerics

/// The classes of events at one time, first to last: the world moves before anyone acts on it, and
/// a deadline wins over what ends at the same time.
public enum EventClass: UInt8, Sendable, CaseIterable, Codable {
  // Numbers that enter digests and say the order: given once.
  case world = 0
  case kill = 1
  case deadline = 2
  case transferEnd = 3
  case batchEnd = 4
  case serverTimer = 5
  case serverArrival = 6
  case deviceResponse = 7
  case deviceTimer = 8
  case scan = 9
  case snapshot = 10
}

/// A timer of the server.
public enum ServerTimer: Equatable, Sendable, Codable {
  /// The connectivity probe.
  case probe
  /// The n-th trigger's timer, in the round that it was set for (0: any; −n: any since the n-th
  /// restart).
  case trigger(Int32, round: Int32)
  /// The n-th request has been served.
  case served(Int32)
  /// A device that waits is asked for the initial model.
  case modelWanted
  /// A round has waited long enough for its cohort.
  case cohortWait(round: Int32)
  /// An evaluation after a round has waited long enough for its members.
  case evaluationWait(round: Int32)
  /// The members of an evaluation have had long enough.
  case evaluationTimeout(round: Int32)
  /// The aggregation under way is over.
  case aggregated
  /// A central training of the n-th model is done, or, below 0, one of each is due.
  case central(Int32)
  /// A program that runs the server is called, for this time.
  case program(Int32)
}

/// A series of a device that changes by itself.
public enum Series: UInt8, Equatable, Sendable, CaseIterable, Codable {
  // Numbers that enter digests: given once.
  case power = 0
  case link = 1
  case usage = 2
  case window = 3
  case ambient = 4
  case setting = 5
  case share = 6
  case presence = 7
}

/// A series of the server that changes by itself.
public enum ServerSeries: UInt8, Equatable, Sendable, CaseIterable, Codable {
  case reachable = 0
  case internet = 1
  /// Whether its process runs.
  case process = 2
}

/// A timer of a device.
public enum DeviceTimer: UInt8, Equatable, Sendable, Codable {
  /// A request has waited long enough for its answer.
  case requestTimeout = 0
  /// A session continues after a pause or before another try.
  case sessionPause = 1
  /// A request to the operating system may begin.
  case earliestBegin = 2
  /// A level of the battery or a limit of heat is reached.
  case body = 3
  /// The operating system looks again at what is pending.
  case scan = 4
  /// A continued task has made no progress, or had no link, for long enough.
  case stalled = 5
  /// A task has used the processor for too long.
  case processor = 6
  /// A heartbeat is due that is more than a number.
  case heartbeat = 7
  /// The app is removed and reinstalled.
  case reinstall = 8
  /// A probe of a speed test has taken too long.
  case probe = 9
  /// A download has taken too long.
  case downloadTimeout = 10
  /// The user leaves the app.
  case leaving = 11
  /// The system needs the memory of a suspended app.
  case eviction = 12
  /// A connection has waited long enough for its link.
  case patience = 13
}

/// Everything that can happen: plain values that can be printed, hashed, stored and compared.
///
/// A generation tells whether the event still matters: one that was cancelled is skipped and
/// counted.
public enum Event: Equatable, Sendable, Codable {
  /// A device's series changes.
  case world(Series, device: Int32, state: UInt8)
  /// A dropped link comes back.
  case linkRestored(device: Int32, generation: UInt32)
  /// A series of the server changes.
  case server(ServerSeries, state: UInt8)
  /// The n-th scripted event.
  case injection(Int32)
  /// A session's soft expiry.
  case softExpiry(device: Int32, generation: UInt32)
  /// A session's hard expiry.
  case hardExpiry(device: Int32, generation: UInt32)
  /// All bytes of a request were sent, or of an answer received.
  case transferEnd(device: Int32, generation: UInt32)
  /// The last batch of a stretch of training ends.
  case trainingEnd(device: Int32, generation: UInt32)
  /// A timer of the server rings.
  case serverTimer(ServerTimer)
  /// A request reaches the server.
  case arrival(device: Int32, generation: UInt32, Request)
  /// The head of an answer reaches a device.
  case response(device: Int32, generation: UInt32, Response)
  /// A timer of a device rings.
  case deviceTimer(DeviceTimer, device: Int32, generation: UInt32)
  /// The operating system starts a task.
  case taskStart(device: Int32, generation: UInt32)
  /// The run ends.
  case end
}

extension Event {
  /// Words that tell this event from every other, for the run's digest.
  @inline(__always)
  func combine(into digest: inout Fingerprint) {
    switch self {
    case .world(let series, let device, let state):
      digest.combine(pack(.world, device, UInt64(series.rawValue) << 8 | UInt64(state)))
    case .linkRestored(let device, _): digest.combine(pack(.linkRestored, device))
    case .server(let series, let state):
      digest.combine(pack(.server, -1, UInt64(series.rawValue) << 8 | UInt64(state)))
    case .injection(let index): digest.combine(pack(.injection, index))
    case .softExpiry(let device, _): digest.combine(pack(.softExpiry, device))
    case .hardExpiry(let device, _): digest.combine(pack(.hardExpiry, device))
    case .transferEnd(let device, _): digest.combine(pack(.transferEnd, device))
    case .trainingEnd(let device, _): digest.combine(pack(.trainingEnd, device))
    case .serverTimer(.probe): digest.combine(pack(.probeTimer, -1))
    case .serverTimer(.trigger(let index, _)): digest.combine(pack(.triggerTimer, index))
    case .serverTimer(.served(let number)): digest.combine(pack(.servedTimer, number))
    case .serverTimer(.aggregated): digest.combine(pack(.aggregatedTimer, -1))
    case .serverTimer(.modelWanted): digest.combine(pack(.modelWantedTimer, -1))
    case .serverTimer(.cohortWait(let round)): digest.combine(pack(.cohortWaitTimer, round))
    case .serverTimer(.evaluationWait(let round)): digest.combine(pack(.evaluationWaitTimer, round))
    case .serverTimer(.evaluationTimeout(let round)):
      digest.combine(pack(.evaluationTimeoutTimer, round))
    case .serverTimer(.central(let number)): digest.combine(pack(.centralTimer, number))
    case .serverTimer(.program(let call)): digest.combine(pack(.programTimer, call))
    case .arrival(let device, _, let request): request.combine(into: &digest, from: device)
    case .response(let device, _, let response): response.combine(into: &digest, to: device)
    case .deviceTimer(let timer, let device, _):
      digest.combine(pack(.deviceTimer, device, UInt64(timer.rawValue)))
    case .taskStart(let device, _): digest.combine(pack(.taskStart, device))
    case .end: digest.combine(pack(.end, -1))
    }
  }
}
