import Numerics
import Schema

/// A cohort drawn by samples, without replacement, from the devices that wait.
///
/// Each member is drawn among those left, with a chance in proportion to the samples that it had
/// when it asked. Source: as the first scheme of Li et al., "On the convergence of FedAvg on
/// non-IID data" (2020), §3.3, which draws with replacement: *differs*.
public struct WeightedSelector: CohortSelector {
  public static let name = "weighted"
  public static let summary =
    "Synchronous rounds: a cohort of waiting devices, drawn by their samples"

  public typealias Settings = CohortSize

  private let settings: Settings
  public init(_ settings: Settings) { self.settings = settings }

  /// It looks at samples.
  public var needs: SelectorNeeds { .facts }
  /// How many it waits for.
  public var rules: CohortRules { CohortRules(neededWaiting: settings.neededWaiting) }

  /// Draws: one `uniformAboveZero` for each device that waits.
  public func chooseCohort(
    from waiting: [CheckIn], _ server: ServerView, _ stream: inout RandomStream,
    _ memory: inout NoMemory
  ) -> Cohort? {
    guard waiting.count >= settings.neededWaiting else { return nil }
    let weights = waiting.map { Double(server.facts(of: $0.device).samples) }
    return settings.cohort(of: stream.sample(settings.wanted, weights: weights))
  }
}
