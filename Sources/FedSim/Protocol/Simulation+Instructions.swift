import Numerics

extension Simulation {
  /// Asks devices that wait for something else than a training, where that comes first.
  mutating func hasOtherWork() -> Bool {
    if exchange.instructions.awaitsModel {
      wantModel()
      return true
    }
    guard exchange.instructions.evaluation != nil else { return false }
    formEvaluation()
    return true
  }

  /// Whether the server waits for a device's answer to something else than a training.
  func isOutstanding(_ participation: Int32) -> Bool {
    participation >= 0
      && (exchange.instructions.asked == participation
        || exchange.instructions.evaluation?.pending.contains(participation) == true)
  }

  /// The server finds a stream broken over which it waited for such an answer.
  mutating func instructionFailed(_ participation: Int32) -> Bool {
    if evaluationFailed(participation) { return true }
    guard exchange.instructions.asked == participation else { return false }
    exchange.instructions.asked = -1
    letGo(participation)
    wantModel()
    return true
  }

  /// A round has only so long to find its cohort.
  mutating func limitWait() {
    guard let limit = inputs.server.selector.value.rules?.waitLimit,
      exchange.instructions.evaluation == nil, !exchange.instructions.awaitsModel
    else { return }
    schedule(
      .serverTimer(.cohortWait(round: server.round)), .serverTimer, at: now + limit, by: nil)
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
    guard exchange.instructions.asked < 0, !exchange.instructions.isDrawDue,
      !server.waiting.isEmpty
    else { return }
    exchange.instructions.isDrawDue = true
    schedule(.serverTimer(.modelWanted), .snapshot, at: now, by: nil)
  }

  /// Asks one of the devices that wait for the model that its app came with.
  ///
  /// Draws: one `below` at slot = the number of those asked before (seed `policy`, purpose
  /// `initial-model`). Source: Flower's `Server._get_initial_parameters`.
  mutating func askForModel() -> Bool {
    exchange.instructions.isDrawDue = false
    guard exchange.instructions.awaitsModel, exchange.instructions.asked < 0,
      !server.waiting.isEmpty
    else { return false }
    var stream = StreamKey(seed: inputs.seeds.policy, purpose: "initial-model")
      .stream(slot: exchange.instructions.askings)
    exchange.instructions.askings += 1
    let place = Int(stream.sample(1, below: server.waiting.count)[0])
    let device = server.waiting[place].device
    let request = server.remove(at: place)
    exchange.instructions.asked = request.participation
    exchange.instructions.tallies.modelsAsked += 1
    answerCheck(device, request.generation, .sendModel)
    return true
  }

  /// A device's model has come, and becomes version 0; what never travels stays the server's.
  private mutating func modelArrived(_ device: Int, _ participation: Int32) {
    guard exchange.instructions.asked == participation else { return }
    exchange.instructions.asked = -1
    letGo(participation)
    server.model = ownInitial(device).replacing(
      exchange.instructions.privateRanges, from: inputs.task.initial)
    beginWithModel()
    openRound()
    formCohort()
  }

  /// Version 0 is there.
  private mutating func beginWithModel() {
    exchange.instructions.awaitsModel = false
    server.publishedAt[0] = now
    server.roundOpenedAt = now
    publishInitialModel()
  }

  /// The run is over and nobody sent a model: version 0 is the one that the server would have had.
  mutating func giveUpWaitingForModel() {
    if exchange.instructions.awaitsModel { beginWithModel() }
  }

  // MARK: Properties

  /// Whether a device that asks for work is asked for its properties first: once a connection.
  mutating func wantsProperties(_ device: Int) -> Bool {
    guard !exchange.instructions.connections.isEmpty,
      exchange.instructions.connections[device] != devices[device].sessionGeneration
    else { return false }
    exchange.instructions.connections[device] = devices[device].sessionGeneration
    return true
  }

  // MARK: Answers

  /// A request that is none for work or models has come to the server.
  mutating func handleInstruction(_ device: Int, _ generation: UInt32, _ request: Request) {
    switch request {
    case .enrol:
      exchange.instructions.tallies.workers += 1
      return answer(device, generation, .enrolled(needsSpeedTest: wantsSpeedTest))
    case .probe:
      return answer(device, generation, .probed)
    case .plan(let round):
      let refusal = fetch(round: round)
      if refusal == nil { exchange.instructions.tallies.plans += 1 }
      return answer(device, generation, refusal ?? .plan)
    case .sendModel(let participation): modelArrived(device, participation)
    case .properties(let isImplemented):
      if isImplemented {
        exchange.instructions.tallies.propertiesAnswered += 1
      } else {
        exchange.instructions.tallies.propertiesNotImplemented += 1
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
      note(device, .exchange(.modelAsked))
      devices[device].session!.reply = .model
    case .sendProperties:
      note(device, .exchange(.propertiesAsked))
      devices[device].session!.reply = .properties
    case .evaluate:
      note(device, .exchange(.evaluationAsked))
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
    let message = inputs.server.messageBytes
    switch session.reply {
    case .model:
      startRequest(
        device, .reply, .sendModel(participation: participation), bytes: givenModelBytes)
    case .properties:
      let isImplemented = inputs.fleet[Int(devices[device].group)].protocol?.properties == true
      startRequest(
        device, .reply, .properties(isImplemented: isImplemented), bytes: message)
    case .evaluation:
      startRequest(
        device, .reply,
        .evaluated(
          participation: participation, hasSamples: exchange.clients[device].hasSamples),
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
