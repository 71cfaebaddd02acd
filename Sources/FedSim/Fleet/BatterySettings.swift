import Schema

/// A device's battery and what fills and drains it; absent: energy is not looked at.
public struct BatterySettings: PartSettings {
  /// What the full battery holds.
  public var capacity = Energy.milliwattHours(12_980)
  /// How full it is at the start.
  public var initialLevel = 0.8
  /// What the charger delivers at most.
  public var charger = Power(milliwatts: 10_000)
  /// What the device draws while it does nothing.
  public var idle = Power(milliwatts: 60)
  /// What the screen adds while a person uses the device.
  public var screen = Power(milliwatts: 1_200)
  /// What training adds at full speed.
  public var training = Power(milliwatts: 3_000)
  /// What sending and receiving add over Wi-Fi.
  public var wifi = Power(milliwatts: 800)
  /// What they add over a cellular network.
  public var cellular = Power(milliwatts: 1_800)
  /// Unplugged and below this level, the system starts no background task.
  public var essentialBelow = 20
  /// The share of prompts, at 20 % and at 10 %, at which the person turns low-power mode on.
  public var lowPowerAcceptance = 0.5
  /// The speed of training in low-power mode, in percent.
  public var lowPowerSpeed = 60
  /// On a charger, low-power mode ends at this level.
  public var lowPowerEnds = 80
  /// A device that was empty boots at this level.
  public var bootLevel = 3
  /// How long booting takes.
  public var bootDelay = SimDuration.seconds(60)

  public init() {}
  public static var fields: [Field<BatterySettings>] {
    [
      Field("capacity", \.capacity, .energy, "Capacity of the full battery (iPhone 15: 12.98 Wh)"),
      Field("initialLevel", \.initialLevel, .fraction, assumption: true, "Level at the start"),
      Field(
        "charger", \.charger, .power, assumption: true,
        "Power of the charger; above 80 % the battery takes 7/8, 5/8, 3/8 and 1/8 of it, 5 % each"),
      Field("idle", \.idle, .power, assumption: true, "Power drawn at all times"),
      Field(
        "screen", \.screen, .power, assumption: true,
        "Additional power while a person uses the device"),
      Field(
        "training", \.training, .power, assumption: true,
        "Additional power of training at full speed"),
      Field("wifi", \.wifi, .power, assumption: true, "Additional power of transfers over Wi-Fi"),
      Field(
        "cellular", \.cellular, .power, assumption: true,
        "Additional power of transfers over a cellular network"),
      Field(
        "essentialBelow", \.essentialBelow, .integer(0...100),
        "Unplugged below this level, in percent, the system starts no background task"),
      Field(
        "lowPowerAcceptance", \.lowPowerAcceptance, .fraction, assumption: true,
        "Share of prompts, at 20 % and at 10 %, at which the user turns on low-power mode"),
      Field(
        "lowPowerSpeed", \.lowPowerSpeed, .integer(1...100),
        "Training speed in low-power mode, in percent (up to 40 % less)"),
      Field(
        "lowPowerEnds", \.lowPowerEnds, .integer(1...100),
        "On a charger, low-power mode ends at this level, in percent"),
      Field(
        "bootLevel", \.bootLevel, .integer(1...100), assumption: true,
        "An empty device boots on a charger at this level, in percent"),
      Field("bootDelay", \.bootDelay, .duration(), assumption: true, "Duration of booting"),
    ]
  }
}

/// How a device heats up and cools down; absent: heat is not looked at.
public struct ThermalSettings: PartSettings {
  /// The heat that the device sheds each second.
  public var cooling = Power(milliwatts: 2_000)
  /// The same where the ambient series says `hot`.
  public var hotCooling = Power(milliwatts: 1_000)
  /// The part of the charging power that becomes heat, in percent.
  public var chargingLoss = 15
  /// The heat from which the state is `fair`.
  public var fair = Energy(nanojoules: 400_000_000_000)
  /// The heat from which the state is `serious`.
  public var serious = Energy(nanojoules: 900_000_000_000)
  /// The heat from which the state is `critical`.
  public var critical = Energy(nanojoules: 1_800_000_000_000)
  /// The speed of training from `serious` until `nominal`, in percent.
  public var throttledSpeed = 50
  /// Whether critical heat ends running background tasks and keeps all others from starting; nil:
  /// no more than serious heat does.
  public var criticalStops: Bool?
  /// When it is hot around the device.
  public var ambient = Choice<any TimelineSource>.always("mild")

  public init() {}
  public static var fields: [Field<ThermalSettings>] {
    [
      Field("cooling", \.cooling, .power, assumption: true, "Heat that the device sheds"),
      Field(
        "hotCooling", \.hotCooling, .power, assumption: true,
        "Heat that the device sheds in hot surroundings"),
      Field(
        "chargingLoss", \.chargingLoss, .integer(0...100), assumption: true,
        "Share of the charging power that becomes heat, in percent"),
      Field("fair", \.fair, .energy, assumption: true, "Heat at which the state becomes fair"),
      Field(
        "serious", \.serious, .energy, assumption: true,
        "Heat at which the state becomes serious: no background task starts"),
      Field(
        "critical", \.critical, .energy, assumption: true,
        "Heat at which the state becomes critical"),
      Field(
        "throttledSpeed", \.throttledSpeed, .integer(1...100), assumption: true,
        "Training speed from serious until nominal, in percent"),
      Field(
        "criticalStops", \.criticalStops, feature: .flag, assumption: true,
        "Critical heat also expires the running background task and keeps refresh tasks from"
          + " starting; absent: only the effects of serious heat"),
      Field("ambient", \.ambient, .timeline(.ambient), "When the device's surroundings are hot"),
    ]
  }
  public func contradictions() -> [(key: String, message: String)] {
    fair < serious && serious < critical
      ? [] : [("fair", "`fair`, `serious` and `critical` are not in ascending order")]
  }
}

/// An amount of energy in whole nanojoules: what a milliwatt brings in a microsecond.
public struct Energy: Hashable, Comparable, Sendable {
  /// Nanojoules.
  public let nanojoules: Int64

  /// An amount of energy.
  public init(nanojoules: Int64) { self.nanojoules = nanojoules }

  /// Whole thousandths of a watt-hour.
  public static func milliwattHours(_ count: Int64) -> Energy {
    Energy(nanojoules: count * 3_600_000_000)
  }

  /// Less or more.
  public static func < (a: Energy, b: Energy) -> Bool { a.nanojoules < b.nanojoules }

  static let units: [(name: String, size: Int64)] = [
    ("J", 1_000_000_000), ("nJ", 1), ("mJ", 1_000_000), ("mWh", 3_600_000_000),
    ("Wh", 3_600_000_000_000),
  ]
}

/// Power in whole milliwatts.
public struct Power: Hashable, Sendable {
  /// Milliwatts.
  public let milliwatts: Int64

  /// A power.
  public init(milliwatts: Int64) { self.milliwatts = milliwatts }

  static let units: [(name: String, size: Int64)] = [("W", 1_000), ("mW", 1)]
}

extension Form where Value == Energy {
  /// An amount of energy with its unit, such as `12.98 Wh`, up to 1 kWh.
  public static var energy: Form {
    Form<Int64>.quantity(
      "an amount of energy", units: Energy.units, 1...3_600_000_000_000_000, example: "12.98 Wh"
    ).map(Energy.init(nanojoules:), back: \.nanojoules)
  }
}

extension Form where Value == Power {
  /// A power with its unit, such as `1.2 W`, up to 1 kW.
  public static var power: Form {
    Form<Int64>.quantity("a power", units: Power.units, 0...1_000_000, example: "1.2 W")
      .map(Power.init(milliwatts:), back: \.milliwatts)
  }
}
