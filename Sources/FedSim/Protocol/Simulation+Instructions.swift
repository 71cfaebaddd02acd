import Numerics

extension Simulation {
  /// Asks devices that wait for something else than a training, where that comes first.
  mutating func hasOtherWork() -> Bool {
    if server.instructions.awaitsModel {
      wantModel()
      return true
    }
    guard server.instructions.evaluation != nil else { return false }
    formEvaluation()
    return true
  }

  /// The server finds a stream broken over which it waited for such an answer.
  mutating func instructionFailed(_ participation: Int32) -> Bool {
    if evaluationFailed(participation) { return true }
    guard server.instructions.asked == participation else { return false }
    server.instructions.asked = -1
    cx.participations.setOutstanding(participation, false)
    cx.participations.letGo(participation)
    wantModel()
    return true
  }

  /// A round has only so long to find its cohort.
  mutating func limitWait() {
    let selector = cx.inputs.server.selector.value
    guard selector.formsCohorts, let limit = selector.waitLimit,
      server.instructions.evaluation == nil, !server.instructions.awaitsModel
    else { return }
    cx.schedule(
      .serverTimer(.cohortWait(round: server.round)), .serverTimer, at: cx.now + limit, by: nil)
  }

  /// Too few devices have come for a round's cohort; false where it has one.
  mutating func cohortWaited(_ round: Int32) -> Bool {
    guard round == server.round, server.cohortGoal == nil else { return false }
    skipRound()
    return true
  }

  // MARK: The initial model

  /// Whoever waits at the end of the present moment may be asked for the initial model.
  private mutating func wantModel() {
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
  mutating func askForModel() -> Bool {
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
    answerCheck(device, request.generation, .sendModel)
    return true
  }

  /// A device's model has come, and becomes version 0; what never travels stays the server's.
  private mutating func modelArrived(_ device: Int, _ participation: Int32) {
    guard server.instructions.asked == participation else { return }
    server.instructions.asked = -1
    cx.participations.setOutstanding(participation, false)
    cx.participations.letGo(participation)
    server.model = ownInitial(device).replacing(
      cx.features.privateRanges, from: cx.inputs.task.initial)
    beginWithModel()
    openRound()
    formCohort()
  }

  /// Version 0 is there.
  private mutating func beginWithModel() {
    server.instructions.awaitsModel = false
    server.publishedAt[0] = cx.now
    server.roundOpenedAt = cx.now
    publishInitialModel()
  }

  /// The run is over and nobody sent a model: version 0 is the one that the server would have had.
  mutating func giveUpWaitingForModel() {
    if server.instructions.awaitsModel { beginWithModel() }
  }

  // MARK: Properties

  /// Whether a device that asks for work is asked for its properties first: once a connection.
  mutating func wantsProperties(_ device: Int) -> Bool {
    guard !server.instructions.connections.isEmpty,
      server.instructions.connections[device] != devices[device].sessionGeneration
    else { return false }
    server.instructions.connections[device] = devices[device].sessionGeneration
    return true
  }

  // MARK: Answers

  /// A request that is none for work or models has come to the server.
  mutating func handleInstruction(_ device: Int, _ generation: UInt32, _ request: Request) {
    switch request {
    case .enrol:
      cx.books.instructions.workers += 1
      return answer(device, generation, .enrolled(needsSpeedTest: wantsSpeedTest))
    case .probe:
      return answer(device, generation, .probed)
    case .plan(let round):
      let refusal = fetch(round: round)
      if refusal == nil { cx.books.instructions.plans += 1 }
      return answer(device, generation, refusal ?? .plan)
    case .sendModel(let participation): modelArrived(device, participation)
    case .properties(let isImplemented):
      if isImplemented {
        cx.books.instructions.propertiesAnswered += 1
      } else {
        cx.books.instructions.propertiesNotImplemented += 1
      }
    case .evaluated(let participation, let hasSamples):
      evaluationCame(device, participation, hasSamples: hasSamples)
    default: preconditionFailure("no such request")
    }
    answer(device, generation, .noted)
  }

  /// A device reads that it is asked for something else than a training.
  mutating func instructed(_ device: Int, _ answer: CheckAnswer, round: Int32) {
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
  mutating func sendReply(_ device: Int) {
    let session = devices[device].session!
    let participation = session.participation
    let message = cx.inputs.server.messageBytes
    switch session.reply {
    case .model:
      startRequest(
        device, .reply, .sendModel(participation: participation), bytes: givenModelBytes)
    case .properties:
      let isImplemented = cx.inputs.fleet[Int(devices[device].group)].protocol?.properties == true
      startRequest(
        device, .reply, .properties(isImplemented: isImplemented), bytes: message)
    case .evaluation:
      startRequest(
        device, .reply,
        .evaluated(
          participation: participation, hasSamples: devices.clients[device].hasSamples),
        bytes: message)
    case nil: preconditionFailure("a reply is to something")
    }
  }

  /// The server has taken a reply: the device waits for work again.
  mutating func replyNoted(_ device: Int) {
    devices[device].session!.reply = nil
    devices[device].session!.isEvaluating = false
    devices[device].session!.stage = .check
    proceed(device)
  }

  /// The model to evaluate cannot be had, or read: the device answers without samples.
  mutating func cannotEvaluate(_ device: Int) -> Bool {
    guard devices[device].session?.isEvaluating == true else { return false }
    endEvaluation(device, hasSamples: false)
    return true
  }
}
