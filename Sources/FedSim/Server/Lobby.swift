import Numerics

/// Who asks for work, who waits, and who is let in.
enum Lobby {
  /// Tells the selector the outcome of a device, if it wants to know.
  static func tell(_ news: DeviceNews, of device: Int, _ server: inout Server, _ cx: inout Context)
  {
    let selector = cx.inputs.server.selector.value
    guard selector.needs.contains(.news) else { return }
    cx.agenda.pollers.isStale = true
    let view = Facts.serverView(server, cx)
    selector.hear(news, from: device, view, with: &server.memories.selector)
  }

  /// The updates of devices that were held are aggregated, or given up: the devices are answered as
  /// if they had asked now.
  ///
  /// Order: of the fleet.
  static func releaseWaiting(_ server: inout Server, _ cx: inout Context) {
    for held in server.waiting.inOrder() where server.copies[held.device] == 0 {
      let request = server.waiting.remove(held.device)!
      let checkIn = CheckIn(device: held.device, heldVersion: held.heldVersion)
      switch Facts.askSelector(about: checkIn, &server, &cx) {
      case .accept:
        Facts.letIn(held.device, request.participation, &server, &cx)
        answerCheck(
          held.device, request.generation, held: held.heldVersion, .accepted, &server, &cx)
      case .reject, .wait:
        Pacing.turnAway(
          held.device, request.generation, held: held.heldVersion, &server, &cx)
      }
      cx.participations.letGo(request.participation)
    }
  }
}

extension Lobby {
  /// Asks the selector about a device that checks in.
  static func admit(
    _ checkIn: CheckIn, _ generation: UInt32, _ participation: Int32, _ isAbandoned: Bool,
    _ server: inout Server, _ cx: inout Context
  ) {
    let device = checkIn.device
    if checkIn.hasPending, cx.inputs.server.broadcast == .afterAggregation {
      if !isAbandoned { keepWaiting(checkIn, generation, participation, &server, &cx) }
      return
    }
    switch Facts.askSelector(about: checkIn, &server, &cx) {
    case .accept:
      Facts.letIn(device, participation, &server, &cx)
      answerCheck(device, generation, held: checkIn.heldVersion, .accepted, &server, &cx)
    case .reject:
      Pacing.turnAway(device, generation, held: checkIn.heldVersion, &server, &cx)
    case .wait where Pacing.isFull(server, cx):
      Pacing.turnAway(device, generation, held: checkIn.heldVersion, &server, &cx)
    case .wait:
      if let answer = cx.features.serverDialect?.beforeWaiting(device, &server, cx) {
        answerCheck(device, generation, held: checkIn.heldVersion, answer, &server, &cx)
      } else if !isAbandoned {
        keepWaiting(checkIn, generation, participation, &server, &cx)
      }
    }
  }

  /// A device waits for a cohort.
  private static func keepWaiting(
    _ checkIn: CheckIn, _ generation: UInt32, _ participation: Int32, _ server: inout Server,
    _ cx: inout Context
  ) {
    let device = checkIn.device
    cx.network.hold(generation, of: device)
    forget(device, &server, &cx)
    server.waiting.insert(checkIn, .init(generation: generation, participation: participation))
    cx.participations.hold(participation)
    server.waitingPeak = max(server.waitingPeak, server.waiting.count)
    cx.note(device, .waited(round: Int(server.openRound.number)))
    formCohort(&server, &cx)
  }

  /// A device no longer waits for a cohort, if it did.
  static func forget(_ device: Int, _ server: inout Server, _ cx: inout Context) {
    guard let request = server.waiting.remove(device) else { return }
    cx.participations.letGo(request.participation)
  }

  /// Answers a request for work of a device that holds version `held`; −1: none.
  static func answerCheck(
    _ device: Int, _ generation: UInt32, held: Int, _ answer: CheckAnswer, round: Int32? = nil,
    _ server: inout Server, _ cx: inout Context
  ) {
    // A device that keeps no copy of the version that it holds uses the server's.
    if held == Int(server.version) || Streams.carriesModel(device, generation, answer, cx) {
      cx.network.lend(server.model, to: generation, of: device)
    }
    Requests.answer(
      device, generation,
      .check(
        latest: server.instructions.awaitsModel ? -1 : server.version,
        isOnline: cx.network.server.believesOnline, admission: answer,
        round: round ?? server.openRound.number), &cx)
  }

  /// Forms the round's cohort once the selector finds enough devices waiting.
  static func formCohort(_ server: inout Server, _ cx: inout Context) {
    let selector = cx.inputs.server.selector.value
    guard selector.formsCohorts, !server.waiting.isEmpty else { return }
    if let dialect = cx.features.serverDialect,
      dialect.beforeCohort(&server, &cx) == .otherWork
    {
      return
    }
    guard server.openRound.cohortGoal == nil else { return }
    guard let chosen = Facts.chooseCohort(&server, &cx) else { return }
    let cohort = Stragglers.drawn(
      from: chosen.members.sorted(), goal: chosen.goal, server, &cx)
    server.openRound.cohortGoal = cohort.goal
    server.openRound.cohortSize = cohort.members.count
    Privacy.noteSampling(of: cohort.members.count, &server, &cx)
    cx.note(-1, .cohortFormed(round: Int(server.openRound.number), members: cohort.members.count))
    let members = cohort.members
    for place in members {
      let (checkIn, request) = (server.waiting[place], server.waiting.request(at: place))
      Facts.letIn(checkIn.device, request.participation, &server, &cx)
      answerCheck(
        checkIn.device, request.generation, held: checkIn.heldVersion, .accepted, &server, &cx)
    }
    cx.audience.announce(
      .trainingsComing(
        members.map { server.waiting[$0].device }, from: server.model, isBeforehand: false))
    for place in members.reversed() {
      cx.participations.letGo(server.waiting.request(at: place).participation)
    }
    server.waiting.remove(at: members)
    Pacing.turnAwayRest(&server, &cx)
    for (index, trigger) in cx.inputs.server.trigger.enumerated() {
      if case .afterCohort(let duration) = trigger.value.timer {
        cx.schedule(
          .serverTimer(.trigger(Int32(index), round: server.openRound.number)), .serverTimer,
          at: cx.now + duration, by: nil)
      }
    }
  }
}
