import Learning
import Numerics

/// One device: what the world does to it, and its regions of state.
struct Device: Codable {
  let group: Int32
  let ordinal: Int32
  var pace: Pace

  // The world, as it is now.
  var isPlugged = false
  /// Whether `fleetHours` looks at it.
  var isSampled = false
  var isActive = false
  var windowState: UInt8 = 0
  var lockedSince = SimTime.start
  var exogenous = Fingerprint()

  // The regions. In this order, a device is three lines of a processor's cache.
  var scheduler = SchedulerRegion()
  /// The place of the server's hyper-parameters that it trains by; −1: by its own.
  var planPlace: Int16 = -1
  var runGeneration: UInt32 = 0
  private var activeState: ActiveState?
  var outbox: [Int32] = []
  /// The parameters of the version that it holds; nil also where they cannot be needed before the
  /// next check.
  var held: ParameterBuffer?
  var heldVersion: Int32 = -1
  var lastTrained: Int32 = -1
  /// Data epochs begun: the slot of the next batch order.
  var nextEpoch: UInt64 = 0

  init(group: Int32, ordinal: Int32, pace: Pace) {
    self.group = group
    self.ordinal = ordinal
    self.pace = pace
  }

  var session: Session? {
    @inline(__always) get { activeState?.session }
    @inline(__always) _modify {
      ActiveState.own(&activeState)
      yield &activeState!.session
      ActiveState.drop(&activeState)
    }
  }
  var run: TrainingRun? {
    @inline(__always) get { activeState?.run }
    @inline(__always) _modify {
      ActiveState.own(&activeState)
      yield &activeState!.run
      ActiveState.drop(&activeState)
    }
  }
  var attempt: Attempt? {
    @inline(__always) get { activeState?.attempt }
    @inline(__always) _modify {
      ActiveState.own(&activeState)
      yield &activeState!.attempt
      ActiveState.drop(&activeState)
    }
  }

  /// An update is not kept any more; an empty outbox needs no memory.
  mutating func takeOut(_ update: Int32) {
    outbox.removeAll { $0 == update }
    if outbox.isEmpty { outbox = [] }
  }

  /// Asks for the memory of what it is about, where it is about anything.
  func prefetchActiveState() { activeState?.prefetch() }

  // Parts of these, read where they are.
  var hasSession: Bool {
    @inline(__always) get { activeState != nil && activeState!.session != nil }
  }
  var isRunning: Bool { @inline(__always) get { activeState != nil && activeState!.run != nil } }
  var sessionGenerationNow: UInt32? { @inline(__always) get { activeState?.session?.generation } }
  var sessionKind: SessionKind? { @inline(__always) get { activeState?.session?.kind } }
  var hasAttempt: Bool {
    @inline(__always) get { activeState != nil && activeState!.attempt != nil }
  }
  var runGenerationNow: UInt32? { @inline(__always) get { activeState?.run?.generation } }

  /// Whether batches of a training run now.
  var isTraining: Bool { run?.isEvaluation == false }
}
