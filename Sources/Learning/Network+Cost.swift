/// What training a network asks of a device, worked out from its layers.
public struct TrainingCost: Equatable, Sendable {
  /// Operations of one step for each sample: a multiply-add counts as two, and is done forward, for
  /// the weights' gradient, and for the inputs'.
  ///
  /// A frozen layer needs no gradient for its weights; below the first trained one nothing but the
  /// forward pass is done.
  public let operationsPerSample: Int
  /// Parameters that a step changes.
  public let parameters: Int
  /// All parameters, frozen ones included.
  public let storedParameters: Int
  /// Values that layers with parameters give for each sample.
  public let valuesPerSample: Int
  /// Values of one sample.
  public let inputsPerSample: Int
  /// Buffers of the parameters' size in addition to the parameters and their gradient.
  public let optimizerSlots: Int

  /// Bytes that a step over a batch needs: parameters, gradient, the optimiser's slots, what the
  /// local algorithm holds besides them, and each sample's inputs, values and the values'
  /// gradients, at 4 bytes.
  public func workingBytes(batchSize: Int, needs: LocalNeeds = LocalNeeds()) -> Int64 {
    let beside = needs.workingBuffers(optimizerSlots: optimizerSlots)
    let buffers = Int64(storedParameters) * Int64(2 + optimizerSlots + beside)
    return 4 * (buffers + Int64(batchSize) * Int64(inputsPerSample + 2 * valuesPerSample))
  }

  /// Bytes of one stored model.
  public var modelBytes: Int64 { 4 * Int64(storedParameters) }
}

extension Network {
  /// What training this network with a plan asks of a device.
  ///
  /// Convolutions count the same whether pooling is fused to them or not.
  public func trainingCost(_ plan: TrainingPlan) -> TrainingCost {
    if let foreign {
      return TrainingCost(
        operationsPerSample: foreign.cost?.operationsPerSample ?? 0,
        parameters: layout.updatableCount, storedParameters: layout.count,
        valuesPerSample: foreign.cost?.valuesPerSample ?? 0, inputsPerSample: 0,
        optimizerSlots: 0)
    }
    var (operations, values) = (0, 0)
    for (index, node) in nodes.enumerated() {
      for leaf in node.leaves where leaf.layer.parameterCount > 0 {
        let passes = index < firstTrained ? 1 : leaf.isUpdatable ? 3 : 2
        operations += 2 * passes * leaf.layer.multiplyAdds
        values += leaf.layer.writtenCount
      }
    }
    return TrainingCost(
      operationsPerSample: operations, parameters: layout.updatableCount,
      storedParameters: layout.count, valuesPerSample: values, inputsPerSample: inputCount,
      optimizerSlots: plan.optimizer.isPlain ? 0 : plan.optimizer.slotCount)
  }
}
