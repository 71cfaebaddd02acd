import Learning

/// The round under way.
struct OpenRound: Codable {
  /// Rounds are counted from 1.
  var number: Int32 = 1
  var openedAt = SimTime.start
  /// How many members its cohort is to have; nil: no cohort is formed, or not yet.
  var cohortGoal: Int?
  var cohortSize = 0
  /// Members of the cohort whose streams broke.
  var failures = 0
  /// The open cycle, where there are cycles.
  var cycle: CycleView?
}

/// What a trigger wanted while the server believed itself offline. When the connection returns, it
/// is asked again about the same moment.
struct OwedAggregation: Codable, Equatable {
  let trigger: Int
  let moment: TriggerMoment
}

/// The in-process server: the current model, the open round, and what waits.
struct Server: Codable {
  var version: Int32 = 0
  var model: ParameterBuffer
  /// When each version was published.
  var publishedAt = PagedArray([SimTime.start])

  var openRound = OpenRound()
  /// The triggers that wanted an aggregation while the server believed itself offline.
  var owed: [OwedAggregation] = []
  /// The aggregation under way, where they take time.
  var underWay: AggregationUnderWay?
  var aggregations = AggregationTallies()

  /// Updates in order of arrival.
  var pending: [Int32] = []
  /// The most updates, and the most devices, that ever waited at once.
  var pendingPeak = 0
  var waitingPeak = 0
  /// Devices that wait for a cohort.
  var waiting = WaitingRoom()

  /// What the versions published so far may tell of one device, where that is counted.
  var privacy = PrivacyLedger()

  /// What the parts of its policy remember.
  var memories: PartMemories
  /// What it knows of devices, where its selector looks at that.
  var known: [DeviceFacts] = []

  /// What it has to serve, where it takes time for each request.
  var service = Service()
  /// The last cycle that each device was let into, 0: none; empty where there are no cycles.
  var lastCycles: [Int32] = []
  /// What it asks of devices besides trainings.
  var instructions = Instructions()
  /// Copies of each device's updates that wait.
  var copies: [Int32]
  /// The quality of versions, and when it was last looked at.
  var quality: Quality

  init(_ inputs: SimulationInputs) {
    model = inputs.task.initial
    memories = PartMemories(inputs.server)
    quality = Quality(inputs)
    copies = Array(repeating: 0, count: inputs.deviceCount)
  }

  /// What its parts see; `late` of the updates that wait are of earlier rounds.
  func view(at now: SimTime, late: Int) -> ServerView {
    ServerView(
      now: now, version: Int(version), round: Int(openRound.number), pending: pending.count - late,
      cohortGoal: openRound.cohortGoal, cohortSize: openRound.cohortSize,
      failures: openRound.failures, cycle: openRound.cycle, roundOpenedAt: openRound.openedAt,
      known: known)
  }
}
