import Learning

/// The in-process server: the current model, the open round, and what waits.
struct Server: Codable {
  var isReachable = true
  var hasInternet = true
  /// What its last probe found.
  var believesOnline = true
  /// Whether its connection changes no more.
  var internetIsFinal = false
  var sequence: UInt32 = 0

  var version: Int32 = 0
  var model: ParameterBuffer
  /// When each version was published.
  var publishedAt = Pages([SimTime.start])

  var round: Int32 = 1
  var roundOpenedAt = SimTime.start
  var cohortGoal: Int?
  var cohortSize = 0
  /// Whether a trigger wanted an aggregation while the server believed itself offline.
  var owesAggregation = false
  /// The aggregation under way, where they take time.
  var underWay: AggregationUnderWay?
  var aggregations = AggregationTallies()
  /// Members of the round's cohort whose streams broke.
  var failures = 0
  /// The open cycle, where there are cycles.
  var cycle: CycleView?

  /// Updates in order of arrival.
  var pending: [Int32] = []
  /// The most updates, and the most devices, that ever waited at once.
  var pendingPeak = 0
  var waitingPeak = 0
  /// Devices that wait for a cohort, in device order, and their requests.
  var waiting: [CheckIn] = []
  var waitingRequests: [WaitingRequest] = []

  /// The request of a device that waits.
  struct WaitingRequest: Codable {
    let generation: UInt32
    let participation: Int32
  }

  /// What the versions published so far may tell of one device, where that is counted.
  var privacy = PrivacyLedger()

  /// What the parts of its policy remember.
  var memories: PartMemories
  /// What it knows of devices, where its selector looks at that.
  var known: [DeviceFacts] = []

  init(_ settings: ServerSettings, model: ParameterBuffer) {
    self.model = model
    memories = PartMemories(settings)
  }

  /// Whether it will never again believe itself offline: then a device that asks for work is sent
  /// to the latest version, and never trains an older one that it holds.
  var staysOnline: Bool { internetIsFinal && hasInternet && believesOnline }

  /// What its parts see; `late` of the updates that wait are of earlier rounds.
  func view(at now: SimTime, late: Int) -> ServerView {
    ServerView(
      now: now, version: Int(version), round: Int(round), pending: pending.count - late,
      cohortGoal: cohortGoal, cohortSize: cohortSize, failures: failures, cycle: cycle,
      roundOpenedAt: roundOpenedAt, known: known)
  }

  /// Where a device stands, or would stand, among those who wait.
  func place(of device: Int) -> (index: Int, isThere: Bool) {
    var low = 0
    var high = waiting.count
    while low < high {
      let middle = (low + high) / 2
      if waiting[middle].device < device { low = middle + 1 } else { high = middle }
    }
    return (low, low < waiting.count && waiting[low].device == device)
  }

  /// Takes out who stand at some places among those who wait, in ascending order.
  mutating func remove(at places: [Int]) {
    guard var kept = places.first else { return }
    var gone = 0
    for place in kept..<waiting.count {
      if gone < places.count, places[gone] == place {
        gone += 1
      } else {
        waiting[kept] = waiting[place]
        waitingRequests[kept] = waitingRequests[place]
        kept += 1
      }
    }
    waiting.removeLast(gone)
    waitingRequests.removeLast(gone)
  }

  /// Takes out who stands at a place among those who wait.
  mutating func remove(at place: Int) -> WaitingRequest {
    waiting.remove(at: place)
    return waitingRequests.remove(at: place)
  }
}

/// An update from its making to its end.
struct UpdateRecord: Codable {
  let device: Int32
  let base: Int32
  let samples: Int
  let samplesProcessed: Int
  let batches: Int
  let createdAt: SimTime
  let round: Int32
  let participation: Int32
  var training: DeferredTraining?
  var baseParameters: ParameterBuffer?
  /// The update as it is sent, where there are transforms.
  var sent: DeferredUpdate?
  /// The first data epoch of its training: the slot of what its transforms draw.
  let firstEpoch: UInt64
  /// Samples that its device had as it trained.
  let shardCount: Int32
  /// The work that is in it.
  var effort: Effort
  var outcome: UpdateOutcome?
  /// Whether the device still keeps it.
  var isOnDevice = true
  /// Copies that wait at the server.
  var pendingCopies = 0
  /// Copies that are on their way to the server.
  var copiesOnTheWay = 0
  /// What it ends as if none of them is taken in, once the device keeps it no longer.
  var fallback: UpdateOutcome?
  /// Whether it had to wait in the outbox.
  var hasWaited = false
  /// Whether it stays in an outbox that nobody sends from.
  var isShelved = false
  /// Whether the server has had it.
  var hasArrived = false
}

/// One session's way through the funnel.
struct Participation: Codable {
  var round: Int32
  let hour: Int32
  let group: Int32
  var stage: UInt8
  /// Who may still move it on: its session, its update, requests under way and requests that wait.
  var holders: Int32 = 1
}

/// What is left of updates and participations that nobody can need any more: sums for audits.
struct Settled: Codable {
  var updates = [Int](repeating: 0, count: UpdateOutcome.allCases.count)
  var batches = 0
  /// Participations by the stage that they came to.
  var participations = [Int](repeating: 0, count: Stage.allCases.count)

  private static let outcomes = UpdateOutcome.allCases

  /// An update of so many batches has ended.
  mutating func add(_ outcome: UpdateOutcome, batches: Int) {
    self.batches += batches
    updates[Self.outcomes.firstIndex(of: outcome)!] += 1
  }
}
