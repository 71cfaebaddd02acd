import Numerics
import Schema

/// States that follow one another at random, each held for an exponential time.
public struct MarkovSource: TimelineSource {
  public static let name = "markov"
  /// What it does, in one sentence.
  public static let summary = "States with exponential durations, each next state drawn by weight"

  /// One state.
  public struct State: PartSettings {
    /// The state.
    public var state = StateName("")
    /// How long it is held, on average.
    public var mean = SimDuration.hours(1)
    /// Its weight among the states that may come next.
    public var weight = 1.0

    public init() {}
    public static var fields: [Field<State>] {
      [
        Field("state", \.state, .state, required: true, "The state"),
        Field(
          "mean", \.mean, .duration(atLeast: .seconds(1)), required: true,
          "Mean duration"),
        Field(
          "weight", \.weight, .number(1e-30...1e30),
          "Weight of the state among the possible next states"),
      ]
    }
  }

  public struct Settings: PartSettings {
    /// The states.
    public var states: [State] = []

    public init() {}
    public static var shorthand: String? { "states" }
    public static var fields: [Field<Settings>] {
      [
        Field(
          "states", \.states, .list(of: .settings(), minimum: 2), required: true,
          "The states, at least two")
      ]
    }
    public func contradictions() -> [(key: String, message: String)] {
      for (index, state) in states.enumerated()
      where states[..<index].contains(where: { $0.state.name == state.state.name }) {
        return [("states", "the state `\(state.state.name)` appears twice")]
      }
      return []
    }
  }

  private let settings: Settings

  public init(_ settings: Settings) { self.settings = settings }

  public var namedStates: [StateName] { settings.states.map(\.state) }

  public func timeline(_ context: TimelineContext) -> any Timeline {
    MarkovTimeline(MarkovChain(settings.states, context.space), context.key)
  }

  /// The series of a group's devices.
  public func timelines(_ context: GroupContext) -> any GroupTimeline {
    MarkovTimelines(
      MarkovChain(settings.states, context.first.space), context.first.key, count: context.count)
  }
}

/// How states follow one another; the n-th interval of a path draws from slot n.
///
/// The start is drawn from the stationary distribution: state i with weight wᵢ·(W − wᵢ)·meanᵢ.
/// Draws: slot 0 one `uniform` for the first state; slot n one `uniformAboveZero` for the length of
/// interval n and one `uniform` for what follows.
struct MarkovChain {
  /// One state with what may follow it.
  private struct State {
    let number: UInt8
    let mean: Double
    let weight: Double
    /// The weight of it at the start.
    let share: Double
    /// The sum of the weights of all others.
    let others: Double
  }

  /// Where a path is.
  struct Place {
    var start = SimTime.start
    var end = SimTime.start
    /// The end of the interval after the present one, where the present one's number is odd.
    var laterEnd = SimTime.start
    var interval: UInt32 = 0
    var current: UInt8 = 0
    var following: UInt8 = 0
    /// What follows upon that interval.
    var later: UInt8 = 0
  }

  private let states: [State]

  init(_ states: [MarkovSource.State], _ space: StateSpace) {
    let total = states.reduce(0) { $0 + $1.weight }
    self.states = states.enumerated().map { index, state in
      let others = states.enumerated().reduce(0) {
        $0 + ($1.offset == index ? 0 : $1.element.weight)
      }
      // Compared with a weight that is nearly the total, the difference has hardly a digit left.
      let isNearlyAll = state.weight > total * (1 - 0x1p-20)
      return State(
        number: space.number(of: state.state.name) ?? 0, mean: state.mean.seconds,
        weight: state.weight,
        share: state.weight * (isNearlyAll ? others : total - state.weight) * state.mean.seconds,
        others: others)
    }
  }

  /// The stretch around a time; a place continues from where it is, or goes back to the start.
  ///
  /// Complexity: O(1) a question that continues from the last one, O(n) one that goes back.
  func segment(at time: SimTime, _ key: StreamKey, _ place: inout Place) -> Segment {
    if time < place.start || place.interval == 0 { begin(key, &place) }
    while time >= place.end {
      place.start = place.end
      place.current = place.following
      place.interval += 1
      if place.interval & 1 == 1 {
        measure(key, &place)
      } else {
        (place.end, place.following) = (place.laterEnd, place.later)
      }
    }
    // What is before the start of the run belongs to the first interval.
    return Segment(
      start: place.start, end: place.end, state: states[Int(place.current)].number)
  }

  private func begin(_ key: StreamKey, _ place: inout Place) {
    var stream = key.stream(slot: 0)
    var rest = stream.uniform() * states.reduce(0) { $0 + $1.share }
    place = Place()
    place.current = UInt8(states.lastIndex { $0.share > 0 }!)
    for (index, state) in states.enumerated() where state.share > 0 {
      rest -= state.share
      if rest < 0 {
        place.current = UInt8(index)
        break
      }
    }
    place.interval = 1
    measure(key, &place)
  }

  /// The lengths of the interval that begins and of the one after it, and what follows each: two
  /// draws take hardly longer than one.
  private func measure(_ key: StreamKey, _ place: inout Place) {
    var stream = key.stream(slot: UInt64(place.interval))
    var laterStream = key.stream(slot: UInt64(place.interval) + 1)
    let logs = Portable.logs(SIMD2(stream.uniformAboveZero(), laterStream.uniformAboveZero()))
    place.following = follower(of: place.current, stream.uniform())
    place.later = follower(of: place.following, laterStream.uniform())
    place.end = place.start + length(of: place.current, logs[0])
    place.laterEnd = place.end + length(of: place.following, logs[1])
  }

  /// An exponential time by the logarithm of a uniform number.
  private func length(of state: UInt8, _ log: Double) -> SimDuration {
    max(SimDuration(roundingUp: -states[Int(state)].mean * log), SimDuration(microseconds: 1))
  }

  private func follower(of current: UInt8, _ uniform: Double) -> UInt8 {
    var following = current
    var rest = uniform * states[Int(current)].others
    for index in states.indices where index != Int(current) && states[index].weight > 0 {
      following = UInt8(index)
      rest -= states[index].weight
      if rest < 0 { break }
    }
    return following
  }
}

/// The path of one device.
struct MarkovTimeline: Timeline {
  private let chain: MarkovChain
  private let key: StreamKey
  private var place = MarkovChain.Place()

  init(_ chain: MarkovChain, _ key: StreamKey) {
    self.chain = chain
    self.key = key
  }

  mutating func segment(at time: SimTime) -> Segment { chain.segment(at: time, key, &place) }
}

/// The paths of a group's devices.
struct MarkovTimelines: RecordedTimeline {
  private let chain: MarkovChain
  private let key: StreamKey
  private var places = RecordArray<MarkovChain.Place>()

  init(_ chain: MarkovChain, _ key: StreamKey, count: Int) {
    self.chain = chain
    self.key = key
    places.reserveCapacity(count)
    for _ in 0..<count { places.append(MarkovChain.Place()) }
  }

  mutating func move(to rows: DeviceRows, device: Int) { places.move(to: rows, device: device) }

  mutating func segment(of ordinal: Int, at time: SimTime) -> Segment {
    chain.segment(at: time, key.with(ordinal: UInt32(ordinal)), &places[ordinal])
  }
}
