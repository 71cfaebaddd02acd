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
  /// The next time at which something may have changed by the mere passing of time.
  var scanAt = SimTime.never
  var scanGeneration: UInt32 = 0
  var generation: UInt32 = 0
  /// The identifier whose start has been drawn and is on its way; −1: none.
  var starting: Int16 = -1

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
  /// A stretch in which the processor was busy.
  struct Burst: Codable {
    let start: SimTime
    let end: SimTime
  }

  private struct Flags: OptionSet, Codable {
    let rawValue: UInt8
    static let forceQuit = Flags(rawValue: 1)
    static let queued = Flags(rawValue: 2)
    static let refreshOff = Flags(rawValue: 4)
    static let open = Flags(rawValue: 8)
    static let cancelled = Flags(rawValue: 16)
  }

  // Of a million phones each byte counts: two lines of a processor's cache.
  /// When the app was last used.
  var lastUse = SimTime.start
  /// How much later the system finds the device idle that is locked now.
  var idleSlop = SimDuration.zero
  /// Until then tasks get half their time.
  var penalisedUntil = SimTime.start
  /// Run time that tasks have left, as of an hour since the start.
  var runTime: Int64 = 0
  /// When the present stretch ends in which the system counts the processing tasks that it starts.
  private(set) var startsRenewed = SimTime.start
  /// Stretches in which the processor was busy, the latest last.
  var bursts: [Burst] = []
  /// When the charger was last removed, if the task requires it: busy time before does not count.
  var watchedSince = SimTime.start
  /// What was running when.
  var taskBegan = SimTime.never
  /// How often the app was used in each local hour of the day.
  private var uses = HourCounts()
  private var hour: Int32 = 0
  /// How often it was opened or left: a timer of an earlier opening has another number.
  var opening: UInt32 = 0
  /// How often it was suspended or ran again: a timer of an earlier suspension has another number.
  var suspension: UInt32 = 0
  /// Processing tasks that the system has started in the present stretch.
  private(set) var startsGiven: UInt16 = 0
  private var flags: Flags = []

  /// The hour since the start as of which `runTime` is.
  var refilledHour: Int64 {
    get { Int64(hour) }
    set { hour = Int32(newValue) }
  }

  var isForceQuit: Bool {
    get { flags.contains(.forceQuit) }
    set { set(.forceQuit, newValue) }
  }
  /// Whether a continued task waits for the system to be at ease.
  var isQueued: Bool {
    get { flags.contains(.queued) }
    set { set(.queued, newValue) }
  }
  var isRefreshOn: Bool {
    get { !flags.contains(.refreshOff) }
    set { set(.refreshOff, !newValue) }
  }
  /// Whether a person has the app open.
  var isOpen: Bool {
    get { flags.contains(.open) }
    set { set(.open, newValue) }
  }
  /// The flag that an expiry sets in the process.
  var isCancelled: Bool {
    get { flags.contains(.cancelled) }
    set { set(.cancelled, newValue) }
  }
  private mutating func set(_ flag: Flags, _ holds: Bool) {
    if holds { flags.insert(flag) } else { flags.remove(flag) }
  }

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
  func startsFrom(atMost limit: Int32) -> SimTime {
    Int32(startsGiven) < limit ? .start : startsRenewed
  }

  /// The system starts a processing task; a stretch that begins now has this length.
  mutating func giveStart(at now: SimTime, stretch: () -> SimDuration) {
    if now >= startsRenewed { (startsGiven, startsRenewed) = (0, now + stretch()) }
    if startsGiven < .max { startsGiven += 1 }
  }

  /// How often the app was used in a local hour of the day.
  func uses(in hour: Int) -> UInt16 { uses[hour] }

  /// The largest of these counts.
  var mostUses: UInt16 { uses.most }

  /// The app is used at a time in a local hour of the day; counts end at 65,535.
  mutating func use(at now: SimTime, hour: Int) {
    lastUse = now
    if uses[hour] < .max { uses[hour] += 1 }
  }
}

/// A count for each hour of the day.
private struct HourCounts: Codable {
  // Not one vector of 32, which has room for eight more, nor three of 8, which begin at multiples
  // of 16 bytes.
  private var early: UInt64 = 0, dawn: UInt64 = 0, morning: UInt64 = 0
  private var noon: UInt64 = 0, evening: UInt64 = 0, night: UInt64 = 0

  subscript(hour: Int) -> UInt16 {
    get { UInt16(truncatingIfNeeded: word(hour / 4) >> (16 * UInt64(hour % 4))) }
    set {
      let shift = 16 * UInt64(hour % 4)
      let word = word(hour / 4) & ~(0xFFFF << shift) | UInt64(newValue) << shift
      switch hour / 4 {
      case 0: early = word
      case 1: dawn = word
      case 2: morning = word
      case 3: noon = word
      case 4: evening = word
      default: night = word
      }
    }
  }

  /// The largest count.
  var most: UInt16 {
    let words = SIMD8(early, dawn, morning, noon, evening, night, 0, 0)
    let counts = unsafeBitCast(words, to: SIMD32<UInt16>.self)
    let sixteen = pointwiseMax(counts.lowHalf, counts.highHalf)
    let eight = pointwiseMax(sixteen.lowHalf, sixteen.highHalf)
    let four = pointwiseMax(eight.lowHalf, eight.highHalf)
    return max(max(four[0], four[1]), max(four[2], four[3]))
  }

  private func word(_ place: Int) -> UInt64 {
    switch place {
    case 0: early
    case 1: dawn
    case 2: morning
    case 3: noon
    case 4: evening
    default: night
    }
  }
}
