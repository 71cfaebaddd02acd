import Numerics
import Schema

/// One series of one trace: states over a stretch of time that comes again and again, or only once.
public struct TraceSeries: Sendable, Equatable {
  /// When states begin, in microseconds since the trace's first moment: ascending, the first is 0.
  public let times: [Int64]
  /// The states' numbers; neighbours differ.
  public let states: [UInt8]
  /// After this long it begins again; nil: the last state stays.
  public let period: SimDuration?
  /// The civil time of its first moment in seconds since 1970, by the clock on the wall where it
  /// was recorded; nil: it has none.
  public let first: Int64?

  /// A series of changes, in order of time; of two at one time the later one counts.
  ///
  /// With a period the state at the end holds on over the wrap, until the first change. Without
  /// one, and where nothing ever changes, it begins with `initial`.
  public init(
    _ changes: [(at: Int64, state: UInt8)], initial: UInt8, period: SimDuration?,
    first: Int64? = nil
  ) {
    precondition(period.map { $0 > .zero } ?? true, "a period has a positive length")
    let length = period?.microseconds ?? .max
    precondition(
      changes.allSatisfy { 0 <= $0.at && $0.at <= length }, "changes are within the period")
    var times: [Int64] = [0]
    var states = [period == nil ? initial : changes.last?.state ?? initial]
    // What comes at the very end holds from the beginning of the next turn: it is carried over.
    for (at, state) in changes where at < length {
      precondition(at >= times.last!, "changes are in order")
      if at == times.last! {
        states[states.count - 1] = state
        if states.count > 1, states[states.count - 2] == state {
          states.removeLast()
          times.removeLast()
        }
      } else if states.last! != state {
        times.append(at)
        states.append(state)
      }
    }
    self.times = times
    self.states = states
    self.period = period
    self.first = first
  }

  /// The stretch of the trace that holds a moment of it, by its place.
  ///
  /// Complexity: O(log n).
  func place(at moment: Int64) -> Int {
    var low = 0
    var high = times.count - 1
    while low < high {
      let middle = (low + high + 1) / 2
      if times[middle] <= moment { low = middle } else { high = middle - 1 }
    }
    return low
  }
}

/// A trace played again and again, or once; each answer is computed again.
///
/// Complexity: a question costs O(log n) of the trace's changes.
struct TraceTimeline: Timeline {
  private let series: TraceSeries
  /// The moment of the trace at which the run starts, in microseconds; it may be outside.
  private let start: Int64

  init(_ series: TraceSeries, start: Int64 = 0) {
    self.series = series
    self.start = start
  }

  func segment(at time: SimTime) -> Segment {
    guard let period = series.period?.microseconds else { return once(at: time) }
    if series.states.count == 1 { return constant }
    // Both parts are below the period, so the sum does not overflow.
    let (own, other) = (time.microseconds.rest(by: period), start.rest(by: period))
    let moment = own >= period - other ? own - (period - other) : own + other
    let place = series.place(at: moment)
    let next = place + 1 < series.times.count ? series.times[place + 1] : period
    let begin = time.microseconds.subtractingReportingOverflow(moment - series.times[place])
    return Segment(
      start: SimTime(microseconds: begin.overflow ? .min : begin.partialValue),
      end: time + SimDuration(microseconds: next - moment), state: series.states[place])
  }

  private func once(at time: SimTime) -> Segment {
    let (sum, overflow) = time.microseconds.addingReportingOverflow(start)
    let moment = overflow ? (start < 0 ? .min : .max) : sum
    let place = series.place(at: max(0, moment))
    func since(_ place: Int) -> SimTime {
      let (time, overflow) = series.times[place].subtractingReportingOverflow(start)
      return SimTime(microseconds: overflow ? (start < 0 ? .max : .min) : time)
    }
    return Segment(
      start: place == 0 ? SimTime(microseconds: .min) : since(place),
      end: place + 1 < series.times.count ? since(place + 1) : .never, state: series.states[place])
  }

  private var constant: Segment {
    Segment(start: SimTime(microseconds: .min), end: .never, state: series.states[0])
  }
}

/// One series of every trace in a file, in the file's order.
public typealias TraceSet = [TraceSeries]

/// Which trace of a file a device has, and how it is played: settings of every source of traces.
public struct TraceReplay: Sendable {
  /// How traces are dealt out.
  public enum Assignment: String, CaseIterable, Sendable { case inOrder, drawn }

  /// The file that the traces are in.
  public var file = FileName("")
  /// How its traces are dealt out.
  public var assign = Assignment.inOrder
  /// The trace of device 0.
  public var firstTrace = 0
  /// Whether a trace begins again at its end.
  public var cycle = true

  /// The trace of a device, by its place in a file with this many devices.
  ///
  /// Draws: where they are drawn, one `below` a device at slot 0 of `trace`, whatever the series.
  func number(_ context: TimelineContext, of count: Int) -> Int {
    number(seed: context.seed, device: context.device, ordinal: context.key.ordinal, of: count)
  }

  /// The same by a device's name.
  func number(seed: UInt64, device: String, ordinal: UInt32, of count: Int) -> Int {
    switch assign {
    case .inOrder: return (firstTrace + Int(ordinal)) % count
    case .drawn:
      let group = String(device.prefix { $0 != "/" })
      let key = StreamKey(seed: seed, purpose: "trace", group: group, ordinal: ordinal)
      var stream = key.stream(slot: 0)
      return Int(stream.below(UInt32(count)))
    }
  }

  /// The fields that say which trace a device has.
  static func choice<Owner>(
    _ assign: WritableKeyPath<Owner, Assignment> & Sendable,
    _ firstTrace: WritableKeyPath<Owner, Int> & Sendable
  ) -> [Field<Owner>] {
    [
      Field(
        "assign", assign, .choice,
        "Device n of a group has trace firstTrace + n, starting again after the last trace; or it"
          + " draws a trace by its name"),
      Field(
        "firstTrace", firstTrace, .integer(0...1_000_000_000),
        "Trace of device 0 where traces are assigned in order, counted from 0"),
    ]
  }

  /// What is wrong with them.
  var contradictions: [(key: String, message: String)] {
    assign == .drawn && firstTrace > 0
      ? [("firstTrace", "`firstTrace` has no effect where traces are drawn")] : []
  }
}

/// What a file of traces holds, and the series that a source makes of one of them.
public enum TraceFormat: Sendable {
  /// FLASH's JSON: messages; after `period` they begin again, or, without it, at the last one.
  case flash(
    period: SimDuration?,
    series: @Sendable (_ messages: [FLASHSource.Message], StateSpace) -> TraceSeries)
  /// FedScale's pickle: intervals in seconds, and when they begin again.
  case fedScale(
    series:
      @Sendable (
        _ intervals: [(from: Int64, to: Int64)], _ period: Int64, StateSpace
      ) -> TraceSeries)
}

/// A timeline source that plays traces from a file with many of them.
public protocol TraceSource: TimelineSource {
  /// The file, and which of its traces a device has.
  var replay: TraceReplay { get }
  /// What its file holds.
  var format: TraceFormat { get }
  /// The name under which the traces of a series are in `TimelineContext.traces`: the file and
  /// every setting that shapes them.
  func traceName(_ space: StateSpace) -> String
}

extension TraceSource {
  /// It.
  public var asTraces: (any TraceSource)? { self }

  /// The place of a device's trace in its file.
  public func traceNumber(_ context: TimelineContext) -> Int {
    replay.number(context, of: traces(context).count)
  }

  /// The traces of a series.
  func traces(_ context: TimelineContext) -> TraceSet {
    guard let traces = context.traces[traceName(context.space)], !traces.isEmpty else {
      preconditionFailure("the traces \(replay.file.path) were not read")
    }
    return traces
  }

  /// The trace of a device.
  func trace(_ context: TimelineContext) -> TraceSeries {
    let traces = traces(context)
    return traces[replay.number(context, of: traces.count)]
  }
}

extension Int64 {
  /// The rest of a division rounded down: from 0 to `divisor` − 1.
  func rest(by divisor: Int64) -> Int64 {
    let rest = self % divisor
    return rest < 0 ? rest + divisor : rest
  }
}
