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
  /// What becomes of updates that cannot be sent.
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
  /// How the app's library talks with the server; nil: without faults of its own.
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
  /// Devices that lie; nil: none.
  public var adversary: AdversarySettings?

  /// The defaults.
  public init() {}
  /// The fields, in the order in which they are documented and written.
  public static var fields: [Field<FleetGroupSettings>] {
    [
      Field("name", \.name, .identifier, required: true, "The first part of its devices' paths"),
      Field("count", \.count, .integer(0...10_000_000), required: true, "How many devices"),
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
        "What happens to a training that is cut off"),
      Field("participation", \.participation, .settings(), "When the app takes part"),
      Field("compute", \.compute, .settings(), "How long training takes"),
      Field("outbox", \.outbox, .settings(), "What becomes of updates that cannot be sent"),
      Field(
        "battery", \.battery, feature: .settings(),
        "The battery, what fills and what drains it; absent: energy is not looked at"),
      Field(
        "thermal", \.thermal, feature: .settings(),
        "How the device heats up; absent: heat is not looked at; needs `battery`"),
      Field(
        "app", \.app, feature: .settings(),
        "What the app does with its background tasks beyond its policies, faults included"),
    ] + fleetFields + [
      Field(
        "protocol", \.protocol, feature: .settings(),
        "How the app's library talks with the server, faults included"),
      Field(
        reserved: "profile", .oneOf(FleetProfile.standard.map(\.name)),
        expected: "the name of a profile",
        "A profile that fills the keys of the group; what is written beside it wins"),
    ] + identityFields
  }
  /// What is wrong with values that are each in range.
  public func contradictions() -> [(key: String, message: String)] {
    fleetContradictions
      + (thermal != nil && battery == nil
        ? [("thermal", "heat comes from the battery's energy: `thermal` needs `battery`")] : [])
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

/// Rates and delays of a device's links.
public struct NetworkSettings: PartSettings {
  /// Rates over Wi-Fi.
  public var wifi = LinkSettings(down: 40_000_000, up: 26_000_000, roundTrip: .milliseconds(20))
  /// Rates over a cellular network.
  public var cellular = LinkSettings(
    down: 36_000_000, up: 11_000_000, roundTrip: .milliseconds(40))
  /// A device's rates are these times exp(spread·z), one z a device.
  public var spread = 0.0
  /// How long a request waits for its answer once it is sent.
  public var requestTimeout = SimDuration.seconds(60)
  /// How long a download may take in all; nil: as long as it takes.
  public var downloadTimeout: SimDuration?
  /// The share of the link's rates that a device gets, in percent, over time; nil: all.
  public var share: Choice<any TimelineSource>?

  /// The defaults.
  public init() {}
  /// The fields, in the order in which they are documented and written.
  public static var fields: [Field<NetworkSettings>] {
    [
      Field("wifi", \.wifi, .settings(), "Rates over Wi-Fi"),
      Field(
        "cellular", \.cellular,
        .settings(
          defaults: LinkSettings(
            down: 36_000_000, up: 11_000_000, roundTrip: .milliseconds(40))),
        "Rates over a cellular network"),
      Field(
        "spread", \.spread, .number(0...2), assumption: true,
        "A device's rates are these times exp(spread*z), one normal z a device"),
      Field(
        "requestTimeout", \.requestTimeout, .duration(atLeast: .milliseconds(1)),
        "How long a request waits for its answer once it is sent (URLSession: 60 s)"),
      Field(
        "downloadTimeout", \.downloadTimeout, feature: .duration(atLeast: .milliseconds(1)),
        "How long a download may take from its request to its last byte; absent: no limit"),
      Field(
        "share", \.share, feature: .timeline(.share),
        "The share of the link's rates that the device gets, in percent, over time; absent: 100"),
    ]
  }
}

/// Rates and delay of one kind of link; the defaults are assumptions near published medians.
public struct LinkSettings: PartSettings {
  /// To the device.
  public var down = BitRate(bitsPerSecond: 1)
  /// From the device.
  public var up = BitRate(bitsPerSecond: 1)
  /// To the server and back.
  public var roundTrip = SimDuration.zero
  /// Whether bytes cost money; nil: over a cellular network only.
  public var metered: Bool?

  /// The defaults.
  public init() { self.init(down: 40_000_000, up: 26_000_000, roundTrip: .milliseconds(20)) }

  init(down: Int64, up: Int64, roundTrip: SimDuration) {
    self.down = BitRate(bitsPerSecond: down)
    self.up = BitRate(bitsPerSecond: up)
    self.roundTrip = roundTrip
  }

  /// The fields, in the order in which they are documented and written.
  public static var fields: [Field<LinkSettings>] {
    [
      Field("down", \.down, .rate, assumption: true, "Rate to the device"),
      Field("up", \.up, .rate, assumption: true, "Rate from the device"),
      Field(
        "roundTrip", \.roundTrip, .duration(), assumption: true, "To the server and back"),
      Field(
        "metered", \.metered, feature: .flag,
        "Whether bytes cost money; absent: over a cellular network only"),
    ]
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

  /// What becomes of the batches done when the task expires.
  public var onExpiry = OnExpiry.discard
  /// What becomes of them when a condition of participation is lost.
  public var onConditionsLost = OnConditionsLost.ignore
  /// What a checkpoint does on a newer version.
  public var onModelMoved = OnModelMoved.finish
  /// A checkpoint older than this is thrown away; nil: never.
  public var maximumAge: SimDuration?

  /// The defaults.
  public init() {}
  /// The fields, in the order in which they are documented and written.
  public static var fields: [Field<InterruptionSettings>] {
    [
      Field("onExpiry", \.onExpiry, .choice, "What becomes of the batches done at the soft expiry"),
      Field(
        "onConditionsLost", \.onConditionsLost, .choice,
        "What a training does when a condition of participation is lost"),
      Field(
        "onModelMoved", \.onModelMoved, .choice,
        "What a checkpoint does when the device holds a newer version: finish on the old base, "
          + "restart, or rebase"),
      Field(
        "maximumAge", \.maximumAge, optional: .duration(atLeast: .seconds(1)),
        "A checkpoint older than this is thrown away; absent: never"),
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
  /// Whether a session goes on after an update, while the window lasts.
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

  /// The defaults.
  public init() {}
  /// The fields, in the order in which they are documented and written.
  public static var fields: [Field<ParticipationSettings>] {
    [
      Field(
        "retrain", \.retrain, .choice,
        "Whether a device trains again on a version that it has trained on"),
      Field("externalPower", \.externalPower, .flag, "Whether external power is needed"),
      Field(
        "network", \.network, .choice, "The link that taking part needs; any: none is looked at"),
      Field("idle", \.idle, .flag, "Whether the device must not be in use"),
      Field(
        "repeats", \.repeats, .flag, "Whether a session goes on after an update, while it may"),
      Field(
        "pause", \.pause, .duration(atLeast: .seconds(1)),
        "How long a session waits before it asks again"),
      Field(
        "pollOnActivation", \.pollOnActivation, .fraction, assumption: true,
        "The share of activations on which the app is opened and polls for a new version"),
      Field(
        "pollEvery", \.pollEvery, feature: .duration(atLeast: .seconds(1)),
        "An app that its user keeps open looks for news again after this time, whether it found"
          + " any or failed; absent: it looks once"),
      Field(
        "chargingOnly", \.chargingOnly, feature: .flag,
        "Whether a full battery on the charger counts as not charging, as in SwiftSyft; absent: no"
      ),
      Field(
        "minimumBattery", \.minimumBattery, feature: .integer(0...100),
        "The level, in percent, that taking part needs unless plugged in; absent: none"),
      Field(
        "avoidsLowPower", \.avoidsLowPower, feature: .flag,
        "Whether low-power mode keeps from taking part; absent: no"),
      Field(
        "avoidsHeat", \.avoidsHeat, feature: .flag,
        "Whether a seriously warm device does not take part; absent: it does"),
      Field(
        "cellularBytesPerDay", \.cellularBytesPerDay, feature: .bytes,
        "From this many bytes over a cellular network on its local day on, sent and received, a "
          + "device starts on Wi-Fi only; absent: any number"),
      Field(
        "checksBeforeReport", \.checksBeforeReport, feature: .flag,
        "Whether the conditions are looked at again before an update is sent, as in KotlinSyft; "
          + "absent: no"),
    ]
  }
}

/// What becomes of updates that cannot be sent.
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

  /// The defaults.
  public init() {}
  /// The fields, in the order in which they are documented and written.
  public static var fields: [Field<OutboxSettings>] {
    [
      Field(
        "capacity", \.capacity, .integer(0...100_000),
        "How many updates a device keeps; 0: one that cannot be sent at once is dropped"),
      Field(
        "timeToLive", \.timeToLive, optional: .duration(atLeast: .seconds(1)),
        "An update older than this is dropped; absent: never"),
      Field("attempts", \.attempts, .integer(1...100), "How often one session tries to send"),
      Field("delay", \.delay, .duration(), "How long it waits before the second try"),
      Field("backoff", \.backoff, .number(1...100), "Each further wait is this much longer"),
      Field(
        "jitter", \.jitter, feature: .fraction,
        "Each wait is longer or shorter by up to this share of it, one uniform draw each; absent: 0"
      ),
      Field("persists", \.persists, .flag, "Whether updates survive a kill of the app"),
      Field(
        "supersedes", \.supersedes, feature: .flag,
        "Whether a new update takes the place of a waiting one from the same version; absent: no"),
      Field(
        "flushes", \.flushes, feature: .flag,
        "Whether a later session sends what one could not; else it stays on the device for good;"
          + " absent: it does"),
      Field(
        "retriesLost", \.retriesLost, feature: .flag,
        "Whether a session sends anything more once an update could not be sent, be it later or"
          + " when the link is back; absent: it does"),
    ]
  }
  /// What is wrong with values that are each in range.
  public func contradictions() -> [(key: String, message: String)] {
    flushes == false && capacity == 0
      ? [("flushes", "with `capacity: 0` nothing is kept, and nothing could be sent later")] : []
  }
}
