import Schema

/// What must hold for a device to begin to train, in the order in which it is looked at.
///
/// This is the one list of them: the gates of the operating system and of the app, the time of the
/// next look, the stall report, `explain` and the words of results all read it. No `switch` below
/// has a `default`, so that the compiler asks a new case for everything.
public enum Condition: UInt8, CaseIterable, Sendable {
  /// Not empty and off.
  case on
  /// Neither in low-power mode nor low, as the system sees it.
  case energy
  /// Not in low-power mode, as the app sees it.
  case normalPower
  /// Not too warm.
  case cool
  /// Plugged in.
  case charging
  /// A battery that is not full while plugged in.
  case filling
  /// The level that the app asks for, or plugged in.
  case battery
  /// On any link.
  case online
  /// On Wi-Fi.
  case wifi
  /// On a link that costs nothing.
  case unmetered
  /// Locked, for the system for long enough.
  case idle
  /// Below the day's limit of bytes over a cellular network, or on Wi-Fi.
  case allowance
  /// In a background window, at its beginning.
  case window
  /// A request for a task is pending.
  case request
  /// The pending request is due.
  case due
  /// Background refresh is switched on.
  case refreshOn
  /// The app was used within the system's limit.
  case used
  /// The app was not swiped away.
  case notSwiped
  /// Run time of the day is left.
  case runTime
  /// The system starts another processing task of the app.
  case startsLeft

  /// Who looks at conditions.
  package enum Asker: CaseIterable {
    /// The system, before it starts a processing task or a refresh task, or opens a window.
    case processing, refresh, window
    /// The app, in every session that is no poll.
    case app
  }

  /// Whether an asker checks it, by the settings of a group.
  package func isAsked(by asker: Asker, of group: FleetGroupSettings) -> Bool {
    let (background, app) = (group.background, group.participation)
    let task = asker == .processing ? background.processing : nil
    let isTask = asker == .processing || asker == .refresh
    let isApp = asker == .app
    return switch self {
    case .on, .energy: isTask && group.battery != nil
    case .normalPower: isApp && group.battery != nil && app.avoidsLowPower == true
    case .cool:
      group.battery != nil && group.thermal != nil && (isTask || isApp && app.avoidsHeat == true)
    case .charging: isApp && app.externalPower || task?.requiresExternalPower == true
    case .filling: isApp && group.battery != nil && app.chargingOnly == true
    case .battery: isApp && group.battery != nil && app.minimumBattery != nil
    case .online: asker == .refresh || task?.requiresNetworkConnectivity == true
    case .wifi: isApp && app.network == .wifi
    case .unmetered: isApp && app.network == .unmetered || task?.requiresUnmetered == true
    case .idle: isApp && app.idle || asker == .processing
    case .allowance: (isApp || task != nil) && app.cellularBytesPerDay != nil
    case .window: asker == .window
    case .request, .due: isTask
    case .refreshOn, .used, .notSwiped: isTask && background.system != nil
    case .runTime: isTask && background.system?.dailyRunTime != nil
    case .startsLeft: task != nil && background.system?.processingStarts != nil
    }
  }

  /// Whether it holds at a time for a device in this view.
  @inline(__always)
  package func holds(_ view: ConditionView, at now: SimTime) -> Bool {
    switch self {
    case .on: !view.isOff
    case .energy: !view.isOff && !view.isLowPower && !view.isLow
    case .normalPower: !view.isLowPower
    case .cool: !view.isTooWarm
    case .charging: view.isPlugged
    case .filling: !view.isFull
    case .battery: !view.isBelowMinimum
    case .online: view.link != 0
    case .wifi: view.link == 2
    case .unmetered: view.isUnmetered
    case .idle: view.idleFrom <= now
    case .allowance: view.link == 2 || view.allowanceFrom <= now
    case .window: view.isInWindow
    case .request: view.requestFrom != .never
    case .due: view.requestFrom <= now
    case .refreshOn: view.isRefreshOn
    case .used: now <= view.usedUntil
    case .notSwiped: view.swipedUntil <= now
    case .runTime: view.runTimeFrom <= now
    case .startsLeft: view.startsFrom <= now
    }
  }

  /// The condition at a place of the list; the place must be one of the list's.
  @inline(__always)
  package static func at(_ place: UInt8) -> Condition { unsafeBitCast(place, to: Condition.self) }

  /// If it does not hold, the first time at which the passing of time alone can make it hold. At
  /// never, only a change can; each change that can is followed by a look.
  package func opens(_ view: ConditionView) -> SimTime {
    switch self {
    case .idle: view.idleFrom
    case .allowance: view.allowanceFrom
    case .due: view.requestFrom
    case .notSwiped: view.swipedUntil
    case .runTime: view.runTimeFrom
    case .startsLeft: view.startsFrom
    case .on, .energy, .normalPower, .cool, .charging, .filling, .battery, .online, .wifi,
      .unmetered, .window, .request, .refreshOn, .used:
      .never
    }
  }

  /// Whether the series of the world alone decide it, so that it is known for times to come.
  package var isOfTheWorld: Bool {
    switch self {
    case .charging, .online, .wifi, .unmetered, .idle, .window, .refreshOn: true
    case .on, .energy, .normalPower, .cool, .filling, .battery, .allowance, .request, .due, .used,
      .notSwiped, .runTime, .startsLeft:
      false
    }
  }

  /// The word for a session that the app refuses, in results; nil: the app never looks at it.
  public var refusal: String? {
    switch self {
    case .normalPower: "lowPower"
    case .cool: "heat"
    case .charging, .filling: "power"
    case .battery: "battery"
    case .wifi, .unmetered: "network"
    case .idle: "use"
    case .allowance: "cellularBytes"
    case .on, .energy, .online, .window, .request, .due, .refreshOn, .used, .notSwiped, .runTime,
      .startsLeft:
      nil
    }
  }

  /// How many sessions were refused for a condition with this word.
  public static func count(of word: String, in refusals: Refusals) -> Int {
    allCases.filter { $0.refusal == word }.reduce(0) { $0 + refusals[Int($1.rawValue)] }
  }

  /// Whether results list its word in any case. Those that came later are listed where a group asks
  /// for them, so that older results keep their form.
  private var isAlwaysListed: Bool {
    switch self {
    case .normalPower, .cool, .charging, .filling, .battery, .wifi, .unmetered, .idle: true
    case .on, .energy, .online, .allowance, .window, .request, .due, .refreshOn, .used,
      .notSwiped, .runTime, .startsLeft:
      false
    }
  }

  /// The words for refused sessions that the results of a fleet list, in the order of looking.
  package static func refusals(in fleet: [FleetGroupSettings]) -> [String] {
    var words: [String] = []
    for condition in allCases {
      guard let word = condition.refusal, !words.contains(word),
        condition.isAlwaysListed || fleet.contains(where: { condition.isAsked(by: .app, of: $0) })
      else { continue }
      words.append(word)
    }
    return words
  }

  /// The phrases of reports.
  package struct Words {
    /// A device for which it holds: `idle`, as in `it was never idle`.
    package let held: String
    /// A device for which it does not hold: `in use`.
    package let lacking: String
    /// A device for which it never holds: `never idle`, or another phrase.
    package let never: String

    init(_ held: String, _ lacking: String, never: String? = nil) {
      (self.held, self.lacking, self.never) = (held, lacking, never ?? "never \(held)")
    }
  }

  /// The words for a device in this view for which it does not hold.
  package func lacking(_ view: ConditionView) -> String {
    self == .unmetered && view.link == 0 ? Condition.online.words.lacking : words.lacking
  }

  /// What `explain` and the stall report say of it.
  package var words: Words {
    switch self {
    case .on: Words("switched on", "switched off", never: "switched off with an empty battery")
    case .energy:
      Words(
        "sufficiently charged", "in low-power mode or low on charge",
        never: "in low-power mode or low on charge")
    case .normalPower: Words("out of low-power mode", "in low-power mode")
    case .cool: Words("cool enough", "too warm", never: "too warm")
    case .charging: Words("charging", "not charging")
    case .filling: Words("charging below full", "fully charged")
    case .battery: Words("sufficiently charged for its app", "low on battery")
    case .online: Words("online", "offline")
    case .wifi: Words("on Wi-Fi", "not on Wi-Fi")
    case .unmetered: Words("on an unmetered link", "not on an unmetered link")
    case .idle: Words("idle", "in use")
    case .allowance:
      Words(
        "within its cellular bytes of the day", "out of cellular bytes for the day",
        never: "out of cellular bytes for the day")
    case .window: Words("in a background window", "in no background window")
    case .request:
      Words(
        "waiting with a request for a task", "without a request for a task",
        never: "without a request for a task")
    case .due: Words("due", "not due yet")
    case .refreshOn:
      Words(
        "allowed to run in the background", "not allowed to run in the background",
        never: "not allowed to run in the background")
    case .used: Words("recently used", "not used for too long", never: "not used for too long")
    case .notSwiped:
      Words("not swiped away", "swiped away by its user", never: "swiped away by its user")
    case .runTime:
      Words(
        "within its run time of the day", "out of run time for the day",
        never: "out of run time for the day")
    case .startsLeft:
      Words(
        "granted a task by its system", "granted no further task by its system yet",
        never: "granted no further task by its system")
    }
  }
}
