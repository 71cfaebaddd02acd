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
