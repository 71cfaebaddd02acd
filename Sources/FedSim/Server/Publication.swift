import Learning
import Numerics

/// What a version is when it is published.
enum Publication {
  /// What the groups of the fleet count in the next version; empty where they have no weights.
  static func groupWeights(_ server: borrowing Server, _ cx: borrowing Context) -> [Double] {
    guard !cx.inputs.omitsArithmetic else { return [] }
    let weights = cx.inputs.server.aggregator.value.groupWeights(
      of: cx.inputs.fleet.count, with: server.memories.aggregator)
    let groups = cx.inputs.fleet.count
    precondition(weights.map { $0.count == groups } ?? true, "a weight for each group")
    return weights ?? []
  }

  /// How many of some updates' distinct samples have each label; empty where not recorded.
  static func labelCounts(
    _ aggregated: [Int32], _ server: inout Server, _ cx: inout Context
  ) -> [Int64] {
    guard cx.inputs.recordsLabels else { return [] }
    var counts = [Int64](repeating: 0, count: cx.inputs.task.train.classCount)
    let labels = cx.inputs.task.train.labels
    for update in aggregated {
      let (device, count) = (Int(cx.updates[update].device), cx.updates[update].shardCount)
      let client = Int(cx.members.clients[device])
      // Of fewer samples than labels it is not worth remembering.
      if cx.updates[update].samples >= count, Int(count) > counts.count,
        count == cx.inputs.task.partition.shards[client].count
      {
        server.quality.labels.add(client, of: cx.inputs, to: &counts)
        continue
      }
      let shard = Roster.shard(of: device, of: count, cx)
      if cx.updates[update].samples >= count {
        for sample in shard { counts[Int(labels[Int(sample)])] += 1 }
        continue
      }
      // Less than an epoch: the first ones in its order.
      let order = Training.order(
        device, firstEpoch: cx.updates[update].firstEpoch, of: count, cx)
      for position in order.positions(epoch: 0, shardCount: Int(count))
        .prefix(cx.updates[update].samples)
      {
        counts[Int(labels[Int(shard[Int(position)])])] += 1
      }
    }
    return counts
  }

  /// The L2 norms of the model's tensors and of their changes since `before`; empty where not
  /// recorded.
  ///
  /// Order: a tensor's squares in the order of `BlockSum`.
  static func norms(
    since before: ParameterBuffer?, _ server: borrowing Server, _ cx: borrowing Context
  ) -> [TensorNorms] {
    guard cx.inputs.recordsNorms else { return [] }
    let model = server.model
    return cx.inputs.task.network.layout.tensors.map { tensor in
      let norm = model.squaredNorm(in: tensor.range)
      let step = before.map { model.squaredNorm(less: $0, in: tensor.range) } ?? .nan
      return TensorNorms(norm: norm.squareRoot(), step: step.squareRoot())
    }
  }
}

extension Publication {
  /// Version 0, evaluated.
  static func publishInitialModel(
    _ server: inout Server, _ cx: inout Context
  ) {
    var record = VersionRecord(
      version: 0, publishedAt: cx.now, round: 0, updates: 0, devices: 0, samples: 0,
      samplesProcessed: 0, trainingLoss: .nan, validationAccuracy: .nan,
      validationRMSE: cx.inputs.task.train.kind == .values ? .nan : nil,
      averageAccuracy: cx.inputs.record.averageAccuracy.map { _ in .nan }, meanStaleness: 0,
      maximumStaleness: 0, meanStalenessSeconds: 0,
      evaluation: cx.inputs.omitsArithmetic ? nil : Quality.evaluate(server, cx),
      federated: cx.inputs.record.federatedEvaluation == nil
        ? nil : Quality.evaluateDevices(&server, &cx))
    record.labelCounts = labelCounts([], &server, &cx)
    record.norms = norms(since: nil, server, cx)
    record.groupWeights = groupWeights(server, cx)
    record.privacy = Privacy.initialPrivacy(server, cx)
    publish(record, &server, &cx)
  }

  static func publish(
    _ counted: VersionRecord, _ server: inout Server, _ cx: inout Context
  ) {
    let record = Accounting.measured(counted, &cx)
    cx.note(-1, .published(version: record.version, updates: record.updates))
    cx.audience.announce(.published(record))
    if let versions = cx.inputs.stop.versions, record.version >= versions {
      Rounds.endAfterRound(&server, &cx)
    }
    if let target = cx.inputs.stop.accuracy, let evaluation = record.evaluation,
      evaluation.test.accuracy >= target
    {
      if record.version == 0 { cx.isOver = true } else { Rounds.endAfterRound(&server, &cx) }
    }
  }
}
