import Learning

extension Simulation {
  /// An update that goes into a version is so many versions behind.
  mutating func countStaleness(_ versions: Int) {
    while measures.staleness.count <= versions { measures.staleness.append(0) }
    measures.staleness[versions] += 1
  }

  /// Whether the labels in a version are recorded.
  public var recordsLabels: Bool {
    let labels = inputs.task.train.classCount
    return !inputs.omitsArithmetic
      && (inputs.record.labelShare ?? (labels > 1 && labels <= RecordSettings.labelLimit))
  }

  /// Whether the norms of a version's tensors are recorded.
  public var recordsNorms: Bool { !inputs.omitsArithmetic && inputs.record.layerNorms == true }

  /// What the groups of the fleet count in the next version; empty where they have no weights.
  public var groupWeights: [Double] {
    guard !inputs.omitsArithmetic else { return [] }
    let weights = inputs.server.aggregator.value.groupWeights(
      of: inputs.fleet.count, with: server.memories.aggregator)
    precondition(weights.map { $0.count == inputs.fleet.count } ?? true, "a weight for each group")
    return weights ?? []
  }

  /// How many of some updates' distinct samples have each label; empty where not recorded.
  mutating func labelCounts(_ aggregated: [Int32]) -> [Int64] {
    guard recordsLabels else { return [] }
    var counts = [Int64](repeating: 0, count: inputs.task.train.classCount)
    let labels = inputs.task.train.labels
    for update in aggregated {
      let (device, count) = (Int(updates[update].device), updates[update].shardCount)
      let client = Int(devices[device].client)
      // Of fewer samples than labels it is not worth remembering.
      if updates[update].samples >= count, Int(count) > counts.count,
        count == inputs.task.partition.shards[client].count
      {
        self.labels.add(client, of: inputs, to: &counts)
        continue
      }
      let shard = shard(of: device, of: count)
      if updates[update].samples >= count {
        for sample in shard { counts[Int(labels[Int(sample)])] += 1 }
        continue
      }
      // Less than an epoch: the first ones in its order.
      let order = order(device, firstEpoch: updates[update].firstEpoch, of: count)
      for position in order.positions(epoch: 0, shardCount: Int(count))
        .prefix(updates[update].samples)
      {
        counts[Int(labels[Int(shard[Int(position)])])] += 1
      }
    }
    return counts
  }

  /// The L2 norms of the model's tensors and of their changes since `before`; empty where not
  /// recorded.
  ///
  /// Order: squares are summed as `Double`, a tensor's elements in the order of the flat buffer.
  func norms(since before: ParameterBuffer?) -> [TensorNorms] {
    guard recordsNorms else { return [] }
    let model = server.model
    return inputs.task.network.layout.tensors.map { tensor in
      var (norm, step) = (0.0, 0.0)
      for index in tensor.range {
        let value = Double(model[index])
        norm += value * value
        if let before {
          let change = value - Double(before[index])
          step += change * change
        }
      }
      return TensorNorms(
        norm: norm.squareRoot(), step: before == nil ? .nan : step.squareRoot())
    }
  }
}
