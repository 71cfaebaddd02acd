extension Simulation {
  /// Turns that were taken, each with what was played on in it.
  public var turnsTaken: Int { turns }

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
    cx.audience.seat(observers)
    defer { cx.audience.seat([]) }
    begin()
    while !cx.isOver, playNext() {
      if turns % period == 0 { try between(self) }
    }
    finish()
    for observer in observers { observer.ended(self) }
  }

  /// Tells the observers, and publishes the initial model where the run has not begun.
  mutating func begin() {
    let isResumed = hasBegun
    hasBegun = true
    for observer in cx.audience.observers {
      if isResumed { observer.resumed(self) } else { observer.began(self) }
    }
    cx.audience.ask()
    let ahead = PlayingAhead.makePlayingAhead(&devices, &cx)
    // What is played on while apps run was decided as the run began.
    if isResumed { self.cx.ahead.isOn = ahead.isOn } else { self.cx.ahead = ahead }
    guard !isResumed else { return }
    if !server.instructions.awaitsModel { Publication.publishInitialModel(&server, &cx) }
    deliver()
    if cx.inputs.stopsWhenStuck { checkForStall() }
  }
}
