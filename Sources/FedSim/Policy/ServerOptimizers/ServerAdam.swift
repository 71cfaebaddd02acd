import Learning
import Schema

/// Steps are as long as m is large beside the root of recent squares: FedAdam.
///
/// Source: Reddi et al. (2021), algorithm 2, FedAdam: v ← β₂·v + (1 − β₂)·Δ².
public struct ServerAdam: ServerOptimizer {
  /// Its name in a scenario.
  public static let name = "adam"
  /// What it does, in one sentence.
  public static let summary = "FedAdam: steps by a mean of updates over the root of their squares"

  /// What can be set.
  public typealias Settings = AdaptiveSettings

  private let settings: Settings
  /// Made from its settings.
  public init(_ settings: Settings) { self.settings = settings }

  /// The first step, which remembers nothing.
  public func step(
    from current: ParameterBuffer, by combined: ParameterBuffer, payload: Payload
  ) -> ParameterBuffer {
    var memory = PartMemory()
    return step(from: current, by: combined, payload: payload, &memory)
  }

  /// Remembers m and v. Order: as of all adaptive steps.
  public func step(
    from current: ParameterBuffer, by combined: ParameterBuffer, payload: Payload,
    _ memory: inout PartMemory
  ) -> ParameterBuffer {
    let beta2 = settings.beta2
    return settings.shared.step(from: current, by: combined, payload: payload, &memory) {
      beta2 * $0 + (1 - beta2) * $1
    }
  }
}
