import Schema

/// A group of devices with the same habits: `fleet` is a list of them.
public struct FleetGroupSettings: PartSettings {
  /// The group's name, the first part of its devices' paths.
  public var name = "devices"
  /// How many devices.
  public var count = 1
  /// The client whose data device 0 has; nil: device n of group g of G has client n·G + g.
  public var firstClient: Int?
  /// Local time minus UTC.
  public var utcOffset = SimDuration.zero
  /// When a device is plugged in.
  public var power = Choice<any TimelineSource>.always("plugged")
  /// How a device is connected.
  public var link = Choice<any TimelineSource>.always("wifi")
  /// When a person uses a device.
  public var usage = Choice<any TimelineSource>.always("locked")
  /// Rates and delays.
  public var network = NetworkSettings()
  /// When the operating system lets the app run in the background.
  public var background = BackgroundSettings()
  /// What happens to a training that is cut off.
  public var interruption = InterruptionSettings()
  /// When the app takes part.
  public var participation = ParticipationSettings()
  /// How long training takes.
  public var compute = ComputeSettings()
  /// What a device does with updates that cannot be sent.
  public var outbox = OutboxSettings()
  /// The battery; nil: energy is not looked at.
  public var battery: BatterySettings?
  /// Heat; nil: it is not looked at.
  public var thermal: ThermalSettings?
  /// What the app does with its tasks; nil: all that its policies say.
  public var app: AppSettings?
  /// Tokens; nil: no request needs one.
  public var authentication: AuthenticationSettings?
  /// How a device makes itself known; nil: the server knows it.
  public var registration: RegistrationSettings?
  /// Signs of life; nil: none are sent.
  public var heartbeats: HeartbeatSettings?
  /// The device's own clock; nil: it is right.
  public var clock: ClockSettings?
  /// How the app's library talks with the server; nil: without defects.
  public var `protocol`: ProtocolSettings?
  /// What the devices are made of; nil: `compute` says how long a batch takes.
  public var hardware: HardwareSettings?
  /// What the devices compute and send, from a trace; nil: `compute` and `network` say it.
  public var capacity: CapacitySettings?
  /// When a device belongs to the fleet; nil: always.
  public var presence: Choice<any TimelineSource>?
  /// When samples become available; nil: all are there from the start.
  public var arrival: ArrivalSettings?
  /// How data go with devices; nil: clients are dealt out in order.
  public var couple: CoupleSettings?
  /// How samples are collected for central training; nil: the device trains itself.
  public var collection: CollectionSettings?
  /// Adversaries; nil: none.
  public var adversary: AdversarySettings?

  public init() {}
  public static var fields: [Field<FleetGroupSettings>] {
    [
      Field("name", \.name, .identifier, required: true, "First part of the devices' paths"),
      Field("count", \.count, .integer(0...10_000_000), required: true, "Number of devices"),
      Field(
        "firstClient", \.firstClient, optional: .integer(0...10_000_000),
        "The client whose data device 0 has; absent: device n of group g of G has client n*G + g"),
      Field("utcOffset", \.utcOffset, .offset, "Local time minus UTC"),
      Field("power", \.power, .timeline(.power), "When a device is plugged in"),
      Field("link", \.link, .timeline(.link), "How a device is connected"),
      Field("usage", \.usage, .timeline(.usage), "When a person uses a device"),
      Field("network", \.network, .settings(), "Rates and delays of its links"),
      Field("background", \.background, .settings(), "When the app may run in the background"),
      Field(
        "interruption", \.interruption, .settings(),
        "What happens to an interrupted training"),
      Field("participation", \.participation, .settings(), "When the app participates"),
      Field("compute", \.compute, .settings(), "How long training takes"),
      Field("outbox", \.outbox, .settings(), "What happens to updates that cannot be sent"),
      Field(
        "battery", \.battery, feature: .settings(),
        "The battery, its charging and its consumption; absent: energy is not modelled"),
      Field(
        "thermal", \.thermal, feature: .settings(),
        "How the device heats up; absent: heat is not modelled; needs `battery`"),
      Field(
        "app", \.app, feature: .settings(),
        "How the app handles its background tasks, including defects"),
    ] + fleetFields + [
      Field(
        "protocol", \.protocol, feature: .settings(),
        "How the app's client library talks with the server, including defects"),
      Field(
        reserved: "profile", .oneOf(FleetProfile.standard.map(\.name)),
        expected: "the name of a profile",
        "A profile that fills the keys of the group; keys given here override it"),
    ] + identityFields
  }
  public func contradictions() -> [(key: String, message: String)] {
    var found = fleetContradictions
    if background.transfers == true, `protocol`?.stream == true {
      found.append(
        (
          "background",
          "a result belongs to its stream: `transfers` and `stream` exclude each other"
        ))
    }
    if background.transfers == true, collection != nil {
      found.append(("background", "`transfers` concern updates, and `collection` sends none"))
    }
    return found
      + (thermal != nil && battery == nil
        ? [("thermal", "heat is derived from the battery's energy: `thermal` needs `battery`")]
        : [])
  }
}

extension Choice where Value == any TimelineSource {
  /// One state for ever.
  public static func always(_ state: String) -> Choice {
    var settings = FixedSource.Settings()
    settings.always = StateName(state)
    return Choice(FixedSource.self, settings) { $0 }
  }
}

/// What happens to a training that is cut off.
public struct InterruptionSettings: PartSettings {
  /// At the soft expiry.
  public enum OnExpiry: String, CaseIterable, Sendable { case discard, checkpoint, submitPartial }
  /// When the app's own conditions no longer hold.
  public enum OnConditionsLost: String, CaseIterable, Sendable { case abort, suspend, ignore }
  /// When a checkpoint resumes and the device holds a newer version.
  public enum OnModelMoved: String, CaseIterable, Sendable { case finish, restart, rebase }

  /// What a device does with the batches done when the task expires.
  public var onExpiry = OnExpiry.discard
  /// What a device does with them when a condition of participation is lost.
  public var onConditionsLost = OnConditionsLost.ignore
  /// What a checkpoint does on a newer version.
  public var onModelMoved = OnModelMoved.finish
  /// A checkpoint older than this is thrown away; nil: never.
  public var maximumAge: SimDuration?

  public init() {}
  public static var fields: [Field<InterruptionSettings>] {
    [
      Field(
        "onExpiry", \.onExpiry, .choice, "What happens to the finished batches at the soft expiry"),
      Field(
        "onConditionsLost", \.onConditionsLost, .choice,
        "What a training does when a participation condition is lost"),
      Field(
        "onModelMoved", \.onModelMoved, .choice,
        "What a checkpoint does when the device holds a newer version: finish on the old base, "
          + "restart, or rebase"),
      Field(
        "maximumAge", \.maximumAge, optional: .duration(atLeast: .seconds(1)),
        "Maximum age of a checkpoint; older ones are discarded; absent: no limit"),
    ]
  }
}

/// When the app takes part.
public struct ParticipationSettings: PartSettings {
  /// What a device trains on.
  public enum Retrain: String, CaseIterable, Sendable { case always, newVersions }
  /// The link that taking part needs.
  public enum Network: String, CaseIterable, Sendable { case any, wifi, unmetered }

  /// Whether a device trains again on a version that it has trained on.
  public var retrain = Retrain.always
  /// Whether external power is needed.
  public var externalPower = false
  /// Which link is needed.
  public var network = Network.any
  /// Whether the device must not be in use.
  public var idle = false
  /// Whether a session continues after an update, while the window lasts.
  public var repeats = false
  /// How long a session waits before it asks again.
  public var pause = SimDuration.minutes(5)
  /// The share of activations on which the app is opened and polls for a new version.
  public var pollOnActivation = 0.0
  /// How long an app that its user keeps open waits before it looks for news again; nil: it looks
  /// once.
  public var pollEvery: SimDuration?
  /// Whether a full battery on the charger counts as not charging; nil: no.
  public var chargingOnly: Bool?
  /// The level, in percent, that taking part needs unless plugged in; nil: none.
  public var minimumBattery: Int?
  /// Whether low-power mode keeps from taking part; nil: no.
  public var avoidsLowPower: Bool?
  /// Whether a device that is seriously warm does not take part; nil: it does.
  public var avoidsHeat: Bool?
  /// How many bytes a device may have sent and received over a cellular network on its local day
  /// for taking part without Wi-Fi; nil: any number.
  public var cellularBytesPerDay: Int64?
  /// Whether the conditions are looked at again before an update is sent; nil: no.
  public var checksBeforeReport: Bool?
  /// Whether a device that cannot reach the server trains on the model that it holds; nil: no.
  public var trainsOffline: Bool?

  public init() {}
  public static var fields: [Field<ParticipationSettings>] {
    [
      Field(
        "retrain", \.retrain, .choice,
        "Train again on a version that the device has trained on"),
      Field("externalPower", \.externalPower, .flag, "Require external power"),
      Field(
        "network", \.network, .choice, "Link required to participate; any: no requirement"),
      Field("idle", \.idle, .flag, "Require that the device is not in use"),
      Field(
        "repeats", \.repeats, .flag, "Continue the session after an update, if possible"),
      Field(
        "pause", \.pause, .duration(atLeast: .seconds(1)),
        "Pause before a session asks again"),
      Field(
        "pollOnActivation", \.pollOnActivation, .fraction, assumption: true,
        "Share of activations in which the user opens the app and the app polls for a new version"),
      Field(
        "pollEvery", \.pollEvery, feature: .duration(atLeast: .seconds(1)),
        "Interval at which an open app polls again, whether or not the last poll"
          + " succeeded; absent: one poll"),
      Field(
        "chargingOnly", \.chargingOnly, feature: .flag,
        "A full battery on the charger counts as not charging, as in SwiftSyft; absent: no"
      ),
      Field(
        "minimumBattery", \.minimumBattery, feature: .integer(0...100),
        "Battery level, in percent, required to participate unless plugged in; absent: none"),
      Field(
        "avoidsLowPower", \.avoidsLowPower, feature: .flag,
        "Do not participate in low-power mode; absent: participate"),
      Field(
        "avoidsHeat", \.avoidsHeat, feature: .flag,
        "Do not participate while seriously warm; absent: participate"),
      Field(
        "cellularBytesPerDay", \.cellularBytesPerDay, feature: .bytes,
        "From this many bytes over a cellular network on its local day on, sent and received, a "
          + "device starts on Wi-Fi only; absent: any number"),
      Field(
        "checksBeforeReport", \.checksBeforeReport, feature: .flag,
        "Check the conditions again before an update is sent, as in KotlinSyft; absent: no"),
      Field(
        "trainsOffline", \.trainsOffline, feature: .flag,
        "A device that is offline or gets no answer trains on the model that it holds, and its "
          + "update waits in the outbox; absent: it trains only once the server has answered"),
    ]
  }
}

/// What a device does with updates that cannot be sent.
public struct OutboxSettings: PartSettings {
  /// How many updates a device keeps; 0: an update that cannot be sent at once is dropped.
  public var capacity = 10
  /// An update older than this is dropped; nil: never.
  public var timeToLive: SimDuration?
  /// How often one session tries to send an update.
  public var attempts = 1
  /// How long it waits before the second try.
  public var delay = SimDuration.seconds(5)
  /// How much longer it waits before each further try.
  public var backoff = 2.0
  /// How far a wait may be from this, up or down, as a share of it; nil: not at all.
  public var jitter: Double?
  /// Whether updates survive a kill of the app.
  public var persists = true
  /// Whether a new update takes the place of a waiting one from the same version; nil: no.
  public var supersedes: Bool?
  /// Whether what waits is sent by a later session; nil: it is.
  public var flushes: Bool?
  /// Whether a session sends more updates once one could not be sent; nil: it does.
  public var retriesLost: Bool?

  public init() {}
  public static var fields: [Field<OutboxSettings>] {
    [
      Field(
        "capacity", \.capacity, .integer(0...100_000),
        "Number of updates that a device keeps; 0: an update that cannot be sent at once is dropped"
      ),
      Field(
        "timeToLive", \.timeToLive, optional: .duration(atLeast: .seconds(1)),
        "Maximum age of an update; older ones are dropped; absent: no limit"),
      Field("attempts", \.attempts, .integer(1...100), "Number of attempts to send in one session"),
      Field("delay", \.delay, .duration(), "Wait before the second attempt"),
      Field("backoff", \.backoff, .number(1...100), "Factor by which each further wait grows"),
      Field(
        "jitter", \.jitter, feature: .fraction,
        "Each wait varies by up to this share, one uniform draw each; absent: 0"
      ),
      Field("persists", \.persists, .flag, "Updates survive a kill of the app"),
      Field(
        "supersedes", \.supersedes, feature: .flag,
        "A new update replaces a waiting one from the same version; absent: no"),
      Field(
        "flushes", \.flushes, feature: .flag,
        "A later session sends updates that remain; else they stay on the device forever;"
          + " absent: yes"),
      Field(
        "retriesLost", \.retriesLost, feature: .flag,
        "A session sends more after an update could not be sent, later or"
          + " when the link is back; absent: yes"),
    ]
  }
  public func contradictions() -> [(key: String, message: String)] {
    flushes == false && capacity == 0
      ? [("flushes", "with `capacity: 0` no update is kept, so none can be sent later")] : []
  }
}
