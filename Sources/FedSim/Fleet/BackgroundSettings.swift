import Learning
import Numerics
import Schema

/// When the app may run in the background: through the operating system's scheduler, or in windows
/// that are given directly.
public struct BackgroundSettings: PartSettings {
  /// A processing task under the scheduler's rules.
  public var processing: ProcessingSettings?
  /// Windows given directly, which bypass the scheduler.
  public var windows: Choice<any TimelineSource>?
  /// The time from a window's soft to its hard expiry, where the source gives none.
  public var windowGrace = SimDuration.seconds(5)
  /// A refresh task under the scheduler's rules.
  public var refresh: RefreshSettings?
  /// Trainings that the user starts in the app.
  public var continued: ContinuedSettings?
  /// The operating system's own rules; nil: none but those of the tasks.
  public var system: SystemSettings?
  /// Whether the operating system continues with an upload when the app does not run; nil: no.
  public var transfers: Bool?

  /// Whether a device may have a request or a task that no session of the app began.
  var runsUnasked: Bool { continued != nil || transfers == true }

  public init() {}
  public static var fields: [Field<BackgroundSettings>] {
    [
      Field(
        "processing", \.processing, optional: .settings(),
        "A processing task under the operating system's rules"),
      Field(
        "windows", \.windows, optional: .timeline(.window),
        "Windows given directly; they bypass the scheduler"),
      Field(
        "windowGrace", \.windowGrace, .duration(atLeast: SimDuration(microseconds: 1)),
        "Time from a window's soft to its hard expiry, where the source gives none"),
      Field(
        "refresh", \.refresh, feature: .settings(),
        "A refresh task under the operating system's rules; needs `system`"),
      Field(
        "continued", \.continued, feature: .settings(),
        "Continued processing: a training that the user starts in the app (iOS 26)"),
      Field(
        "system", \.system, feature: .settings(),
        "The operating system's limits; absent: only those of the tasks"),
      Field(
        "transfers", \.transfers, feature: .flag,
        "The operating system continues with an upload of an update when its session has ended or "
          + "its link was lost (background URLSession); absent: the upload ends with the session"),
    ]
  }
  public func contradictions() -> [(key: String, message: String)] {
    if windows != nil, processing != nil {
      return [("windows", "`windows` and `processing` exclude each other")]
    }
    if windows != nil, system != nil || refresh != nil {
      return [("windows", "`windows` bypass the operating system: no `system`, no `refresh`")]
    }
    if refresh != nil, system == nil {
      return [("refresh", "`refresh` needs `system`: its rules decide when it starts")]
    }
    return []
  }
}

/// A background processing task: what it asks for, and how the operating system treats it.
public struct ProcessingSettings: PartSettings {
  /// When the app asks for its next task.
  public enum Resubmit: String, CaseIterable, Sendable { case atStart, atCompletion, never }

  /// Whether the task starts on external power only.
  public var requiresExternalPower = false
  /// Whether the task starts with a connection only.
  public var requiresNetworkConnectivity = true
  /// The earliest begin of a request, counted from its submission.
  public var earliestBegin = SimDuration.zero
  /// When the app asks for its next task.
  public var resubmit = Resubmit.atStart
  /// How long a device is locked before it counts as idle.
  public var idleDwell = SimDuration.minutes(5)
  /// The longest wait between being eligible and starting; each wait is uniform up to it.
  public var startDelay = SimDuration.minutes(15)
  /// Quantiles of that wait; nil: uniform up to `startDelay`.
  public var startDelays: [QuantilePoint<SimDuration>]?
  /// The median of a task's time until the hard expiry.
  public var budgetMedian = SimDuration.seconds(240)
  /// The spread of that time: log-normal with this sigma.
  public var budgetSpread = 0.8
  /// The shortest such time.
  public var budgetMinimum = SimDuration.seconds(30)
  /// The longest such time.
  public var budgetMaximum = SimDuration.seconds(1800)
  /// From the soft to the hard expiry.
  public var grace = SimDuration.seconds(5)
  /// Whether the task starts on an unmetered link only; nil: no.
  public var requiresUnmetered: Bool?

  public init() {}
  public static var fields: [Field<ProcessingSettings>] {
    [
      Field(
        "requiresExternalPower", \.requiresExternalPower, .flag,
        "Start the task on external power only"),
      Field(
        "requiresNetworkConnectivity", \.requiresNetworkConnectivity, .flag,
        "Start the task with a connection only"),
      Field(
        "earliestBegin", \.earliestBegin, .duration(),
        "Earliest start of a request, counted from its submission"),
      Field("resubmit", \.resubmit, .choice, "When the app requests its next task"),
      Field(
        "idleDwell", \.idleDwell, .duration(),
        "Time that a device must be locked to count as idle"),
      Field(
        "startDelay", \.startDelay, .duration(), assumption: true,
        "Maximum wait from eligible to started; waits are uniform up to this"),
      startDelaysField(\.startDelays),
      Field(
        "budgetMedian", \.budgetMedian, .duration(atLeast: .seconds(1)), assumption: true,
        "Median time from the start to the hard expiry"),
      Field(
        "budgetSpread", \.budgetSpread, .number(0...3), assumption: true,
        "Sigma of this log-normal time"),
      Field(
        "budgetMinimum", \.budgetMinimum, .duration(atLeast: .milliseconds(1)), assumption: true,
        "Minimum time from the start to the hard expiry"),
      Field(
        "budgetMaximum", \.budgetMaximum, .duration(atLeast: .milliseconds(1)), assumption: true,
        "Maximum time from the start to the hard expiry"),
      Field(
        "grace", \.grace, .duration(), assumption: true, "Time from the soft to the hard expiry"),
      Field(
        "requiresUnmetered", \.requiresUnmetered, feature: .flag,
        "Start the task on an unmetered link only (Android); absent: no"),
    ]
  }
  public func contradictions() -> [(key: String, message: String)] {
    if let fault = Quantiles.fault(in: startDelays) { return [("startDelays", fault)] }
    if budgetMinimum > budgetMaximum {
      return [("budgetMinimum", "`budgetMinimum` is above `budgetMaximum`")]
    }
    return grace >= budgetMinimum
      ? [("grace", "`grace` is not below `budgetMinimum`: a task would expire as it starts")] : []
  }
}

/// One scripted event on one device.
public struct InjectionSettings: PartSettings {
  /// What happens.
  public enum Verb: String, CaseIterable, Sendable {
    case launch, expire, kill, dropLink, `throw`, submit, forceQuit, open, reinstall, reboot
    case erase, poison, reconnect, wrongURL
    case clearData, clearErrorLogs, corruptErrorLogs
  }

  public var at = SimTime.start
  /// On which device, such as `phones/17`.
  public var device = DevicePath("")
  /// What happens.
  public var action = Verb.expire
  /// For `launch`: the time until the soft expiry.
  public var soft = SimDuration.minutes(4)
  /// For `launch` and `expire`: the time until the hard expiry.
  public var hard = SimDuration.minutes(5)
  /// For `dropLink` and `reboot`: how long there is no link.
  public var lasting = SimDuration.minutes(1)
  /// For `submit`: the kind of the request; nil: processing.
  public var task: TaskKind?
  /// For `submit`: the identifier of the request; nil: the kind's name.
  public var identifier: String?
  /// For `erase`: what; nil: files.
  public var scope: Erasure?

  public init() {}
  public static var fields: [Field<InjectionSettings>] {
    [
      Field("at", \.at, .sinceStart, required: true, "When"),
      Field("device", \.device, .device, required: true, "The device, such as `phones/17`"),
      Field(
        "action", \.action, .choice, required: true,
        "launch a task, expire it, kill the app, drop the link, throw in the training, submit a "
          + "request, swipe the app away, open it, remove and reinstall it, reboot, erase "
          + "the person's updates or files, make all parameters of a training NaN, instruct the "
          + "device to reconnect, give the app a wrong address, clear unformatted samples, "
          + "clear the log of failed uploads, or make its two lists unequal"),
      Field("soft", \.soft, .duration(), "For launch: time until the soft expiry"),
      Field(
        "hard", \.hard, .duration(), "For launch and expire: time until the hard expiry"),
      Field(
        "lasting", \.lasting, .duration(atLeast: SimDuration(microseconds: 1)),
        "For dropLink, reboot and wrongURL: duration; for reconnect: delay"),
      Field("task", \.task, feature: .choice, "For submit: the kind of task; absent: processing"),
      Field(
        "identifier", \.identifier, feature: .text,
        "For submit: the identifier of the request; absent: the kind's name"),
      Field(
        "scope", \.scope, feature: .choice,
        "For erase: the updates, the server's memory of the device, or all; absent: files"),
    ]
  }
  public func contradictions() -> [(key: String, message: String)] {
    if action == .launch && soft > hard {
      return [("soft", "the soft expiry is after the hard expiry")]
    }
    var found: [(key: String, message: String)] = []
    if task != nil, action != .submit { found.append(("task", "`task` is for `submit`")) }
    if identifier != nil, action != .submit {
      found.append(("identifier", "`identifier` is for `submit`"))
    }
    if scope != nil, action != .erase { found.append(("scope", "`scope` is for `erase`")) }
    return found
  }
}

/// The path of a device as written, such as `phones/17`.
public struct DevicePath: Sendable {
  /// The path.
  public let path: String
  /// Where in the scenario the path is written.
  public let place: Place

  /// A path written in a program.
  public init(_ path: String, at place: Place = .none) {
    self.path = path
    self.place = place
  }
}

extension Form where Value == DevicePath {
  /// A device's path: its group's name and its number there.
  public static var device: Form {
    let expected = "a device: its group and number, such as `phones/17`"
    return Form(
      shape: .text, expected: expected,
      read: { node, reader in
        if case .scalar(let text, _) = node.content {
          let pieces = text.split(separator: "/", omittingEmptySubsequences: false)
          if pieces.count == 2, !pieces[0].isEmpty, Text.isInteger(String(pieces[1])) {
            return DevicePath(text, at: node.place)
          }
        }
        reader.report(node, expected: expected)
        return nil
      }, write: { .text($0.path) })
  }
}

extension InjectionSettings.Verb {
  /// The class in which such an event happens.
  var eventClass: EventClass {
    switch self {
    case .launch: .scan
    case .expire: .deadline
    case .kill, .forceQuit, .reinstall, .reboot: .kill
    case .submit, .open: .deviceTimer
    case .dropLink: .world
    case .throw: .batchEnd
    case .erase, .reconnect, .wrongURL: .deviceTimer
    case .poison: .batchEnd
    case .clearData, .clearErrorLogs, .corruptErrorLogs: .deviceTimer
    }
  }
}

/// What a background task is for.
public enum TaskKind: String, CaseIterable, Sendable, Codable { case refresh, processing }

/// The field of a table of start delays.
func startDelaysField<Owner>(
  _ path: WritableKeyPath<Owner, [QuantilePoint<SimDuration>]?> & Sendable
) -> Field<Owner> {
  Field(
    "startDelays", path, feature: .list(of: .settings()), assumption: true,
    "Quantiles of the wait from being eligible to the start; absent: uniform up to `startDelay`")
}
