import Numerics

/// What a device's user had erased, and what the server has heard of it.
struct ErasureNotice: Codable {
  /// When it was asked for.
  var askedAt = SimTime.never
  /// What.
  var scope = Erasure.files
  /// The last request that the device had begun by then.
  var requestsBefore: UInt32 = 0
  /// Whether the server has still to hear of it.
  var isOwed = false
  /// Updates made until then are gone at the server.
  var refusedUntil = SimTime(microseconds: -1)
}

/// What a device's speed test found; nil: nothing yet.
struct MeasuredSpeeds: Codable {
  var upload: BitRate?
  var download: BitRate?
}

/// Why a stream ended, by the names of Flower's protocol.
public enum DisconnectReason: UInt8, CaseIterable, Sendable, Codable {
  case unknown, reconnect, powerDisconnected, wifiUnavailable
}

/// The time after which a device may ask again, whole seconds and the rest.
public struct RetryAfter: Equatable, Sendable, Codable {
  /// Whole seconds, rounded down.
  public let seconds: Int32
  /// Microseconds beyond them.
  public let microseconds: Int32

  /// A duration of less than 68 years, below zero too.
  public init(_ duration: SimDuration) {
    let whole = duration.microseconds.floored(by: 1_000_000)
    seconds = Int32(clamping: whole)
    microseconds = Int32(duration.microseconds - whole * 1_000_000)
  }

  /// The duration.
  public var duration: SimDuration {
    SimDuration(microseconds: Int64(seconds) * 1_000_000 + Int64(microseconds))
  }
}
