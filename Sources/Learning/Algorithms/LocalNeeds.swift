/// What a local algorithm asks of device and server besides the model.
public struct LocalNeeds: Sendable, Equatable {
  /// Whether its steps look at what the training began with.
  public var origin = false
  /// Whether a device's trainings continue from what the one before left.
  public var keepsState = false
  /// How many buffers of the model's size travel with each model and with each update.
  public var companions = 0
  /// Layers that are trained and never leave the device, by name.
  public var personalLayers: [String] = []
  /// What of batch normalisation is trained and never leaves the device; nil: nothing.
  public var personalNormalisation: Normalisation?
  /// Whether the first buffer that is kept is a whole model of the device's own, which it is
  /// evaluated with.
  public var ownModel = false
  /// The server optimizer without which it makes no sense, by name; nil: any will do.
  public var serverOptimizer: String?
  /// Steps that are computed for each batch; a batch takes this many times as long.
  public var passes = 1

  /// Parts of batch normalisation.
  public enum Normalisation: String, CaseIterable, Sendable {
    /// Scale, shift and running statistics.
    case layers
    /// Running statistics alone.
    case statistics
  }

  /// The needs of plain SGD.
  public init() {}

  /// Whether parameters stay on the device.
  public var keepsParameters: Bool { !personalLayers.isEmpty || personalNormalisation != nil }

  /// Buffers of the model's size that a training holds in memory besides those of SGD: what it
  /// began with, what came with the model, what the device keeps, and the optimiser's slots of a
  /// model of the device's own.
  public func workingBuffers(optimizerSlots: Int) -> Int {
    (origin ? 1 : 0) + companions + (keepsState ? 1 : 0) + (ownModel ? optimizerSlots : 0)
  }

  /// Buffers of the model's size that a device stores: the model held, a checkpoint and this many
  /// updates, each with what travels with it; what the device keeps; and its own model a second
  /// time, in the checkpoint, as it is under way.
  public func storedBuffers(updates: Int) -> Int {
    2 + updates + companions * (1 + updates) + (keepsState ? 1 : 0) + (ownModel ? 1 : 0)
  }

  /// Whether a training depends on the one before it on its device.
  public var chainsTrainings: Bool { keepsState || keepsParameters }
}

/// What a training leaves besides the trained parameters.
public struct AuxiliaryOutput: Sendable, Codable {
  /// For the device's next training.
  public let kept: [ParameterBuffer]
  /// For the server: it goes with the update.
  public let sent: [ParameterBuffer]

  /// What is left.
  public init(kept: [ParameterBuffer] = [], sent: [ParameterBuffer] = []) {
    self.kept = kept
    self.sent = sent
  }
}

extension LocalAlgorithm {
  public var needs: LocalNeeds { LocalNeeds() }
  /// None.
  public var proximalPull: Double { 0 }
  public func auxiliaryOutput(
    of training: LocalTraining, batches: Int, _ memory: DeviceMemory
  ) -> AuxiliaryOutput { AuxiliaryOutput() }
  /// What it was.
  public func companions(
    after current: [ParameterBuffer], sent: [[ParameterBuffer]], devices: Int, pool: WorkerPool
  ) -> [ParameterBuffer] { current }
  /// Any.
  public func objection(to plan: TrainingPlan) -> String? { nil }
}

extension ParameterLayout {
  /// Where the tensors of some layers are, in ascending order; nil if there is no layer of a name.
  public func ranges(ofLayers layers: [String]) -> [Range<Int>]? {
    guard layers.allSatisfy({ layer in tensors.contains { $0.name.hasPrefix(layer + ".") } })
    else { return nil }
    return tensors.filter { tensor in
      layers.contains { tensor.name.hasPrefix($0 + ".") }
    }.map(\.range)
  }

  /// Where what stays on devices is, in ascending order; nil if there is no layer of a name.
  public func personalRanges(_ needs: LocalNeeds) -> [Range<Int>]? {
    var layers = needs.personalLayers
    switch needs.personalNormalisation {
    case nil: break
    case .statistics: return statisticRanges
    case .layers:
      for tensor in tensors where tensor.isUpdatable && tensor.isStatistic {
        let layer = String(tensor.name.prefix { $0 != "." })
        if !layers.contains(layer) { layers.append(layer) }
      }
    }
    return ranges(ofLayers: layers)
  }
}
