/// What a policy may see of the server: plain values, nothing to change.
public struct ServerView: Sendable {
  /// The virtual time.
  public let now: SimTime
  /// The current version.
  public let version: Int
  /// The open round, from 1.
  public let round: Int
  /// Updates that wait for aggregation; where late ones are taken in, those of the open round.
  public let pending: Int
  /// The goal of the round's cohort, or nil before one is formed.
  public let cohortGoal: Int?
  /// Members of the round's cohort.
  public let cohortSize: Int
  /// Members of it whose streams broke before their result was there.
  public let failures: Int
  /// The open cycle, where there are cycles.
  public let cycle: CycleView?
  /// When the open round began.
  public let roundOpenedAt: SimTime
  /// What the server knows of devices, by number, as far as it has heard of any; empty unless the
  /// selector `needs` facts.
  public let known: [DeviceFacts]

  /// A view of a server in this state.
  public init(
    now: SimTime, version: Int, round: Int, pending: Int, cohortGoal: Int?, cohortSize: Int,
    failures: Int = 0, cycle: CycleView? = nil, roundOpenedAt: SimTime = .start,
    known: [DeviceFacts] = []
  ) {
    self.roundOpenedAt = roundOpenedAt
    self.known = known
    self.failures = failures
    self.cycle = cycle
    self.now = now
    self.version = version
    self.round = round
    self.pending = pending
    self.cohortGoal = cohortGoal
    self.cohortSize = cohortSize
  }
}
