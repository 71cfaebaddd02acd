/// Why the operating system does not take a request.
public enum SubmitError: Int, Sendable, CaseIterable {
  /// Background refresh is switched off.
  case unavailable = 1
  /// Too many requests of its kind are pending.
  case tooManyPendingTaskRequests = 2
  /// The app may not use the identifier.
  case notPermitted = 3
  /// A continued task that may not wait cannot run at once.
  case immediateRunIneligible = 4
}

/// A request that the operating system has taken.
struct TaskRequest: Codable {
  /// A name's place in the simulation's list of names.
  let identifier: Int16
  let kind: TaskKind
  let earliestBegin: SimTime
  let submittedAt: SimTime
}

/// The requests of a device's app to the operating system.
struct SchedulerRegion: Codable {
  private(set) var requests = TaskRequests()
  /// The first moment after the quarter of an hour in which the last task of a kind started.
  var nextProcessing = SimTime.start
  var nextRefresh = SimTime.start
  /// The identifier whose start has been drawn and is on its way; −1: none.
  var starting: Int16 = -1
  var generation: UInt32 = 0
  /// The next time at which something may have changed by the mere passing of time.
  var scanAt = SimTime.never
  var scanGeneration: UInt32 = 0

  /// Takes a request in place of a pending one with the same identifier.
  mutating func insert(_ request: TaskRequest) { requests.insert(request) }

  /// A request is used up.
  mutating func remove(_ identifier: Int16) { requests.remove(identifier) }

  /// When a task of a kind may start again.
  func next(_ kind: TaskKind) -> SimTime { kind == .refresh ? nextRefresh : nextProcessing }

  /// When the first pending request of a kind may start; never: none is pending.
  func requestFrom(_ kind: TaskKind) -> SimTime {
    requests.first { $0.kind == kind }.map { max($0.earliestBegin, next(kind)) } ?? .never
  }
}

/// What the operating system and the app remember of each other, where `system` or `app` is given.
struct AppRegion: Codable {
  /// Counts by the local hour.
  private struct Uses: Codable {
    var morning = SIMD8<UInt16>()
    var noon = SIMD8<UInt16>()
    var evening = SIMD8<UInt16>()
  }
  /// A stretch in which the processor was busy.
  struct Burst: Codable {
    let start: SimTime
    let end: SimTime
  }

  /// When the app was last used, and how often in each local hour of the day.
  var lastUse = SimTime.start
  private var uses = Uses()
  /// The largest of these counts.
  private(set) var mostUses: UInt16 = 0
  var isForceQuit = false
  /// Whether a continued task waits for the system to be at ease.
  var isQueued = false
  var isRefreshOn = true
  /// How much later the system finds the device idle that is locked now.
  var idleSlop = SimDuration.zero
  /// Whether a person has the app open.
  var isOpen = false
  /// How often it was opened or left: a timer of an earlier opening has another number.
  var opening: UInt32 = 0
  /// How often it was suspended or ran again: a timer of an earlier suspension has another number.
  var suspension: UInt32 = 0
  /// The flag that an expiry sets in the process.
  var isCancelled = false
  /// Until then tasks get half their time.
  var penalisedUntil = SimTime.start
  /// Run time that tasks have left, as of an hour since the start.
  var runTime: Int64 = 0
  var refilledHour: Int64 = 0
  /// Processing tasks that the system has started in the present stretch, and when it ends.
  private(set) var startsGiven: Int32 = 0
  private(set) var startsRenewed = SimTime.start
  /// Stretches in which the processor was busy, the latest last.
  var bursts: [Burst] = []
  /// When the charger was last removed, if the task requires it: busy time before does not count.
  var watchedSince = SimTime.start
  /// What was running when.
  var taskBegan = SimTime.never

  /// How long the processor has been busy in the window before a time, with a run that lasts at
  /// least until then, as far as the system has watched it.
  func busy(_ run: TrainingRun, until time: SimTime, within window: SimDuration) -> SimDuration {
    let from = max(time - window, watchedSince)
    var sum = time > max(run.begunAt, from) ? time - max(run.begunAt, from) : .zero
    for burst in bursts {
      let (start, end) = (max(burst.start, from), min(burst.end, time))
      if end > start { sum = sum + (end - start) }
    }
    return sum
  }

  /// When the system starts another processing task, of a number in a stretch.
  @inline(__always)
  func startsFrom(atMost limit: Int32) -> SimTime { startsGiven < limit ? .start : startsRenewed }

  /// The system starts a processing task; a stretch that begins now has this length.
  mutating func giveStart(at now: SimTime, stretch: () -> SimDuration) {
    if now >= startsRenewed { (startsGiven, startsRenewed) = (0, now + stretch()) }
    startsGiven += 1
  }

  /// How often the app was used in a local hour of the day.
  func uses(in hour: Int) -> UInt16 {
    hour < 8 ? uses.morning[hour] : hour < 16 ? uses.noon[hour - 8] : uses.evening[hour - 16]
  }

  /// The app is used at a time in a local hour of the day; counts end at 65,535.
  mutating func use(at now: SimTime, hour: Int) {
    lastUse = now
    let count = uses(in: hour) == .max ? .max : uses(in: hour) + 1
    switch hour {
    case ..<8: uses.morning[hour] = count
    case ..<16: uses.noon[hour - 8] = count
    default: uses.evening[hour - 16] = count
    }
    mostUses = max(mostUses, count)
  }
}
