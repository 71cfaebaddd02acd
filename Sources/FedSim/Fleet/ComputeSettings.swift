import Schema

/// How long training takes, in virtual time; never measured on the host.
///
/// Where a group has `hardware`, time comes from there, and only the factors below count.
public struct ComputeSettings: PartSettings {
  /// For each batch.
  public var perBatch = SimDuration.milliseconds(600)
  /// For each sample of a batch.
  public var perSample = SimDuration.zero
  /// A device's times are these times exp(spread·z), one z a device.
  public var spread = 0.0
  /// The share of time in which training uses the processor; nil: all.
  public var dutyCycle: Double?
  /// A training's times are these times exp(jitter·z), one z a training; nil: 0.
  public var jitter: Double?

  public init() {}
  public static var fields: [Field<ComputeSettings>] {
    [
      Field(
        "perBatch", \.perBatch, .duration(), assumption: true,
        "Time for each batch (588 ms: FLASH's middle class of phones on the FEMNIST CNN)"),
      Field(
        "perSample", \.perSample, .duration(), assumption: true,
        "Additional time for each sample of a batch"),
      Field(
        "spread", \.spread, .number(0...2), assumption: true,
        "A device's times are multiplied by exp(spread*z), one normal z per device"),
      Field(
        "dutyCycle", \.dutyCycle, feature: .number(0.01...1),
        "Share of time that training uses the processor, to stay below the system's "
          + "limit; absent: 1"),
      Field(
        "jitter", \.jitter, feature: .number(0...2), assumption: true,
        "A training's times are multiplied by exp(jitter*z), one normal z for the data epoch "
          + "with which a training begins (FLASH's phones: 0.01 to 0.18); absent: 0"),
    ]
  }
  public func contradictions() -> [(key: String, message: String)] {
    perBatch == .zero && perSample == .zero
      ? [("perBatch", "training takes time: `perBatch` or `perSample` must be above 0")] : []
  }
}
