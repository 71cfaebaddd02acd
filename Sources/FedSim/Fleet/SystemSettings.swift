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
  /// A processing request that has waited for so long starts at the next chance.
  public var attemptWithin = SimDuration.days(2)
  /// In each quarter of an hour, the chance of a processing task to start on battery.
  public var onBattery = 0.1
  /// Run time of the app's tasks in a day, refilled by the hour; nil: not limited.
  public var dailyRunTime: SimDuration?
  /// After a kill, tasks get half their time for so long.
  public var penalty = SimDuration.hours(24)
  /// Processor time in `cpuWindow` beyond which a task is killed; as long as that: never.
  public var cpuLimit = SimDuration.seconds(48)
  /// The time over which processor time is added up.
  public var cpuWindow = SimDuration.seconds(60)
  /// Whether a person who takes up the device ends a processing task.
  public var endsOnUse = true

  public init() {}
  public static var fields: [Field<SystemSettings>] {
    [
      Field(
        "permitted", \.permitted, optional: .list(of: .text),
        "The identifiers that requests may have; absent: any"),
      Field("refreshLimit", \.refreshLimit, .integer(0...100), "Pending refresh requests at most"),
      Field(
        "processingLimit", \.processingLimit, .integer(0...100),
        "Pending processing requests at most"),
      Field(
        "backgroundRefresh", \.backgroundRefresh, .timeline(.setting),
        "When background refresh is switched on; off, no task starts and no request is taken"),
      Field(
        "forceQuitPolicy", \.forceQuitPolicy, .choice,
        "Processing tasks of an app that was swiped away: never, or from 00:00 to 06:00 only"),
      Field(
        "useLimit", \.useLimit, .duration(atLeast: .seconds(1)),
        "Tasks start only if the app was used within this time"),
      Field(
        "attemptWithin", \.attemptWithin, .duration(),
        "A processing request that has waited so long starts at the next chance"),
      Field(
        "onBattery", \.onBattery, .fraction, assumption: true,
        "In each quarter of an hour, the chance of a processing task to start on battery"),
      Field(
        "dailyRunTime", \.dailyRunTime, optional: .duration(atLeast: .seconds(1)),
        "Run time of the app's tasks in a day, refilled by the hour; absent: not limited"),
      Field(
        "penalty", \.penalty, .duration(), assumption: true,
        "For so long after a kill, tasks get half their time"),
      Field(
        "cpuLimit", \.cpuLimit, .duration(atLeast: .seconds(1)),
        "Processor time in `cpuWindow` beyond which a processing task is killed, unless it "
          + "requires external power and has it; as long as `cpuWindow`: never"),
      Field(
        "cpuWindow", \.cpuWindow, .duration(atLeast: .seconds(1)),
        "The time over which processor time is added up"),
      Field(
        "endsOnUse", \.endsOnUse, .flag,
        "Whether a person who takes up the device ends a processing task"),
    ]
  }
  public func contradictions() -> [(key: String, message: String)] {
    if cpuLimit > cpuWindow { return [("cpuLimit", "`cpuLimit` is above `cpuWindow`")] }
    return dailyRunTime.map { $0 > .days(1) } ?? false
      ? [("dailyRunTime", "`dailyRunTime` is above a day; without it there is no limit")] : []
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
        "The earliest begin of a request, counted from its submission"),
      Field("resubmit", \.resubmit, .choice, "When the app asks for its next task"),
      Field(
        "startDelay", \.startDelay, .duration(), assumption: true,
        "The longest wait from being eligible to the start; each is uniform up to it"),
      startDelaysField(\.startDelays),
      Field(
        "budget", \.budget, .duration(atLeast: .milliseconds(1)), "Time until the hard expiry"),
      Field(
        "shortShare", \.shortShare, .fraction, assumption: true,
        "The share of tasks that get less"),
      Field(
        "shortMinimum", \.shortMinimum, .duration(atLeast: .milliseconds(1)), assumption: true,
        "What those get at least"),
      Field(
        "shortMaximum", \.shortMaximum, .duration(atLeast: .milliseconds(1)), assumption: true,
        "What those get at most"),
      Field("grace", \.grace, .duration(), assumption: true, "From the soft to the hard expiry"),
      Field(
        "likelihood", \.likelihood, .fraction, assumption: true,
        "The chance to start in a quarter of an hour in which the app is never used; it grows to "
          + "1 in the hour of the day in which it is used most"),
    ]
  }
  public func contradictions() -> [(key: String, message: String)] {
    if let fault = Quantiles.fault(in: startDelays) { return [("startDelays", fault)] }
    return shortMinimum > shortMaximum
      ? [("shortMinimum", "`shortMinimum` is above `shortMaximum`")] : []
  }
}

/// Continued processing: a training that its user starts in the app, and that goes on when the app
/// is left.
public struct ContinuedSettings: PartSettings {
  /// What happens to one that cannot run at once.
  public enum Strategy: String, CaseIterable, Sendable { case queue, fail }

  /// The share of uses of the app at which its user starts one.
  public var share = 1.0
  /// What happens to one that cannot run at once; nil: every one can.
  public var strategy: Strategy?
  /// A batch without an end for so long counts as stalled: the task expires.
  public var stall = SimDuration.seconds(60)
  /// Without a link for so long, the task expires.
  public var networkLoss = SimDuration.seconds(30)
  /// From the soft to the hard expiry.
  public var grace = SimDuration.seconds(5)

  public init() {}
  public static var fields: [Field<ContinuedSettings>] {
    [
      Field(
        "share", \.share, .fraction, assumption: true,
        "The share of uses of the app at which its user starts one"),
      Field(
        "strategy", \.strategy, feature: .choice, assumption: true,
        "What happens while the system saves energy or is too warm, or a task of the app runs:"
          + " wait, or error 4; absent: a task of the app stands in the way, nothing else does"),
      Field(
        "stall", \.stall, .duration(atLeast: .seconds(1)), assumption: true,
        "A batch without an end for so long counts as stalled: the task expires"),
      Field(
        "networkLoss", \.networkLoss, .duration(), "Without a link for so long, the task expires"),
      Field("grace", \.grace, .duration(), assumption: true, "From the soft to the hard expiry"),
    ]
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
    /// It has no handler: it goes on as before, into the hard expiry.
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

  public init() {}
  public static var fields: [Field<AppSettings>] {
    [
      Field(
        "onExpiration", \.onExpiration, .choice,
        "At the soft expiry of a task: stop and complete it, stop and forget to complete it, or go "
          + "on; who does not complete is killed at the hard expiry"),
      Field(
        "onRefreshExpiration", \.onRefreshExpiration, feature: .choice,
        "The same for refresh tasks; absent: as `onExpiration`"),
      Field(
        "resetsFlag", \.resetsFlag, .flag,
        "Whether the flag that an expiry sets is cleared; else every later training of the process "
          + "ends before its first batch"),
      Field(
        "completesEarly", \.completesEarly, optional: .duration(atLeast: .milliseconds(1)),
        "How long the app runs on once it has called its task complete as an upload begins; "
          + "absent: it waits for the receipt"),
      Field(
        "forceQuits", \.forceQuits, .fraction, assumption: true,
        "The share of uses of the app after which its user swipes it away"),
      Field(
        "onRejection", \.onRejection, feature: .choice,
        "In a task for which the server has no work: complete it, or forget to (SwiftSyft's "
          + "onRejected); absent: complete"),
    ]
  }
}
