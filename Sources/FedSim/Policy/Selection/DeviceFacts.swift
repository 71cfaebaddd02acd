/// What the server knows of a device: what it has heard of it, and nothing else.
///
/// Kept only where the selector needs `facts`, and saved with the run.
public struct DeviceFacts: Sendable, Codable, Equatable {
  /// Samples that the device had when it last asked for work.
  public var samples = 0
  /// How often it asked.
  public var checkIns = 0
  /// When it last asked; nil: never.
  public var checkedInAt: SimTime?
  /// How often it was chosen.
  public var timesChosen = 0
  /// The round for which it was last chosen; 0: never.
  public var lastRound = 0
  /// When that was.
  public var chosenAt: SimTime?
  /// How long its last update took from that moment to its arrival; nil: none came.
  public var duration: SimDuration?
  /// How many of its updates were aggregated.
  public var timesAggregated = 0
  /// The mean loss of the samples that its last training processed, each when its batch ran; known
  /// once the update is aggregated. nil: none was.
  public var loss: Double?
  /// The root of the mean of those losses' squares; nil, too, unless the selector
  /// needs `lossSquares`, and where the local algorithm's memory has none.
  public var rootMeanSquareLoss: Double?
  /// The round in which that was.
  public var lossRound = 0
  /// What the server believes of it now by its last heartbeat; offline without one, and unless the
  /// selector needs `beliefs`.
  public var believed = Presence.offline
  /// How full its battery was by its last heartbeat, from 0 to 1; nil without one, for a device
  /// without a battery, and unless the selector needs `batteries`.
  public var reportedBattery: Double?

  /// A device of which nothing is known.
  public init() {}

  /// n·√(Σ loss² / n), with the mean where squares are not known; nil without a report.
  ///
  /// Source: Lai et al., "Oort: Efficient federated learning via guided participant selection"
  /// (2021), §4.2: the statistical utility.
  package var statisticalUtility: Double? {
    (rootMeanSquareLoss ?? loss).map { Double(samples) * $0 }
  }
}

extension ServerView {
  /// What the server knows of a device.
  public func facts(of device: Int) -> DeviceFacts {
    known.indices.contains(device) ? known[device] : DeviceFacts()
  }
}
