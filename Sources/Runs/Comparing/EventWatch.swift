import FedSim

/// Passes on what a run does, event by event, with what came of each.
final class EventWatch: Observer {
  /// An event that was handled.
  struct Step {
    let time: SimTime
    let eventClass: EventClass?
    /// The device; nil: the server, or a script.
    let device: Int?
    /// Which of its actor's events, of all that were ever scheduled.
    let sequence: Int
    /// The event's part in the digest of the run.
    let print: UInt64
    let event: Event
    let observed: [ObservedEvent]

    /// Whether the events are the same in all, whatever came of them.
    func isSameEvent(as other: Step) -> Bool {
      print == other.print && time == other.time && eventClass == other.eventClass
        && device == other.device && sequence == other.sequence
    }

    /// The same but for their numbers.
    func isSameButForNumber(as other: Step) -> Bool {
      time == other.time && eventClass == other.eventClass && device == other.device
        && event.words == other.event.words
    }
  }

  /// Events that were handled and not yet taken.
  var steps: [Step] = []
  /// Whether any more are wanted.
  var isWatching = true
  private var digest: UInt64 = 0
  private var observed: [ObservedEvent] = []

  var wantsEveryEvent: Bool { true }

  /// Forgets what happened before the first event: the initial model is published.
  func forgetBeginning() { observed = [] }

  func happened(_ event: ObservedEvent) {
    if isWatching { observed.append(event) }
  }

  func handled(_ event: Event, at time: SimTime, _ simulation: borrowing Simulation) {
    guard isWatching else { return }
    let now = simulation.eventDigest
    steps.append(
      Step(
        time: time, eventClass: now.lastClass, device: event.device, sequence: now.lastSequence,
        print: now.value &- digest, event: event, observed: observed))
    digest = now.value
    observed = []
  }
}

/// A run that is played as far as somebody asks.
struct SteppedRun {
  private(set) var simulation: Simulation
  private let watch = EventWatch()

  /// The run at its start.
  init(_ inputs: SimulationInputs) {
    simulation = Simulation(inputs)
    simulation.begin([watch])
    watch.forgetBeginning()
  }

  /// The next event; nil: the run is over.
  mutating func next() -> EventWatch.Step? {
    while watch.steps.isEmpty {
      guard simulation.step() else { return nil }
    }
    return watch.steps.removeFirst()
  }

  /// Plays on to the end.
  mutating func finish() {
    watch.isWatching = false
    while simulation.step() {}
    simulation.conclude()
  }
}
