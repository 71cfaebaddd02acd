import Learning
import Schema

/// What a kind of device is made of, as far as training asks.
///
/// A step over a batch takes overhead + operations/rate + parameters·a + values·b, all divided by
/// `speed`: the form that fits one-layer trainings on three phones within 2 to 5 %.
public struct Hardware: Sendable {
  /// How many of a fleet are such devices, against the shares of the other classes.
  public var share = 1.0
  /// How many times as fast as the class's other figures say.
  public var speed = 1.0
  /// Time for each batch, whatever is in it.
  public var overhead = SimDuration.milliseconds(5)
  /// Operations a second, in thousand millions.
  public var gigaflops = 21.4
  /// Time for each parameter that a step changes.
  public var nanosecondsPerParameter = 4.0
  /// Time for each value that a layer with parameters gives.
  public var nanosecondsPerValue = 2.0
  /// How many times the rate of operations a Neural Engine has; 0: there is none.
  public var neuralEngine = 0.0
  /// What training adds to the power drawn, on the processor.
  public var power = Power(milliwatts: 3_000)
  /// The same on the Neural Engine.
  public var neuralEnginePower = Power(milliwatts: 2_000)
  /// Memory.
  public var memory: Int64 = 4_000_000_000
  /// Storage that is free.
  public var freeStorage: Int64 = 10_000_000_000
  /// The operating system's version.
  public var osVersion = 26.0
  /// What the full battery holds.
  public var battery = Energy.milliwattHours(12_980)

  /// The figures of an A11.
  public init() {}

  /// How long a step over a batch takes, in seconds.
  ///
  /// Order: overhead, operations, parameters, values. Source: the form of a least-squares fit to
  /// FLASH's `layer_train_time` tables (R² from 0.994 to 0.998).
  public func seconds(
    _ cost: TrainingCost, samples: Int, on engine: HardwareSettings.Engine
  ) -> Double {
    let rate = gigaflops * (engine == .neuralEngine && neuralEngine > 0 ? neuralEngine : 1)
    let count = Double(samples)
    var time = overhead.seconds
    time += Double(cost.operationsPerSample) * count / (rate * 1e9)
    time += Double(cost.parameters) * nanosecondsPerParameter * 1e-9
    time += Double(cost.valuesPerSample) * count * nanosecondsPerValue * 1e-9
    return time / speed
  }
}

/// A kind of device that a scenario may name.
public protocol HardwareClass: Sendable {
  /// What it is made of.
  var hardware: Hardware { get }
}

extension Seam where Value == any HardwareClass {
  /// What devices are made of.
  public static var hardwareClass: Seam {
    Seam("hardware class", "How fast do devices train, and with what power, memory and battery?")
  }
}

/// The figures of a class of hardware, each of which may be set.
struct HardwareFigures: PartSettings {
  var hardware = Hardware()

  static var shorthand: String? { "share" }
  static var fields: [Field<HardwareFigures>] {
    [
      Field(
        "share", \.hardware.share, .number(1e-30...1e30),
        "Weight of the class among all classes"),
      Field(
        "speed", \.hardware.speed, .positive, assumption: true,
        "Speed relative to the figures below"),
      Field(
        "overhead", \.hardware.overhead, .duration(), assumption: true,
        "Fixed time of each batch"),
      Field(
        "gigaflops", \.hardware.gigaflops, .positive, assumption: true,
        "Training operations per second, in billions"),
      Field(
        "nanosecondsPerParameter", \.hardware.nanosecondsPerParameter, .number(0...1e6),
        assumption: true, "Time for each parameter that a step updates"),
      Field(
        "nanosecondsPerValue", \.hardware.nanosecondsPerValue, .number(0...1e6),
        assumption: true, "Time for each output value of a layer with parameters"),
      Field(
        "neuralEngine", \.hardware.neuralEngine, .number(0...1000), assumption: true,
        "Speed of the Neural Engine relative to the processor; 0: there is none"),
      Field(
        "power", \.hardware.power, .power, assumption: true,
        "Additional power of training on the processor; replaces `battery.training`"),
      Field(
        "neuralEnginePower", \.hardware.neuralEnginePower, .power, assumption: true,
        "Additional power of training on the Neural Engine"),
      Field("memory", \.hardware.memory, .bytes, assumption: true, "Memory"),
      Field("freeStorage", \.hardware.freeStorage, .bytes, assumption: true, "Free storage"),
      Field(
        "osVersion", \.hardware.osVersion, .number(0...1000), assumption: true,
        "Newest version of the operating system"),
      Field(
        "battery", \.hardware.battery, .energy,
        "Capacity of the full battery; replaces `battery.capacity`"),
    ]
  }
}

/// A class of hardware that is its figures.
struct NamedHardware: HardwareClass {
  let hardware: Hardware
}

/// What the devices of a group are made of; absent: `compute` says how long a batch takes.
public struct HardwareSettings: PartSettings {
  /// What a training runs on.
  public enum Engine: String, CaseIterable, Sendable { case cpu, neuralEngine }

  /// The classes, each with its share.
  public var classes: [Choice<any HardwareClass>] = []
  /// What a training runs on, where a device has it.
  public var engine = Engine.cpu
  /// Quantiles of a factor on the class's speed; nil: 1 for all.
  public var speeds: [QuantilePoint<Double>]?
  /// Quantiles of the memory, in place of the class's.
  public var memories: [QuantilePoint<Int64>]?
  /// Quantiles of the free storage, in place of the class's.
  public var freeStorages: [QuantilePoint<Int64>]?
  /// The version of the operating system that the app needs; nil: any.
  public var minimumOSVersion: Double?
  /// The share of a device's memory that a training may take.
  public var memoryShare = 0.5
  /// The memory that a training needs; nil: worked out from the network.
  public var memoryNeeded: Int64?
  /// The storage that the app needs; nil: for the model held, a checkpoint and a full outbox.
  public var storageNeeded: Int64?

  public init() {}
  public static var shorthand: String? { "classes" }
  public static var fields: [Field<HardwareSettings>] {
    [
      Field(
        "classes", \.classes, .parts(.hardwareClass), required: true,
        "The classes, each with its weight"),
      Field(
        "engine", \.engine, .choice,
        "Where a training runs; a device without a Neural Engine uses its processor"),
      Field(
        "speeds", \.speeds, feature: .list(of: .settings()), assumption: true,
        "Quantiles of a factor on the class's speed, one draw per device; absent: 1 for all"),
      Field(
        "memories", \.memories, feature: .list(of: .settings()),
        "Quantiles of the memory, instead of the class's"),
      Field(
        "freeStorages", \.freeStorages, feature: .list(of: .settings()),
        "Quantiles of the free storage, instead of the class's"),
      Field(
        "minimumOSVersion", \.minimumOSVersion, feature: .number(0...1000),
        "A device with an older operating system declines; absent: no device declines"),
      Field(
        "memoryShare", \.memoryShare, .number(0.01...1), assumption: true,
        "A device declines a training that needs more than this share of its memory"),
      Field(
        "memoryNeeded", \.memoryNeeded, feature: .bytes,
        "Memory that a training needs; absent: parameters, gradient, optimiser, the state of the "
          + "local algorithm and the values of a batch, at 4 bytes each"),
      Field(
        "storageNeeded", \.storageNeeded, feature: .bytes,
        "A device with less free storage declines; absent: the held model, a checkpoint, a"
          + " full outbox and the state of the local algorithm, at 4 bytes per parameter"),
    ]
  }
  public func contradictions() -> [(key: String, message: String)] {
    if classes.isEmpty { return [("classes", "there is no class")] }
    for (key, fault) in [
      ("speeds", Quantiles.fault(in: speeds)), ("memories", Quantiles.fault(in: memories)),
      ("freeStorages", Quantiles.fault(in: freeStorages)),
    ] {
      if let fault { return [(key, fault)] }
    }
    return []
  }
}

/// Why a device cannot train a model.
public enum Unfitness: String, CaseIterable, Sendable { case osVersion, memory, storage }
