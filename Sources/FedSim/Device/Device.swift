import Learning
import Numerics

/// One device: what the world does to it, and its regions of state.
struct Device: Codable {
  let group: Int32
  let ordinal: Int32
  let client: Int32
  var sampleCount: Int32
  var pace: Pace
  @Rebuilt var links: Links

  // The world, as it is now.
  var isPlugged = false
  var linkState: UInt8 = 0
  var isLinkDropped = false
  var isOff = false
  /// The share of the link's rates, in percent.
  var share: UInt8 = 100
  /// Whether `fleetHours` looks at it.
  var isSampled = false
  var dropGeneration: UInt32 = 0
  var isActive = false
  var windowState: UInt8 = 0
  var lockedSince = SimTime.start
  var exogenous = Fingerprint()

  // The regions.
  var scheduler = SchedulerRegion()
  private var doings: Doings?
  var sessionGeneration: UInt32 = 0
  var transferGeneration: UInt32 = 0
  /// Whether the timer of requests without an answer is set.
  var isTimeoutPending = false
  var runGeneration: UInt32 = 0
  var outbox: [Int32] = []
  var heldVersion: Int32 = -1
  /// The parameters of that version; nil also where they cannot be needed before the next check.
  var held: ParameterBuffer?
  var lastTrained: Int32 = -1
  /// Data epochs begun: the slot of the next batch order.
  var nextEpoch: UInt64 = 0
  /// The place of the server's hyper-parameters that it trains by; −1: by its own.
  var planPlace: Int16 = -1
  var activity = DeviceActivity()

  init(
    group: Int32, ordinal: Int32, client: Int32, sampleCount: Int32, pace: Pace, links: Links
  ) {
    self.group = group
    self.ordinal = ordinal
    self.client = client
    self.sampleCount = sampleCount
    self.pace = pace
    self.links = links
  }

  var session: Session? {
    @inline(__always) get { doings?.session }
    @inline(__always) _modify {
      Doings.own(&doings)
      yield &doings!.session
      Doings.drop(&doings)
    }
  }
  var transfer: Transfer? {
    @inline(__always) get { doings?.transfer }
    @inline(__always) _modify {
      Doings.own(&doings)
      yield &doings!.transfer
      Doings.drop(&doings)
    }
  }
  var run: TrainingRun? {
    @inline(__always) get { doings?.run }
    @inline(__always) _modify {
      Doings.own(&doings)
      yield &doings!.run
      Doings.drop(&doings)
    }
  }
  var attempt: Attempt? {
    @inline(__always) get { doings?.attempt }
    @inline(__always) _modify {
      Doings.own(&doings)
      yield &doings!.attempt
      Doings.drop(&doings)
    }
  }

  /// An update is not kept any more; an empty outbox needs no memory.
  mutating func takeOut(_ update: Int32) {
    outbox.removeAll { $0 == update }
    if outbox.isEmpty { outbox = [] }
  }

  /// Asks for the memory of what it is about, where it is about anything.
  func prefetchDoings() { doings?.prefetch() }

  // Parts of these, read where they stand.
  var hasSession: Bool { @inline(__always) get { doings != nil && doings!.session != nil } }
  var isRunning: Bool { @inline(__always) get { doings != nil && doings!.run != nil } }
  var sessionGenerationNow: UInt32? { @inline(__always) get { doings?.session?.generation } }
  var sessionKind: SessionKind? { @inline(__always) get { doings?.session?.kind } }
  var transferPhase: Transfer.Phase? { @inline(__always) get { doings?.transfer?.phase } }
  var transferID: UInt32? { @inline(__always) get { doings?.transfer?.id } }
  var transferPlan: UInt32? { @inline(__always) get { doings?.transfer?.plan } }
  var hasTransfer: Bool { @inline(__always) get { doings != nil && doings!.transfer != nil } }
  var transferRequest: Request? { @inline(__always) get { doings?.transfer?.request } }
  var transferResponse: Response? { @inline(__always) get { doings?.transfer?.response } }
  var transferRemaining: Int64? { @inline(__always) get { doings?.transfer?.remaining } }
  var hasAttempt: Bool { @inline(__always) get { doings != nil && doings!.attempt != nil } }
  var runGenerationNow: UInt32? { @inline(__always) get { doings?.run?.generation } }

  /// The link's state: 0 offline, 1 cellular, 2 Wi-Fi.
  var link: UInt8 { isLinkDropped || isOff ? 0 : linkState }
  var isConnected: Bool { link != 0 }
  /// Whether batches of a training run now.
  var isTraining: Bool { run?.isEvaluation == false }
  /// Rates of the current link; those of Wi-Fi while offline.
  var rates: Link {
    let link = link == 1 ? links.cellular : links.wifi
    return share == 100 ? link : link.scaled(percent: Int64(share))
  }
  /// Whether there is a link that costs nothing.
  var isUnmetered: Bool { isConnected && !(link == 1 ? links.cellular : links.wifi).isMetered }
}

/// The two links of a device; devices of a group whose links do not differ share them.
final class Links {
  let wifi: Link
  let cellular: Link

  init(_ settings: NetworkSettings, speed: Double) {
    wifi = Link(settings.wifi, speed: speed, isCellular: false)
    cellular = Link(settings.cellular, speed: speed, isCellular: true)
  }
}

/// Rates and delay of a link.
struct Link {
  let down: BitRate
  let up: BitRate
  let roundTrip: SimDuration
  let isMetered: Bool

  /// The link with a part of its rates, in whole bits a second.
  func scaled(percent: Int64) -> Link {
    func part(_ rate: BitRate) -> BitRate {
      let (high, low) = rate.bitsPerSecond.multipliedFullWidth(by: percent)
      return BitRate(bitsPerSecond: Int64(100).dividingFullWidth((high, low)).quotient)
    }
    return Link(down: part(down), up: part(up), roundTrip: roundTrip, isMetered: isMetered)
  }

  /// From the device to the server, or back: at least a microsecond.
  var oneWay: SimDuration {
    SimDuration(microseconds: max(1, roundTrip.microseconds / 2))
  }
}

/// A time in which the app runs: a task, a window, or the app opened by its user.
struct Session: Codable {
  /// What comes next.
  enum Stage: UInt8, Codable { case check, download, plan, train, evaluate, reply, done }

  let kind: SessionKind
  let generation: UInt32
  let soft: SimTime
  var hard: SimTime
  /// The present participation, or −1 for a poll; who asks again after it was accepted takes part
  /// anew.
  var participation: Int32
  var stage = Stage.check
  var round: Int32 = 0
  var isExpiring = false
  /// Whether the soft expiry has come, even for an app that takes no notice.
  var hasExpired = false
  /// For a continued task: since when it has had no link.
  var offlineSince = SimTime.never
  /// Whether the app has stopped and not said so: it waits for its kill.
  var isStuck = false
  /// Whether the app has called its task complete while an upload goes on.
  var isCompleted = false
  var isPausing = false
  /// Whether the model was sent to be evaluated.
  var isEvaluating = false
  /// What the server has asked for beside that.
  var reply: Reply?
  /// Tries to send the update at the head of the outbox.
  var tries = 0
  /// Whether it sends no more updates, for one was lost.
  var hasGivenUp = false
}

/// A request under way.
struct Transfer: Codable {
  enum Purpose: Equatable, Codable {
    case check, download, upload(Int32), identity(IdentityRequest), enrolment, reply
    case central(CentralRequest)
  }
  enum Phase: UInt8, Codable { case sending, awaiting, receiving }

  let purpose: Purpose
  let request: Request
  /// Names the request in arrivals and responses.
  let id: UInt32
  /// Names the present plan of when its bytes are through.
  var plan: UInt32
  var phase = Phase.sending
  /// Whether the server holds the connection open until a cohort is formed: no timeout applies.
  var isHeld = false
  /// Whether the server has it and has not handled it yet.
  var isQueued = false
  /// Whether the server has handled it and answers when its aggregation is over.
  var isOwed = false
  var remaining: Int64
  /// What has passed of it, by link.
  var carried = CarriedBytes()
  /// What the device's radio had drawn as it began, in nanojoules.
  var energyMark: Int64 = 0
  /// What has passed of the byte under way, in millionths of a bit.
  var fraction: Int64 = 0
  var since: SimTime
  /// When it fails for want of an answer.
  var due = SimTime.never
  var response: Response?
  /// The parameters that come with the answer.
  var body: ParameterBuffer?

  /// The remaining bytes are planned anew; how long they take, nil where nothing moves.
  mutating func begin(_ plan: UInt32, over rates: Link, at now: SimTime) -> SimDuration? {
    self.plan = plan
    since = now
    let rate = phase == .sending ? rates.up : rates.down
    return rate.bitsPerSecond > 0 ? rate.duration(bytes: remaining, less: fraction) : nil
  }

  /// The last byte leaves the device: what is on its way, and how many bytes were left to send.
  mutating func leave(due: SimTime) -> (id: UInt32, request: Request, sent: Int64) {
    let sent = remaining
    remaining = 0
    phase = .awaiting
    self.due = due
    return (id, request, sent)
  }

  /// The head of an answer has come.
  mutating func receive(_ response: Response, _ bytes: Int64) {
    phase = .receiving
    fraction = 0
    self.response = response
    remaining = bytes
  }
}

/// Batches running now.
struct TrainingRun: Codable {
  let begunAt: SimTime
  /// Since when the run has the present speed.
  var since: SimTime
  /// Work done before, in hundredths of a microsecond at full speed.
  var work: Int64 = 0
  /// In percent of the full speed.
  var speed: Int64
  let firstBatch: Int
  var lastBatch: Int
  var generation: UInt32
  /// Whether they are those of an evaluation.
  var isEvaluation = false
  /// Until when their time is counted, and what the device's trainings had drawn then, in
  /// nanojoules.
  var bookedAt = SimTime.start
  var energyMark: Int64 = 0

  /// When so much work since the first batch began is done.
  func moment(of duration: SimDuration) -> SimTime {
    let (all, overflow) = duration.microseconds.multipliedReportingOverflow(by: 100)
    // Longer than any run.
    guard !overflow, all <= .max - 100 else { return .never }
    let rest = all - work
    return since + SimDuration(microseconds: (rest + speed - 1) / speed)
  }

  /// From now on the run has another speed.
  mutating func change(to speed: Int64, at now: SimTime) {
    work += self.speed * (now - since).microseconds
    since = now
    self.speed = speed
  }
}

/// A training from its first batch until it becomes an update or is given up; between windows it is
/// the device's checkpoint.
struct Attempt: Codable {
  var base: Int32
  /// The parameters of the base, where a move to another base or the server will ask for them.
  var baseParameters: ParameterBuffer?
  var start: DeferredTraining.Start
  /// Batches that `start` stands after.
  var described = 0
  let firstEpoch: UInt64
  /// Labels that an adversary trains on instead of its data's own.
  var relabelling: [Int32]?
  var checkpointedAt: SimTime?
  /// The time and energy of its stretches so far.
  var effort = Effort()
}

/// How long batches take on one device.
struct Pace: Codable {
  let full: SimDuration
  let ragged: SimDuration
  let batchesPerEpoch: Int
  let batchCount: Int

  /// The time that the first `batches` take.
  func time(_ batches: Int) -> SimDuration {
    guard batchesPerEpoch > 0 else { return .zero }
    let epoch = full * Int64(batchesPerEpoch - 1) + ragged
    return epoch * Int64(batches / batchesPerEpoch) + full * Int64(batches % batchesPerEpoch)
  }

  /// When a run's batches up to `batches` are done.
  func end(of run: TrainingRun, batches: Int) -> SimTime {
    run.moment(of: time(batches) - time(run.firstBatch))
  }

  /// How many batches of a run are done, counted from the first of all: one that ends just now is
  /// not.
  func done(_ run: TrainingRun, at now: SimTime) -> Int {
    var low = run.firstBatch
    var high = batchCount
    while low < high {
      let middle = (low + high + 1) / 2
      if end(of: run, batches: middle) < now { low = middle } else { high = middle - 1 }
    }
    return low
  }
}
