import Numerics
import Schema

/// One device after the other, in the order of the fleet, round after round.
///
/// A cohort begins behind the last member of the one before, and after the last device comes the
/// first. Devices that do not wait are passed over: their turn comes again.
public struct RoundRobinSelector: ClientSelector {
  /// Its name in a scenario.
  public static let name = "round-robin"
  /// What it does, in one sentence.
  public static let summary =
    "Synchronous rounds: those who wait take turns, in the order of the fleet"

  /// What can be set.
  public typealias Settings = CohortSize

  private let settings: Settings
  /// Made from its settings.
  public init(_ settings: Settings) { self.settings = settings }

  /// It does.
  public var formsCohorts: Bool { true }
  /// How many devices must wait before a cohort is formed.
  public var neededWaiting: Int? { settings.neededWaiting }

  /// What a device that asks for work is told.
  public func admit(_ checkIn: CheckIn, _ server: ServerView) -> Admission { .wait }

  /// Remembers the last member. Draws: none.
  public func cohort(
    from waiting: [CheckIn], _ server: ServerView, _ stream: inout RandomStream,
    _ memory: inout PartMemory
  ) -> Cohort? {
    guard waiting.count >= settings.neededWaiting, !waiting.isEmpty else { return nil }
    let last = memory.integers.first ?? -1
    let first = waiting.firstIndex { Int64($0.device) > last } ?? 0
    let members = (0..<min(settings.wanted, waiting.count)).map { (first + $0) % waiting.count }
    memory.integers = [Int64(waiting[members[members.count - 1]].device)]
    return settings.cohort(of: members)
  }
}
