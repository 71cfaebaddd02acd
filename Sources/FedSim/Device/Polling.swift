import Numerics

/// Polls that are foreseen: where a device that asks for work again and again can only be turned
/// away, its requests are booked in closed form until something changes the answer.
///
/// Everything is as if they had been played: the digest of events and their count, each event's
/// number, bytes, ledgers, and the order in which devices reach the server.
enum Polling {
  /// Whether polls may be foreseen in this run at all: where nobody looks at every event, the
  /// selector says when it is closed, and a request meets nothing else on its way.
  static func isPossible(_ devices: borrowing Devices, _ cx: inout Context) -> Bool {
    let server = cx.inputs.server
    guard cx.inputs.shortcuts.foreseesPolls, !cx.audience.wantsEveryEvent,
      cx.inputs.shakeTies == nil,
      server.selector.value.saysWhenClosed, !cx.features.isOn, !cx.features.readsBeliefs,
      !cx.features.limitsCellularBytes, cx.inputs.program == nil, server.retry == nil,
      server.service == nil, server.restarts == nil, server.aggregationTime == nil,
      server.central == nil, !cx.collection.isOn, server.broadcast != .afterAggregation,
      devices.identities.isEmpty, !devices.fleetTables.mayQueue, cx.network.server.staysOnline,
      cx.network.server.isReachable, cx.world.next(.reachable, after: cx.now) == nil,
      devices.count < PhaseList.Key.deviceLimit
    else { return false }
    return cx.inputs.fleet.contains { $0.participation.repeats && $0.battery == nil }
  }

  /// A device that was turned away waits for its next poll; false where that is not foreseen.
  static func begin(_ device: Int, _ devices: inout Devices, _ cx: inout Context) -> Bool {
    guard cx.agenda.pollers.closedUntil != nil, isForeseen(device, devices, cx),
      let rhythm = rhythm(of: device, devices, cx), rhythm.isRegular,
      let number = cx.agenda.pollers.number(of: rhythm)
    else { return false }
    let time = cx.now + SimDuration(microseconds: rhythm.pause)
    guard time <= cx.end else { return false }
    cx.participations.stop(devices[device].session!.participation, .session(.rejected))
    devices[device].session!.tries = 0
    devices[device].session!.hasGivenUp = false
    devices[device].session!.stage = .check
    devices[device].session!.isPausing = true
    let actor = Int32(device + 1)
    let timer = cx.agenda.queue.cancel(requestTimer(device), at: nil, of: actor)
    let sequence = cx.agenda.queue[sequenceOf: actor]
    cx.agenda.pollers.insert(
      Poller(
        device: Int32(device), rhythm: number, time: time.microseconds, sequence: sequence,
        next: sequence &+ 1, timer: timer?.time.microseconds ?? .max,
        timerSequence: timer?.sequence ?? 0, isTimed: cx.network[device].isTimeoutPending,
        generation: cx.network[device].generation, heldVersion: devices[device].heldVersion))
    return true
  }

  /// Whether a device that was turned away does nothing but ask again, until something happens to
  /// it.
  private static func isForeseen(
    _ device: Int, _ devices: borrowing Devices, _ cx: borrowing Context
  ) -> Bool {
    guard let session = devices[device].session, !session.kind.isPoll, session.participation >= 0,
      !session.hasExpired, !session.isExpiring, !session.isCompleted, !session.isStuck,
      !cx.participations.has(session.participation, reached: .accepted),
      devices[device].outbox.isEmpty, !devices[device].isRunning,
      !Body.hasBody(device, devices), cx.network[device].isConnected,
      cx.network[device].awaitedLink == 0, !cx.network[device].isBusy
    else { return false }
    return true
  }

  /// How a device asks again; nil: it does not, or its link has no rate.
  private static func rhythm(
    of device: Int, _ devices: borrowing Devices, _ cx: borrowing Context
  ) -> PollRhythm? {
    let rates = cx.network[device].rates
    guard let pause = Session.repetition(device, devices, cx), rates.up.bitsPerSecond > 0,
      rates.down.bitsPerSecond > 0
    else { return nil }
    let (up, down) = (WireSize.bytes(of: .check, cx), WireSize.bytes(of: .checkAnswer, cx))
    let network = cx.inputs.fleet[Int(devices[device].group)].network
    return PollRhythm(
      sending: rates.up.duration(bytes: up, less: 0).microseconds,
      oneWay: rates.oneWay.microseconds,
      receiving: rates.down.duration(bytes: down, less: 0).microseconds,
      pause: pause.microseconds, timeout: network.requestTimeout.microseconds,
      link: cx.network[device].link, bytesUp: up, bytesDown: down)
  }

  /// A device is played again, from a place on: all that it did before is booked, its request under
  /// way is there, and its next event is in the queue.
  static func wake(
    _ device: Int, at place: EventPlace, _ server: borrowing Server, _ devices: inout Devices,
    _ cx: inout Context
  ) {
    let sums = cx.agenda.pollers.play(
      device, before: place, until: cx.end, latest: server.version, round: server.openRound.number)
    book(sums, &cx)
    bookBytes(of: device, up: sums.up, down: sums.down, &cx)
    let poller = cx.agenda.pollers.remove(device)
    let rhythm = cx.agenda.pollers.rhythm(of: poller)
    let participation = devices[device].session!.participation
    let request = Request.check(heldVersion: poller.heldVersion, participation: participation)
    cx.network[device].generation = poller.generation
    cx.network[device].isTimeoutPending = poller.isTimed
    if poller.step != .pauseEnd {
      devices[device].session!.isPausing = false
      cx.participations.resume(participation)
      cx.network.open(transfer(poller, rhythm, request), of: device)
    }
    if poller.step == .arrival { cx.participations.hold(participation) }
    schedule(poller, request, devices[device].session!.generation, &cx)
  }

  /// Puts the next event, and the timer of requests, into the queue, with the numbers they have.
  private static func schedule(
    _ poller: Poller, _ request: Request, _ session: UInt32, _ cx: inout Context
  ) {
    func push(_ event: Event, _ eventClass: EventClass, at microseconds: Int64, _ number: UInt32) {
      let time = SimTime(microseconds: microseconds)
      guard time <= cx.end else { return }
      cx.agenda.queue.push(
        EventQueue.Entry(
          time: time, eventClass: eventClass, actor: poller.actor, sequence: number, event: event))
    }
    let event = event(of: poller, request, session)
    push(event, poller.step.eventClass, at: poller.time, poller.sequence)
    if poller.timer != .max {
      push(requestTimer(Int(poller.device)), .deviceTimer, at: poller.timer, poller.timerSequence)
    }
    cx.agenda.queue[sequenceOf: poller.actor] = poller.next
  }

  private static func requestTimer(_ device: Int) -> Event {
    .deviceTimer(.requestTimeout, device: Int32(device), generation: 0)
  }

  /// The request that is under way.
  private static func transfer(
    _ poller: Poller, _ rhythm: PollRhythm, _ request: Request
  ) -> Transfer {
    // The number of the request, and how long it has been under way.
    let (id, age): (UInt32, Int64) =
      switch poller.step {
      case .pauseEnd, .sent: (poller.generation - 1, rhythm.sending)
      case .arrival: (poller.generation - 1, rhythm.untilArrival)
      case .answer: (poller.generation - 1, rhythm.untilArrival + rhythm.oneWay)
      case .received:
        (poller.generation - 2, rhythm.untilArrival + rhythm.oneWay + rhythm.receiving)
      }
    let begun = poller.time - age
    var transfer = Transfer(
      purpose: .check, request: request, id: id, plan: poller.generation,
      remaining: rhythm.bytesUp, since: SimTime(microseconds: begun))
    guard poller.step != .sent else { return transfer }
    _ = transfer.leave(
      due: SimTime(microseconds: begun + rhythm.sending + rhythm.timeout))
    transfer.carried.add(link: rhythm.link, up: rhythm.bytesUp, down: 0)
    if poller.step == .received {
      transfer.receive(response(poller), rhythm.bytesDown)
      transfer.since = SimTime(microseconds: poller.time - rhythm.receiving)
    }
    return transfer
  }

  private static func response(_ poller: Poller) -> Response {
    .check(latest: poller.latest, isOnline: true, admission: .rejected, round: poller.round)
  }

  /// The event that comes next.
  private static func event(
    of poller: Poller, _ request: Request, _ session: UInt32
  ) -> Event {
    let (device, generation) = (poller.device, poller.generation)
    return switch poller.step {
    case .pauseEnd: .deviceTimer(.sessionPause, device: device, generation: session)
    case .sent, .received: .transferEnd(device: device, generation: generation)
    case .arrival: .arrival(device: device, generation: generation - 1, request)
    case .answer:
      .response(device: device, generation: generation - 1, response(poller))
    }
  }

  // MARK: The books

  /// Books all polls up to the event under way; before the server's version or round is another,
  /// and before somebody looks.
  static func settle(_ server: borrowing Server, _ cx: inout Context) {
    guard !cx.agenda.pollers.isEmpty else { return }
    // They are taken out of the context while the books in it change.
    var pollers = Pollers()
    swap(&pollers, &cx.agenda.pollers)
    let sums = pollers.playAll(
      until: cx.end, latest: server.version, round: server.openRound.number
    ) { device, up, down in bookBytes(of: device, up: up, down: down, &cx) }
    swap(&pollers, &cx.agenda.pollers)
    book(sums, &cx)
  }

  private static func bookBytes(of device: Int, up: Int64, down: Int64, _ cx: inout Context) {
    guard up + down > 0 else { return }
    cx.books.activity[device].bytesUp += up
    cx.books.activity[device].bytesDown += down
  }

  private static func book(_ sums: PollSums, _ cx: inout Context) {
    cx.books.tallies.events += sums.events
    cx.books.tallies.cancelledEvents += sums.rings
    cx.books.ledgers.transmissions.open(sums.opened)
    cx.books.ledgers.transmissions.close(.delivered, sums.closed)
    cx.books.ledgers.bytesUp += sums.up
    cx.books.ledgers.bytesDown += sums.down
    cx.books.traffic.book(sums.carried, .delivered)
    cx.books.progress.book(
      Progress(bytesUp: sums.up, bytesDown: sums.down), at: cx.played, isAhead: false,
      played: cx.played)
  }
}
