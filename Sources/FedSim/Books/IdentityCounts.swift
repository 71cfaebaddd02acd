/// What a server believes of a device, or what is true: the app runs and has a link, it only has a
/// link, or neither.
public enum Presence: UInt8, Sendable, CaseIterable, Codable { case online, idle, offline }

/// How often what happened to the identities of all devices.
public struct IdentityCounts: Sendable, Equatable, Codable {
  /// Registrations that the server took, repetitions counted.
  public internal(set) var registrations = 0
  /// Numbers that the server gave to installations.
  public internal(set) var registered = 0
  /// Bootstraps that devices got tokens by.
  public internal(set) var bootstraps = 0
  /// Refreshes that devices got tokens by.
  public internal(set) var refreshes = 0
  /// Refreshes that failed on their way or by the service's being down.
  public internal(set) var failedRefreshes = 0
  /// Refresh tokens that the server did not take.
  public internal(set) var revocations = 0
  /// Requests, heartbeats not counted, that the server refused with 401.
  public internal(set) var unauthorised = 0
  /// The same with 403.
  public internal(set) var forbidden = 0
  /// Times at which a device had something to ask for and no token, no registration or no key.
  public internal(set) var withheld = 0
  /// Re-installations.
  public internal(set) var reinstallations = 0
  /// Heartbeats.
  public internal(set) var heartbeats = HeartbeatCounts()
}

/// Heartbeats by outcome.
public struct HeartbeatCounts: Sendable, Equatable, Codable {
  /// Times at which one was due.
  public internal(set) var due = 0
  /// Not sent: no token, no registration, or no way to read them; no message is sent.
  public internal(set) var withheld = 0
  /// Not sent because there was no link.
  public internal(set) var unsent = 0
  /// Sent, and the app took the answer for a success.
  public internal(set) var succeeded = 0
  /// Sent, and the app knows that it failed: refused, or without an answer.
  public internal(set) var failed = 0
  /// Under way when the run ended.
  public internal(set) var unfinished = 0
  /// Taken in by the server.
  public internal(set) var accepted = 0
  /// Refused by the server with 401.
  public internal(set) var unauthorised = 0
  /// Refused by the server with 403.
  public internal(set) var forbidden = 0

  /// Those that were sent.
  public var sent: Int { succeeded + failed + unfinished }
}
