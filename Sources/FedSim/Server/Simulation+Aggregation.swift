import Learning
import Numerics

extension Simulation {
  /// Makes the next version out of the updates that wait, at once or some time later.
  ///
  /// Order: updates in device order, one device's in order of their making.
  mutating func aggregate() {
    // Device and update in one number each, so that sorting looks at no record.
    var keys: [UInt64] = []
    keys.reserveCapacity(server.pending.count)
    for update in server.pending {
      keys.append(UInt64(updates[update].device) << 32 | UInt64(update))
    }
    keys.sort()
    let waiting = keys.map { Int32($0 & 0x7FFF_FFFF) }
    server.pending = []
    if let settings = inputs.server.aggregationTime, !waiting.isEmpty {
      return beginAggregation(waiting, settings)
    }
    combine(waiting)
  }

  /// Makes the next version out of some updates.
  mutating func combine(_ batch: [Int32]) {
    var waiting = batch
    if exchange.isOn { waiting = weighty(waiting) }
    tallies.trainingsNeeded += waiting.count
    guard !waiting.isEmpty else { return closeRound(.failed) }
    let used: Used
    let before = recordsNorms ? server.model : nil
    if inputs.omitsArithmetic {
      used = Used(updates: waiting)
    } else {
      // What never travels goes on from training to training: none is computed and let go.
      let areApart =
        !exchange.instructions.privateRanges.isEmpty || exchange.locals.isOn
        || !areAsTrained(waiting)
      guard let (combined, these) = (areApart ? nil : summed(waiting)) ?? combined(waiting) else {
        return closeRound(.failed)
      }
      used = these
      let noisy = withNoise(combined, these.updates)
      let stepped = inputs.server.optimizer.value.step(
        from: server.model,
        by: CombinedUpdate(
          noisy, inputs.server.payload, updates: these.updates.count, devices: devices.count),
        with: &server.memories.optimizer)
      server.model = relaid(
        inputs.task.network.keepingFrozen(of: server.model, in: stepped)
          .replacing(exchange.instructions.privateRanges, from: server.model))
      precondition(
        server.model.count == inputs.task.initial.count, "an aggregation keeps the model's size")
      foreseeNextCohort()
    }
    var record = versionRecord(used)
    record.labelCounts = labelCounts(used.updates)
    record.norms = norms(since: before)
    record.groupWeights = groupWeights
    record.privacy = countPrivacy(used.updates)
    server.version += 1
    takeCompanions(used.learned.map(\.sent))
    server.publishedAt.append(now)
    for (place, update) in used.updates.enumerated() {
      noteLoss(used[place].lossSum, squares: used[place].lossSquares, of: update)
    }
    for update in used.updates {
      if updates[update].outcome == .aggregated { tallies.aggregatedTwice += 1 }
      devices[Int(updates[update].device)].activity.aggregated += 1
      reach(updates[update].participation, .aggregated)
      countCopy(update, -1)
      resolve(update, .aggregated)
    }
    publish(record)
    closeRound(.published)
  }

  /// Foresees the next round's trainings, where there is one and its cohort is known, as soon as
  /// there is what they begin with: other threads can help with nothing that comes before them.
  private mutating func foreseeNextCohort() {
    let next = Int(server.round) + 1
    if let rounds = inputs.stop.rounds, next > rounds { return }
    if let versions = inputs.stop.versions, Int(server.version) + 1 >= versions { return }
    foresee(
      inputs.server.selector.value.likelyMembers(ofRound: next), isBeforehand: true)
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
  private mutating func summed(_ waiting: [Int32]) -> (ParameterBuffer, Used)? {
    // Loops and not `map`: its closures would copy the simulation.
    var facts: [UpdateFacts] = []
    facts.reserveCapacity(waiting.count)
    for update in waiting { facts.append(self.facts(of: update)) }
    guard areAsTrained(waiting),
      let weights = inputs.server.aggregator.value.weights(of: facts)
    else { return nil }
    precondition(weights.count == waiting.count, "one weight an update")
    let shares = StalenessRule.shares(inputs.server.stalenessRule, weights, facts)
    var terms: [StreamedSum.Term] = []
    terms.reserveCapacity(waiting.count)
    for (update, weight) in zip(waiting, shares.weights) {
      let base =
        inputs.server.payload == .delta ? updates[update].baseParameters ?? server.model : nil
      terms.append(StreamedSum.Term(updates[update].training!, weight: weight, base: base))
    }
    let isDelta = inputs.server.payload == .delta
    let first = isDelta ? nil : shares.rest.map { Aggregation.Term(server.model, weight: $0) }
    guard let sum = computations.sum(terms, first: first, count: server.model.count) else {
      return nil
    }
    let learned = sum.scores.map {
      Learned(lossSum: $0.lossSum, lossSquares: $0.lossSquares, validation: $0.validation)
    }
    return (sum.parameters, Used(updates: waiting, learned: learned))
  }

  /// The updates computed, transformed, and combined by the aggregator; nil if none is finite.
  private mutating func combined(_ waiting: [Int32]) -> (ParameterBuffer, Used)? {
    computations.forgetForeseen()
    let values = computations.values(of: waiting.map { updates[$0].training! })
    let sent = asSent(waiting, values)
    let losses = baseLosses(waiting)
    var used = Used()
    var aggregated: [AggregatedUpdate] = []
    for (index, update) in waiting.enumerated() {
      guard sent[index].isFinite else {
        countCopy(update, -1)
        resolve(update, .rejectedNotFinite)
        continue
      }
      let (record, facts) = (updates[update], facts(of: update))
      used.updates.append(update)
      used.learned.append(
        Learned(
          lossSum: values[index].lossSum, lossSquares: values[index].lossSquares,
          validation: values[index].validation, sent: values[index].leavings.sent))
      aggregated.append(
        AggregatedUpdate(
          device: Int(record.device), samples: facts.samples, staleness: facts.staleness,
          parameters: sent[index], base: record.baseParameters ?? server.model,
          baseLoss: losses.isEmpty ? nil : losses[index], stepSum: facts.stepSum,
          effectiveSteps: facts.effectiveSteps))
    }
    guard !used.updates.isEmpty else { return nil }
    let batch = AggregationBatch(
      updates: aggregated, payload: inputs.server.payload, current: server.model,
      staleness: inputs.server.stalenessRule, groupSizes: inputs.fleet.map(\.count),
      kernels: inputs.kernels, pool: inputs.pool)
    return (inputs.server.aggregator.value.combine(batch, with: &server.memories.aggregator), used)
  }

  /// What each training began with loses on its samples, where the aggregator needs it.
  private func baseLosses(_ waiting: [Int32]) -> [Double] {
    guard inputs.server.aggregator.value.needs.contains(.baseLosses) else { return [] }
    var pairs: [(training: DeferredTraining, base: ParameterBuffer)] = []
    for update in waiting {
      pairs.append((updates[update].training!, updates[update].baseParameters!))
    }
    let all = pairs
    return inputs.pool.map(all.count) { index, scratch in
      all[index].training.loss(of: all[index].base, scratch).meanLoss
    }
  }

  private func facts(of update: Int32) -> UpdateFacts {
    let (samples, staleness) = (
      updates[update].samples, Int(server.version - updates[update].base)
    )
    guard inputs.server.aggregator.value.needs.contains(.stepSums),
      let training = updates[update].training
    else { return UpdateFacts(samples: samples, staleness: staleness) }
    let pull = inputs.task.algorithm.proximalPull
    let steps = updates[update].batches
    let sum = training.stepSum(batches: steps, pull: pull)
    return UpdateFacts(
      samples: samples, staleness: staleness, stepSum: sum,
      effectiveSteps: pull > 0 ? Double(steps) : sum)
  }

  /// The deadline came with too few updates: they are given up, and the next round opens.
  mutating func skipRound() {
    computations.forgetForeseen()
    for update in server.pending {
      countCopy(update, -1)
      resolve(update, .roundSkipped)
    }
    server.pending = []
    note(-1, .roundSkipped(round: Int(server.round)))
    closeRound(.skipped)
  }

  /// Records how the open round ended.
  mutating func recordRound(_ outcome: RoundOutcome) {
    let record = RoundRecord(
      round: Int(server.round), openedAt: server.roundOpenedAt, closedAt: now, outcome: outcome,
      version: outcome == .published ? Int(server.version) : -1, cohort: server.cohortSize)
    for observer in observers { observer.closed(record, self) }
  }

  private mutating func closeRound(_ outcome: RoundOutcome) {
    recordRound(outcome)
    if let rounds = inputs.stop.rounds, Int(server.round) >= rounds { endAfterRound() }
    if exchange.isOn { beginEvaluationRound() }
    server.round += 1
    server.roundOpenedAt = now
    server.cohortGoal = nil
    server.cohortSize = 0
    server.owesAggregation = false
    roundFunnels.append(Funnel())
    openRound()
    formCohort()
    if inputs.server.broadcast == .afterAggregation { releaseWaiting() }
  }

  /// Version 0, evaluated.
  mutating func publishInitialModel() {
    var record = VersionRecord(
      version: 0, publishedAt: now, round: 0, updates: 0, devices: 0, samples: 0,
      samplesProcessed: 0, trainingLoss: .nan, validationAccuracy: .nan,
      averageAccuracy: inputs.record.averageAccuracy.map { _ in .nan }, meanStaleness: 0,
      maximumStaleness: 0, meanStalenessSeconds: 0,
      evaluation: inputs.omitsArithmetic ? nil : evaluate(),
      federated: inputs.record.federatedEvaluation == nil ? nil : evaluateDevices())
    record.labelCounts = labelCounts([])
    record.norms = norms(since: nil)
    record.groupWeights = groupWeights
    record.privacy = initialPrivacy
    publish(record)
  }

  private mutating func publish(_ counted: VersionRecord) {
    let record = measured(counted)
    note(-1, .published(version: record.version, updates: record.updates))
    for observer in observers { observer.published(record, self) }
    if let versions = inputs.stop.versions, record.version >= versions { endAfterRound() }
    if let target = inputs.stop.accuracy, let evaluation = record.evaluation,
      evaluation.test.accuracy >= target
    {
      if record.version == 0 { isOver = true } else { endAfterRound() }
    }
  }

  /// The run ends with this round, or with the evaluation that devices are asked for after it.
  private mutating func endAfterRound() {
    if inputs.server.evaluation == nil {
      isOver = true
    } else {
      exchange.instructions.endsWithEvaluation = true
    }
  }

  /// The mean of the accuracies that came with the updates; NaN where none did.
  ///
  /// Order: in device order.
  private func averageAccuracy(_ used: Used, by weights: AccuracyWeights) -> Double {
    var (sum, total) = (0.0, 0.0)
    for (place, update) in used.updates.enumerated() {
      guard let validation = used[place].validation, validation.count > 0 else { continue }
      let weight = weights == .updates ? 1 : Double(updates[update].samples)
      sum += weight * validation.accuracy
      total += weight
    }
    return sum / total
  }

  private mutating func versionRecord(_ used: Used) -> VersionRecord {
    var (samples, processed, lossSum) = (0, 0, 0.0)
    var (correct, validated) = (0, 0)
    var (staleness, stalest, seconds) = (0, 0, 0.0)
    var devices = 0
    var last: Int32 = -1
    for (place, update) in used.updates.enumerated() {
      // Field by field: a record is large.
      let (base, device) = (updates[update].base, updates[update].device)
      samples += updates[update].samples
      processed += updates[update].samplesProcessed
      lossSum += used[place].lossSum
      if let validation = used[place].validation {
        correct += validation.correct
        validated += validation.count
      }
      staleness += Int(server.version - base)
      countStaleness(Int(server.version - base))
      stalest = max(stalest, Int(server.version - base))
      seconds += (now - server.publishedAt[Int(base)]).seconds
      if device != last { devices += 1 }
      last = device
    }
    let count = Double(used.updates.count)
    let version = Int(server.version) + 1
    return VersionRecord(
      version: version, publishedAt: now, round: Int(server.round),
      updates: used.updates.count,
      devices: devices, samples: samples, samplesProcessed: processed,
      trainingLoss: inputs.omitsArithmetic ? .nan : lossSum / Double(processed),
      validationAccuracy: validated == 0 ? .nan : Double(correct) / Double(validated),
      averageAccuracy: inputs.record.averageAccuracy.map { averageAccuracy(used, by: $0) },
      meanStaleness: Double(staleness) / count, maximumStaleness: stalest,
      meanStalenessSeconds: seconds / count,
      evaluation: isEvaluationDue(version) && !inputs.omitsArithmetic ? evaluate() : nil,
      federated: isFederatedEvaluationDue(version) ? evaluateDevices() : nil)
  }
}
