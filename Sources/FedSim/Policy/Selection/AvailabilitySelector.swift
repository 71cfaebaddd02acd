import Numerics
import Schema

/// Devices that are the least likely to be there again soon come first, and late updates count.
///
/// Source: Abdelmoniem et al., "REFL: Resource-efficient federated learning" (2023), §4.1 and
/// algorithm 1. With μ the moving average of how long rounds last, devices are ranked by how likely
/// they are there from μ to 2μ from now on; of equals chance decides. *Differs*: what is likely the
/// server tells itself, by the hours of the day in which it heard of a device; there each device
/// forecasts its own availability and reports it.
public struct AvailabilitySelector: ClientSelector {
  /// Its name in a scenario.
  public static let name = "availability-aware"
  /// What it does, in one sentence.
  public static let summary =
    "Synchronous rounds: those least likely to be there soon come first; late updates are taken in"

  /// What can be set.
  public struct Settings: CohortSettings {
    /// How many updates a round wants.
    public var cohort = 10
    /// How many members are chosen for each update wanted.
    public var overSelection = 1.0
    /// How many devices must wait before a cohort is formed; nil: as many as are chosen.
    public var minimumWaiting: Int?
    /// For how many rounds one that was chosen comes last.
    public var rest = 5
    /// What the moving average of durations keeps of itself.
    public var smoothing = 0.25
    /// Whether updates of earlier rounds are taken in.
    public var late = true
    /// The defaults.
    public init() {}
    /// The fields, in the order in which they are documented and written.
    public static var fields: [Field<Settings>] {
      cohortFields + [
        Field(
          "rest", \.rest, .integer(0...1_000_000),
          "One that was chosen comes after all others for so many rounds"),
        Field(
          "smoothing", \.smoothing, .fraction,
          "What the moving average of rounds' durations keeps of itself (α)"),
        Field("late", \.late, .flag, "Whether updates of earlier rounds are taken in"),
      ]
    }
  }

  private let settings: Settings
  /// Made from its settings.
  public init(_ settings: Settings) { self.settings = settings }

  /// It does.
  public var formsCohorts: Bool { true }
  /// How many devices must wait before a cohort is formed.
  public var neededWaiting: Int? { settings.neededWaiting }
  /// Unless it is set otherwise.
  public var acceptsLate: Bool { settings.late }
  /// It looks at when devices were chosen.
  public var needsFacts: Bool { true }

  /// What a device that asks for work is told.
  public func admit(_ checkIn: CheckIn, _ server: ServerView) -> Admission { .wait }

  /// The same; remembers the hour.
  public func admit(
    _ checkIn: CheckIn, _ server: ServerView, _ memory: inout PartMemory
  ) -> Admission {
    var hours = DeviceHours(memory)
    memory = PartMemory()
    hours.hear(of: checkIn.device, at: server.now)
    hours.write(to: &memory)
    return .wait
  }

  /// Draws: one `uniform` for each device that waits. Order: by rest, by what is likely, by what
  /// was drawn, by device. Complexity: O(n·log n) in the devices that wait.
  public func cohort(
    from waiting: [CheckIn], _ server: ServerView, _ stream: inout RandomStream,
    _ memory: inout PartMemory
  ) -> Cohort? {
    guard waiting.count >= settings.neededWaiting else { return nil }
    var hours = DeviceHours(memory)
    memory = PartMemory()
    for checkIn in waiting { hours.hear(of: checkIn.device, at: server.now) }
    hours.roundBegins(server, smoothing: settings.smoothing)
    let from = server.now + hours.mean
    let until = from + hours.mean
    var ranks: [(rests: Bool, seen: Int64, chance: Double)] = []
    ranks.reserveCapacity(waiting.count)
    for checkIn in waiting {
      let facts = server.facts(of: checkIn.device)
      let rests = facts.lastRound > 0 && server.round - facts.lastRound <= settings.rest
      let seen = hours.seen(checkIn.device, from: from, until: until)
      ranks.append((rests, seen, stream.uniform()))
    }
    hours.write(to: &memory)
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
struct DeviceHours {
  private static let hour: Int64 = 3_600_000_000
  /// The last hour in which a device was heard of, from 1, and 24 counts.
  private static let size = 25

  /// How long rounds last, by a moving average; an hour until one is over.
  private(set) var mean = SimDuration.hours(1)
  private var hasMean = false
  /// When the cohort before was formed; −1: there is none.
  private var formedAt: Int64 = -1
  private var words: [Int64]

  /// What is in a memory, or nothing.
  init(_ memory: PartMemory) {
    if let microseconds = memory.numbers.first {
      mean = SimDuration(microseconds: Int64(microseconds))
      hasMean = true
    }
    words = memory.integers
    if words.isEmpty { words = [-1] }
    formedAt = words[0]
  }

  /// Writes what is to be remembered.
  mutating func write(to memory: inout PartMemory) {
    words[0] = formedAt
    memory.numbers = hasMean ? [Double(mean.microseconds)] : []
    memory.integers = words
  }

  /// A device is there.
  mutating func hear(of device: Int, at now: SimTime) {
    let start = 1 + device * Self.size
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
    if formedAt >= 0, server.roundOpenedAt.microseconds > formedAt {
      let last = Double(server.roundOpenedAt.microseconds - formedAt)
      let next = hasMean ? (1 - smoothing) * last + smoothing * Double(mean.microseconds) : last
      mean = SimDuration(microseconds: max(1, Int64(next.rounded())))
      hasMean = true
    }
    formedAt = server.now.microseconds
  }

  /// On how many days it was there in the hours that a stretch touches; a day at most.
  func seen(_ device: Int, from: SimTime, until: SimTime) -> Int64 {
    let start = 1 + device * Self.size
    guard words.count >= start + Self.size else { return 0 }
    let first = from.microseconds / Self.hour
    let last = min(until.microseconds / Self.hour, first + 23)
    return (first...last).reduce(0) { $0 + words[start + 1 + Int($1 % 24)] }
  }
}
