extension Simulation {
  /// Begins a run that is played step by step, with `step` until it says no and then `conclude`.
  package mutating func begin(_ observers: [any Observer]) {
    self.observers = observers
    for observer in observers { observer.began(self) }
    wantsEveryEvent = observers.contains { $0.wantsEveryEvent }
    ahead = makePlayingAhead()
    if !exchange.instructions.awaitsModel { publishInitialModel() }
    if inputs.stopsWhenStuck { lookAhead() }
  }

  /// Plays the next event of all; false: the run is over.
  package mutating func step() -> Bool { !isOver && playNext() }

  /// Ends what is still open.
  package mutating func conclude() {
    finish()
    for observer in observers { observer.ended(self) }
    observers = []
  }
}
