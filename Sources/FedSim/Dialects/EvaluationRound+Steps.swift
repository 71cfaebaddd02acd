import Learning
import Numerics

extension EvaluationRound {
  // MARK: The server

  /// A round is closed: the server wants to know how good its model is on devices.
  static func beginEvaluationRound(_ server: inout Server, _ cx: inout Context) {
    guard let settings = cx.inputs.server.evaluation, !cx.isOver else { return }
    server.instructions.evaluation = EvaluationRound(
      round: server.openRound.number, begunAt: cx.now)
    cx.schedule(
      .serverTimer(.evaluationWait(round: server.openRound.number)), .serverTimer,
      at: cx.now + settings.waitLimit, by: nil)
  }

  /// Chooses the members of an evaluation once enough devices wait.
  ///
  /// Draws: one `below` a member, at slot = the round (seed `policy`, purpose `evaluation`).
  /// Source: Flower's `FedAvg.configure_evaluate`.
  static func formEvaluation(_ server: inout Server, _ cx: inout Context) {
    let settings = cx.inputs.server.evaluation!
    let round = server.instructions.evaluation!.round
    guard server.instructions.evaluation!.members == 0,
      server.waiting.count >= settings.minimumAvailable
    else { return }
    let waiting = server.waiting.inOrder()
    let count = waiting.count
    let wanted = min(count, max(Int(Double(count) * settings.fraction), settings.minimum))
    var stream = StreamKey(seed: cx.inputs.seeds.policy, purpose: "evaluation")
      .stream(slot: UInt64(round))
    let places = stream.sample(wanted, below: count).map { Int($0) }.sorted()
    server.instructions.evaluation!.members = wanted
    for place in places {
      let (checkIn, request) = (waiting[place], server.waiting.request(at: place))
      server.instructions.evaluation!.pending.append(request.participation)
      cx.participations.setOutstanding(request.participation, true)
      Lobby.answerCheck(
        checkIn.device, request.generation, held: checkIn.heldVersion, .evaluate, &server, &cx)
    }
    // Who waited is held by the evaluation from now on.
    server.waiting.remove(at: places)
    if let timeout = settings.timeout {
      cx.schedule(
        .serverTimer(.evaluationTimeout(round: round)), .serverTimer, at: cx.now + timeout, by: nil)
    }
  }

  /// Too few devices have come for an evaluation; false where it has its members, or is over.
  static func evaluationWaited(
    _ round: Int32, _ server: inout Server, _ cx: inout Context
  ) -> Bool {
    guard let evaluation = server.instructions.evaluation, evaluation.round == round,
      evaluation.members == 0
    else { return false }
    endEvaluationRound(&server, &cx)
    return true
  }

  /// Members that have not answered have failed; false where all have.
  static func evaluationTimedOut(
    _ round: Int32, _ server: inout Server, _ cx: inout Context
  ) -> Bool {
    guard let evaluation = server.instructions.evaluation, evaluation.round == round else {
      return false
    }
    server.instructions.evaluation!.failures += evaluation.pending.count
    server.instructions.evaluation!.pending = []
    for participation in evaluation.pending {
      cx.participations.setOutstanding(participation, false)
      cx.participations.letGo(participation)
    }
    endEvaluationRound(&server, &cx)
    return true
  }

  /// A member's result has come.
  static func evaluationCame(
    _ device: Int, _ participation: Int32, hasSamples: Bool, _ server: inout Server,
    _ cx: inout Context
  ) {
    if server.instructions.program != nil {
      Program.ended(participation, isReply: true, &server, &cx)
    }
    guard let place = server.instructions.evaluation?.pending.firstIndex(of: participation)
    else {
      cx.books.instructions.lateEvaluations += 1
      return
    }
    server.instructions.evaluation!.pending.remove(at: place)
    cx.participations.setOutstanding(participation, false)
    server.instructions.evaluation!.results.append(
      .init(device: Int32(device), hasSamples: hasSamples))
    cx.participations.letGo(participation)
    endIfAnswered(&server, &cx)
  }

  /// A stream is broken, perhaps a member's.
  static func noteFailure(
    _ participation: Int32, _ server: inout Server, _ cx: inout Context
  ) -> Instructions.FailureNote {
    guard let place = server.instructions.evaluation?.pending.firstIndex(of: participation)
    else { return .notAsked }
    server.instructions.evaluation!.pending.remove(at: place)
    cx.participations.setOutstanding(participation, false)
    server.instructions.evaluation!.failures += 1
    cx.participations.letGo(participation)
    endIfAnswered(&server, &cx)
    return .noted
  }

  /// Ends an evaluation that nobody has still to answer; a program ends it itself.
  private static func endIfAnswered(_ server: inout Server, _ cx: inout Context) {
    guard server.instructions.evaluation!.pending.isEmpty, server.instructions.program == nil else {
      return
    }
    endEvaluationRound(&server, &cx)
  }

  /// All members have answered or failed: the next round's cohort may be formed.
  ///
  /// Order: of the devices. Source: Flower's `FedAvg.aggregate_evaluate`.
  private static func endEvaluationRound(
    _ server: inout Server, _ cx: inout Context
  ) {
    let evaluation = server.instructions.evaluation!
    server.instructions.evaluation = nil
    var (examples, loss, accuracy) = (0, 0.0, 0.0)
    let results = evaluation.results.filter(\.hasSamples).sorted { $0.device < $1.device }
    for report in reports(
      results.map { Int($0.device) }, round: evaluation.round, &server, &cx)
    {
      examples += report.samples
      loss += Double(report.samples) * report.loss
      accuracy += Double(report.samples) * report.accuracy
    }
    let counts =
      examples > 0 && !cx.inputs.omitsArithmetic
      && (evaluation.failures == 0 || cx.inputs.server.evaluation!.acceptFailures)
    server.instructions.evaluations.append(
      EvaluationRecord(
        round: Int(evaluation.round), version: Int(server.version), begunAt: evaluation.begunAt,
        endedAt: cx.now, members: evaluation.members, results: evaluation.results.count,
        failures: evaluation.failures, examples: evaluation.told?.examples ?? examples,
        loss: evaluation.told?.loss ?? (counts ? loss / Double(examples) : .nan),
        accuracy: evaluation.told?.accuracy ?? (counts ? accuracy / Double(examples) : .nan)))
    cx.note(-1, .exchange(.evaluationEnded))
    if server.instructions.endsWithEvaluation {
      cx.isOver = true
      return
    }
    Rounds.limitWait(&server, &cx)
    Lobby.formCohort(&server, &cx)
  }

  /// What devices find in the current version, computed now; the model has not moved since they
  /// were asked.
  ///
  /// Draws: as coded the order of the samples, at slot = the round (seed `training`, purpose
  /// `evaluation-batches`).
  private static func reports(
    _ members: [Int], round: Int32, _ server: inout Server,
    _ cx: inout Context
  ) -> [EvaluationReport] {
    let task = cx.inputs.task
    if cx.inputs.omitsArithmetic {
      return members.map {
        EvaluationReport(
          samples: task.heldOut(by: Int(cx.members.clients[$0])).indices.count, loss: 0, accuracy: 0
        )
      }
    }
    var starts: [DeferredTraining.Start] = []
    var keys: [StreamKey] = []
    var trains: [Bool] = []
    for device in members {
      starts.append(OwnModel.start(of: device, from: server.model, held: server.version, cx))
      keys.append(
        StreamKey(
          seed: cx.inputs.seeds.training, purpose: "evaluation-batches",
          group: cx.inputs.fleet[cx.members.group(of: device)].name,
          ordinal: UInt32(cx.members.ordinal(of: device))))
      trains.append(cx.inputs.fleet[cx.members.group(of: device)].protocol?.evaluation == .asCoded)
    }
    let clients = members.map { Int(cx.members.clients[$0]) }
    let (kernels, plan) = (cx.inputs.kernels, task.plan.with(epochs: 1))
    let (given, orders, isTrained) = (starts, keys, trains)
    return cx.inputs.pool.spread(members.count) { place, scratch in
      let (samples, indices) = task.heldOut(by: clients[place])
      let parameters: ParameterBuffer
      switch given[place] {
      case .joined(let version, let ranges, let own):
        parameters = version.replacing(ranges, from: own.value(scratch).parameters)
      case .parameters(let version): parameters = version
      case .continued(let version, _, let ranges, let own):
        parameters =
          own.first.map { version.replacing(ranges, from: $0.value(scratch).parameters) } ?? version
      case .checkpoint, .rebased: preconditionFailure("an evaluation begins with a version")
      }
      let dataset = samples == .test ? task.test : task.train
      guard isTrained[place] else {
        let found = Evaluation(
          of: task.network, parameters: parameters, dataset: dataset, samples: indices,
          kernels: kernels, scratch: scratch)
        return EvaluationReport(
          samples: indices.count, loss: found.meanLoss, accuracy: found.accuracy)
      }
      let training = LocalTraining(
        network: task.network, dataset: dataset, shard: indices, plan: plan,
        order: .keyed(orders[place], firstSlot: UInt64(round)),
        owner: .init(client: clients[place], device: members[place]))
      let outcome = task.algorithm.run(
        training, 0..<training.batchCount, from: DeviceMemory(parameters: parameters), lossSum: 0,
        kernels: kernels, scratch: scratch)
      let loss = outcome.lossSum / Double(outcome.samplesProcessed)
      return EvaluationReport(samples: indices.count, loss: loss, accuracy: 1 - loss)
    }
  }

  // MARK: The device

  /// Begins to evaluate the version that a device was sent.
  static func beginEvaluation(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    let settings = cx.inputs.fleet[cx.members.group(of: device)].protocol
    let share = settings?.evaluation == .asCoded ? 1 : settings?.evaluationShare ?? 1.0 / 3
    let held = cx.inputs.task.heldOut(by: Int(cx.members.clients[device])).indices.count
    let pace = Roster.pace(
      group: cx.members.group(of: device), ordinal: cx.members.ordinal(of: device), device: device,
      samples: held, epoch: devices[device].nextEpoch, plan: cx.inputs.task.plan.with(epochs: 1),
      share: share, devices, cx)
    guard pace.batchCount > 0 else {
      return endEvaluation(device, hasSamples: false, &devices, &cx)
    }
    devices.clients[device].evaluationPace = pace
    devices[device].runGeneration += 1
    let run = TrainingRun(
      begunAt: cx.now, since: cx.now, speed: Body.speed(of: device, &devices), firstBatch: 0,
      lastBatch: pace.batchCount, generation: devices[device].runGeneration, isEvaluation: true)
    devices[device].run = run
    Accounting.beginStretch(device, &devices, &cx)
    cx.schedule(
      .trainingEnd(device: Int32(device), generation: run.generation), .batchEnd,
      at: pace.end(of: run, batches: pace.batchCount), by: device)
    App.watchProcessor(device, &devices, &cx)
  }

  /// An evaluation has ended on a device: it reports.
  static func endEvaluation(
    _ device: Int, hasSamples: Bool, _ devices: inout Devices, _ cx: inout Context
  ) {
    if devices[device].run != nil { Training.endRun(device, &devices, &cx) }
    devices.clients[device].hasSamples = hasSamples
    cx.note(device, .exchange(.evaluated))
    devices[device].session!.reply = .evaluation
    devices[device].session!.stage = .reply
    Session.proceed(device, &devices, &cx)
  }

  /// An evaluation throws: it is answered without samples, where the library does so; false where
  /// no evaluation is under way, or its session ends.
  static func reportFailedEvaluation(_ device: Int, _ devices: inout Devices, _ cx: inout Context)
    -> Bool
  {
    guard devices[device].run?.isEvaluation == true,
      cx.inputs.fleet[cx.members.group(of: device)].protocol?.onFailure == .report
    else { return false }
    endEvaluation(device, hasSamples: false, &devices, &cx)
    return true
  }
}
