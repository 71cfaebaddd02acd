/// What others may read of a run.
extension Simulation {
  /// What the run depends on.
  public var inputs: SimulationInputs { cx.inputs }
  /// The virtual time.
  public var now: SimTime { cx.now }
  /// The time at which the run ends at the latest.
  public var end: SimTime { cx.end }
  /// Whether the run is over.
  public var isOver: Bool { cx.isOver }
  /// What was begun and how it ended.
  public var ledgers: Ledgers { cx.books.ledgers }
  /// What happened, counted.
  public var tallies: Tallies { cx.books.tallies }
  /// Participations by round; index 0 is unused.
  public var roundFunnels: Pages<Funnel> { cx.participations.rounds }
  /// Participations by the hour in which their session began.
  public var hourFunnels: Pages<Funnel> { cx.participations.hours }
  /// The same by the group of their devices; empty unless that is recorded.
  public var groupFunnels: [Pages<Funnel>] { cx.participations.groups }
  /// The last federated evaluation, of the version that was current then.
  public var federatedEvaluation: FederatedEvaluation? { server.quality.federated }
}
