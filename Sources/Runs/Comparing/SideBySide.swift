import FedSim
import Scenarios

/// Two stored runs, played again next to each other.
struct SideBySide {
  /// The first event at which they diverge; nil: they do not.
  let difference: EventDifference?
  /// Files whose events and ledgers are not reproduced.
  let notReproduced: [String]

  /// Plays two runs, events compared one after the other in their total order.
  ///
  /// Trainings are left out where no value decides; if a file's digest is not reproduced then, both
  /// are played once more with everything computed.
  /// Throws: `RunFailure.input` for files that are missing, wrong, or not as they were.
  init(_ a: StoredRun, _ b: StoredRun, _ options: RunOptions) throws(RunFailure) {
    var inputs = (try a.inputs(options), try b.inputs(options))
    let learns = (!inputs.0.omitsArithmetic, !inputs.1.omitsArithmetic)
    inputs.0.omitsArithmetic = !learns.0 || !inputs.0.followsLearning
    inputs.1.omitsArithmetic = !learns.1 || !inputs.1.followsLearning
    var result = Self.play(inputs.0, inputs.1)
    var isSame = (a.isSame(result.a), b.isSame(result.b))
    let wasBare = (
      learns.0 && inputs.0.omitsArithmetic, learns.1 && inputs.1.omitsArithmetic
    )
    if (!isSame.0 && wasBare.0) || (!isSame.1 && wasBare.1) {
      (inputs.0.omitsArithmetic, inputs.1.omitsArithmetic) = (!learns.0, !learns.1)
      result = Self.play(inputs.0, inputs.1)
      isSame = (a.isSame(result.a), b.isSame(result.b))
    }
    difference = result.difference
    notReproduced = (isSame.0 ? [] : [a.path]) + (isSame.1 ? [] : [b.path])
  }

  private static func play(
    _ a: SimulationInputs, _ b: SimulationInputs
  ) -> (difference: EventDifference?, a: Simulation, b: Simulation) {
    var first = SteppedRun(a)
    var second = SteppedRun(b)
    var index = 0
    var difference: EventDifference?
    var numbers: EventDifference?
    func part(
      _ kind: EventDifference.Kind, _ steps: (EventWatch.Step?, EventWatch.Step?)
    ) -> EventDifference {
      EventDifference(
        index: index, kind: kind, numbersFrom: numbers?.index,
        a: steps.0.map { EventDifference.Side($0, a) },
        b: steps.1.map { EventDifference.Side($0, b) })
    }
    while difference == nil {
      let steps = (first.next(), second.next())
      if steps.0 == nil, steps.1 == nil { break }
      if let x = steps.0, let y = steps.1, x.observed == y.observed {
        let isSame = x.isSameEvent(as: y)
        if isSame || x.isSameButForNumber(as: y) {
          if !isSame, numbers == nil { numbers = part(.number, steps) }
          index += 1
          continue
        }
      }
      difference = part(EventDifference.Kind(steps.0, steps.1, &first, &second), steps)
    }
    first.finish()
    second.finish()
    // Numbers count only where nothing else differs.
    return (difference ?? numbers, first.simulation, second.simulation)
  }
}

/// The first event at which two runs diverge.
public struct EventDifference: Codable, Equatable, Sendable {
  /// How they diverge there.
  public enum Kind: String, Codable, CaseIterable, Sendable {
    /// Both come, in another order: a tie was decided otherwise.
    case order
    /// The event is the same, and what came of it is not.
    case outcome
    /// All events are the same but for their numbers: one run had scheduled more before this one.
    case number
    /// The events are others.
    case event
    /// One run is over.
    case end
  }

  /// What one run did there.
  public struct Side: Codable, Equatable, Sendable {
    /// Virtual time, in seconds.
    public var time: Double
    /// The device's path; `server` where it is no device's.
    public var actor: String
    /// The class of the event, which orders events of one time; nil where rows of the event log
    /// were compared.
    public var eventClass: String?
    /// Which of the actor's events it is, of all that were ever scheduled, from 0.
    public var sequence: Int?
    /// The event in words, or the row of the event log.
    public var event: String
    /// What came of it, in the words of the event log.
    public var happened: [String]
  }

  /// How many events, or rows of the event log, are the same before.
  public var index: Int
  /// How they diverge.
  public var kind: Kind
  /// The first of them that has another number in its actor's count of all that it scheduled, which
  /// is no difference yet; nil: none.
  public var numbersFrom: Int?
  /// What the first run did; nil: it was over.
  public var a: Side?
  /// What the second run did; nil: it was over.
  public var b: Side?
}

extension EventDifference.Kind {
  /// How two runs diverge at these events; plays both on to the end of their time where needed.
  init(
    _ a: EventWatch.Step?, _ b: EventWatch.Step?, _ first: inout SteppedRun,
    _ second: inout SteppedRun
  ) {
    guard let a, let b else {
      self = .end
      return
    }
    if a.isSameEvent(as: b) || a.isSameButForNumber(as: b) {
      self = .outcome
    } else if a.time == b.time, a.eventClass == b.eventClass, a.device != b.device,
      Self.comes(b, in: &first), Self.comes(a, in: &second)
    {
      self = .order
    } else {
      self = .event
    }
  }

  /// Whether an event comes later at the same time.
  private static func comes(_ step: EventWatch.Step, in run: inout SteppedRun) -> Bool {
    while let next = run.next(), next.time == step.time {
      if next.isSameButForNumber(as: step) { return true }
    }
    return false
  }
}

extension EventDifference.Side {
  init(_ step: EventWatch.Step, _ inputs: SimulationInputs) {
    time = step.time.seconds
    actor = step.device.map { Self.path(of: $0, inputs.fleet) } ?? "server"
    eventClass = step.eventClass.map { "\($0)" }
    sequence = step.sequence
    event = step.event.words
    happened = step.observed.map { event in
      guard event.device >= 0 else { return "server: \(event.words)" }
      let isOwn = event.device == step.device
      let path = Self.path(of: event.device, inputs.fleet)
      return isOwn ? event.words : "\(path): \(event.words)"
    }
  }

  /// A device's path, such as `phones/17`.
  static func path(of device: Int, _ fleet: [FleetGroupSettings]) -> String {
    var first = 0
    for group in fleet {
      if device < first + group.count { return "\(group.name)/\(device - first)" }
      first += group.count
    }
    return "device \(device)"
  }
}
