import Numerics
import Schema

/// Devices that are the least likely to be there again soon come first, and late updates count.
///
/// Source: Abdelmoniem et al., "REFL: Resource-efficient federated learning" (2023), §4.1 and
/// algorithm 1. With μ the moving average of how long rounds last, devices are ranked by how likely
/// they are there from μ to 2μ from now on; of equals chance decides. *Differs*: what is likely the
/// server tells itself, by the hours of the day in which it heard of a device; there each device
/// forecasts its own availability and reports it.
public struct AvailabilitySelector: CohortSelector {
  public static let name = "availability-aware"
  public static let summary =
    "Synchronous rounds: devices with the lowest future availability first; accepts late updates"

  public struct Settings: CohortSettings {
    public var cohort = 10
    public var overSelection = 1.0
    /// How many devices must wait before a cohort is formed; nil: as many as are chosen.
    public var minimumWaiting: Int?
    /// For how many rounds one that was chosen comes last.
    public var rest = 5
    /// What the moving average of durations keeps of itself.
    public var smoothing = 0.25
    /// Whether updates of earlier rounds are taken in.
    public var late = true
    public init() {}
    public static var fields: [Field<Settings>] {
      cohortFields + [
        Field(
          "rest", \.rest, .integer(0...1_000_000),
          "Rounds after a selection in which a device has the lowest priority"),
        Field(
          "smoothing", \.smoothing, .fraction,
          "Share that the moving average of round durations keeps (α)"),
        Field("late", \.late, .flag, "Accept updates of earlier rounds"),
      ]
    }
  }

  private let settings: Settings
  public init(_ settings: Settings) { self.settings = settings }

  /// It looks at when devices were chosen.
  public var needs: SelectorNeeds { .facts }
  /// How many it waits for, and whether it takes late updates in.
  public var rules: CohortRules {
    CohortRules(neededWaiting: settings.neededWaiting, acceptsLate: settings.late)
  }

  /// It has heard of no device.
  public func makeMemory() -> DeviceHours { DeviceHours() }

  /// Each device that asks waits; remembers the hour.
  public func receive(
    _ checkIn: CheckIn, _ server: ServerView, _ memory: inout DeviceHours
  ) -> Reception {
    memory.hear(of: checkIn.device, at: server.now)
    return .wait
  }

  /// Draws: one `uniform` for each device that waits. Order: by rest, by what is likely, by what
  /// was drawn, by device. Complexity: O(n·log n) in the devices that wait.
  public func chooseCohort(
    from waiting: [CheckIn], _ server: ServerView, _ stream: inout RandomStream,
    _ memory: inout DeviceHours
  ) -> Cohort? {
    guard waiting.count >= settings.neededWaiting else { return nil }
    for checkIn in waiting { memory.hear(of: checkIn.device, at: server.now) }
    memory.roundBegins(server, smoothing: settings.smoothing)
    let from = server.now + memory.mean
    let until = from + memory.mean
    var ranks: [(rests: Bool, seen: Int64, chance: Double)] = []
    ranks.reserveCapacity(waiting.count)
    for checkIn in waiting {
      let facts = server.facts(of: checkIn.device)
      let rests = facts.lastRound > 0 && server.round - facts.lastRound <= settings.rest
      let seen = memory.seen(checkIn.device, from: from, until: until)
      ranks.append((rests, seen, stream.uniform()))
    }
    let order = ranks.indices.sorted { a, b in
      if ranks[a].rests != ranks[b].rests { return !ranks[a].rests }
      if ranks[a].seen != ranks[b].seen { return ranks[a].seen < ranks[b].seen }
      return ranks[a].chance != ranks[b].chance ? ranks[a].chance < ranks[b].chance : a < b
    }
    return settings.cohort(of: Array(order.prefix(settings.wanted)))
  }
}

/// On how many days a server heard of each device in each hour of the day, and how long rounds
/// last: 200 bytes a device.
public struct DeviceHours: Codable, Sendable {
  private static let hour: Int64 = 3_600_000_000
  /// The last hour in which a device was heard of, from 1, and 24 counts.
  private static let size = 25

  /// How long rounds last, by a moving average; an hour until one is over.
  public private(set) var mean = SimDuration.hours(1)
  private var hasMean = false
  /// When the cohort before was formed; nil: there is none.
  private var formedAt: SimTime?
  /// `size` numbers a device.
  private var words: [Int64] = []

  /// A device is there.
  mutating func hear(of device: Int, at now: SimTime) {
    let start = device * Self.size
    if words.count < start + Self.size {
      words += [Int64](repeating: 0, count: start + Self.size - words.count)
    }
    let hour = now.microseconds / Self.hour
    guard words[start] != hour + 1 else { return }
    words[start] = hour + 1
    words[start + 1 + Int(hour % 24)] += 1
  }

  /// A cohort is formed: what was the round before is over, and counts.
  ///
  /// Source: μ ← (1 − α)·D + α·μ with D the duration of the round before.
  mutating func roundBegins(_ server: ServerView, smoothing: Double) {
    if let formedAt, server.roundOpenedAt > formedAt {
      let last = Double((server.roundOpenedAt - formedAt).microseconds)
      let next = hasMean ? (1 - smoothing) * last + smoothing * Double(mean.microseconds) : last
      mean = SimDuration(microseconds: max(1, Int64(next.rounded())))
      hasMean = true
    }
    formedAt = server.now
  }

  /// On how many days it was there in the hours that a stretch touches; a day at most.
  func seen(_ device: Int, from: SimTime, until: SimTime) -> Int64 {
    let start = device * Self.size
    guard words.count >= start + Self.size else { return 0 }
    let first = from.microseconds / Self.hour
    let last = min(until.microseconds / Self.hour, first + 23)
    return (first...last).reduce(0) { $0 + words[start + 1 + Int($1 % 24)] }
  }
}
