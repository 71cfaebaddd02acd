/// The server's own connection, and what the server believes of it.
struct ServerLine: Codable {
  /// Whether devices reach it.
  var isReachable = true
  var hasInternet = true
  /// What its last probe found.
  var believesOnline = true
  /// Whether its connection changes no more.
  var isFinal = false

  /// Whether it will never again believe itself offline: then a device that asks for work is sent
  /// to the latest version, and never trains an older one that it holds.
  var staysOnline: Bool { isFinal && hasInternet && believesOnline }
}
