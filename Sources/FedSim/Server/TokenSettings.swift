import Schema

/// How the server issues and judges tokens, where a group of devices has `authentication`.
public struct TokenSettings: PartSettings {
  /// How long an access token is good for.
  public var tokenLife = SimDuration.hours(1)
  /// How long a refresh token is good for; nil: for ever.
  public var refreshLife: SimDuration?
  /// Whether each refresh gives a new refresh token, and the old one is good no more.
  public var rotates = true
  /// For how long the old one still is.
  public var rotationGrace = SimDuration.zero
  /// The organisations whose tokens are good for this server's model; nil: all.
  public var organisations: [String]?
  /// When the service that issues tokens works.
  public var service = Choice<any TimelineSource>.always("up")

  public init() {}
  public static var fields: [Field<TokenSettings>] {
    [
      Field(
        "tokenLife", \.tokenLife, .duration(atLeast: .seconds(1)), assumption: true,
        "Lifetime of an access token"),
      Field(
        "refreshLife", \.refreshLife, optional: .duration(atLeast: .seconds(1)),
        "Lifetime of a refresh token; absent: unlimited"),
      Field(
        "rotates", \.rotates, .flag,
        "Each refresh issues a new refresh token; a device with an older one is revoked"),
      Field(
        "rotationGrace", \.rotationGrace, .duration(),
        "Time for which the previous refresh token is still accepted"),
      Field(
        "organisations", \.organisations, optional: .list(of: .identifier),
        "Organisations whose tokens are valid for this server's model; absent: all"),
      Field(
        "service", \.service, .timeline(.server),
        "When the token service is available; else it answers 503"),
    ]
  }
}

/// What the server concludes from heartbeats, where a group of devices has `heartbeats`.
public struct PresenceSettings: PartSettings {
  /// For how long after a heartbeat a device counts as online.
  public var onlineFor = SimDuration.minutes(10)
  /// From when on it counts as offline; idle in between.
  public var offlineAfter = SimDuration.minutes(30)

  public init() {}
  public static var fields: [Field<PresenceSettings>] {
    [
      Field(
        "onlineFor", \.onlineFor, .duration(), assumption: true,
        "Time after a heartbeat in which a device counts as online (two heartbeats of an open "
          + "app)"),
      Field(
        "offlineAfter", \.offlineAfter, .duration(), assumption: true,
        "Time after a heartbeat after which a device counts as offline; idle in between"),
    ]
  }
  public func contradictions() -> [(key: String, message: String)] {
    onlineFor > offlineAfter ? [("onlineFor", "`onlineFor` is above `offlineAfter`")] : []
  }
}

extension ServerSettings {
  /// The fields of what the server knows of devices, each a feature that is off unless it is named.
  static var identityFields: [Field<ServerSettings>] {
    [
      Field(
        "authentication", \.authentication, feature: .settings(),
        "How tokens are issued and validated; absent: the defaults, if a group needs them"),
      Field(
        "presence", \.presence, feature: .settings(),
        "How heartbeats are interpreted; absent: the defaults, if a group sends them"),
    ]
  }

  /// How tokens are issued and judged.
  var tokens: TokenSettings { authentication ?? TokenSettings() }
}
