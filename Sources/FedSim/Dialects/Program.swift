import Numerics

/// A program in place of a policy, such as Flower's ServerApp: its messages to devices, and how
/// they end.
enum Program {
  /// The program begins with the run.
  static func begin(_ server: inout Server, _ cx: inout Context) {
    server.instructions.program = ProgramState()
    cx.inputs.program!.begin(clients: cx.members.clients)
    call(at: cx.now, &server, &cx)
  }

  /// The program is called at a time, after all else that happens then.
  private static func call(at time: SimTime, _ server: inout Server, _ cx: inout Context) {
    cx.schedule(
      .serverTimer(.program(server.instructions.program!.call)), .snapshot, at: time, by: nil)
  }

  // MARK: The program

  /// The program goes its way until it waits; false where that call is void.
  static func proceed(_ call: Int32, _ server: inout Server, _ cx: inout Context) -> Bool {
    guard server.instructions.program!.call == call, !cx.isOver else { return false }
    server.instructions.program!.call += 1
    server.instructions.program!.awaited = []
    server.instructions.program!.pollsSince = nil
    let moment = ProgramMoment(
      now: cx.now, online: online(server), ended: server.instructions.program!.ended)
    server.instructions.program!.ended = []
    for command in cx.inputs.program!.proceed(moment) { carryOut(command, &server, &cx) }
    noteCohort(&server, &cx)
    deal(&server, &cx)
    return true
  }

  /// The devices that wait or work, as far as the server knows.
  private static func online(_ server: borrowing Server) -> [Int] {
    var devices = server.instructions.program!.given.map { Int($0.device) }
    server.waiting.forEachDevice { devices.append($0) }
    devices.sort()
    var found: [Int] = []
    for device in devices where found.last != device { found.append(device) }
    return found
  }

  private static func carryOut(
    _ command: ProgramCommand, _ server: inout Server, _ cx: inout Context
  ) {
    switch command {
    case .sizes(let instruction, let reply):
      cx.wireSizes = (upload: reply, download: instruction)
    case .send(let message, let device, let work, let expires):
      send(message, to: device, work, expires: expires, &server, &cx)
    case .closeRound: closeRound(&server, &cx)
    case .closeEvaluation(let examples, let loss, let accuracy):
      guard let round = server.instructions.evaluation?.round else { break }
      server.instructions.evaluation!.told = .init(
        examples: examples, loss: loss, accuracy: accuracy)
      _ = EvaluationRound.evaluationTimedOut(round, &server, &cx)
    case .wait(let messages, let until):
      let open = server.instructions.program!
      server.instructions.program!.awaited = messages.filter { number in
        open.queued.contains { $0.number == number } || open.given.contains { $0.number == number }
      }
      if let until { call(at: max(cx.now, until), &server, &cx) }
    case .poll(let period):
      server.instructions.program!.pollsSince = cx.now
      server.instructions.program!.pollPeriod = period
    case .end:
      if server.openRound.cohortGoal != nil { closeRound(&server, &cx) }
      cx.isOver = true
    }
  }

  private static func send(
    _ message: Int, to device: Int, _ work: ProgramCommand.Work, expires: SimTime,
    _ server: inout Server, _ cx: inout Context
  ) {
    var round: Int32 = 0
    if work == .train {
      round = server.openRound.number
      server.openRound.cohortGoal = (server.openRound.cohortGoal ?? 0) + 1
      server.openRound.cohortSize += 1
      server.instructions.program!.chosen += 1
    } else if work == .evaluate, server.instructions.evaluation == nil {
      server.instructions.evaluation = EvaluationRound(
        round: server.openRound.number - 1, begunAt: cx.now)
    }
    server.instructions.program!.queued.append(
      .init(
        number: message, device: Int32(device), work: work, round: round, expires: expires))
  }

  /// Notes the members of the open round that the program has chosen in this call.
  private static func noteCohort(_ server: inout Server, _ cx: inout Context) {
    let chosen = server.instructions.program!.chosen
    server.instructions.program!.chosen = 0
    guard chosen > 0 else { return }
    cx.note(-1, .cohortFormed(round: Int(server.openRound.number), members: chosen))
  }

  private static func closeRound(_ server: inout Server, _ cx: inout Context) {
    if server.pending.isEmpty {
      Rounds.skipRound(&server, &cx)
    } else {
      Aggregating.aggregate(&server, &cx)
    }
  }

  // MARK: Devices

  /// Devices wait: one that was not there before is seen by a program that looks for devices, and
  /// is given what is queued for it.
  static func devicesWait(_ server: inout Server, _ cx: inout Context) {
    look(&server, &cx)
    deal(&server, &cx)
  }

  private static func look(_ server: inout Server, _ cx: inout Context) {
    guard let since = server.instructions.program!.pollsSince else { return }
    server.instructions.program!.pollsSince = nil
    let period = server.instructions.program!.pollPeriod.microseconds
    let times = max(1, ((cx.now - since).microseconds + period - 1) / period)
    call(at: since + SimDuration(microseconds: times * period), &server, &cx)
  }

  /// Gives the devices that wait what is queued for them, in device order.
  private static func deal(_ server: inout Server, _ cx: inout Context) {
    let now = cx.now
    server.instructions.program!.queued.removeAll { $0.expires < now }
    guard !server.instructions.program!.queued.isEmpty, !cx.isOver else { return }
    for checkIn in server.waiting.inOrder() {
      guard
        let next = server.instructions.program!.queued.firstIndex(where: {
          Int($0.device) == checkIn.device
        })
      else { continue }
      give(server.instructions.program!.queued.remove(at: next), to: checkIn, &server, &cx)
    }
  }

  /// Gives a message to a device that waits.
  private static func give(
    _ message: ProgramState.Message, to checkIn: CheckIn, _ server: inout Server,
    _ cx: inout Context
  ) {
    let (device, held) = (checkIn.device, checkIn.heldVersion)
    let request = server.waiting.remove(device)!
    var given = message
    given.participation = request.participation
    server.instructions.program!.given.append(given)
    let answer: CheckAnswer
    // An evaluation's participation is held until its answer has come.
    var isHeld = false
    switch message.work {
    case .train:
      cx.participations.accept(request.participation, into: message.round)
      answer = .accepted
    case .evaluate:
      server.instructions.evaluation?.members += 1
      server.instructions.evaluation?.pending.append(request.participation)
      isHeld = server.instructions.evaluation != nil
      answer = .evaluate
    case .query: answer = .sendProperties
    case .model: answer = .sendModel
    }
    if message.work != .train { cx.participations.setOutstanding(request.participation, true) }
    Lobby.answerCheck(
      device, request.generation, held: held, answer,
      round: message.round > 0 ? message.round : server.openRound.number, &server, &cx)
    if !isHeld { cx.participations.letGo(request.participation) }
  }

  // MARK: Ends

  /// The answer of a participation has come, or never will.
  static func ended(
    _ participation: Int32, isReply: Bool, _ server: inout Server, _ cx: inout Context
  ) {
    guard
      let place = server.instructions.program!.given.firstIndex(where: {
        $0.participation == participation
      })
    else { return }
    let device = server.instructions.program!.given[place].device
    end(at: place, isReply: isReply, &server, &cx)
    // What is queued for a device that is gone fails with it.
    while !isReply,
      let next = server.instructions.program!.queued.firstIndex(where: { $0.device == device })
    {
      let message = server.instructions.program!.queued.remove(at: next)
      note(.init(message: message.number, isReply: false), &server, &cx)
    }
  }

  /// A device has answered what is no training and no evaluation.
  static func answered(_ device: Int, _ server: inout Server, _ cx: inout Context) {
    guard
      let place = server.instructions.program!.given.firstIndex(where: {
        Int($0.device) == device && ($0.work == .query || $0.work == .model)
      })
    else { return }
    let participation = server.instructions.program!.given[place].participation
    cx.participations.setOutstanding(participation, false)
    end(at: place, isReply: true, &server, &cx)
  }

  private static func end(
    at place: Int, isReply: Bool, _ server: inout Server, _ cx: inout Context
  ) {
    let message = server.instructions.program!.given.remove(at: place)
    note(.init(message: message.number, isReply: isReply), &server, &cx)
  }

  /// A message has ended: where it was the last that the program waits for, it is called.
  private static func note(
    _ end: ProgramMoment.End, _ server: inout Server, _ cx: inout Context
  ) {
    server.instructions.program!.ended.append(end)
    guard let awaited = server.instructions.program!.awaited.firstIndex(of: end.message) else {
      return
    }
    server.instructions.program!.awaited.remove(at: awaited)
    if server.instructions.program!.awaited.isEmpty { call(at: cx.now, &server, &cx) }
  }
}
