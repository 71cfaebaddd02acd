import Learning
import Schema

/// The step that Adagrad, Adam and Yogi share.
///
/// Source: Reddi et al., "Adaptive federated optimization" (2021), algorithm 2:
/// m ← β₁·m + (1 − β₁)·Δ, v by the optimizer's own rule, x ← x + η·m / (√v + τ). Neither m nor v is
/// corrected for the first steps.
public struct AdaptiveStep: Sendable {
  /// The server's learning rate, η.
  public let rate: Double
  /// How much of m stays.
  public let beta1: Double
  /// What is added to √v.
  public let tau: Double
  /// What v begins with.
  public let start: Double

  /// What such an optimizer remembers.
  public struct Memory: Codable, Sendable {
    /// m and v; nil before the first step.
    var moments: Moments?

    struct Moments: Codable {
      var m: ParameterBuffer
      var v: ParameterBuffer
    }
  }

  /// Remembers m and v, as floats. Order: element by element, in `Double`; m, v and the step are
  /// rounded to float once each, m and v before the step.
  func step(
    from current: ParameterBuffer, by combined: CombinedUpdate, _ memory: inout Memory,
    _ accumulate: (_ v: Double, _ square: Double) -> Double
  ) -> ParameterBuffer {
    let difference = combined.difference(from: current)
    let before = memory.moments ?? first(count: current.count)
    let m = ParameterBuffer.combining(before.m, difference) { beta1 * $0 + (1 - beta1) * $1 }
    let v = ParameterBuffer.combining(before.v, difference) { accumulate($0, $1 * $1) }
    memory.moments = Memory.Moments(m: m, v: v)
    return ParameterBuffer(count: current.count) { target in
      for i in 0..<target.count {
        let step = rate * Double(m[i]) / (Double(v[i]).squareRoot() + tau)
        target[i] = ParameterBuffer.nearest(Double(current[i]) + step)
      }
    }
  }

  /// m and v before the first step.
  private func first(count: Int) -> Memory.Moments {
    let start = Float(start)
    return Memory.Moments(
      m: ParameterBuffer(count: count) { _ in },
      v: ParameterBuffer(count: count) { $0.update(repeating: start) })
  }
}

/// An optimizer whose steps are as long as m is large compared with the root of v.
public protocol AdaptiveOptimizer: ServerOptimizer where Memory == AdaptiveStep.Memory {
  /// The step that it takes.
  var shared: AdaptiveStep { get }
  /// The next v of a parameter, out of this one and the square of its difference.
  func accumulated(_ v: Double, _ square: Double) -> Double
}

extension AdaptiveOptimizer {
  /// Nothing yet.
  public func makeMemory() -> AdaptiveStep.Memory { AdaptiveStep.Memory() }

  /// Remembers m and v. Order: as of all adaptive steps.
  public func step(
    from current: ParameterBuffer, by combined: CombinedUpdate,
    _ memory: inout AdaptiveStep.Memory
  ) -> ParameterBuffer {
    shared.step(from: current, by: combined, &memory, accumulated)
  }
}

/// The settings of the three.
public struct AdaptiveSettings: PartSettings {
  /// The rate.
  public var learningRate = 0.1
  /// How much of m stays.
  public var beta1 = 0.9
  /// How much of v stays.
  public var beta2 = 0.99
  /// What is added to √v.
  public var tau = 1e-3
  /// What v begins with; nil: τ².
  public var initial: Double?
  public init() {}
  public static var shorthand: String? { "learningRate" }
  public static var fields: [Field<AdaptiveSettings>] {
    var fields: [Field<AdaptiveSettings>] = common(\.learningRate, \.beta1, \.tau, \.initial)
    fields.insert(
      Field("beta2", \.beta2, .number(0...0.999_999), "Decay of v, β₂"), at: 2)
    return fields
  }

  /// The fields that Adagrad has, too.
  static func common<Owner>(
    _ rate: WritableKeyPath<Owner, Double> & Sendable,
    _ beta1: WritableKeyPath<Owner, Double> & Sendable,
    _ tau: WritableKeyPath<Owner, Double> & Sendable,
    _ initial: WritableKeyPath<Owner, Double?> & Sendable
  ) -> [Field<Owner>] {
    [
      Field("learningRate", rate, .positive, "Server learning rate, η"),
      Field("beta1", beta1, .number(0...0.999_999), "Decay of m, β₁"),
      Field(
        "tau", tau, .number(1e-12...1e6), "Degree of adaptivity, τ: a larger value adapts less"),
      Field(
        "initial", initial, optional: .number(0...1e30), "Initial value of v; absent: τ squared"),
    ]
  }

  var shared: AdaptiveStep {
    AdaptiveStep(rate: learningRate, beta1: beta1, tau: tau, start: initial ?? tau * tau)
  }
}
