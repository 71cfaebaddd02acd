import Schema

extension FleetGroupSettings {
  /// The fields of what a fleet consists of and of who has which data.
  static var fleetFields: [Field<FleetGroupSettings>] {
    [
      Field(
        "hardware", \.hardware, feature: .settings(),
        "Hardware of the devices: time and energy of training, memory, storage, battery;"
          + " absent: `compute` gives the time of a batch"),
      Field(
        "capacity", \.capacity, feature: .settings(),
        "Computation and link rates from FedScale's capacity trace; absent: `compute` and"
          + " `network` give them"),
      Field(
        "presence", \.presence, feature: .timeline(.presence),
        "When devices belong to the fleet; absent: always"),
      Field(
        "arrival", \.arrival, feature: .settings(),
        "When samples become available; absent: all from the start"),
      Field(
        "couple", \.couple, feature: .settings(),
        "How data correlate with time zone, speed or availability; absent: clients are"
          + " assigned in order"),
      Field(
        "collection", \.collection, feature: .settings(),
        "Devices train nothing and send samples as files to a store, where"
          + " `server.central` trains on them; absent: devices train"),
      Field(
        "adversary", \.adversary, feature: .settings(),
        "Adversaries of the group: their share, start and attack; absent: none"),
    ]
  }

  /// What is wrong between them.
  var fleetContradictions: [(key: String, message: String)] {
    if capacity != nil, hardware != nil {
      return [("capacity", "`capacity` and `hardware` both give the time of a batch")]
    }
    if participation.trainsOffline == true, collection != nil || `protocol`?.stream == true {
      let other = collection != nil ? "collection" : "protocol.stream"
      return [
        (
          "participation",
          "`trainsOffline`: a device with `\(other)` does not train without the server"
        )
      ]
    }
    guard let couple else { return [] }
    if firstClient != nil {
      return [("couple", "`couple` and `firstClient` both choose a device's data")]
    }
    if couple.rules.contains(where: { $0.by == .speed }), hardware == nil, compute.spread == 0 {
      return [("couple", "all devices are equally fast: `by: speed` needs `hardware` or a spread")]
    }
    return []
  }
}

extension StateSpace {
  /// Whether a device belongs to the fleet.
  public static let presence = StateSpace("presence", ["away", "here"])
}

/// When a device's samples become available: a training takes those that are there as it begins.
public struct ArrivalSettings: PartSettings {
  /// One step of a schedule.
  public struct Step: PartSettings {
    public var at = SimTime.start
    /// The share of a device's samples that is there from then on.
    public var share = 1.0

    public init() {}
    public static var fields: [Field<Step>] {
      [
        Field("at", \.at, .sinceStart, required: true, "When"),
        Field(
          "share", \.share, .fraction, required: true,
          "Share of the device's samples that is available from then on"),
      ]
    }
  }

  /// The share that is there at the start.
  public var initial = 0.0
  /// Samples a day, evenly; nil: by `schedule`.
  public var perDay: Double?
  /// A device's rate is this times exp(spread·z), one z a device.
  public var spread = 0.0
  /// Steps, in order; nil: by `perDay`.
  public var schedule: [Step]?

  public init() {}
  public static var fields: [Field<ArrivalSettings>] {
    [
      Field(
        "initial", \.initial, .fraction,
        "Share of the device's samples that is available at the start, rounded down"),
      Field(
        "perDay", \.perDay, optional: .positive,
        "Samples per day after that, evenly spaced; absent: by `schedule`"),
      Field(
        "spread", \.spread, .number(0...2), assumption: true,
        "A device's rate is multiplied by exp(spread*z), one normal z per device"),
      Field(
        "schedule", \.schedule, optional: .list(of: .settings(), minimum: 1),
        "Steps, in order; absent: by `perDay`"),
    ]
  }
  public func contradictions() -> [(key: String, message: String)] {
    if (perDay == nil) == (schedule == nil) {
      return [("perDay", "give either `perDay` or `schedule`")]
    }
    let shares = [initial] + (schedule ?? []).map(\.share)
    let isOrdered = zip(schedule ?? [], (schedule ?? []).dropFirst()).allSatisfy { $0.at < $1.at }
    if !isOrdered || zip(shares, shares.dropFirst()).contains(where: { $0 > $1 }) {
      return [("schedule", "steps must be in order of time, and shares must not decrease")]
    }
    return []
  }

  /// How many of `count` samples are there at a time, for a device whose rate is `factor` times
  /// that of its group.
  ///
  /// Order: the samples at the start are rounded down, then those that came since.
  func arrived(of count: Int, at time: SimTime, factor: Double) -> Int {
    let first = Int(initial * Double(count))
    if let perDay {
      let came = time.seconds * perDay * factor / 86_400
      return min(count, first + Int(min(came, 1e9)))
    }
    guard let step = schedule!.last(where: { $0.at <= time }) else { return first }
    return Int(step.share * Double(count))
  }
}

/// How a device's data go with the device: which client's data it has.
public struct CoupleSettings: PartSettings {
  /// One correlation.
  public struct Rule: PartSettings {
    /// What of the device the data go with.
    public enum By: String, CaseIterable, Sendable { case timeZone, speed, availability }

    /// What of the device the data go with.
    public var by = By.timeZone
    /// The rank correlation: 0 chance, 1 order.
    public var strength = 1.0

    public init() {}
    public static var shorthand: String? { "by" }
    public static var fields: [Field<Rule>] {
      [
        Field(
          "by", \.by, .choice, required: true,
          "The device's time zone, its speed among its group, or the share of time in which it"
            + " is plugged in, connected and locked (or in a window)"),
        Field(
          "strength", \.strength, .fraction,
          "Share of devices whose data follow the order, which is the rank correlation; the"
            + " others draw at random"),
      ]
    }
  }

  /// The mean label of the client's samples.
  public var labels: Rule?
  /// How many samples it has.
  public var quantity: Rule?

  public init() {}
  public static var fields: [Field<CoupleSettings>] {
    [
      Field(
        "labels", \.labels, optional: .settings(),
        "Property that the mean label of a client's samples correlates with; absent: none"),
      Field(
        "quantity", \.quantity, optional: .settings(),
        "Property that the number of a client's samples correlates with; absent: none"),
    ]
  }
  public func contradictions() -> [(key: String, message: String)] {
    rules.isEmpty ? [("", "`couple` needs `labels` or `quantity`")] : []
  }

  var rules: [Rule] { [labels, quantity].compactMap { $0 } }
}
