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
