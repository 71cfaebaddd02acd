/// What a server does in addition to the plain path; most servers have no dialect.
protocol ServerDialect: Sendable {
  /// A request has reached the server, which will act on it.
  func onRequest(
    _ device: Int, _ generation: UInt32, _ server: inout Server, _ cx: inout Context)

  /// Acts on a request that the plain path does not know.
  func handle(
    _ device: Int, _ generation: UInt32, _ request: Request, _ server: inout Server,
    _ cx: inout Context)

  /// A device is about to wait for a cohort; what it is answered instead, if anything.
  func beforeWaiting(_ device: Int, _ server: inout Server, _ cx: borrowing Context)
    -> CheckAnswer?

  /// Devices wait, and a cohort may be formed of them.
  func beforeCohort(_ server: inout Server, _ cx: inout Context)
    -> BeforeCohort

  /// An update has arrived at a server that a program runs.
  func onUpdate(_ update: Int32, _ server: inout Server, _ cx: inout Context)

  /// A round is closed, and the next one is about to open.
  func onRound(_ server: inout Server, _ cx: inout Context)
}

/// How waiting devices are used.
enum BeforeCohort {
  /// A cohort may be formed.
  case cohort
  /// The server has other work for them.
  case otherWork
}
