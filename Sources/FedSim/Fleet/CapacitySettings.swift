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
  /// Training takes this many times as long as inference.
  public var factor = 3.0

  public init() {}
  public static var shorthand: String? { "file" }
  public static var fields: [Field<CapacitySettings>] {
    [
      Field(
        "file", \.replay.file, .file, required: true,
        "Capacity trace, a pickle: ms per sample and kbit/s by device; may be gzipped")
    ] + TraceReplay.choice(\.replay.assign, \.replay.firstTrace) + [
      Field(
        "factor", \.factor, .positive, assumption: true,
        "Training time of a sample, in inference times (3 in FedScale); replaces"
          + " `compute.perBatch` and `perSample`")
    ]
  }
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
