import Schema

/// SGD on the device's own loss with a pull towards the model that the training began with.
///
/// Source: Li et al., "Federated optimization in heterogeneous networks" (2020), equation 2:
/// h(w; wᵗ) = F(w) + μ/2·‖w − wᵗ‖², so that each step goes along −η·(g + μ·(w − wᵗ)).
public struct FedProx: LocalAlgorithm {
  public static let name = "fedprox"
  /// What it does, in one sentence.
  public static let summary =
    "SGD with a proximal term towards the model at the start of the training"

  public struct Settings: PartSettings {
    /// How strong the pull is.
    public var mu = 0.01
    public init() {}
    public static var shorthand: String? { "mu" }
    public static var fields: [Field<Settings>] {
      [Field("mu", \.mu, .number(0...1e6), "Strength of the proximal term, μ; 0: same as `sgd`")]
    }
  }

  private let settings: Settings
  public init(_ settings: Settings) { self.settings = settings }

  /// What the training began with, unless nothing is pulled.
  public var needs: LocalNeeds {
    var needs = LocalNeeds()
    needs.origin = settings.mu > 0
    return needs
  }

  /// μ.
  public var proximalPull: Double { settings.mu }

  /// Runs the batches; with μ = 0 the bits are those of `sgd`.
  ///
  /// A checkpoint that is moved to another base is pulled towards that from then on.
  public func run(
    _ training: LocalTraining, _ batches: Range<Int>, from memory: DeviceMemory, lossSum: Double,
    kernels: Kernels, scratch: Scratch
  ) -> TrainingOutcome {
    let correction =
      settings.mu > 0
      ? GradientCorrection(pull: settings.mu, towards: memory.origin ?? memory.parameters) : nil
    return training.run(
      batches, from: memory, lossSum: lossSum, correction: correction, kernels: kernels,
      scratch: scratch)
  }
}
