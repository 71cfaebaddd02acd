import Schema

/// Rates and delays of a device's links, and what a change of link does to a connection.
public struct NetworkSettings: PartSettings {
  /// What a connection does when the device changes from one link to the other.
  public enum Handover: String, CaseIterable, Sendable {
    /// It is lost with its link, as a TCP connection is.
    case breaks
    /// It continues over the other link, as with QUIC's migration or multipath TCP.
    case survives
  }

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
  /// What a connection does when the device changes from one link to the other.
  public var handover = Handover.breaks
  /// How long a connection waits for its link to return.
  public var patience = SimDuration.seconds(5)

  public init() {}
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
        "A device's rates are multiplied by exp(spread*z), one normal z per device"),
      Field(
        "requestTimeout", \.requestTimeout, .duration(atLeast: .milliseconds(1)),
        "Maximum wait for the answer after a request is sent (URLSession: 60 s)"),
      Field(
        "downloadTimeout", \.downloadTimeout, feature: .duration(atLeast: .milliseconds(1)),
        "Maximum time of a download from its request to its last byte; absent: no limit"),
      Field(
        "share", \.share, feature: .timeline(.share),
        "Share of the link's rates that the device gets, in percent, over time; absent: 100"),
      Field(
        "handover", \.handover, .choice,
        "A change from Wi-Fi to cellular or back: the request under way and an open stream fail, "
          + "as over TCP, or continue over the other link (QUIC migration, multipath TCP)"),
      Field(
        "patience", \.patience, .duration(), assumption: true,
        "How long a request under way and an open stream wait for their link when it is gone; "
          + "0 s: they fail at once"),
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

  public init() { self.init(down: 40_000_000, up: 26_000_000, roundTrip: .milliseconds(20)) }

  init(down: Int64, up: Int64, roundTrip: SimDuration) {
    self.down = BitRate(bitsPerSecond: down)
    self.up = BitRate(bitsPerSecond: up)
    self.roundTrip = roundTrip
  }

  public static var fields: [Field<LinkSettings>] {
    [
      Field("down", \.down, .rate, assumption: true, "Downlink rate"),
      Field("up", \.up, .rate, assumption: true, "Uplink rate"),
      Field(
        "roundTrip", \.roundTrip, .duration(), assumption: true, "Round-trip time"),
      Field(
        "metered", \.metered, feature: .flag,
        "Whether the link is metered; absent: only cellular links are"),
    ]
  }
}
