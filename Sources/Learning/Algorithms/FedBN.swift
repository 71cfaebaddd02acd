import Schema

/// SGD on all layers; batch normalisation never leaves the device.
///
/// Source: Li et al., "FedBN: Federated learning on non-IID features via local batch normalization"
/// (2021), algorithm 1; with `statistics` alone Andreux et al., "Siloed federated learning for
/// multi-centric histopathology datasets" (2020), SiloBN.
public struct FedBN: LocalAlgorithm {
  public static let name = "fedbn"
  public static let summary =
    "SGD on all layers; batch normalisation, or its statistics alone, stays on the device"

  public struct Settings: PartSettings {
    /// What stays.
    public var keeps = LocalNeeds.Normalisation.layers
    public init() {}
    public static var shorthand: String? { "keeps" }
    public static var fields: [Field<Settings>] {
      [
        Field(
          "keeps", \.keeps, .choice,
          "What of batch normalisation stays: `layers`, or `statistics` alone (SiloBN)")
      ]
    }
  }

  private let settings: Settings
  public init(_ settings: Settings) { self.settings = settings }

  /// What stays.
  public var needs: LocalNeeds {
    var needs = LocalNeeds()
    needs.personalNormalisation = settings.keeps
    return needs
  }

  /// Runs the batches on all layers together.
  public func run(
    _ training: LocalTraining, _ batches: Range<Int>, from memory: DeviceMemory, lossSum: Double,
    kernels: Kernels, scratch: Scratch
  ) -> TrainingOutcome {
    training.run(batches, from: memory, lossSum: lossSum, kernels: kernels, scratch: scratch)
  }
}
