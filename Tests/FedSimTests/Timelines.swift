import FedSim
import Learning
import Numerics
import Schema
import Testing

let day: Int64 = 86_400_000_000

/// A context for one device; the start is Monday, 17 November 2025, 00:00 UTC unless set
/// otherwise.
func context(
  _ space: StateSpace = .power, seed: UInt64 = 1, ordinal: UInt32 = 0, offset: SimDuration = .zero,
  start: Int64 = 1_763_337_600, tables: [String: IntervalTable] = [:]
) -> TimelineContext {
  TimelineContext(
    space: space,
    key: StreamKey(
      seed: seed, purpose: Purpose(space.name), group: "phones", ordinal: ordinal),
    device: "phones/\(ordinal)", civilStart: start, utcOffset: offset, tables: tables)
}

/// The changes of a series before a time: hours and states.
func changes(
  _ source: any TimelineSource, _ context: TimelineContext, until end: SimTime
) -> [String] {
  var timeline = source.timeline(context)
  var time = SimTime.start
  var lines = ["0 \(timeline.state(at: time))"]
  while let next = timeline.next(after: time, before: end) {
    time = next.time
    lines.append("\(hours(time)) \(next.state)")
  }
  return lines
}

func hours(_ time: SimTime) -> String {
  let (hours, rest) = time.microseconds.quotientAndRemainder(dividingBy: 3_600_000_000)
  return rest == 0 ? "\(hours)" : "\(hours):\(rest / 60_000_000)"
}

func appointment(
  _ from: SimDuration, _ to: SimDuration, _ days: [Weekday] = Weekday.allCases,
  _ state: String? = nil
) -> WeeklySource.Appointment {
  var appointment = WeeklySource.Appointment()
  (appointment.from, appointment.to, appointment.days) = (from, to, days)
  appointment.state = state.map { StateName($0) }
  return appointment
}

func weekly(
  _ appointments: WeeklySource.Appointment..., jitter: SimDuration = .zero
) -> WeeklySource {
  var settings = WeeklySource.Settings()
  settings.intervals = appointments
  settings.jitter = jitter
  return WeeklySource(settings)
}

func diurnal(_ habits: DiurnalSource.Habit...) -> DiurnalSource {
  var settings = DiurnalSource.Settings()
  settings.habits = habits
  return DiurnalSource(settings)
}

func habit(
  _ from: SimDuration, _ to: SimDuration, spread: SimDuration = .zero,
  deviceSpread: SimDuration = .zero, probability: Double = 1, state: String? = nil
) -> DiurnalSource.Habit {
  var habit = DiurnalSource.Habit()
  (habit.from, habit.to, habit.spread) = (from, to, spread)
  (habit.deviceSpread, habit.probability) = (deviceSpread, probability)
  habit.state = state.map { StateName($0) }
  return habit
}

func markov(_ states: [(String, SimDuration, Double)]) -> MarkovSource {
  var settings = MarkovSource.Settings()
  settings.states = states.map {
    var state = MarkovSource.State()
    (state.state, state.mean, state.weight) = (StateName($0.0), $0.1, $0.2)
    return state
  }
  return MarkovSource(settings)
}
