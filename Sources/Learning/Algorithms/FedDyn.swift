import Schema

/// SGD on a loss to which each device adds its own linear term and a pull towards the model
/// that the training began with: the devices' part of FedDyn.
///
/// Source: Acar et al., "Federated learning based on dynamic regularization" (2021), algorithm 1: a
/// device minimises L(w) − ⟨λ, w⟩ + α/2·‖w − b‖², so that each step goes along −η·(g − λ + α·(w −
/// b)); then λ ← λ − α·(w − b), which is ∇L(w) where the minimum is met. λ begins with 0.
public struct FedDyn: LocalAlgorithm {
  public static let name = "feddyn"
  public static let summary =
    "SGD with a proximal and a linear term that each device learns; needs `optimizer: feddyn`"

  public struct Settings: PartSettings {
    /// How strong the pull is.
    public var alpha = 0.1
    public init() {}
    public static var shorthand: String? { "alpha" }
    public static var fields: [Field<Settings>] {
      [Field("alpha", \.alpha, .number(1e-6...1e6), "Strength of the proximal term, α")]
    }
  }

  private let settings: Settings
  public init(_ settings: Settings) { self.settings = settings }

  /// What the training began with, and the device's term; its part at the server has its name.
  public var needs: LocalNeeds {
    var needs = LocalNeeds()
    (needs.origin, needs.keepsState) = (true, true)
    needs.serverOptimizer = Self.name
    return needs
  }

  /// α.
  public var proximalPull: Double { settings.alpha }

  /// Runs the batches; a device's first training is that of `fedprox` with μ = α, bit for bit.
  ///
  /// A checkpoint that is moved to another base is pulled towards that from then on.
  public func run(
    _ training: LocalTraining, _ batches: Range<Int>, from memory: DeviceMemory, lossSum: Double,
    kernels: Kernels, scratch: Scratch
  ) -> TrainingOutcome {
    training.run(
      batches, from: memory, lossSum: lossSum,
      correction: GradientCorrection(
        pull: settings.alpha, towards: memory.origin ?? memory.parameters,
        linear: memory.kept.first),
      kernels: kernels, scratch: scratch)
  }

  /// The device's next term.
  ///
  /// Where a training went to infinity, or no batch ran, the term stays. Order: element by element,
  /// in `Double`, rounded to float once.
  public func auxiliaryOutput(
    of training: LocalTraining, batches: Int, _ memory: DeviceMemory
  ) -> AuxiliaryOutput {
    guard batches > 0, let origin = memory.origin, memory.parameters.isFinite else {
      return AuxiliaryOutput(kept: memory.kept)
    }
    let (before, trained) = (memory.kept.first?.storage, memory.parameters.storage)
    let term = ParameterBuffer(uninitializedCount: origin.count) { target in
      for i in 0..<origin.count {
        let way = Double(trained[i]) - Double(origin.storage[i])
        target[i] = ParameterBuffer.nearest(
          (before.map { Double($0[i]) } ?? 0) - settings.alpha * way)
      }
    }
    return AuxiliaryOutput(kept: [term])
  }
}
