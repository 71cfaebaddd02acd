import Numerics

extension Instructions {
  /// Asks devices that wait for something else than a training, where that comes first.
  static func hasOtherWork(_ devices: inout Devices, _ server: inout Server, _ cx: inout Context)
    -> Bool
  {
    if server.instructions.awaitsModel {
      wantModel(&server, &cx)
      return true
    }
    guard server.instructions.evaluation != nil else { return false }
    EvaluationRound.formEvaluation(&devices, &server, &cx)
    return true
  }

  /// The server finds a stream broken over which it waited for such an answer.
  static func instructionFailed(
    _ participation: Int32, _ devices: inout Devices, _ server: inout Server, _ cx: inout Context
  ) -> Bool {
    if EvaluationRound.evaluationFailed(participation, &devices, &server, &cx) { return true }
    guard server.instructions.asked == participation else { return false }
    server.instructions.asked = -1
    cx.participations.setOutstanding(participation, false)
    cx.participations.letGo(participation)
    wantModel(&server, &cx)
    return true
  }

  /// A round has only so long to find its cohort.
  static func limitWait(_ server: inout Server, _ cx: inout Context) {
    guard let limit = cx.inputs.server.selector.value.rules?.waitLimit,
      server.instructions.evaluation == nil, !server.instructions.awaitsModel
    else { return }
    cx.schedule(
      .serverTimer(.cohortWait(round: server.round)), .serverTimer, at: cx.now + limit, by: nil)
  }

  /// Too few devices have come for a round's cohort; false where it has one.
  static func cohortWaited(
    _ round: Int32, _ devices: inout Devices, _ server: inout Server, _ cx: inout Context
  ) -> Bool {
    guard round == server.round, server.cohortGoal == nil else { return false }
    Rounds.skipRound(&devices, &server, &cx)
    return true
  }

  // MARK: The initial model

  /// Whoever waits at the end of the present moment may be asked for the initial model.
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
  static func askForModel(_ devices: inout Devices, _ server: inout Server, _ cx: inout Context)
    -> Bool
  {
    server.instructions.isDrawDue = false
    guard server.instructions.awaitsModel, server.instructions.asked < 0,
      !server.waiting.isEmpty
    else { return false }
    var stream = StreamKey(seed: cx.inputs.seeds.policy, purpose: "initial-model")
      .stream(slot: server.instructions.askings)
    server.instructions.askings += 1
    let place = Int(stream.sample(1, below: server.waiting.count)[0])
    let device = server.waiting[place].device
    let request = server.remove(at: place)
    server.instructions.asked = request.participation
    cx.participations.setOutstanding(request.participation, true)
    cx.books.instructions.modelsAsked += 1
    Lobby.answerCheck(device, request.generation, .sendModel, &devices, &server, &cx)
    return true
  }

  /// A device's model has come, and becomes version 0; what never travels stays the server's.
  private static func modelArrived(
    _ device: Int, _ participation: Int32, _ devices: inout Devices, _ server: inout Server,
    _ cx: inout Context
  ) {
    guard server.instructions.asked == participation else { return }
    server.instructions.asked = -1
    cx.participations.setOutstanding(participation, false)
    cx.participations.letGo(participation)
    server.model = OwnModel.ownInitial(device, devices, cx).replacing(
      cx.features.privateRanges, from: cx.inputs.task.initial)
    beginWithModel(&devices, &server, &cx)
    Rounds.openRound(&server, &cx)
    Lobby.formCohort(&devices, &server, &cx)
  }

  /// Version 0 is there.
  private static func beginWithModel(
    _ devices: inout Devices, _ server: inout Server, _ cx: inout Context
  ) {
    server.instructions.awaitsModel = false
    server.publishedAt[0] = cx.now
    server.roundOpenedAt = cx.now
    Publication.publishInitialModel(&devices, &server, &cx)
  }

  /// The run is over and nobody sent a model: version 0 is the one that the server would have had.
  static func giveUpWaitingForModel(
    _ devices: inout Devices, _ server: inout Server, _ cx: inout Context
  ) {
    if server.instructions.awaitsModel { beginWithModel(&devices, &server, &cx) }
  }

  // MARK: Properties

  /// Whether a device that asks for work is asked for its properties first: once a connection.
  static func wantsProperties(_ device: Int, _ devices: inout Devices, _ server: inout Server)
    -> Bool
  {
    guard !server.instructions.connections.isEmpty,
      server.instructions.connections[device] != devices[device].sessionGeneration
    else { return false }
    server.instructions.connections[device] = devices[device].sessionGeneration
    return true
  }

  // MARK: Answers

  /// A request that is none for work or models has come to the server.
  static func handleInstruction(
    _ device: Int, _ generation: UInt32, _ request: Request, _ devices: inout Devices,
    _ server: inout Server, _ cx: inout Context
  ) {
    switch request {
    case .enrol:
      cx.books.instructions.workers += 1
      return Requests.answer(
        device, generation, .enrolled(needsSpeedTest: Workers.wantsSpeedTest(cx)), &devices, &cx)
    case .probe:
      return Requests.answer(device, generation, .probed, &devices, &cx)
    case .plan(let round):
      let refusal = Cycles.fetch(round: round, &server, &cx)
      if refusal == nil { cx.books.instructions.plans += 1 }
      return Requests.answer(device, generation, refusal ?? .plan, &devices, &cx)
    case .sendModel(let participation): modelArrived(device, participation, &devices, &server, &cx)
    case .properties(let isImplemented):
      if isImplemented {
        cx.books.instructions.propertiesAnswered += 1
      } else {
        cx.books.instructions.propertiesNotImplemented += 1
      }
    case .evaluated(let participation, let hasSamples):
      EvaluationRound.evaluationCame(
        device, participation, hasSamples: hasSamples, &devices, &server, &cx)
    case .check, .latest, .submit, .leave, .identity, .fetch, .disconnect, .erase, .central:
      preconditionFailure("a request for work or models, or one that others handle")
    }
    Requests.answer(device, generation, .noted, &devices, &cx)
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
      return
    case .accepted, .rejected, .pollOnly: preconditionFailure("an instruction")
    }
    devices[device].session!.stage = .reply
  }

  /// Answers what a device was asked for.
  static func sendReply(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    let session = devices[device].session!
    let participation = session.participation
    let message = cx.inputs.server.messageBytes
    switch session.reply {
    case .model:
      Transfer.startRequest(
        device, .reply, .sendModel(participation: participation),
        bytes: Transforms.givenModelBytes(cx), &devices, &cx)
    case .properties:
      let isImplemented = cx.inputs.fleet[Int(devices[device].group)].protocol?.properties == true
      Transfer.startRequest(
        device, .reply, .properties(isImplemented: isImplemented), bytes: message, &devices, &cx)
    case .evaluation:
      Transfer.startRequest(
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

  /// The model to evaluate cannot be had, or read: the device answers without samples.
  static func cannotEvaluate(_ device: Int, _ devices: inout Devices, _ cx: inout Context) -> Bool {
    guard devices[device].session?.isEvaluating == true else { return false }
    EvaluationRound.endEvaluation(device, hasSamples: false, &devices, &cx)
    return true
  }
}
