import Numerics
import Schema

/// The operating system as it treats background tasks; absent: only the rules of `processing` hold.
///
/// The defaults are those of iOS, as its headers, its documentation and developers' reports say.
public struct SystemSettings: PartSettings {
  /// Whether an app that its user swiped away still gets processing tasks.
  public enum ForceQuitPolicy: String, CaseIterable, Sendable { case never, nightOnly }

  /// The identifiers that the app may submit requests for; nil: any.
  public var permitted: [String]?
  /// Pending refresh requests at most.
  public var refreshLimit = 1
  /// Pending processing requests at most.
  public var processingLimit = 10
  /// Whether background refresh is switched on.
  public var backgroundRefresh = Choice<any TimelineSource>.always("on")
  /// What a swipe out of the app switcher means for processing tasks.
  public var forceQuitPolicy = ForceQuitPolicy.never
  /// Processing tasks start if the app was used within this time.
  public var useLimit = SimDuration.days(7)
  /// A processing request that has waited for this long starts at the next chance.
  public var attemptWithin = SimDuration.days(2)
  /// In each quarter of an hour, the chance of a processing task to start on battery.
  public var onBattery = 0.1
  /// Run time of the app's tasks in a day, refilled by the hour; nil: not limited.
  public var dailyRunTime: SimDuration?
  /// How many processing tasks the system starts in a stretch of time; nil: not limited.
  public var processingStarts: TaskStartSettings?
  /// After a kill, tasks get half their time for this long.
  public var penalty = SimDuration.hours(24)
  /// Processor time in `cpuWindow` beyond which a task is killed; as long as that: never.
  public var cpuLimit = SimDuration.seconds(48)
  /// The time over which processor time is added up.
  public var cpuWindow = SimDuration.seconds(60)
  /// Whether a person who takes up the device ends a processing task.
  public var endsOnUse = true
  /// How much later than after `idleDwell` the system finds the device idle at most; nil: at once.
  public var idleSlop: SimDuration?

  public init() {}
  public static var fields: [Field<SystemSettings>] {
    [
      Field(
        "permitted", \.permitted, optional: .list(of: .text),
        "Permitted identifiers of requests; absent: any"),
      Field(
        "refreshLimit", \.refreshLimit, .integer(0...100),
        "Maximum number of pending refresh requests"),
      Field(
        "processingLimit", \.processingLimit, .integer(0...100),
        "Maximum number of pending processing requests"),
      Field(
        "backgroundRefresh", \.backgroundRefresh, .timeline(.setting),
        "When background refresh is switched on; while off, no task starts and no request is "
          + "accepted"
      ),
      Field(
        "forceQuitPolicy", \.forceQuitPolicy, .choice,
        "Processing tasks of an app that was swiped away: never, or from 00:00 to 06:00 only"),
      Field(
        "useLimit", \.useLimit, .duration(atLeast: .seconds(1)),
        "Tasks start only if the app was used within this time"),
      Field(
        "attemptWithin", \.attemptWithin, .duration(),
        "A processing request that has waited this long starts at the next opportunity"),
      Field(
        "onBattery", \.onBattery, .fraction, assumption: true,
        "Probability per quarter of an hour that a processing task starts on battery"),
      Field(
        "dailyRunTime", \.dailyRunTime, optional: .duration(atLeast: .seconds(1)),
        "Run time of the app's tasks per day, refilled hourly; absent: unlimited"),
      Field(
        "processingStarts", \.processingStarts, feature: .settings(),
        "How many of the app's processing tasks the system starts in a stretch of time; absent: "
          + "one in each quarter of an hour"),
      Field(
        "penalty", \.penalty, .duration(), assumption: true,
        "For this time after a kill, tasks get half their run time"),
      Field(
        "cpuLimit", \.cpuLimit, .duration(atLeast: .seconds(1)),
        "Processor time in `cpuWindow` above which a processing task is killed, unless it "
          + "requires external power and has it; as long as `cpuWindow`: never"),
      Field(
        "cpuWindow", \.cpuWindow, .duration(atLeast: .seconds(1)),
        "Time over which processor time is summed"),
      Field(
        "endsOnUse", \.endsOnUse, .flag,
        "A person who starts to use the device ends a processing task"),
      Field(
        "idleSlop", \.idleSlop, feature: .duration(),
        "Maximum time after `processing.idleDwell` until the device counts as idle, uniform, "
          + "drawn for each locking; absent: none"),
    ]
  }
  public func contradictions() -> [(key: String, message: String)] {
    if cpuLimit > cpuWindow { return [("cpuLimit", "`cpuLimit` is above `cpuWindow`")] }
    return dailyRunTime.map { $0 > .days(1) } ?? false
      ? [("dailyRunTime", "`dailyRunTime` is above a day; without it there is no limit")] : []
  }
}

/// How many processing tasks of an app the operating system starts in a stretch of time.
///
/// Apple does not publish it. Developers report a task in 10 to 20 h, and less than one per night
/// where their app asks for one every ten minutes.
public struct TaskStartSettings: PartSettings {
  /// Tasks that start in a stretch at most.
  public var atMost = 1
  /// Quantiles of a stretch's length, which begins with its first task.
  public var within = [
    QuantilePoint<SimDuration>(at: 0, .hours(10)), QuantilePoint(at: 1, .hours(20)),
  ]

  public init() {}
  public static var fields: [Field<TaskStartSettings>] {
    [
      Field(
        "atMost", \.atMost, .integer(1...96),
        "Maximum number of processing tasks that start in a stretch of time"),
      Field(
        "within", \.within, .list(of: .settings()),
        "Quantiles of the length of a stretch, drawn when its first task starts"),
    ]
  }
  public func contradictions() -> [(key: String, message: String)] {
    Quantiles.fault(in: within).map { [("within", $0)] } ?? []
  }

  /// The length of a stretch, at a share.
  func length(at share: Double) -> SimDuration {
    SimDuration(roundingUp: Quantiles.value(within, at: share))
  }
}

/// A refresh task: a short look for news, and a chance to send what waits.
public struct RefreshSettings: PartSettings {
  /// The earliest begin of a request, counted from its submission.
  public var earliestBegin = SimDuration.minutes(15)
  /// When the app asks for its next task.
  public var resubmit = ProcessingSettings.Resubmit.atStart
  /// The longest wait between being eligible and starting.
  public var startDelay = SimDuration.minutes(15)
  /// Quantiles of that wait; nil: uniform up to `startDelay`.
  public var startDelays: [QuantilePoint<SimDuration>]?
  /// The time until the hard expiry.
  public var budget = SimDuration.seconds(30)
  /// The share of tasks that get less.
  public var shortShare = 0.4
  /// What those get at least.
  public var shortMinimum = SimDuration.seconds(2)
  /// What those get at most.
  public var shortMaximum = SimDuration.seconds(5)
  /// From the soft to the hard expiry.
  public var grace = SimDuration.seconds(2)
  /// In each quarter of an hour of an hour of the day in which the app is never used, the chance to
  /// start.
  public var likelihood = 0.25

  public init() {}
  public static var fields: [Field<RefreshSettings>] {
    [
      Field(
        "earliestBegin", \.earliestBegin, .duration(),
        "Earliest start of a request, counted from its submission"),
      Field("resubmit", \.resubmit, .choice, "When the app requests its next task"),
      Field(
        "startDelay", \.startDelay, .duration(), assumption: true,
        "Maximum wait from eligible to started; waits are uniform up to this"),
      startDelaysField(\.startDelays),
      Field(
        "budget", \.budget, .duration(atLeast: .milliseconds(1)), "Time until the hard expiry"),
      Field(
        "shortShare", \.shortShare, .fraction, assumption: true,
        "Share of tasks with less time"),
      Field(
        "shortMinimum", \.shortMinimum, .duration(atLeast: .milliseconds(1)), assumption: true,
        "Minimum time of these tasks"),
      Field(
        "shortMaximum", \.shortMaximum, .duration(atLeast: .milliseconds(1)), assumption: true,
        "Maximum time of these tasks"),
      Field(
        "grace", \.grace, .duration(), assumption: true, "Time from the soft to the hard expiry"),
      Field(
        "likelihood", \.likelihood, .fraction, assumption: true,
        "Probability of a start per quarter of an hour at hours without use of the app; it grows "
          + "to 1 at the hour of the day with the most use"),
    ]
  }
  public func contradictions() -> [(key: String, message: String)] {
    if let fault = Quantiles.fault(in: startDelays) { return [("startDelays", fault)] }
    return shortMinimum > shortMaximum
      ? [("shortMinimum", "`shortMinimum` is above `shortMaximum`")] : []
  }
}

/// Continued processing: a training that its user starts in the app, and that continues when the
/// app is left.
public struct ContinuedSettings: PartSettings {
  /// What happens to one that cannot run at once.
  public enum Strategy: String, CaseIterable, Sendable { case queue, fail }

  /// The share of uses of the app at which its user starts one.
  public var share = 1.0
  /// What happens to one that cannot run at once; nil: every one can.
  public var strategy: Strategy?
  /// A batch without an end for this long counts as stalled: the task expires.
  public var stall = SimDuration.seconds(60)
  /// Without a link for this long, the task expires.
  public var networkLoss = SimDuration.seconds(30)
  /// From the soft to the hard expiry.
  public var grace = SimDuration.seconds(5)

  public init() {}
  public static var fields: [Field<ContinuedSettings>] {
    [
      Field(
        "share", \.share, .fraction, assumption: true,
        "Share of uses of the app in which the user starts a training"),
      Field(
        "strategy", \.strategy, feature: .choice, assumption: true,
        "Behaviour while the system saves energy or is too warm, or a task of the app runs:"
          + " wait, or error 4; absent: only a task of the app blocks the start"),
      Field(
        "stall", \.stall, .duration(atLeast: .seconds(1)), assumption: true,
        "A training whose batch takes longer than this has stalled: the task expires"),
      Field(
        "networkLoss", \.networkLoss, .duration(),
        "Without a link for this time, the task expires"),
      Field(
        "grace", \.grace, .duration(), assumption: true, "Time from the soft to the hard expiry"),
    ]
  }
}

/// A time that is drawn, log-normal; without a spread it is always the median.
public struct DrawnTimeSettings: PartSettings {
  /// The median.
  public var median = SimDuration.hours(1)
  /// The sigma of the logarithm.
  public var spread = 0.0

  public init() {}
  public static var fields: [Field<DrawnTimeSettings>] {
    [
      Field(
        "median", \.median, .duration(atLeast: .milliseconds(1)), required: true,
        "Median of the time"),
      Field(
        "spread", \.spread, .number(0...3), "Sigma of this log-normal time"),
    ]
  }

  /// A time.
  func drawn(from stream: inout RandomStream) -> SimDuration {
    guard spread > 0 else { return median }
    let seconds = stream.logNormal(median: median.seconds, sigma: spread)
    return max(SimDuration(microseconds: 1), SimDuration(roundingUp: seconds))
  }
}

/// What the app does with its background tasks, beyond what its policies say.
public struct AppSettings: PartSettings {
  /// What the app does when a task expires.
  public enum OnExpiration: String, CaseIterable, Sendable {
    /// It stops, and says that the task is complete.
    case complete
    /// It stops, and says nothing: the task runs on, idle, into its hard expiry.
    case forget
    /// It has no handler: it continues as before, into the hard expiry.
    case ignore
  }

  /// What the app does when the server has no work for it.
  public enum OnRejection: String, CaseIterable, Sendable {
    /// It says that its task is complete.
    case complete
    /// It says nothing: the task runs on, idle.
    case forget
  }

  /// What the app does when a task expires.
  public var onExpiration = OnExpiration.complete
  /// What the app does when a refresh task expires; nil: the same.
  public var onRefreshExpiration: OnExpiration?
  /// Whether the flag that an expiry sets is cleared before the next training of the process.
  public var resetsFlag = true
  /// How long the app lives on once it has called its task complete as an upload begins; nil: it
  /// calls it complete when all is done.
  public var completesEarly: SimDuration?
  /// The share of uses of the app after which its user swipes it away.
  public var forceQuits = 0.0

  /// What the app does when the server has no work for it; nil: it says that its task is complete.
  public var onRejection: OnRejection?
  /// Whether the app is installed with the initial model, version 0; nil: with none.
  public var comesWithModel: Bool?
  /// How long the user keeps the app open; nil: until the device is locked.
  public var openFor: DrawnTimeSettings?
  /// How long the system keeps the suspended app in memory; nil: for good.
  public var evictedAfter: DrawnTimeSettings?

  public init() {}
  public static var fields: [Field<AppSettings>] {
    [
      Field(
        "onExpiration", \.onExpiration, .choice,
        "At the soft expiry of a task: stop and complete it, stop without completing it, or "
          + "continue; an app that does not complete its task is killed at the hard expiry"),
      Field(
        "onRefreshExpiration", \.onRefreshExpiration, feature: .choice,
        "At the soft expiry of a refresh task; absent: as `onExpiration`"),
      Field(
        "resetsFlag", \.resetsFlag, .flag,
        "Clear the flag that an expiry sets; else every later training of the process "
          + "ends before its first batch"),
      Field(
        "completesEarly", \.completesEarly, optional: .duration(atLeast: .milliseconds(1)),
        "Time that the app runs on after it completes its task at the start of an upload; "
          + "absent: it waits for the receipt"),
      Field(
        "forceQuits", \.forceQuits, .fraction, assumption: true,
        "Share of uses of the app after which the user swipes it away"),
      Field(
        "onRejection", \.onRejection, feature: .choice,
        "In a task for which the server has no work: complete it, or not (SwiftSyft's "
          + "onRejected); absent: complete"),
      Field(
        "comesWithModel", \.comesWithModel, feature: .flag,
        "The app is installed with the initial model: a device holds version 0 from the start and "
          + "downloads nothing until version 1; absent: it downloads version 0"),
      Field(
        "openFor", \.openFor, feature: .settings(),
        "How long the user keeps the app open, drawn for each opening; at most until the device is "
          + "locked; absent: until then"),
      Field(
        "evictedAfter", \.evictedAfter, feature: .settings(),
        "How long the system keeps the suspended app in memory, drawn for each suspension; then "
          + "its process ends, and what it held in memory only is lost; absent: for good"),
    ]
  }
}
