import Learning
import Schema

/// Continues in the direction of earlier steps: FedAvgM.
///
/// Source: Hsu, Qi, Brown, "Measuring the effects of non-identical data distribution for federated
/// visual classification" (2019), §4.3: v ← β·v + Δ, w ← w + η·v; by Nesterov w ← w + η·(Δ + β·v).
public struct ServerMomentum: ServerOptimizer {
  public static let name = "momentum"
  /// What it does, in one sentence.
  public static let summary = "FedAvgM: server momentum"

  public struct Settings: PartSettings {
    /// The rate.
    public var learningRate = 1.0
    /// How much of the step before stays.
    public var momentum = 0.9
    /// Whether the step looks ahead.
    public var nesterov = false
    public init() {}
    public static var shorthand: String? { "momentum" }
    public static var fields: [Field<Settings>] {
      [
        Field("learningRate", \.learningRate, .positive, "Server learning rate, η"),
        Field("momentum", \.momentum, .number(0...0.999_999), "Decay of v, β"),
        Field("nesterov", \.nesterov, .flag, "Use the step Δ + β·v (Nesterov)"),
      ]
    }
  }

  private let settings: Settings
  public init(_ settings: Settings) { self.settings = settings }

  public struct Memory: Codable, Sendable {
    /// v; nil before the first step.
    var velocity: ParameterBuffer?
  }

  /// Nothing yet.
  public func makeMemory() -> Memory { Memory() }

  /// Remembers v, as floats. Order: element by element, in `Double`; v is rounded to float, then
  /// the step, each once.
  public func step(
    from current: ParameterBuffer, by combined: CombinedUpdate, _ memory: inout Memory
  ) -> ParameterBuffer {
    let (rate, beta) = (settings.learningRate, settings.momentum)
    let difference = combined.difference(from: current)
    let velocity =
      memory.velocity.map {
        ParameterBuffer.combining($0, difference) { beta * $0 + $1 }
      } ?? difference
    memory.velocity = velocity
    guard settings.nesterov else { return .combining(current, velocity) { $0 + rate * $1 } }
    let ahead = ParameterBuffer.combining(difference, velocity) { $0 + beta * $1 }
    return .combining(current, ahead) { $0 + rate * $1 }
  }
}
