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
public struct ServerDynamics: RememberingOptimizer {
  /// Its name in a scenario.
  public static let name = "feddyn"
  /// What it does, in one sentence.
  public static let summary =
    "FedDyn: the mean, and the sum of all before it; needs `algorithm: feddyn`"

  /// It has none.
  public typealias Settings = NoSettings
  /// Made from its settings.
  public init(_ settings: NoSettings) {}

  /// A step of updates of all devices.
  public func step(
    from current: ParameterBuffer, by combined: ParameterBuffer, payload: Payload,
    _ memory: inout PartMemory
  ) -> ParameterBuffer {
    step(
      from: current, by: combined, payload: payload, of: CombinedFacts(updates: 1, devices: 1),
      &memory)
  }

  /// Remembers s, as floats. Order: element by element, in `Double`; s is rounded to float, then
  /// the step, each once.
  public func step(
    from current: ParameterBuffer, by combined: ParameterBuffer, payload: Payload,
    of facts: CombinedFacts, _ memory: inout PartMemory
  ) -> ParameterBuffer {
    let share = Double(facts.updates) / Double(facts.devices)
    let difference = payload.difference(from: current, to: combined)
    let sum =
      memory.buffers.first.map {
        ParameterBuffer.combining($0, difference) { $0 + share * $1 }
      } ?? .combining(difference, difference) { way, _ in share * way }
    memory.buffers = [sum]
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
    guard optimizer.value is ServerDynamics else { return [] }
    if !(aggregator.value is UniformMean) {
      return [
        (
          "optimizer",
          "`feddyn` counts each device the same: `aggregator: uniform-mean`, and not"
            + " `\(aggregator.name)`"
        )
      ]
    }
    if staleness != nil {
      return [("optimizer", "`feddyn` counts each update in full: it goes without `staleness`")]
    }
    return []
  }
}
