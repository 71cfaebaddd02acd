import Numerics
import Schema

/// Each device that asks may train: devices decide, as in an automatic backend.
public struct OpenSelector: AdmittingSelector {
  public static let name = "open"
  /// What it does, in one sentence.
  public static let summary = "Accepts every request; rounds end only by the trigger"

  public typealias Settings = NoSettings
  public init(_ settings: NoSettings) {}

  /// Lets everybody in.
  public func admit(
    _ checkIn: CheckIn, _ server: ServerView, _ memory: inout NoMemory
  ) -> Admission { .accept }
}

/// A cohort drawn uniformly from the devices that wait, with more members than updates wanted.
public struct UniformSelector: CohortSelector {
  public static let name = "uniform"
  public static let summary =
    "Synchronous rounds: a uniform cohort of waiting devices, with over-selection"

  public typealias Settings = CohortSize

  private let settings: Settings
  public init(_ settings: Settings) { self.settings = settings }

  /// How many it waits for, and how many it draws.
  public var rules: CohortRules {
    CohortRules(neededWaiting: settings.neededWaiting, uniformMembers: settings.wanted)
  }

  /// Draws: one `below` a member.
  public func chooseCohort(
    from waiting: [CheckIn], _ server: ServerView, _ stream: inout RandomStream,
    _ memory: inout NoMemory
  ) -> Cohort? {
    guard waiting.count >= settings.neededWaiting else { return nil }
    let members = stream.sample(min(settings.wanted, waiting.count), below: waiting.count)
    return settings.cohort(of: members.map { Int($0) })
  }
}
