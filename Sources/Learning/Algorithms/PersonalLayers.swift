import Schema

/// SGD on all layers, some of which never leave the device: each device has its own.
///
/// Source: Arivazhagan et al., "Federated learning with personalization layers" (2019), algorithms
/// 1 and 2.
public struct PersonalLayers: LocalAlgorithm {
  public static let name = "personal-layers"
  /// What it does, in one sentence.
  public static let summary = "FedPer: SGD on all layers; the named layers stay on the device"

  public struct Settings: PartSettings {
    /// The layers that stay, by their names in the model.
    public var layers: [String] = []
    public init() {}
    public static var shorthand: String? { "layers" }
    public static var fields: [Field<Settings>] {
      [
        Field(
          "layers", \.layers, .list(of: .identifier, minimum: 1), required: true,
          "Layers that never leave the device, by their names in the model: `dense2`")
      ]
    }
  }

  private let settings: Settings
  public init(_ settings: Settings) { self.settings = settings }

  /// Layers that stay.
  public var needs: LocalNeeds {
    var needs = LocalNeeds()
    needs.personalLayers = settings.layers
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
