import Learning
import Schema

/// Goes where the combined update leads, and by the sum of all that were before: the server's part
/// of FedDyn.
///
/// Source: Acar et al., "Federated learning based on dynamic regularization" (2021), algorithm 1:
/// h ← h − α·(1/N)·Σ (wᵢ − x) over the updates of the version, N being the devices of the fleet;
/// then x is the mean of wᵢ less h/α. With s = −h/α that is s ← s + (m/N)·Δ, x ← x + Δ + s for the
/// plain mean Δ of m updates, so that α does not matter here; the authors' program keeps the same
/// sums.
public struct ServerDynamics: ServerOptimizer {
  public static let name = "feddyn"
  public static let summary =
    "FedDyn: the mean, plus the sum of all previous means; needs `algorithm: feddyn`"

  public typealias Settings = NoSettings
  public init(_ settings: NoSettings) {}

  /// Its part on devices.
  public var neededAlgorithm: String? { FedDyn.name }
  /// Each device counts the same in s.
  public var needsPlainMean: Bool { true }

  public struct Memory: Codable, Sendable {
    /// s; nil before the first step.
    public internal(set) var sum: ParameterBuffer?
  }

  /// Nothing yet.
  public func makeMemory() -> Memory { Memory() }

  /// Remembers s, as floats. Order: element by element, in `Double`; s is rounded to float, then
  /// the step, each once.
  public func step(
    from current: ParameterBuffer, by combined: CombinedUpdate, _ memory: inout Memory
  ) -> ParameterBuffer {
    let share = Double(combined.updates) / Double(combined.devices)
    let difference = combined.difference(from: current)
    let sum =
      memory.sum.map {
        ParameterBuffer.combining($0, difference) { $0 + share * $1 }
      } ?? .combining(difference, difference) { way, _ in share * way }
    memory.sum = sum
    return ParameterBuffer(count: current.count) { target in
      for i in 0..<target.count {
        target[i] = ParameterBuffer.nearest(
          Double(current[i]) + Double(difference[i]) + Double(sum[i]))
      }
    }
  }
}

extension ServerSettings {
  /// What does not go with the optimizer.
  var optimizerContradictions: [(key: String, message: String)] {
    guard optimizer.value.needsPlainMean else { return [] }
    if !aggregator.value.isPlainMean {
      return [
        (
          "optimizer",
          "`\(optimizer.name)` gives each device the same weight: use `aggregator: "
            + "uniform-mean`, not"
            + " `\(aggregator.name)`"
        )
      ]
    }
    if staleness != nil {
      return [
        (
          "optimizer",
          "`\(optimizer.name)` gives each update full weight: leave out `staleness`"
        )
      ]
    }
    return []
  }
}
