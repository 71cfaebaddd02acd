import Numerics
import Schema

/// What a token may be used for.
public enum Scope: String, CaseIterable, Sendable {
  case check, download, submit, heartbeat, register
}

/// Short-lived tokens that every request of a device carries; absent: none is needed.
public struct AuthenticationSettings: PartSettings {
  /// What the app does when the server refuses a request for its token.
  public enum OnUnauthorised: String, CaseIterable, Sendable {
    /// It gets a fresh token and sends the request once more.
    case refresh
    /// It gives the request up.
    case fail
  }

  /// A token that expires within this time is refreshed before it is used.
  public var leeway = SimDuration.seconds(30)
  /// The organisation that the device's tokens are bound to.
  public var organisation = "default"
  /// What the device's tokens may be used for.
  public var scopes = Scope.allCases
  /// What the app does when the server refuses a request for its token.
  public var onUnauthorised = OnUnauthorised.refresh
  /// Whether the app gets another token before its own expires; nil: it does.
  public var refreshes: Bool?
  /// Whether a device without tokens gets them only while a person has the app open; nil: always.
  public var bootstrapsInUse: Bool?
  /// How long a device without tokens waits after they were revoked, or after a first failure.
  public var bootstrapDelay = SimDuration.minutes(1)
  /// How much longer it waits after each further failure.
  public var backoff = 2.0
  /// The longest such wait.
  public var longestDelay = SimDuration.hours(1)
  /// Whether tokens cannot be read from a reboot until the device is first unlocked.
  public var locksAtReboot = true

  public init() {}
  public static var fields: [Field<AuthenticationSettings>] {
    [
      Field(
        "leeway", \.leeway, .duration(),
        "Refresh a token before use if it expires within this time, by the device's clock"),
      Field(
        "organisation", \.organisation, .identifier,
        "The organisation of the device's tokens"),
      Field(
        "scopes", \.scopes, .list(of: .choice),
        "Purpose of the tokens; any other use is refused with 403"),
      Field(
        "onUnauthorised", \.onUnauthorised, .choice,
        "After a 401: refresh the token and send the request once more, or give the request up"),
      Field(
        "refreshes", \.refreshes, feature: .flag,
        "Refresh expired tokens; else the app keeps using the token, and gets a new one"
          + " when the user opens it after the expiry; absent: yes"),
      Field(
        "bootstrapsInUse", \.bootstrapsInUse, feature: .flag,
        "A device without tokens gets them only while the app is in use; absent:"
          + " whenever the app runs"),
      Field(
        "bootstrapDelay", \.bootstrapDelay, .duration(), assumption: true,
        "Wait before a new bootstrap after tokens were revoked or a bootstrap failed"),
      Field(
        "backoff", \.backoff, .number(1...100), assumption: true,
        "Factor by which the wait grows after each further failure"),
      Field(
        "longestDelay", \.longestDelay, .duration(), assumption: true, "Maximum wait"),
      Field(
        "locksAtReboot", \.locksAtReboot, .flag,
        "Tokens cannot be read between a reboot and the first unlock "
          + "(Keychain: after first unlock)"),
    ]
  }
  public func contradictions() -> [(key: String, message: String)] {
    refreshes == false && onUnauthorised == .refresh
      ? [
        (
          "refreshes",
          "an app that does not refresh tokens gives up after a 401: `onUnauthorised: fail`"
        )
      ]
      : []
  }

  /// How long a device waits for a bootstrap after this many failures in a row.
  func delay(afterFailures failures: Int) -> SimDuration {
    var delay = bootstrapDelay
    for _ in 0..<max(0, failures) where delay < longestDelay {
      delay = SimDuration(roundingUp: delay.seconds * backoff)
    }
    return min(delay, longestDelay)
  }
}

/// How a device makes itself known to the server; absent: the server knows every device.
public struct RegistrationSettings: PartSettings {
  /// Whether a registration survives the end of the app's process.
  public var persists = true
  /// Whether an app that runs in the background registers itself.
  public var inBackground = true
  /// Whether the device is registered as the run begins.
  public var atStart = false
  /// Size of the request.
  public var bytes: Int64 = 1_500
  /// What the request says, which gives its size; nil: `bytes`.
  public var content: RegistrationContent?
  /// The mean time between re-installations of the app; nil: there are none but scripted ones.
  public var reinstallEvery: SimDuration?
  /// Whether the device's samples survive a re-installation.
  public var keepsData = false

  public init() {}
  public static var fields: [Field<RegistrationSettings>] {
    [
      Field(
        "persists", \.persists, .flag,
        "The registration survives the end of the app's process; else it is in memory only"),
      Field(
        "inBackground", \.inBackground, .flag,
        "An app in the background registers, too; else only an app in use"),
      Field("atStart", \.atStart, .flag, "Devices are registered when the run begins"),
      Field("bytes", \.bytes, .bytes, assumption: true, "Size of the request"),
      Field(
        "content", \.content, feature: .choice,
        "Content of the registration, as JSON behind a message of `server.messageBytes`,"
          + " which determines its size; absent: `bytes`"),
      Field(
        "reinstallEvery", \.reinstallEvery, optional: .duration(atLeast: .seconds(1)),
        "Mean time between re-installations of the app, exponential; absent: only scripted ones"),
      Field(
        "keepsData", \.keepsData, .flag,
        "Samples survive a re-installation; else the device has none afterwards"),
    ]
  }
}

/// Signs of life that a running app sends to the server; absent: none are sent.
public struct HeartbeatSettings: PartSettings {
  /// The time between heartbeats while a person has the app open.
  public var foreground = SimDuration.seconds(300)
  /// The time between heartbeats while the app runs in the background.
  public var background = SimDuration.seconds(900)
  /// Whether the app takes every answer for a success.
  public var ignoresStatus = false
  /// Whether one is sent as soon as the device is registered; nil: it waits for its time.
  public var afterRegistration: Bool?
  /// Whether one is sent as each refresh task begins; nil: only once its time has come.
  public var inRefresh: Bool?
  /// The link that heartbeats tell of; nil: nobody looks at it.
  public var reportedLink: ReportedLink?

  /// The link that heartbeats tell of.
  public enum ReportedLink: String, CaseIterable, Sendable {
    /// The true one.
    case actual
    /// Wi-Fi, whatever it is.
    case wifi
  }

  public init() {}
  public static var fields: [Field<HeartbeatSettings>] {
    [
      Field(
        "foreground", \.foreground, .duration(atLeast: .seconds(1)),
        "Interval of heartbeats while a person uses the app; the first is sent after one interval"),
      Field(
        "background", \.background, .duration(atLeast: .seconds(1)),
        "Interval of heartbeats while the app runs in the background; the first is sent at once"),
      Field(
        "ignoresStatus", \.ignoresStatus, .flag,
        "The app takes every answer for a success, even a refusal"),
      Field(
        "afterRegistration", \.afterRegistration, feature: .flag,
        "A heartbeat is sent as soon as the device is registered; absent: after the interval"),
      Field(
        "inRefresh", \.inRefresh, feature: .flag,
        "Each refresh task sends a heartbeat as it begins, however recent the last one was;"
          + " absent: only after the interval"),
      Field(
        "reportedLink", \.reportedLink, feature: .choice,
        "Link that heartbeats report to the server: the true one, or always Wi-Fi;"
          + " absent: the link is not recorded"),
    ]
  }
}

/// A device's own clock, which decides about tokens, names files and tells the hour of use.
public struct ClockSettings: PartSettings {
  /// A change of the device's time zone, or of its summer time.
  public struct Zone: PartSettings {
    /// From when on.
    public var from = CivilTime(secondsSince1970: 0)
    /// Local time minus UTC from then on.
    public var utcOffset = SimDuration.zero

    public init() {}
    public static var fields: [Field<Zone>] {
      [
        Field("from", \.from, .civilTime, required: true, "Start of this time zone, in UTC"),
        Field(
          "utcOffset", \.utcOffset, .offset, required: true, "Local time minus UTC from then on"),
      ]
    }
  }

  /// How far the clock is ahead at the start.
  public var skew = SimDuration.zero
  /// The spread of that between devices: normal with this standard deviation.
  public var skewSpread = SimDuration.zero
  /// How much faster the clock goes, in millionths.
  public var drift = 0.0
  /// The spread of that between devices.
  public var driftSpread = 0.0
  /// Changes of zone or summer time; before the first the group's `utcOffset` holds.
  public var zones: [Zone] = []

  public init() {}
  public static var fields: [Field<ClockSettings>] {
    [
      Field(
        "skew", \.skew, .offset,
        "How far the device's clock is ahead at the start; negative: behind"
      ),
      Field(
        "skewSpread", \.skewSpread, .duration(), assumption: true,
        "Random part of the offset: normal with this standard deviation, one draw per device"),
      Field(
        "drift", \.drift, .number(-100_000...100_000),
        "Drift of the clock, in ppm; positive: fast"),
      Field(
        "driftSpread", \.driftSpread, .number(0...100_000), assumption: true,
        "Random part of the drift: normal with this standard deviation, one draw per device"),
      Field(
        "zones", \.zones, .list(of: .settings()),
        "Changes of time zone or summer time, in order; `utcOffset` applies before the first"),
    ]
  }
  public func contradictions() -> [(key: String, message: String)] {
    for (a, b) in zip(zones, zones.dropFirst()) where a.from >= b.from {
      return [("zones", "changes of zone are out of order at \(b.from.text)")]
    }
    return []
  }
}

extension FleetGroupSettings {
  /// The fields of a device's identity, each a feature that is off unless it is named.
  static var identityFields: [Field<FleetGroupSettings>] {
    [
      Field(
        "authentication", \.authentication, feature: .settings(),
        "Short-lived tokens on every request; absent: no tokens"),
      Field(
        "registration", \.registration, feature: .settings(),
        "How a device registers with the server; absent: the server knows every device"),
      Field(
        "heartbeats", \.heartbeats, feature: .settings(),
        "Heartbeats of a running app; absent: none"),
      Field(
        "clock", \.clock, feature: .settings(),
        "The device's clock and time zones; absent: the clock is correct, and `utcOffset` applies"),
    ]
  }

  /// Whether any of them is on.
  var hasIdentity: Bool {
    authentication != nil || registration != nil || heartbeats != nil || clock != nil
  }
}

/// What a registration says of a device.
public enum RegistrationContent: String, CaseIterable, Sendable {
  /// The fields of EdgeML's registration.
  case edgeml
}
