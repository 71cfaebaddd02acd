import Numerics
import Schema

/// States that follow one another at random, each held for an exponential time.
public struct MarkovSource: TimelineSource {
  /// Its name in a scenario.
  public static let name = "markov"
  /// What it does, in one sentence.
  public static let summary = "States held for exponential times, each next one drawn by weight"

  /// One state.
  public struct State: PartSettings {
    /// The state.
    public var state = StateName("")
    /// How long it is held, on average.
    public var mean = SimDuration.hours(1)
    /// Its weight among the states that may come next.
    public var weight = 1.0

    /// The defaults.
    public init() {}
    /// The fields, in the order in which they are documented and written.
    public static var fields: [Field<State>] {
      [
        Field("state", \.state, .state, required: true, "The state"),
        Field(
          "mean", \.mean, .duration(atLeast: .seconds(1)), required: true,
          "How long it is held on average"),
        Field("weight", \.weight, .positive, "Its weight among the states that may come next"),
      ]
    }
  }

  /// What can be set.
  public struct Settings: PartSettings {
    /// The states.
    public var states: [State] = []

    /// The defaults.
    public init() {}
    /// The field that a bare value stands for.
    public static var shorthand: String? { "states" }
    /// The fields, in the order in which they are documented and written.
    public static var fields: [Field<Settings>] {
      [
        Field(
          "states", \.states, .list(of: .settings(), minimum: 2), required: true,
          "The states, at least two")
      ]
    }
    /// What is wrong with values that are each in range.
    public func contradictions() -> [(key: String, message: String)] {
      for (index, state) in states.enumerated()
      where states[..<index].contains(where: { $0.state.name == state.state.name }) {
        return [("states", "the state `\(state.state.name)` stands twice")]
      }
      return []
    }
  }

  private let settings: Settings

  /// Made from its settings.
  public init(_ settings: Settings) { self.settings = settings }

  /// The states that its settings name.
  public var namedStates: [StateName] { settings.states.map(\.state) }

  /// The series of one device.
  public func timeline(_ context: TimelineContext) -> any Timeline {
    MarkovTimeline(settings.states, context)
  }
}

/// The path of one device through its states; the n-th interval draws from slot n.
///
/// The start is drawn from the stationary distribution: state i with weight wᵢ·(W − wᵢ)·meanᵢ.
/// Draws: slot 0 one `uniform` for the first state; slot n one `uniformAboveZero` for the length of
/// interval n and one `uniform` for what follows. Complexity: O(1) a question that goes on from the
/// last one, O(n) one that goes back.
struct MarkovTimeline: Timeline {
  private let states: [MarkovSource.State]
  private let numbers: [UInt8]
  private let key: StreamKey
  private var interval: UInt64 = 0
  private var current = 0
  private var start = SimTime.start
  private var end = SimTime.start

  init(_ states: [MarkovSource.State], _ context: TimelineContext) {
    self.states = states
    numbers = states.map { context.space.number(of: $0.state.name) ?? 0 }
    key = context.key
    rewind()
  }

  mutating func segment(at time: SimTime) -> Segment {
    if time < start { rewind() }
    while time >= end { advance() }
    // What lies before the start of the run belongs to the first interval.
    return Segment(start: start, end: end, state: numbers[current])
  }

  private mutating func rewind() {
    let total = states.reduce(0) { $0 + $1.weight }
    let shares = states.map { $0.weight * max(total - $0.weight, 0) * $0.mean.seconds }
    var stream = key.stream(slot: 0)
    current = pick(stream.uniform(), shares)
    start = .start
    interval = 0
    measure()
  }

  private mutating func measure() {
    var stream = key.stream(slot: interval + 1)
    let length = SimDuration(
      roundingUp: stream.exponential(mean: states[current].mean.seconds))
    end = start + max(length, SimDuration(microseconds: 1))
  }

  private mutating func advance() {
    var stream = key.stream(slot: interval + 1)
    _ = stream.uniformAboveZero()  // the length, drawn in `measure`
    let weights = states.enumerated().map { $0.offset == current ? 0 : $0.element.weight }
    current = pick(stream.uniform(), weights)
    start = end
    interval += 1
    measure()
  }

  private func pick(_ uniform: Double, _ weights: [Double]) -> Int {
    var rest = uniform * weights.reduce(0, +)
    for (index, weight) in weights.enumerated() where weight > 0 {
      rest -= weight
      if rest < 0 { return index }
    }
    return weights.lastIndex { $0 > 0 }!
  }
}
