import Numerics

/// The classes of events at one time, first to last: the world moves before anyone acts on it, and
/// a deadline wins over what ends at the same time.
public enum EventClass: UInt8, Sendable, CaseIterable {
  case world, kill, deadline, transferEnd, batchEnd, serverTimer, serverArrival, deviceResponse
  case deviceTimer, scan, snapshot
}

/// A request that travels to the server.
public enum Request: Equatable, Sendable {
  /// Is there a newer version, and may I train? `participation` is −1 for a poll that wants no
  /// work.
  case check(heldVersion: Int32, participation: Int32)
  /// Send the latest version.
  case latest
  /// Take this update.
  case submit(update: Int32)
  /// The device no longer waits for a cohort.
  case leave
  /// Give me a number, or tokens.
  case identity(IdentityRequest)
  /// Send the model of the round that this device has a key for.
  case fetch(round: Int32)
  /// The device's stream is broken.
  case disconnect(participation: Int32, DisconnectReason)
  /// The device's user had something erased.
  case erase
  /// Something for the store of a central training.
  case central(CentralRequest)
}

/// An answer that travels to a device.
public enum Response: Equatable, Sendable {
  /// The latest version, the server's own idea of its connection, and whether to train.
  case check(latest: Int32, isOnline: Bool, admission: CheckAnswer, round: Int32)
  /// A version's parameters follow.
  case model(version: Int32)
  /// There is a model, and the server believes itself offline.
  case modelUnavailable
  /// What became of an update.
  case receipt(Receipt)
  /// The number or the tokens that were asked for.
  case granted(IdentityRequest)
  /// The request is not served.
  case refused(Refusal)
  /// No work; when to ask again, if ever.
  case rejected(RetryAfter?)
  /// The key is one of a round that is over.
  case keyInvalid
  /// What the store of a central training answers.
  case central(CentralResponse)
}

/// The part of a check's answer that concerns work.
public enum CheckAnswer: UInt8, Equatable, Sendable {
  case accepted, rejected, pollOnly
}

/// The server's answer to an update.
public struct Receipt: Equatable, Sendable {
  /// What became of it.
  public enum Status: String, Sendable, CaseIterable { case aggregated, pending, offline, rejected }
  /// What became of it.
  public let status: Status
  /// The version that is current now.
  public let newVersion: Int32
  /// Updates that wait now.
  public let pendingCount: Int32
}

/// A timer of the server.
public enum ServerTimer: Equatable, Sendable {
  /// The connectivity probe.
  case probe
  /// The n-th trigger's timer, in the round that it was set for (0: any).
  case trigger(Int32, round: Int32)
  /// The n-th request has been served.
  case served(Int32)
  /// A central training of the n-th model is done, or, below 0, one of each is due.
  case central(Int32)
}

/// A series of a device that changes by itself.
public enum Series: UInt8, Equatable, Sendable, CaseIterable {
  case power, link, usage, window, ambient, setting, share, presence
}

/// A series of the server that changes by itself.
public enum ServerSeries: UInt8, Equatable, Sendable, CaseIterable {
  case reachable, internet
}

/// A timer of a device.
public enum DeviceTimer: UInt8, Equatable, Sendable {
  /// A request has waited long enough for its answer.
  case requestTimeout
  /// A session goes on after a pause or before another try.
  case sessionPause
  /// A device has been locked long enough to count as idle.
  case idle
  /// A request to the operating system may begin.
  case earliestBegin
  /// A level of the battery or a limit of heat is reached.
  case body
  /// The operating system looks again at what is pending.
  case scan
  /// A continued task has made no progress, or had no link, for long enough.
  case stalled
  /// A task has used the processor for too long.
  case processor
  /// A heartbeat is due that is more than a number.
  case heartbeat
  /// The app is removed and installed anew.
  case reinstall
}

/// Everything that can happen: plain values that can be printed, hashed, stored and compared.
///
/// A generation tells whether the event still matters: one that was cancelled is skipped and
/// counted.
public enum Event: Equatable, Sendable {
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
  func combine(into digest: inout Digest) {
    func pack(_ kind: UInt64, _ device: Int32, _ rest: UInt64 = 0) -> UInt64 {
      kind << 56 | UInt64(UInt32(bitPattern: device)) << 24 | rest & 0xFF_FFFF
    }
    switch self {
    case .world(let series, let device, let state):
      digest.combine(pack(1, device, UInt64(series.rawValue) << 8 | UInt64(state)))
    case .linkRestored(let device, _): digest.combine(pack(2, device))
    case .server(let series, let state):
      digest.combine(pack(3, -1, UInt64(series.rawValue) << 8 | UInt64(state)))
    case .injection(let index): digest.combine(pack(4, index))
    case .softExpiry(let device, _): digest.combine(pack(5, device))
    case .hardExpiry(let device, _): digest.combine(pack(6, device))
    case .transferEnd(let device, _): digest.combine(pack(7, device))
    case .trainingEnd(let device, _): digest.combine(pack(8, device))
    case .serverTimer(.probe): digest.combine(pack(9, -1))
    case .serverTimer(.trigger(let index, _)): digest.combine(pack(10, index))
    case .serverTimer(.served(let number)): digest.combine(pack(45, number))
    case .serverTimer(.central(let number)): digest.combine(pack(48, number))
    case .arrival(let device, _, let request):
      switch request {
      case .check(let held, let participation):
        digest.combine(pack(11, device, participation < 0 ? 0 : 1))
        digest.combine(UInt64(UInt32(bitPattern: held)))
      case .latest: digest.combine(pack(12, device))
      case .submit(let update):
        digest.combine(pack(13, device))
        digest.combine(UInt64(UInt32(bitPattern: update)))
      case .leave: digest.combine(pack(14, device))
      case .identity(let kind): digest.combine(pack(30, device, UInt64(kind.rawValue)))
      case .fetch(let round): digest.combine(pack(40, device, UInt64(round)))
      case .disconnect(_, let reason): digest.combine(pack(41, device, UInt64(reason.rawValue)))
      case .erase: digest.combine(pack(42, device))
      case .central(let request): for word in request.words(device) { digest.combine(word) }
      }
    case .response(let device, _, let response):
      switch response {
      case .check(let latest, let isOnline, let admission, let round):
        let rest = UInt64(admission.rawValue) << 1 | (isOnline ? 1 : 0)
        digest.combine(pack(15, device, rest))
        digest.combine(
          UInt64(UInt32(bitPattern: latest)) << 32 | UInt64(UInt32(bitPattern: round)))
      case .model(let version):
        digest.combine(pack(16, device))
        digest.combine(UInt64(UInt32(bitPattern: version)))
      case .modelUnavailable: digest.combine(pack(17, device))
      case .granted(let kind): digest.combine(pack(31, device, UInt64(kind.rawValue)))
      case .refused(let refusal): digest.combine(pack(32, device, UInt64(refusal.rawValue)))
      case .receipt(let receipt):
        let status = Receipt.Status.allCases.firstIndex(of: receipt.status)!
        digest.combine(pack(18, device, UInt64(status)))
        digest.combine(
          UInt64(UInt32(bitPattern: receipt.newVersion)) << 32
            | UInt64(UInt32(bitPattern: receipt.pendingCount)))
      case .rejected(let retry):
        digest.combine(pack(43, device, retry == nil ? 0 : 1))
        digest.combine((retry?.duration ?? .zero).microseconds)
      case .keyInvalid: digest.combine(pack(44, device))
      case .central(let response): for word in response.words(device) { digest.combine(word) }
      }
    case .deviceTimer(let timer, let device, _):
      digest.combine(pack(19, device, UInt64(timer.rawValue)))
    case .taskStart(let device, _): digest.combine(pack(20, device))
    case .end: digest.combine(pack(21, -1))
    }
  }
}
