extension Simulation {
  /// Begins a run that is played step by step, with `step` until it says no and then `conclude`.
  package mutating func begin(_ observers: [any Observer]) {
    cx.audience.seat(observers)
    begin()
  }

  /// Plays the next event of all; false: the run is over.
  package mutating func step() -> Bool { !cx.isOver && playNext() }

  /// Ends what is still open.
  package mutating func conclude() {
    finish()
    for observer in cx.audience.observers { observer.ended(self) }
    cx.audience.seat([])
  }
}
