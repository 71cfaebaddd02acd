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
        "A token that expires within this time, by the device's clock, is refreshed before use"),
      Field(
        "organisation", \.organisation, .identifier,
        "The organisation that the device's tokens are bound to"),
      Field(
        "scopes", \.scopes, .list(of: .choice),
        "What its tokens may be used for; anything else is refused with 403"),
      Field(
        "onUnauthorised", \.onUnauthorised, .choice,
        "After a 401: get a fresh token and send the request once more, or give the request up"),
      Field(
        "refreshes", \.refreshes, feature: .flag,
        "Whether the app refreshes its token; else it uses it as it stands, and gets another one"
          + " when it is opened after the expiry; absent: it does"),
      Field(
        "bootstrapsInUse", \.bootstrapsInUse, feature: .flag,
        "Whether a device without tokens gets them only while a person has the app open; absent:"
          + " whenever the app runs"),
      Field(
        "bootstrapDelay", \.bootstrapDelay, .duration(), assumption: true,
        "How long a device waits for a new bootstrap once its tokens were revoked, or one failed"),
      Field(
        "backoff", \.backoff, .number(1...100), assumption: true,
        "After each further failure it waits this many times as long"),
      Field(
        "longestDelay", \.longestDelay, .duration(), assumption: true, "The longest such wait"),
      Field(
        "locksAtReboot", \.locksAtReboot, .flag,
        "Whether tokens cannot be read from a reboot until the device is first unlocked "
          + "(Keychain: after first unlock)"),
    ]
  }
  public func contradictions() -> [(key: String, message: String)] {
    refreshes == false && onUnauthorised == .refresh
      ? [
        ("refreshes", "an app that refreshes no token gives up after a 401: `onUnauthorised: fail`")
      ]
      : []
  }

  /// How long a device waits for a bootstrap after so many failures in a row.
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
        "Whether a registration survives the end of the app's process, or is kept in memory only"),
      Field(
        "inBackground", \.inBackground, .flag,
        "Whether an app that runs in the background registers itself; else only one in use does"),
      Field("atStart", \.atStart, .flag, "Whether the device is registered as the run begins"),
      Field("bytes", \.bytes, .bytes, assumption: true, "Size of the request"),
      Field(
        "content", \.content, feature: .choice,
        "What the request says of the device, as JSON behind a message of `server.messageBytes`,"
          + " which gives its size; absent: `bytes`"),
      Field(
        "reinstallEvery", \.reinstallEvery, optional: .duration(atLeast: .seconds(1)),
        "Mean time between re-installations of the app, exponential; absent: scripted ones only"),
      Field(
        "keepsData", \.keepsData, .flag,
        "Whether the device's samples survive a re-installation; else it has none afterwards"),
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
        "Time between heartbeats while a person has the app open; the first comes as late"),
      Field(
        "background", \.background, .duration(atLeast: .seconds(1)),
        "Time between heartbeats while the app runs in the background; the first comes at once"),
      Field(
        "ignoresStatus", \.ignoresStatus, .flag,
        "Whether the app takes every answer for a success, refusals included"),
      Field(
        "reportedLink", \.reportedLink, feature: .choice,
        "The link that heartbeats tell of, which the server believes in: the true one, or Wi-Fi"
          + " whatever it is; absent: it is not recorded"),
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
        Field("from", \.from, .civilTime, required: true, "From when on, in UTC"),
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
        "skew", \.skew, .offset, "How far the device's clock is ahead at the start; below 0: behind"
      ),
      Field(
        "skewSpread", \.skewSpread, .duration(), assumption: true,
        "Added to it: normal with this standard deviation, one draw a device"),
      Field(
        "drift", \.drift, .number(-100_000...100_000), "How much faster the clock goes, in ppm"),
      Field(
        "driftSpread", \.driftSpread, .number(0...100_000), assumption: true,
        "Added to it: normal with this standard deviation, one draw a device"),
      Field(
        "zones", \.zones, .list(of: .settings()),
        "Changes of time zone or summer time, in order; before the first `utcOffset` holds"),
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
        "Short-lived tokens that every request carries; absent: none is needed"),
      Field(
        "registration", \.registration, feature: .settings(),
        "How a device makes itself known to the server; absent: the server knows every device"),
      Field(
        "heartbeats", \.heartbeats, feature: .settings(),
        "Signs of life that a running app sends; absent: none"),
      Field(
        "clock", \.clock, feature: .settings(),
        "The device's own clock and time zones; absent: it is right, and `utcOffset` holds"),
    ]
  }

  /// Whether any of them is on.
  var hasIdentity: Bool {
    authentication != nil || registration != nil || heartbeats != nil || clock != nil
  }
}
