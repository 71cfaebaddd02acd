import Numerics
import Schema

/// What a device computes and sends, as a trace says.
public struct DeviceCapacity: Sendable {
  /// Inference of one sample, in milliseconds.
  public let milliseconds: Double
  /// Rate of its link, in thousands of bits a second.
  public let kilobits: Double

  /// A device's capacity.
  public init(milliseconds: Double, kilobits: Double) {
    self.milliseconds = milliseconds
    self.kilobits = kilobits
  }
}

/// Devices that compute and send as FedScale's capacity trace says.
///
/// Source: Lai et al. 2022 (FedScale): time = factor · samples · inference time; its trace gives
/// one rate for both directions. Differs: a kilobit is 1000 bits, where FedScale divides sizes by
/// 1024.
public struct CapacitySettings: PartSettings {
  /// File and assignment.
  public var replay = TraceReplay()
  /// Training takes so many times as long as inference.
  public var factor = 3.0

  /// The defaults.
  public init() {}
  /// The field that a bare value stands for.
  public static var shorthand: String? { "file" }
  /// The fields, in the order in which they are documented and written.
  public static var fields: [Field<CapacitySettings>] {
    [
      Field(
        "file", \.replay.file, .file, required: true,
        "The capacity trace, a pickle: ms a sample and kbit/s by device, gzip allowed")
    ] + TraceReplay.choice(\.replay.assign, \.replay.firstTrace) + [
      Field(
        "factor", \.factor, .positive, assumption: true,
        "Training a sample takes so many times its inference (3 in FedScale); takes the place of"
          + " `compute.perBatch` and `perSample`")
    ]
  }
  /// What is wrong with values that are each in range.
  public func contradictions() -> [(key: String, message: String)] { replay.contradictions }
}

extension NetworkSettings {
  /// Takes the rate of Wi-Fi from a trace, in both directions, to a bit a second.
  mutating func take(_ capacity: DeviceCapacity) {
    let bits = (capacity.kilobits * 1000).rounded()
    let rate = BitRate(bitsPerSecond: bits >= 9e18 ? .max : max(1, Int64(bits)))
    (wifi.down, wifi.up) = (rate, rate)
  }
}

extension Simulation {
  /// What a device computes and sends; nil: its group has no trace of it.
  func capacity(group: Int, ordinal: Int) -> DeviceCapacity? {
    capacityNumber(group: group, ordinal: ordinal).map {
      inputs.capacities[inputs.fleet[group].capacity!.replay.file.path]![$0]
    }
  }

  /// The place in its file of a device's capacity; nil: its group has no such trace.
  private func capacityNumber(group: Int, ordinal: Int) -> Int? {
    guard let settings = inputs.fleet[group].capacity else { return nil }
    guard let capacities = inputs.capacities[settings.replay.file.path] else {
      preconditionFailure("the capacities \(settings.replay.file.path) were not read")
    }
    return settings.replay.number(
      seed: inputs.seeds.world, device: inputs.fleet[group].name, ordinal: UInt32(ordinal),
      of: capacities.count)
  }

  /// The places in their files of the traces that a device has, by what they give.
  func traceRecord(_ device: Int) -> [(name: String, number: Int)] {
    if inputs.traces.isEmpty, inputs.capacities.isEmpty { return [] }
    let (place, ordinal) = (Int(devices[device].group), Int(devices[device].ordinal))
    let group = inputs.fleet[place]
    var sources: [(String, StateSpace, (any TimelineSource)?)] = [
      ("power", .power, group.power.value), ("link", .link, group.link.value),
      ("usage", .usage, group.usage.value), ("window", .window, group.background.windows?.value),
    ]
    sources += [
      ("share", .share, group.network.share?.value),
      ("presence", .presence, group.presence?.value),
    ]
    var record: [(name: String, number: Int)] = []
    for case let (name, space, source?) in sources {
      guard let source = source.asTraces else { continue }
      let key = StreamKey(seed: inputs.seeds.world, purpose: "trace", ordinal: UInt32(ordinal))
      let context = TimelineContext(
        space: space, key: key, device: group.name, traces: inputs.traces,
        seed: inputs.seeds.world)
      record.append((name, source.traceNumber(context)))
    }
    if let number = capacityNumber(group: place, ordinal: ordinal) {
      record.append(("capacity", number))
    }
    return record
  }
}
