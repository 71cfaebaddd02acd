import Learning
import Numerics

/// How updates become a version.
enum Aggregating {
  /// Makes the next version out of the updates that wait, at once or some time later.
  ///
  /// Order: updates in device order, one device's in order of their making.
  static func aggregate(_ server: inout Server, _ cx: inout Context) {
    // Device and update in one number each, so that sorting looks at no record.
    var keys: [UInt64] = []
    keys.reserveCapacity(server.pending.count)
    for update in server.pending {
      keys.append(UInt64(cx.updates[update].device) << 32 | UInt64(update))
    }
    keys.sort()
    let waiting = keys.map { Int32($0 & 0x7FFF_FFFF) }
    server.pending = []
    if let settings = cx.inputs.server.aggregationTime, !waiting.isEmpty {
      return beginAggregation(waiting, settings, &server, &cx)
    }
    combine(waiting, &server, &cx)
  }

  /// Makes the next version out of some updates.
  static func combine(
    _ batch: [Int32], _ server: inout Server, _ cx: inout Context
  ) {
    Polling.settle(server, &cx)
    var waiting = batch
    if cx.features.isOn { waiting = Streams.weighty(waiting, &server, &cx) }
    cx.books.tallies.trainingsNeeded += waiting.count
    guard !waiting.isEmpty else { return Rounds.closeRound(.failed, &server, &cx) }
    let used: Used
    let before = cx.inputs.recordsNorms ? server.model : nil
    if cx.inputs.omitsArithmetic {
      used = Used(updates: waiting)
    } else {
      // What never travels continues from training to training: none is computed and let go.
      let areApart =
        !cx.features.privateRanges.isEmpty || cx.features.isStateful
        || !Transforms.areAsTrained(waiting, cx)
      guard
        let (combined, these) = (areApart ? nil : summed(waiting, &server, &cx))
          ?? combined(waiting, &server, &cx)
      else {
        return Rounds.closeRound(.failed, &server, &cx)
      }
      used = these
      let noisy = Privacy.withNoise(combined, these.updates, &server, &cx)
      let stepped = stepped(
        by: CombinedUpdate(
          noisy, cx.inputs.server.payload, updates: these.updates.count, devices: cx.members.count),
        &server, cx)
      server.model = LayoutDialect.relaid(
        cx.inputs.task.network.keepingFrozen(of: server.model, in: stepped)
          .replacing(cx.features.privateRanges, from: server.model), server, cx)
      precondition(
        server.model.count == cx.inputs.task.initial.count, "an aggregation keeps the model's size")
      foreseeNextCohort(&server, &cx)
    }
    var record = versionRecord(used, &server, &cx)
    record.batteryLevel = batteryLevel(used, cx)
    record.labelCounts = Publication.labelCounts(used.updates, &server, &cx)
    record.norms = Publication.norms(since: before, server, cx)
    record.groupWeights = Publication.groupWeights(server, cx)
    record.privacy = Privacy.countPrivacy(used.updates, &server, &cx)
    server.version += 1
    ClientStates.takeCompanions(used.learned.map(\.sent), &server, &cx)
    server.publishedAt.append(cx.now)
    for (place, update) in used.updates.enumerated() {
      Facts.noteLoss(
        used[place].lossSum, squares: used[place].lossSquares, of: update, &server, &cx)
    }
    logUpdates(used, server, &cx)
    for update in used.updates {
      if cx.updates[update].outcome == .aggregated { cx.books.tallies.aggregatedTwice += 1 }
      cx.books.activity[Int(cx.updates[update].device)].aggregated += 1
      cx.participations.reach(cx.updates[update].participation, .aggregated)
      Inbox.countCopy(update, -1, &server, &cx)
      cx.resolve(update, .aggregated)
    }
    Publication.publish(record, &server, &cx)
    Rounds.closeRound(.published, &server, &cx)
  }

  /// The next model; running statistics of batches become the combined ones, unless the optimizer
  /// is one that moves them.
  private static func stepped(
    by combined: CombinedUpdate, _ server: inout Server, _ cx: borrowing Context
  ) -> ParameterBuffer {
    let (before, optimizer) = (server.model, cx.inputs.server.optimizer.value)
    let next = optimizer.step(from: before, by: combined, with: &server.memories.optimizer)
    let network = cx.inputs.task.network
    guard network.hasStatistics, !optimizer.movesStatistics else { return next }
    return next.replacing(network.layout.statisticRanges, from: combined.model(from: before))
  }

  /// Notes what went into the version that was just made, where that is recorded.
  private static func logUpdates(
    _ used: Used, _ server: borrowing Server, _ cx: inout Context
  ) {
    guard cx.updates.log != nil else { return }
    for (place, update) in used.updates.enumerated() {
      cx.updates.log?.aggregate(
        update, after: server.version - 1, round: server.openRound.number,
        lossSum: used.learned.isEmpty ? nil : used[place].lossSum,
        validation: used[place].validation)
    }
  }

  /// Foresees the next round's trainings, where there is one and its cohort is known, as soon as
  /// there is what they begin with: other threads can help with nothing that comes before them.
  private static func foreseeNextCohort(
    _ server: inout Server, _ cx: inout Context
  ) {
    let next = Int(server.openRound.number) + 1
    if let rounds = cx.inputs.stop.rounds, next > rounds { return }
    if let versions = cx.inputs.stop.versions, Int(server.version) + 1 >= versions { return }
    cx.audience.announce(
      .trainingsComing(
        cx.inputs.server.selector.value.likelyMembers(ofRound: next), from: server.model,
        isBeforehand: true))
  }

  /// The updates that go into a version.
  private struct Used {
    var updates: [Int32] = []
    /// What each has learned; empty where nothing is computed.
    var learned: [Learned] = []

    subscript(place: Int) -> Learned { learned.isEmpty ? Learned() : learned[place] }
  }

  /// What came of a training.
  private struct Learned {
    var lossSum = 0.0
    var lossSquares: Double?
    var validation: Evaluation?
    /// What came with its parameters.
    var sent: [ParameterBuffer] = []
  }

  /// The updates combined while they are computed, where the aggregator only needs their weighted
  /// sum and all turn out to be finite.
  private static func summed(_ waiting: [Int32], _ server: inout Server, _ cx: inout Context) -> (
    ParameterBuffer, Used
  )? {
    // Loops and not `map`: its closures would copy the simulation.
    var facts: [UpdateFacts] = []
    facts.reserveCapacity(waiting.count)
    for update in waiting { facts.append(Self.facts(of: update, server, cx)) }
    guard Transforms.areAsTrained(waiting, cx),
      let weights = cx.inputs.server.aggregator.value.weights(of: facts)
    else { return nil }
    precondition(weights.count == waiting.count, "one weight per update")
    let shares = StalenessRule.shares(cx.inputs.server.stalenessRule, weights, facts)
    var terms: [StreamedSum.Term] = []
    terms.reserveCapacity(waiting.count)
    for (update, weight) in zip(waiting, shares.weights) {
      let base =
        cx.inputs.server.payload == .delta ? cx.updates[update].baseParameters ?? server.model : nil
      terms.append(StreamedSum.Term(cx.updates[update].training!, weight: weight, base: base))
    }
    let isDelta = cx.inputs.server.payload == .delta
    let first = isDelta ? nil : shares.rest.map { Aggregation.Term(server.model, weight: $0) }
    guard let sum = cx.computations.sum(terms, first: first, count: server.model.count) else {
      return nil
    }
    let learned = sum.scores.map {
      Learned(lossSum: $0.lossSum, lossSquares: $0.lossSquares, validation: $0.validation)
    }
    return (sum.parameters, Used(updates: waiting, learned: learned))
  }

  /// The updates computed, transformed, and combined by the aggregator; nil if none is finite.
  private static func combined(_ waiting: [Int32], _ server: inout Server, _ cx: inout Context) -> (
    ParameterBuffer, Used
  )? {
    cx.computations.forgetPredicted()
    let values = cx.computations.values(of: waiting.map { cx.updates[$0].training! })
    let sent = Transforms.asSent(waiting, values, server, cx)
    let losses = baseLosses(waiting, cx)
    var used = Used()
    var aggregated: [AggregatedUpdate] = []
    for (index, update) in waiting.enumerated() {
      guard sent[index].isFinite else {
        Inbox.countCopy(update, -1, &server, &cx)
        cx.resolve(update, .rejectedNotFinite)
        continue
      }
      let (record, facts) = (cx.updates[update], facts(of: update, server, cx))
      used.updates.append(update)
      used.learned.append(
        Learned(
          lossSum: values[index].lossSum, lossSquares: values[index].lossSquares,
          validation: values[index].validation, sent: values[index].auxiliaryOutput.sent))
      aggregated.append(
        AggregatedUpdate(
          device: Int(record.device), samples: facts.samples, staleness: facts.staleness,
          parameters: sent[index], base: record.baseParameters ?? server.model,
          baseLoss: losses.isEmpty ? nil : losses[index], stepSum: facts.stepSum,
          effectiveSteps: facts.effectiveSteps))
    }
    guard !used.updates.isEmpty else { return nil }
    let batch = AggregationBatch(
      updates: aggregated, payload: cx.inputs.server.payload, current: server.model,
      staleness: cx.inputs.server.stalenessRule, groupSizes: cx.inputs.fleet.map(\.count),
      kernels: cx.inputs.kernels, pool: cx.inputs.pool)
    return (
      cx.inputs.server.aggregator.value.combine(batch, with: &server.memories.aggregator), used
    )
  }

  /// What each training began with loses on its samples, where the aggregator needs it.
  private static func baseLosses(_ waiting: [Int32], _ cx: borrowing Context) -> [Double] {
    guard cx.inputs.server.aggregator.value.needs.contains(.baseLosses) else { return [] }
    var pairs: [(training: DeferredTraining, base: ParameterBuffer)] = []
    for update in waiting {
      pairs.append((cx.updates[update].training!, cx.updates[update].baseParameters!))
    }
    let all = pairs
    return cx.inputs.pool.spread(all.count) { index, scratch in
      all[index].training.loss(of: all[index].base, scratch).meanLoss
    }
  }

  private static func facts(of update: Int32, _ server: borrowing Server, _ cx: borrowing Context)
    -> UpdateFacts
  {
    let (samples, staleness) = (
      cx.updates[update].samples, Int(server.version - cx.updates[update].base)
    )
    guard cx.inputs.server.aggregator.value.needs.contains(.stepSums),
      let training = cx.updates[update].training
    else { return UpdateFacts(samples: samples, staleness: staleness) }
    let pull = cx.inputs.task.algorithm.proximalPull
    let steps = cx.updates[update].batches
    let sum = training.stepSum(batches: steps, pull: pull)
    return UpdateFacts(
      samples: samples, staleness: staleness, stepSum: sum,
      effectiveSteps: pull > 0 ? Double(steps) : sum)
  }

  /// The mean of the accuracies that came with the updates; NaN where none did.
  ///
  /// Order: in device order.
  private static func averageAccuracy(
    _ used: Used, by weights: AccuracyWeights, _ cx: borrowing Context
  ) -> Double {
    var (sum, total) = (0.0, 0.0)
    for (place, update) in used.updates.enumerated() {
      guard let validation = used[place].validation, validation.answers > 0 else { continue }
      let weight = weights == .updates ? 1 : Double(cx.updates[update].samples)
      sum += weight * validation.accuracy
      total += weight
    }
    return sum / total
  }

  /// The mean of the battery levels as the trainings ended; NaN where no update is from a battery.
  ///
  /// Order: any, for levels are whole billionths.
  private static func batteryLevel(_ used: Used, _ cx: borrowing Context) -> Double {
    var (sum, batteries) = (0, 0)
    for update in used.updates where cx.updates[update].batteryLevel >= 0 {
      sum += Int(cx.updates[update].batteryLevel)
      batteries += 1
    }
    return Double(sum) / (1e9 * Double(batteries))
  }

  private static func versionRecord(
    _ used: Used, _ server: inout Server, _ cx: inout Context
  ) -> VersionRecord {
    var (samples, processed, lossSum) = (0, 0, 0.0)
    var validated = Evaluation(count: 0, correct: 0, lossSum: 0)
    var (staleness, stalest, seconds) = (0, 0, 0.0)
    var deviceCount = 0
    var last: Int32 = -1
    for (place, update) in used.updates.enumerated() {
      // Field by field: a record is large.
      let (base, device) = (cx.updates[update].base, cx.updates[update].device)
      samples += cx.updates[update].samples
      processed += cx.updates[update].samplesProcessed
      lossSum += used[place].lossSum
      if let validation = used[place].validation { validated += validation }
      staleness += Int(server.version - base)
      cx.books.countStaleness(Int(server.version - base))
      stalest = max(stalest, Int(server.version - base))
      seconds += (cx.now - server.publishedAt[Int(base)]).seconds
      if device != last { deviceCount += 1 }
      last = device
    }
    let count = Double(used.updates.count)
    let version = Int(server.version) + 1
    return VersionRecord(
      version: version, publishedAt: cx.now, round: Int(server.openRound.number),
      updates: used.updates.count,
      devices: deviceCount, samples: samples, samplesProcessed: processed,
      trainingLoss: cx.inputs.omitsArithmetic ? .nan : lossSum / Double(processed),
      validationAccuracy: validated.answers == 0 ? .nan : validated.accuracy,
      validationRMSE: cx.inputs.task.train.kind == .values ? validated.rmse : nil,
      averageAccuracy: cx.inputs.record.averageAccuracy.map { averageAccuracy(used, by: $0, cx) },
      meanStaleness: Double(staleness) / count, maximumStaleness: stalest,
      meanStalenessSeconds: seconds / count,
      evaluation: Quality.takeTurn(version, &server, cx) == .evaluated && !cx.inputs.omitsArithmetic
        ? Quality.evaluate(server, cx) : nil,
      federated: Quality.takeFederatedTurn(version, &server, cx) == .evaluated
        ? Quality.evaluateDevices(&server, &cx) : nil)
  }
}
