/// What decides the fate of heartbeats for as long as it stays as it is.
struct BeatConditions: Equatable, Codable {
  /// The time between two; 0: the app does not run.
  var period: Int64 = 0
  /// The link's state: 0 offline, 1 cellular, 2 Wi-Fi.
  var link: UInt8 = 0
  var up: Int64 = 1
  var down: Int64 = 1
  var oneWay: Int64 = 1
  var isReachable = false
  /// Whether the app cannot read or does not know what a heartbeat needs.
  var isWithheld = false
  /// Whether a step of another kind has to come before the next heartbeat.
  var needsStep = false
  /// When its token is good no more at the server, and whether it is good for heartbeats.
  var expires = SimTime.never
  var isForbidden = false
  /// When the device will want another token.
  var refreshesAt = SimTime.never
  var truth = Presence.offline
  /// The link that a heartbeat reports.
  var reported: UInt8 = 0
}

/// The heartbeats of a device: those between two changes of the conditions are counted together.
struct BeatRegion: Codable {
  var conditions = BeatConditions()
  /// When the next one is due.
  var next = SimTime.never
  /// When the last one was due; nil: none was.
  var last: SimTime?
  /// Whether a person has the app open.
  var isOpen = false
  /// Whether one is due and waits for a token or a registration.
  var isWaiting = false
  /// Whether the next one has had its step.
  var isCleared = false
  /// Whether one is sent now, whenever the last one was.
  var isOwed = false
  /// Whether the last one was refused, and the app will soon know.
  var isRefused = false
  var generation: UInt32 = 0
  var belief = Belief()
  /// What heartbeats reported of the battery, the last that came and those under way; empty unless
  /// the selector asks for it.
  var reports: [BatteryReport] = []
}

/// What the server believes of a device by its last heartbeat, and for how long that was how true.
struct Belief: Codable {
  /// A heartbeat that arrives later, and the link that it tells of.
  struct Arrival: Codable {
    let time: SimTime
    let link: UInt8
  }

  /// When it last heard of the device; nil: never.
  private(set) var heard: SimTime?
  /// Heartbeats that arrive later, in order, and the links that they tell of.
  private(set) var arrivals: [Arrival] = []
  /// The link that the last one reported; 0: there was none.
  private(set) var link: UInt8 = 0
  private(set) var until = SimTime.start
  /// Microseconds. Shapes: [belief × 3 + truth].
  private(set) var times = [Int64](repeating: 0, count: 9)
  /// Microseconds. Shapes: [believed link × 3 + true link].
  private(set) var linkTimes = [Int64](repeating: 0, count: 9)

  /// When it last heard of the device by a time, with nothing counted since; nil: never.
  func lastHeard(by time: SimTime) -> SimTime? {
    var last = heard
    for arrival in arrivals where arrival.time <= time {
      last = max(last ?? arrival.time, arrival.time)
    }
    return last
  }

  /// What is believed this long after a heartbeat.
  private static func times(_ span: Int64, _ settings: PresenceSettings) -> [Int64] {
    let online = min(span, settings.onlineFor.microseconds)
    let idle = min(span, settings.offlineAfter.microseconds) - online
    return [online, idle, span - online - idle]
  }

  /// This many heartbeats will arrive, one each `period` from `first` on; those before `end` count
  /// together.
  ///
  /// Complexity: O(1) but for those that arrive at `end` or later.
  mutating func arrive(
    _ count: Int, from first: SimTime, every period: Int64, before end: SimTime,
    _ held: BeatConditions, _ settings: PresenceSettings
  ) {
    guard count > 0 else { return }
    let truth = held.truth
    var early = 0
    if first < end {
      early = min(count, Int(((end - first).microseconds - 1) / period) + 1)
      advance(to: first, held, settings)
      link = held.reported
      if first > heard ?? .start || heard == nil { heard = first }
      if early > 1 {
        for (place, time) in Self.times(period, settings).enumerated() {
          times[3 * place + Int(truth.rawValue)] += Int64(early - 1) * time
        }
        linkTimes[3 * Int(link) + Int(held.link)] += Int64(early - 1) * period
        heard = first + SimDuration(microseconds: Int64(early - 1) * period)
        until = heard!
      }
    }
    for number in early..<count {
      arrivals.append(
        Arrival(
          time: first + SimDuration(microseconds: Int64(number) * period), link: held.reported))
    }
  }

  /// Adds up what was believed until a time; what was true is `truth` all the while.
  mutating func advance(
    to time: SimTime, _ held: BeatConditions, _ settings: PresenceSettings
  ) {
    while let first = arrivals.first, first.time < time {
      arrivals.removeFirst()
      add(until: first.time, held, settings)
      heard = max(heard ?? first.time, first.time)
      link = first.link
    }
    add(until: time, held, settings)
  }

  private mutating func add(
    until time: SimTime, _ held: BeatConditions, _ settings: PresenceSettings
  ) {
    guard time > until else { return }
    defer { until = time }
    let truth = held.truth
    linkTimes[3 * Int(link) + Int(held.link)] += (time - until).microseconds
    guard let heard else {
      times[6 + Int(truth.rawValue)] += (time - until).microseconds
      return
    }
    let before = Self.times((until - heard).microseconds, settings)
    let after = Self.times((time - heard).microseconds, settings)
    for place in 0..<3 { times[3 * place + Int(truth.rawValue)] += after[place] - before[place] }
  }
}
