import Numerics

extension Instructions {
  /// Asks devices that wait for something else than a training, where that comes first.
  static func giveOtherWork(_ server: inout Server, _ cx: inout Context)
    -> BeforeCohort
  {
    if server.instructions.awaitsModel {
      wantModel(&server, &cx)
      return .otherWork
    }
    if server.instructions.program != nil {
      Program.devicesWait(&server, &cx)
      return .otherWork
    }
    guard server.instructions.evaluation != nil else { return .cohort }
    EvaluationRound.formEvaluation(&server, &cx)
    return .otherWork
  }

  /// What a broken stream means to the instructions.
  enum FailureNote {
    /// An answer was expected over it, and comes no more.
    case noted
    /// None was expected.
    case notAsked
  }

  /// The server finds a stream broken over which it may have waited for such an answer.
  static func noteFailure(
    _ participation: Int32, _ server: inout Server, _ cx: inout Context
  ) -> FailureNote {
    if EvaluationRound.noteFailure(participation, &server, &cx) == .noted {
      return .noted
    }
    guard server.instructions.asked == participation else { return .notAsked }
    server.instructions.asked = -1
    cx.participations.setOutstanding(participation, false)
    cx.participations.letGo(participation)
    wantModel(&server, &cx)
    return .noted
  }

  // MARK: The initial model

  /// A device that waits at the end of the present moment may be asked for the initial model.
  private static func wantModel(_ server: inout Server, _ cx: inout Context) {
    guard server.instructions.asked < 0, !server.instructions.isDrawDue,
      !server.waiting.isEmpty
    else { return }
    server.instructions.isDrawDue = true
    cx.schedule(.serverTimer(.modelWanted), .snapshot, at: cx.now, by: nil)
  }

  /// Asks one of the devices that wait for the model that its app came with.
  ///
  /// Draws: one `below` at slot = the number of those asked before (seed `policy`, purpose
  /// `initial-model`). Source: Flower's `Server._get_initial_parameters`.
  static func askForModel(_ server: inout Server, _ cx: inout Context)
    -> Bool
  {
    server.instructions.isDrawDue = false
    guard server.instructions.awaitsModel, server.instructions.asked < 0,
      !server.waiting.isEmpty
    else { return false }
    var stream = StreamKey(seed: cx.inputs.seeds.policy, purpose: "initial-model")
      .stream(slot: server.instructions.askings)
    server.instructions.askings += 1
    let waiting = server.waiting.inOrder()
    let chosen = waiting[Int(stream.sample(1, below: waiting.count)[0])]
    let (device, held) = (chosen.device, chosen.heldVersion)
    let request = server.waiting.remove(device)!
    server.instructions.asked = request.participation
    cx.participations.setOutstanding(request.participation, true)
    cx.books.instructions.modelsAsked += 1
    Lobby.answerCheck(
      device, request.generation, held: held, .sendModel, &server, &cx)
    return true
  }

  /// A device's model has come, and becomes version 0; what never travels stays the server's.
  private static func modelArrived(
    _ device: Int, _ participation: Int32, _ server: inout Server,
    _ cx: inout Context
  ) {
    guard server.instructions.asked == participation else { return }
    server.instructions.asked = -1
    cx.participations.setOutstanding(participation, false)
    cx.participations.letGo(participation)
    server.model = OwnModel.ownInitial(device, cx).replacing(
      cx.features.privateRanges, from: cx.inputs.task.initial)
    beginWithModel(&server, &cx)
    Rounds.openRound(&server, &cx)
    Lobby.formCohort(&server, &cx)
  }

  /// Version 0 is there.
  private static func beginWithModel(
    _ server: inout Server, _ cx: inout Context
  ) {
    server.instructions.awaitsModel = false
    server.publishedAt[0] = cx.now
    server.openRound.openedAt = cx.now
    Publication.publishInitialModel(&server, &cx)
  }

  /// The run is over and nobody sent a model: version 0 is the one that the server would have had.
  static func giveUpWaitingForModel(
    _ server: inout Server, _ cx: inout Context
  ) {
    if server.instructions.awaitsModel { beginWithModel(&server, &cx) }
  }

  /// The server restarts: it knows no more whom it has asked for what.
  static func forget(_ server: inout Server, _ cx: inout Context) {
    var asked = server.instructions.evaluation?.pending ?? []
    if server.instructions.asked >= 0 { asked.append(server.instructions.asked) }
    for participation in asked {
      cx.participations.setOutstanding(participation, false)
      cx.participations.letGo(participation)
    }
    server.instructions.asked = -1
    server.instructions.evaluation = nil
    for device in server.instructions.connections.indices {
      server.instructions.connections[device] = 0
    }
    // The evaluation that was to be the last is lost.
    if server.instructions.endsWithEvaluation { cx.isOver = true }
  }

  // MARK: Properties

  /// Asks a device that asks for work for its properties first: once a connection.
  static func askForProperties(
    _ device: Int, _ server: inout Server, _ cx: borrowing Context
  ) -> CheckAnswer? {
    guard !server.instructions.connections.isEmpty,
      server.instructions.connections[device] != cx.network[device].connection
    else { return nil }
    server.instructions.connections[device] = cx.network[device].connection
    return .sendProperties
  }

  // MARK: Answers

  /// A request that is none for work or models has reached the server.
  static func handleInstruction(
    _ device: Int, _ generation: UInt32, _ request: Request, _ server: inout Server,
    _ cx: inout Context
  ) {
    let wait = cx.network.streamWait(generation, of: device)
    if let wait { Streams.letWait(device, generation, wait, &server, &cx) }
    switch request {
    case .enrol:
      cx.books.instructions.workers += 1
      return Requests.answer(
        device, generation, .enrolled(needsSpeedTest: Workers.wantsSpeedTest(cx)), &cx)
    case .probe:
      return Requests.answer(device, generation, .probed, &cx)
    case .plan(let round):
      let refusal = Cycles.checkKey(round, &server, &cx)
      if refusal == nil { cx.books.instructions.plans += 1 }
      return Requests.answer(device, generation, refusal ?? .plan, &cx)
    case .sendModel(let participation):
      modelArrived(device, participation, &server, &cx)
      if server.instructions.program != nil { Program.answered(device, &server, &cx) }
    case .properties(let isImplemented):
      if server.instructions.program != nil { Program.answered(device, &server, &cx) }
      if isImplemented {
        cx.books.instructions.propertiesAnswered += 1
      } else {
        cx.books.instructions.propertiesNotImplemented += 1
      }
    case .evaluated(let participation, let hasSamples):
      EvaluationRound.evaluationCame(
        device, participation, hasSamples: hasSamples, &server, &cx)
    case .check, .latest, .submit, .leave, .identity, .fetch, .disconnect, .erase, .central:
      preconditionFailure("a request for work or models, or one that others handle")
    }
    if wait == nil { Requests.answer(device, generation, .noted, &cx) }
  }

  /// A device reads that it is asked for something else than a training.
  static func instructed(
    _ device: Int, _ answer: CheckAnswer, round: Int32, _ devices: inout Devices,
    _ cx: inout Context
  ) {
    switch answer {
    case .sendModel:
      cx.note(device, .exchange(.modelAsked))
      devices[device].session!.reply = .model
    case .sendProperties:
      cx.note(device, .exchange(.propertiesAsked))
      devices[device].session!.reply = .properties
    case .evaluate:
      cx.note(device, .exchange(.evaluationAsked))
      devices[device].session!.round = round
      devices[device].session!.isEvaluating = true
      devices[device].session!.stage = .download
      guard Streams.readCarried(device, &devices, &cx) == .none else { return }
      return Session.proceed(device, &devices, &cx)
    case .accepted, .rejected, .pollOnly: preconditionFailure("an instruction")
    }
    devices[device].session!.stage = .reply
    Session.proceed(device, &devices, &cx)
  }

  /// Answers what a device was asked for.
  static func sendReply(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    let session = devices[device].session!
    let participation = session.participation
    let message = cx.inputs.server.messageBytes
    switch session.reply {
    case .model:
      Requesting.startRequest(
        device, .reply, .sendModel(participation: participation),
        bytes: Transforms.givenModelBytes(cx), &devices, &cx)
    case .properties:
      let isImplemented = cx.inputs.fleet[Int(devices[device].group)].protocol?.properties == true
      Requesting.startRequest(
        device, .reply, .properties(isImplemented: isImplemented), bytes: message, &devices, &cx)
    case .evaluation:
      Requesting.startRequest(
        device, .reply,
        .evaluated(
          participation: participation, hasSamples: devices.clients[device].hasSamples),
        bytes: message, &devices, &cx)
    case nil: preconditionFailure("a reply is to something")
    }
  }

  /// The server has taken a reply: the device waits for work again.
  static func replyNoted(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    devices[device].session!.reply = nil
    devices[device].session!.isEvaluating = false
    devices[device].session!.stage = .check
    Session.proceed(device, &devices, &cx)
  }

  /// A model cannot be had, or read: an evaluation is answered without samples, any other session
  /// rests.
  static func goOn(
    _ device: Int, without reason: SessionEnd, _ devices: inout Devices, _ cx: inout Context
  ) {
    if devices[device].session?.isEvaluating == true {
      EvaluationRound.endEvaluation(device, hasSamples: false, &devices, &cx)
    } else {
      Session.rest(device, reason, &devices, &cx)
    }
  }
}
