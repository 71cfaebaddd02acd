import FedSim
import Numerics

/// What a baseline holds of a run next to its tables: all events up to a number, with the
/// fingerprints that the digest of events adds up, by the hour too, and a digest of each model.
///
/// Events come in their order, since somebody looks at each. Complexity: O(1) an event.
final class EventTrail: Observer {
  /// An event.
  struct Row {
    let time: SimTime
    let event: Event
    /// What it adds to the digest of events.
    let print: UInt64
  }

  /// An hour of simulated time in which there were events.
  struct Hour {
    let hour: Int
    var events: Int
    var digest: UInt64
  }

  /// The first events.
  private(set) var rows: [Row] = []
  /// All events, by the hour.
  private(set) var hours: [Hour] = []
  /// The digest of each version's parameters.
  private(set) var models: [String] = []
  private var digest: UInt64 = 0
  private let limit: Int
  private let learns: Bool

  /// A trail of at most this many events.
  init(limit: Int, learns: Bool) {
    self.limit = limit
    self.learns = learns
  }

  /// They are wanted.
  var wantsEveryEvent: Bool { true }

  /// Keeps an event.
  func handled(_ event: Event, at time: SimTime, _ simulation: borrowing Simulation) {
    let digest = simulation.eventDigest.value
    let print = digest &- self.digest
    self.digest = digest
    if rows.count < limit { rows.append(Row(time: time, event: event, print: print)) }
    let hour = Int(time.microseconds / 3_600_000_000)
    if hours.last?.hour != hour { hours.append(Hour(hour: hour, events: 0, digest: 0)) }
    hours[hours.count - 1].events += 1
    hours[hours.count - 1].digest &+= print
  }

  /// Keeps the digest of a model.
  func published(_ record: VersionRecord, _ simulation: borrowing Simulation) {
    models.append(learns ? simulation.model.hexDigest : "-")
  }
}
