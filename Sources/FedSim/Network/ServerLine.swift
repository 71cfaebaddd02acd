/// The server's own connection, and what the server believes of it.
struct ServerLine: Codable {
  /// Whether devices reach it.
  var isReachable = true
  var hasInternet = true
  /// What its last probe found.
  var believesOnline = true
  /// Whether its connection changes no more.
  var isFinal = false
  /// The process that serves devices.
  var process = ServerProcess()

  /// Whether it will never again believe itself offline: then a device that asks for work is sent
  /// to the latest version, and never trains an older one that it holds.
  var staysOnline: Bool { isFinal && hasInternet && believesOnline }
}

/// The server's process, which a restart ends and begins again.
struct ServerProcess: Codable {
  var isRunning = true
  /// How often it has stopped: timers that were set before ring in vain.
  var stops: Int32 = 0
  /// When it was started last: its timers count from there.
  var startedAt = SimTime.start
  /// Requests that waited for an aggregation as it stopped, and are still in the agenda.
  var lost: [HeldRequest] = []
}

/// A request that waits for an aggregation to end.
struct HeldRequest: Equatable, Codable {
  let device: Int32
  let generation: UInt32
  let request: Request
}
