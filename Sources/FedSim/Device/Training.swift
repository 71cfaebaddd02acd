import Learning
import Numerics

/// How a device trains: begins, is cut off, continues, and makes an update.
enum Training {
  /// Begins a training, or continues with the one that was cut off.
  static func beginTraining(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    resumeOrDrop(device, &devices, &cx)
    if App.isCancelled(device, &devices) { return stopAtOnce(device, &devices, &cx) }
    if !devices[device].hasAttempt {
      newAttempt(device, &devices, &cx)
    } else {
      cx.books.tallies.checkpoints.resumed += 1
      cx.books.interrupted(.resumed, group: devices[device].group, at: cx.now)
    }
    let attempt = devices[device].attempt!
    cx.participations.resume(devices[device].session!.participation)
    cx.participations.reach(devices[device].session!.participation, .started)
    devices[device].runGeneration += 1
    let pace = devices[device].pace
    cx.note(
      device,
      .trainingBegan(
        base: Int(attempt.base), firstBatch: attempt.described, batches: pace.batchCount))
    let run = TrainingRun(
      begunAt: cx.now, since: cx.now, speed: Body.speed(of: device, &devices),
      firstBatch: attempt.described,
      lastBatch: pace.batchCount, generation: devices[device].runGeneration)
    devices[device].run = run
    Accounting.beginStretch(device, &devices, &cx)
    cx.schedule(
      .trainingEnd(device: Int32(device), generation: run.generation), .batchEnd,
      at: pace.end(of: run, batches: pace.batchCount), by: device)
    App.watchProcessor(device, &devices, &cx)
    App.awaitProgress(device, &devices, &cx)
  }

  /// Whether a device that has no answer of the server trains on the model that it holds.
  static func trainsUnasked(
    _ device: Int, _ devices: borrowing Devices, _ cx: borrowing Context
  ) -> Bool {
    let participation = cx.inputs.fleet[Int(devices[device].group)].participation
    guard participation.trainsOffline == true, devices[device].held != nil,
      let session = devices[device].session, session.participation >= 0, !session.isExpiring
    else { return false }
    return participation.retrain == .always || devices[device].hasAttempt
      || devices[device].heldVersion != devices[device].lastTrained
  }

  /// Begins a training that the server was not asked for; it counts for the open round as one that
  /// was accepted.
  static func beginUnasked(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    Session.renewParticipation(device, &devices, &cx)
    cx.note(device, .exchange(.trainsUnasked))
    devices[device].session!.stage = .train
    Session.proceed(device, &devices, &cx)
  }

  /// A flag from an earlier expiry stops the training before its first batch.
  private static func stopAtOnce(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    if !devices[device].hasAttempt { newAttempt(device, &devices, &cx) }
    cx.participations.reach(devices[device].session!.participation, .started)
    endAttempt(
      device, .discardedAtExpiry, batches: devices[device].attempt!.described, &devices, &cx)
    Session.endSession(device, .expired, &devices, &cx)
  }

  /// The batches under way end, or are cut off.
  static func endRun(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    Accounting.bookStretch(device, &devices, &cx)
    if !devices.apps.isEmpty, let run = devices[device].run {
      App.noteBurst(device, run, &devices, &cx)
    }
    devices[device].run = nil
  }

  /// Gives up an evaluation that is under way, if one is.
  static func abandonEvaluation(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    if devices[device].run?.isEvaluation == true { endRun(device, &devices, &cx) }
  }

  /// A running training continues at another speed.
  static func changeSpeed(
    _ device: Int, to speed: Int64, _ devices: inout Devices, _ cx: inout Context
  ) {
    guard devices[device].run != nil else { return }
    devices[device].run!.change(to: speed, at: cx.now)
    planRun(device, &devices, &cx)
  }

  /// Schedules the end of a run's last batch again, unless the hard expiry comes first.
  private static func planRun(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    devices[device].runGeneration += 1
    devices[device].run!.generation = devices[device].runGeneration
    let run = devices[device].run!
    let pace =
      run.isEvaluation ? devices.clients[device].evaluationPace! : devices[device].pace
    let ends = pace.end(of: run, batches: run.lastBatch)
    guard let session = devices[device].session, !session.isExpiring || ends < session.hard else {
      return
    }
    cx.schedule(
      .trainingEnd(device: Int32(device), generation: run.generation), .batchEnd,
      at: max(ends, cx.now), by: device)
    App.watchProcessor(device, &devices, &cx)
  }

  /// What a checkpoint does now: too old it goes, on a newer version it does as the settings say.
  private static func resumeOrDrop(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    guard let attempt = devices[device].attempt else { return }
    let settings = cx.inputs.fleet[Int(devices[device].group)].interruption
    if let limit = settings.maximumAge, let written = attempt.checkpointedAt,
      written + limit < cx.now
    {
      return endAttempt(device, .outdated, &devices, &cx)
    }
    guard attempt.base != devices[device].heldVersion, let held = devices[device].held else {
      return
    }
    switch settings.onModelMoved {
    case .finish:
      return
    case .restart:
      endAttempt(device, .restarted, &devices, &cx)
    case .rebase:
      cx.books.tallies.checkpoints.rebased += 1
      devices[device].attempt!.base = devices[device].heldVersion
      devices[device].attempt!.baseParameters = held
      if case .checkpoint(let training) = attempt.start {
        devices[device].attempt!.start = .rebased(
          training, old: attempt.baseParameters!, new: held)
      } else if attempt.described == 0 {
        devices[device].attempt!.start = OwnModel.start(
          of: device, from: held, held: devices[device].heldVersion, cx)
      } else {
        // A second move before a batch was done: the first move's target never mattered.
        guard case .rebased(let training, let old, _) = attempt.start else { return }
        devices[device].attempt!.start = .rebased(training, old: old, new: held)
      }
    }
  }

  private static func newAttempt(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    if cx.features.isOn { OwnModel.takeConfig(device, &devices, &cx) }
    Roster.takeStock(device, &devices, &cx)
    cx.books.ledgers.attempts.open()
    cx.books.activity[device].attempts += 1
    let held = devices[device].held!
    let needsBase =
      ClientStates.needsBases(cx)
      || Roster.group(of: device, devices, cx).interruption.onModelMoved == .rebase
    devices[device].attempt = Attempt(
      base: devices[device].heldVersion, baseParameters: needsBase ? held : nil,
      start: OwnModel.start(
        of: device, from: held, held: devices[device].heldVersion, cx),
      firstEpoch: devices[device].nextEpoch,
      relabelling: Adversary.relabelling(by: device, cx))
    devices[device].nextEpoch += UInt64(
      OwnModel.plan(of: device, devices, cx).epochs(
        shardCount: Int(cx.members.sampleCounts[device])))
  }

  /// The last batch of a run ends.
  static func trainingEnded(
    _ device: Int, _ devices: inout Devices, _ server: inout Server, _ cx: inout Context
  ) {
    let run = devices[device].run!
    if run.isEvaluation {
      return cx.dialect(of: devices[device].group)!.onStep(device, .evaluated, &devices, &cx)
    }
    endRun(device, &devices, &cx)
    if run.lastBatch == devices[device].pace.batchCount {
      return finishAttempt(device, batches: run.lastBatch, .finished, &devices, &server, &cx)
    }
    // The batch that ran at the soft expiry is done.
    cx.note(device, .trainingCut(batches: run.lastBatch, of: devices[device].pace.batchCount))
    switch cx.inputs.fleet[Int(devices[device].group)].interruption.onExpiry {
    case .discard:
      endAttempt(device, .discardedAtExpiry, batches: run.lastBatch, &devices, &cx)
      Session.endExpired(device, &devices, &cx)
    case .checkpoint:
      writeCheckpoint(device, batches: run.lastBatch, &devices, &cx)
      Session.endExpired(device, &devices, &cx)
    case .submitPartial:
      finishAttempt(device, batches: run.lastBatch, .submittedPartial, &devices, &server, &cx)
    }
  }

  /// The soft expiry comes while batches run: the running one is the last, if it ends in time.
  static func cutTraining(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    cx.books.tallies.expiredTrainings += 1
    cx.books.interrupted(.expiredTrainings, group: devices[device].group, at: cx.now)
    cx.books.activity[device].expired += 1
    let run = devices[device].run!
    let pace = devices[device].pace
    let done = pace.done(run, at: cx.now)
    if cx.inputs.fleet[Int(devices[device].group)].interruption.onExpiry == .checkpoint {
      // The expiration handler saves what is done, before the running batch ends or is killed.
      save(device, batches: done, &devices, &cx)
    }
    devices[device].run!.lastBatch = done + 1
    planRun(device, &devices, &cx)
  }

  /// The process dies, or is suspended for good, while batches run: what no checkpoint holds is
  /// lost.
  static func loseRun(
    _ device: Int, _ outcome: AttemptOutcome, _ devices: inout Devices,
    _ cx: inout Context
  ) {
    let run = devices[device].run!
    let done = devices[device].pace.done(run, at: cx.now)
    let kept = devices[device].attempt?.effort
    endRun(device, &devices, &cx)
    if let attempt = devices[device].attempt, attempt.checkpointedAt != nil {
      cx.books.ledgers.batchesWasted += max(0, done - attempt.described)
      Accounting.bookLost(
        device, since: kept!, batches: attempt.described..<max(done, attempt.described), &devices,
        &cx)
      cx.books.tallies.checkpoints.written += 1
      cx.books.interrupted(.checkpoints, group: devices[device].group, at: cx.now)
      cx.note(device, .trainingCut(batches: attempt.described, of: devices[device].pace.batchCount))
    } else {
      endAttempt(device, outcome, batches: done, &devices, &cx)
    }
  }

  /// Saves the batches done; the attempt continues from there in another session.
  static func writeCheckpoint(
    _ device: Int, batches: Int, _ devices: inout Devices, _ cx: inout Context
  ) {
    save(device, batches: batches, &devices, &cx)
    cx.books.tallies.checkpoints.written += 1
    cx.books.interrupted(.checkpoints, group: devices[device].group, at: cx.now)
  }

  /// Saves the batches done, while a further one may still be running.
  private static func save(
    _ device: Int, batches: Int, _ devices: inout Devices, _ cx: inout Context
  ) {
    Accounting.bookStretch(device, &devices, &cx)
    describe(device, batches: batches, validation: false, &devices, &cx)
    devices[device].attempt!.checkpointedAt = cx.now
    cx.note(device, .checkpointed(batches: batches, of: devices[device].pace.batchCount))
  }

  /// An attempt ends without an update; `batches` of them were done, or as many as are described.
  static func endAttempt(
    _ device: Int, _ outcome: AttemptOutcome, batches: Int? = nil, _ devices: inout Devices,
    _ cx: inout Context
  ) {
    var done = batches ?? devices[device].attempt!.described
    abandonEvaluation(device, &devices, &cx)
    if let run = devices[device].run {
      done = devices[device].pace.done(run, at: cx.now)
      endRun(device, &devices, &cx)
    }
    cx.books.book(
      Accounting.effort(of: device, batches: done, devices, cx), of: device, .attempt(outcome))
    devices[device].attempt = nil
    cx.books.ledgers.attempts.close(outcome)
    cx.books.ledgers.batchesWasted += done
    cx.note(device, .attemptEnded(outcome, batches: done))
  }

  /// An attempt becomes an update.
  private static func finishAttempt(
    _ device: Int, batches: Int, _ outcome: AttemptOutcome, _ devices: inout Devices,
    _ server: inout Server, _ cx: inout Context
  ) {
    precondition(!cx.isAhead, "an update is numbered in its turn")
    describe(device, batches: batches, validation: true, &devices, &cx)
    let attempt = devices[device].attempt!
    var training: DeferredTraining?
    if !cx.inputs.omitsArithmetic {
      guard case .checkpoint(let described) = attempt.start else {
        preconditionFailure("an attempt with batches has a training")
      }
      training = described
    }
    let effort = Accounting.effort(of: device, batches: batches, devices, cx)
    Adversary.keepFirst(device, training, attempt, &cx)
    let outgoing = Transforms.sent(by: device, attempt, training, &server, &cx)
    devices[device].attempt = nil
    devices[device].lastTrained = attempt.base
    if cx.features.isOn { OwnModel.keepOwn(device, training, base: attempt.base, &cx) }
    ClientStates.keepLast(device, training, base: attempt.base, &cx)
    cx.books.ledgers.attempts.close(outcome)
    cx.books.ledgers.batchesUsed += batches
    cx.note(device, .attemptEnded(outcome, batches: batches))
    let shard = Int(cx.members.sampleCounts[device])
    let session = devices[device].session!
    cx.books.ledgers.updates.open()
    cx.books.activity[device].updates += 1
    cx.participations.reach(session.participation, .trained)
    let update = cx.updates.append(
      UpdateRecord(
        device: Int32(device), base: attempt.base, samples: min(shard, effort.samples),
        createdAt: cx.now, round: session.round,
        participation: session.participation, training: training,
        baseParameters: ClientStates.needsBases(cx) ? attempt.baseParameters : nil,
        sent: outgoing, firstEpoch: attempt.firstEpoch,
        shardCount: Int32(shard),
        batteryLevel: Body.batteryLevel(of: device, devices, at: cx.now), effort: effort))
    cx.participations.hold(session.participation)
    cx.note(
      device,
      .updateCreated(
        update: Int(update), base: Int(attempt.base), batches: batches,
        samples: min(shard, effort.samples)))
    devices[device].session!.stage = .done
    if let dialect = cx.dialect(of: devices[device].group),
      dialect.onUpdateMade(device, update, &devices, &cx) == .unsound
    {
      cx.leaveDevice(update, .rejectedLocally)
    } else {
      Outbox.enqueue(device, update, &devices, &cx)
    }
    Session.proceed(device, &devices, &cx)
  }
}
