import Learning
import Schema

/// As Adam, with a v that changes by no more than the square: FedYogi.
///
/// Source: Reddi et al. (2021), algorithm 2, FedYogi: v ← v − (1 − β₂)·Δ²·sign(v − Δ²).
public struct ServerYogi: ServerOptimizer {
  /// Its name in a scenario.
  public static let name = "yogi"
  /// What it does, in one sentence.
  public static let summary = "FedYogi: as Adam, with a v that changes by no more than the square"

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
      $0 - (1 - beta2) * $1 * Double(($0 > $1 ? 1 : 0) - ($0 < $1 ? 1 : 0))
    }
  }
}
