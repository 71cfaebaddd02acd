import Learning

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

  /// A device's path, such as `phones/17`.
  public func path(of device: Int) -> String { Roster.path(of: device, devices, cx) }
  /// Whether a device is one of the adversaries, whether they lie already or not.
  public func isAdversary(_ device: Int) -> Bool { Adversary.isAdversary(device, cx) }
  /// The current model's quality, as an oracle sees it.
  public func evaluate() -> CentralEvaluation { Quality.evaluate(server, cx) }
  /// The current model's accuracy on each device's own samples, as an oracle sees it.
  ///
  /// A client whose data several devices have is evaluated once. Complexity: O(devices + samples of
  /// their clients).
  public func federated() -> FederatedEvaluation { Quality.federated(devices, server, cx) }
  /// Whether the labels in a version are recorded.
  public var recordsLabels: Bool { Publication.recordsLabels(cx) }
  /// Whether the norms of a version's tensors are recorded.
  public var recordsNorms: Bool { Publication.recordsNorms(cx) }
  /// What the groups of the fleet count in the next version; empty where they have no weights.
  public var groupWeights: [Double] { Publication.groupWeights(server, cx) }
  /// What goes with the current version, such as SCAFFOLD's server variate; none: zeros.
  public var companions: [ParameterBuffer] { ClientStates.companions(server, cx) }
  /// The size of a file of these samples, as a device that collects would write it.
  package func csvBytes(_ samples: [Int32], _ settings: CollectionSettings) -> Int64 {
    SampleFiles.csvBytes(samples, settings, cx)
  }
}
