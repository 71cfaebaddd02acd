extension Simulation {
  /// Plays to the end. Each observer sees every step, in the order of the list.
  public mutating func run(observers: [any Observer] = []) {
    run(observers: observers) { _ in }
  }

  /// Plays to the end, and hands itself over after every given number of turns: between two turns
  /// it may be saved.
  ///
  /// A run that was saved, or that `between` has stopped by throwing, resumes from where it
  /// stopped: its observers hear that it is `resumed`, and see what comes from then on.
  public mutating func run<Failure: Error>(
    observers: [any Observer] = [], every period: Int = 64,
    between: (borrowing Simulation) throws(Failure) -> Void
  ) throws(Failure) {
    precondition(period > 0, "turns are counted from 1")
    begin(observers)
    defer { cx.audience.seat([]) }
    while step() {
      if turns % period == 0 { try between(self) }
    }
    conclude()
  }

  /// Begins a run that is played step by step, with `step` until it says no and then `conclude`:
  /// tells the observers, and publishes the initial model where the run has not begun.
  package mutating func begin(_ observers: [any Observer]) {
    cx.audience.seat(observers)
    let isResumed = hasBegun
    hasBegun = true
    for observer in cx.audience.observers {
      if isResumed { observer.resumed(self) } else { observer.began(self) }
    }
    cx.audience.ask()
    let ahead = PlayingAhead.makePlayingAhead(&devices, &cx)
    // What is played on while apps run was decided as the run began.
    if isResumed { cx.ahead.isOn = ahead.isOn } else { cx.ahead = ahead }
    decideAboutPolls()
    guard !isResumed else { return }
    if !server.instructions.awaitsModel { Publication.publishInitialModel(&server, &cx) }
    deliver()
    if cx.inputs.stopsWhenStuck { stallCheck.endIfStuck(devices, server, &cx) }
  }

  /// Plays the next event of all; false: the run is over.
  package mutating func step() -> Bool { !cx.isOver && playNext() }

  /// Ends what is still open.
  package mutating func conclude() {
    wakeAll()
    Closing.closeRound(&server, &cx)
    deliver()
    Closing.closeBooks(&devices, &cx)
    deliver()
    for observer in cx.audience.observers { observer.ended(self) }
    cx.audience.seat([])
  }

  /// Plays what the current device does next as far as it is its own affair.
  mutating func playAhead(_ device: Int) {
    cx.ahead.isAhead = true
    while !cx.agenda.pollers.has(device), let next = cx.agenda.queue.upcoming,
      next.time < stallCheck.nextCheck,
      PlayingAhead.isOwnAffair(next.event, device, &devices, &server, &cx)
    {
      cx.agenda.queue.removeUpcoming()
      handle(next)
      cx.ahead.count += 1
    }
    cx.ahead.isAhead = false
  }

  /// What follows from an event besides what its handler does.
  @inline(__always)
  mutating func refresh(after event: Event, actor: Int32) {
    if !devices.bodies.isEmpty { Body.refreshBodies(after: event, actor: actor, &devices, &cx) }
    if !devices.identities.isEmpty {
      Heartbeat.refreshIdentities(after: event, actor: actor, &devices, &cx)
    }
    if actor > 0, devices[Int(actor) - 1].isSampled {
      Accounting.followHours(Int(actor) - 1, &devices, &cx)
    }
  }

  /// Asks for the memory of the devices that will most likely be next; of the first of them also
  /// for what is found through that memory. It pays where a fleet does not fit in a core's cache.
  mutating func prefetchNext(_ rows: DeviceRows) {
    let (first, fresh) = cx.agenda.queue.comingActors()
    for place in 0..<3 where fresh[place] > 0 { rows.prefetch(Int(fresh[place]) - 1) }
    guard first > 0 else { return }
    devices[Int(first) - 1].prefetchActiveState()
    cx.network.prefetchTransfer(Int(first) - 1)
  }

  /// Tells the observers what all of them hear of.
  mutating func deliver() {
    takePolls()
    for announcement in cx.audience.takeAnnouncements() {
      if case .trainingsComing(let members, let model, let isBeforehand) = announcement {
        Training.predict(members, from: model, isBeforehand: isBeforehand, &devices, &cx)
      }
      if case .companionsMade = announcement { ClientStates.letGoOfCompanions(devices, &cx) }
      for observer in cx.audience.observers {
        switch announcement {
        case .published(let record): observer.published(record, self)
        case .closed(let record): observer.closed(record, self)
        case .publishedCentrally(let version): observer.publishedCentrally(version, self)
        case .happened(let event): observer.happened(event)
        case .trainingsComing, .companionsMade: break
        }
      }
    }
  }

  /// Tells the observers that ask for it that the run continued.
  func tellAdvance() {
    for observer in cx.audience.observers where observer.wantsAdvance { observer.advanced(self) }
  }
}
