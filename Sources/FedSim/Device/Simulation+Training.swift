import Learning
import Numerics

extension Simulation {
  /// Begins a training, or goes on with the one that was cut off.
  mutating func beginTraining(_ device: Int) {
    resumeOrDrop(device)
    if isCancelled(device) { return stopAtOnce(device) }
    if !devices[device].hasAttempt { newAttempt(device) } else { tallies.resumed += 1 }
    let attempt = devices[device].attempt!
    reach(devices[device].session!.participation, .started)
    devices[device].runGeneration += 1
    let pace = devices[device].pace
    note(
      device,
      .trainingBegan(
        base: Int(attempt.base), firstBatch: attempt.described, batches: pace.batchCount))
    let run = TrainingRun(
      begunAt: now, since: now, speed: speed(of: device), firstBatch: attempt.described,
      lastBatch: pace.batchCount, generation: devices[device].runGeneration)
    devices[device].run = run
    beginStretch(device)
    schedule(
      .trainingEnd(device: Int32(device), generation: run.generation), .batchEnd,
      at: pace.end(of: run, batches: pace.batchCount), by: device)
    watchProcessor(device)
    awaitProgress(device)
  }

  /// A flag from an earlier expiry stops the training before its first batch.
  private mutating func stopAtOnce(_ device: Int) {
    if !devices[device].hasAttempt { newAttempt(device) }
    reach(devices[device].session!.participation, .started)
    endAttempt(device, .discardedAtExpiry, batches: devices[device].attempt!.described)
    endSession(device, .expired)
  }

  /// The batches under way end, or are cut off.
  mutating func endRun(_ device: Int) {
    bookStretch(device)
    if !apps.isEmpty, let run = devices[device].run { noteBurst(device, run) }
    devices[device].run = nil
  }

  /// A running training goes on at another speed.
  mutating func changeSpeed(_ device: Int, to speed: Int64) {
    guard devices[device].run != nil else { return }
    devices[device].run!.change(to: speed, at: now)
    planRun(device)
  }

  /// Schedules the end of a run's last batch anew, unless the hard expiry comes first.
  private mutating func planRun(_ device: Int) {
    devices[device].runGeneration += 1
    devices[device].run!.generation = devices[device].runGeneration
    let run = devices[device].run!
    let pace =
      run.isEvaluation ? exchange.clients[device].evaluationPace! : devices[device].pace
    let ends = pace.end(of: run, batches: run.lastBatch)
    guard let session = devices[device].session, !session.isExpiring || ends < session.hard else {
      return
    }
    schedule(
      .trainingEnd(device: Int32(device), generation: run.generation), .batchEnd,
      at: max(ends, now), by: device)
    watchProcessor(device)
  }

  /// What a checkpoint does now: too old it goes, on a newer version it does as the settings say.
  private mutating func resumeOrDrop(_ device: Int) {
    guard let attempt = devices[device].attempt else { return }
    let settings = inputs.fleet[Int(devices[device].group)].interruption
    if let limit = settings.maximumAge, let written = attempt.checkpointedAt, written + limit < now
    {
      return endAttempt(device, .outdated)
    }
    guard attempt.base != devices[device].heldVersion, let held = devices[device].held else {
      return
    }
    switch settings.onModelMoved {
    case .finish:
      return
    case .restart:
      endAttempt(device, .restarted)
    case .rebase:
      tallies.rebased += 1
      devices[device].attempt!.base = devices[device].heldVersion
      devices[device].attempt!.baseParameters = held
      if case .checkpoint(let training) = attempt.start {
        devices[device].attempt!.start = .rebased(
          training, old: attempt.baseParameters!, new: held)
      } else if attempt.described == 0 {
        devices[device].attempt!.start = start(of: device, from: held)
      } else {
        // A second move before a batch was done: the first move's target never mattered.
        guard case .rebased(let training, let old, _) = attempt.start else { return }
        devices[device].attempt!.start = .rebased(training, old: old, new: held)
      }
    }
  }

  private mutating func newAttempt(_ device: Int) {
    if exchange.isOn { takeConfig(device) }
    takeStock(device)
    ledgers.attempts.open()
    devices[device].activity.attempts += 1
    let held = devices[device].held!
    let needsBase =
      needsBases || group(of: device).interruption.onModelMoved == .rebase
    devices[device].attempt = Attempt(
      base: devices[device].heldVersion, baseParameters: needsBase ? held : nil,
      start: start(of: device, from: held), firstEpoch: devices[device].nextEpoch,
      relabelling: relabelling(by: device))
    devices[device].nextEpoch += UInt64(
      plan(of: device).epochs(shardCount: Int(devices[device].sampleCount)))
  }

  /// The last batch of a run ends.
  mutating func trainingEnded(_ device: Int) {
    let run = devices[device].run!
    if run.isEvaluation { return endEvaluation(device, hasSamples: true) }
    endRun(device)
    if run.lastBatch == devices[device].pace.batchCount {
      return finishAttempt(device, batches: run.lastBatch, .finished)
    }
    // The batch that ran at the soft expiry is done.
    note(device, .trainingCut(batches: run.lastBatch, of: devices[device].pace.batchCount))
    switch inputs.fleet[Int(devices[device].group)].interruption.onExpiry {
    case .discard:
      endAttempt(device, .discardedAtExpiry, batches: run.lastBatch)
      endExpired(device)
    case .checkpoint:
      writeCheckpoint(device, batches: run.lastBatch)
      endExpired(device)
    case .submitPartial:
      finishAttempt(device, batches: run.lastBatch, .submittedPartial)
    }
  }

  /// The soft expiry comes while batches run: the running one is the last, if it ends in time.
  mutating func cutTraining(_ device: Int) {
    tallies.expiredTrainings += 1
    devices[device].activity.expired += 1
    let run = devices[device].run!
    let pace = devices[device].pace
    let done = pace.done(run, at: now)
    if inputs.fleet[Int(devices[device].group)].interruption.onExpiry == .checkpoint {
      // The expiration handler saves what is done, before the running batch ends or is killed.
      save(device, batches: done)
    }
    devices[device].run!.lastBatch = done + 1
    planRun(device)
  }

  /// The process dies while batches run: what no checkpoint holds is lost.
  mutating func loseRun(_ device: Int) {
    let run = devices[device].run!
    let done = devices[device].pace.done(run, at: now)
    let kept = devices[device].attempt?.effort
    endRun(device)
    if let attempt = devices[device].attempt, attempt.checkpointedAt != nil {
      ledgers.batchesWasted += max(0, done - attempt.described)
      bookLost(
        device, since: kept!, batches: attempt.described..<max(done, attempt.described))
      tallies.checkpoints += 1
      note(device, .trainingCut(batches: attempt.described, of: devices[device].pace.batchCount))
    } else {
      endAttempt(device, .killed, batches: done)
    }
  }

  /// Describes an attempt's training up to a number of batches.
  private mutating func describe(_ device: Int, batches: Int, validation: Bool) {
    // Where nothing is computed, nothing needs to be described.
    if inputs.omitsArithmetic { return devices[device].attempt!.described = batches }
    let attempt = devices[device].attempt!
    let training: DeferredTraining
    if batches == attempt.described, !validation, case .checkpoint = attempt.start { return }
    if batches == 0 { return }
    let isWhole = batches == devices[device].pace.batchCount && attempt.described == 0
    if validation, isWhole, case .parameters(let base) = attempt.start,
      let foreseen = computations.foreseen(by: device, from: base, epoch: attempt.firstEpoch)
    {
      training = foreseen
    } else {
      training = newTraining(
        of: device, attempt.described..<batches, from: attempt.start,
        firstEpoch: attempt.firstEpoch, isLast: validation, relabelling: attempt.relabelling)
    }
    devices[device].attempt!.start = .checkpoint(training)
    devices[device].attempt!.described = batches
    let isOfUpdate = validation && areFoundThroughUpdates
    if computations.described(training, isOfUpdate: isOfUpdate) {
      var ofUpdates: [DeferredTraining] = []
      for update in updates.numbers {
        if let training = updates[update].training { ofUpdates.append(training) }
      }
      // This one's update is still to be made.
      if isOfUpdate { ofUpdates.append(training) }
      computations.sweep(ofUpdates)
    }
  }

  /// Whether a training that becomes an update is nowhere else once the update is gone.
  private var areFoundThroughUpdates: Bool {
    !exchange.isOn && exchange.locals.last.isEmpty && exchange.locals.first.isEmpty
      && exchange.lastSent.isEmpty
  }

  /// Some batches of a device's training; the last ones are evaluated on its validation samples.
  private func newTraining(
    of device: Int, _ batches: Range<Int>, from start: DeferredTraining.Start, firstEpoch: UInt64,
    isLast: Bool, relabelling: [Int32]? = nil
  ) -> DeferredTraining {
    let client = Int(devices[device].client)
    let local = LocalTraining(
      network: inputs.task.network, dataset: inputs.task.train,
      shard: shard(of: device), plan: plan(of: device),
      order: order(device, firstEpoch: firstEpoch),
      noise: inputs.task.network.isNoisy
        ? .init(key: batchKey(device), firstSlot: firstEpoch) : nil,
      relabelling: relabelling,
      keepsLossSquares: inputs.server.selector.value.needs.contains(.lossSquares))
    return DeferredTraining(
      local, by: inputs.task.algorithm, batches: batches, from: start,
      validation: isLast ? inputs.task.partition.validation[client] : [], isLast: isLast,
      kernels: inputs.kernels)
  }

  /// The members of a cohort will most likely train on the latest version next, all batches: idle
  /// threads may begin with that. `isBeforehand`: the cohort has not formed yet.
  mutating func foresee(_ members: [Int], isBeforehand: Bool) {
    let most = computations.foreseeable
    guard !members.isEmpty, most > 0, !fleetTables.hasArrivals,
      exchange.instructions.plans.isEmpty, exchange.instructions.privateRanges.isEmpty,
      !exchange.locals.isOn, exchange.locals.adversaries.isEmpty
    else { return }
    // In the order in which they are summed, as many as there is room for.
    let some = Array(members.sorted().prefix(most))
    for (place, device) in some.enumerated() where devices.indices.contains(device) {
      askForMemory(of: some.dropFirst(place))
      let (batches, epoch) = (devices[device].pace.batchCount, devices[device].nextEpoch)
      guard batches > 0, !devices[device].hasAttempt,
        !computations.isForeseen(by: device, from: server.model, epoch: epoch)
      else { continue }
      computations.foresee(
        newTraining(
          of: device, 0..<batches, from: .parameters(server.model), firstEpoch: epoch,
          isLast: true),
        by: device, from: server.model, epoch: epoch, isBeforehand: isBeforehand)
    }
  }

  /// Asks for what the trainings of some devices will be described by, a few devices ahead: a round
  /// of trainings has driven it out of the caches.
  private func askForMemory(of members: ArraySlice<Int>) {
    func device(_ distance: Int) -> Int? {
      let place = members.startIndex + distance
      guard place < members.endIndex, devices.indices.contains(members[place]) else { return nil }
      return members[place]
    }
    if let far = device(6) { devices.prefetch(far) }
    if let near = device(3) {
      let client = Int(devices[near].client)
      inputs.task.partition.shards.withUnsafeBytes { HostMemory.prefetch(list: client, of: $0) }
      inputs.task.orders?.withUnsafeBytes { HostMemory.prefetch(list: client, of: $0) }
    }
    if let next = device(1), let lists = inputs.task.orders?[Int(devices[next].client)] {
      let epoch = Int(devices[next].nextEpoch) % max(1, lists.count)
      lists.withUnsafeBytes { HostMemory.prefetch(list: epoch, of: $0) }
    }
  }

  /// The batch order of a device's data epochs from `firstEpoch` on; `count`: of as many samples,
  /// where it has more by now.
  func order(_ device: Int, firstEpoch: UInt64, of count: Int32? = nil) -> BatchOrder {
    if let orders = inputs.task.orders {
      let lists = ordersThere(device, orders[Int(devices[device].client)], of: count)
      return .cycle(lists, first: Int(firstEpoch))
    }
    return .keyed(batchKey(device), firstSlot: firstEpoch)
  }

  private func batchKey(_ device: Int) -> StreamKey {
    StreamKey(
      seed: inputs.seeds.training, purpose: "batches",
      group: inputs.fleet[Int(devices[device].group)].name,
      ordinal: UInt32(devices[device].ordinal))
  }

  /// Saves the batches done; the attempt goes on from there in another session.
  mutating func writeCheckpoint(_ device: Int, batches: Int) {
    save(device, batches: batches)
    tallies.checkpoints += 1
  }

  /// Saves the batches done, while a further one may still be running.
  private mutating func save(_ device: Int, batches: Int) {
    bookStretch(device)
    describe(device, batches: batches, validation: false)
    devices[device].attempt!.checkpointedAt = now
    note(device, .checkpointed(batches: batches, of: devices[device].pace.batchCount))
  }

  /// An attempt ends without an update; `batches` of them were done, or as many as are described.
  mutating func endAttempt(_ device: Int, _ outcome: AttemptOutcome, batches: Int? = nil) {
    var done = batches ?? devices[device].attempt!.described
    abandonEvaluation(device)
    if let run = devices[device].run {
      done = devices[device].pace.done(run, at: now)
      endRun(device)
    }
    book(effort(of: device, batches: done), of: device, .attempt(outcome))
    devices[device].attempt = nil
    ledgers.attempts.close(outcome)
    ledgers.batchesWasted += done
    note(device, .attemptEnded(outcome, batches: done))
  }

  /// An attempt becomes an update.
  private mutating func finishAttempt(_ device: Int, batches: Int, _ outcome: AttemptOutcome) {
    precondition(!ahead.isAhead, "an update is numbered in its turn")
    describe(device, batches: batches, validation: true)
    let attempt = devices[device].attempt!
    var training: DeferredTraining?
    if !inputs.omitsArithmetic {
      guard case .checkpoint(let described) = attempt.start else {
        preconditionFailure("an attempt with batches has a training")
      }
      training = described
    }
    let effort = effort(of: device, batches: batches)
    keepFirst(device, training, attempt)
    let outgoing = sent(by: device, attempt, training)
    devices[device].attempt = nil
    devices[device].lastTrained = attempt.base
    if exchange.isOn { keepOwn(device, training, base: attempt.base) }
    keepLast(device, training, base: attempt.base)
    ledgers.attempts.close(outcome)
    ledgers.batchesUsed += batches
    note(device, .attemptEnded(outcome, batches: batches))
    let shard = Int(devices[device].sampleCount)
    let session = devices[device].session!
    ledgers.updates.open()
    devices[device].activity.updates += 1
    reach(session.participation, .trained)
    let update = Int32(updates.count)
    updates.append(
      UpdateRecord(
        device: Int32(device), base: attempt.base, samples: min(shard, effort.samples),
        samplesProcessed: effort.samples, batches: batches, createdAt: now, round: session.round,
        participation: session.participation, training: training,
        baseParameters: needsBases ? attempt.baseParameters : nil,
        sent: outgoing, firstEpoch: attempt.firstEpoch,
        shardCount: Int32(shard), effort: effort))
    hold(session.participation)
    note(
      device,
      .updateCreated(
        update: Int(update), base: Int(attempt.base), batches: batches,
        samples: min(shard, effort.samples)))
    devices[device].session!.stage = .done
    if !exchange.isOn || isSound(device, update) {
      enqueue(device, update)
    } else {
      leaveDevice(update, .rejectedLocally)
    }
    proceed(device)
  }
}
