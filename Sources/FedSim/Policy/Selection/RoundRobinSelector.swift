import Numerics
import Schema

/// One device after the other, in the order of the fleet, round after round.
///
/// A cohort begins behind the last member of the one before, and after the last device comes the
/// first. Devices that do not wait are passed over: their turn comes again.
public struct RoundRobinSelector: CohortSelector {
  public static let name = "round-robin"
  public static let summary =
    "Synchronous rounds: waiting devices take turns, in the order of the fleet"

  public typealias Settings = CohortSize

  private let settings: Settings
  public init(_ settings: Settings) { self.settings = settings }

  /// How many it waits for.
  public var rules: CohortRules { CohortRules(neededWaiting: settings.neededWaiting) }

  public struct Memory: Codable, Sendable {
    /// The last member of the cohort before; −1: there is none.
    var last = -1
  }

  /// The first device is next.
  public func makeMemory() -> Memory { Memory() }

  /// Remembers the last member. Draws: none.
  public func chooseCohort(
    from waiting: [CheckIn], _ server: ServerView, _ stream: inout RandomStream,
    _ memory: inout Memory
  ) -> Cohort? {
    guard waiting.count >= settings.neededWaiting, !waiting.isEmpty else { return nil }
    let first = waiting.firstIndex { $0.device > memory.last } ?? 0
    let members = (0..<min(settings.wanted, waiting.count)).map { (first + $0) % waiting.count }
    memory.last = waiting[members[members.count - 1]].device
    return settings.cohort(of: members)
  }
}
