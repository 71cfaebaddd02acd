import Numerics
import Schema

/// Sends noise.
///
/// Source: Blanchard et al., "Machine learning with adversaries" (2017), §5, with σ = 200 there: a
/// difference from N(0, σ²) in place of its true one. With `adds` the noise comes on top of that.
public struct GaussianAttack: Attack {
  public static let name = "gaussian"
  /// What it does, in one sentence.
  public static let summary = "Sends noise instead of its difference, or added to it"

  public struct Settings: PartSettings {
    /// The noise's standard deviation.
    public var deviation = 1.0
    /// Whether it comes on top of what was learned.
    public var adds = false
    public init() {}
    public static var shorthand: String? { "deviation" }
    public static var fields: [Field<Settings>] {
      [
        Field("deviation", \.deviation, .positive, "Standard deviation on each parameter"),
        Field("adds", \.adds, .flag, "Add the noise to the trained difference"),
      ]
    }
  }

  private let settings: Settings
  public init(_ settings: Settings) { self.settings = settings }

  /// Draws: one `normal` a parameter.
  public func forge(
    _ update: AttackedUpdate, _ stream: inout RandomStream
  ) -> ParameterBuffer {
    noisy(settings.adds ? update.parameters : update.base, settings.deviation, &stream)
  }
}

/// Sends back what it was given, and claims its samples.
///
/// Source: Fraboni, Vidal, Lorenzi, "Free-rider attacks on model aggregation in federated learning"
/// (2021), §3: plain free-riding, and disguised by noise.
public struct FreeRider: Attack {
  public static let name = "free-rider"
  /// What it does, in one sentence.
  public static let summary = "Sends back the received model, with or without noise"

  public struct Settings: PartSettings {
    /// The standard deviation of noise that is to look like work.
    public var deviation = 0.0
    public init() {}
    public static var shorthand: String? { "deviation" }
    public static var fields: [Field<Settings>] {
      [
        Field(
          "deviation", \.deviation, .number(0...1e6),
          "Standard deviation of noise that imitates training; 0: none")
      ]
    }
  }

  private let settings: Settings
  public init(_ settings: Settings) { self.settings = settings }

  /// Draws: one `normal` a parameter, if there is noise.
  public func forge(
    _ update: AttackedUpdate, _ stream: inout RandomStream
  ) -> ParameterBuffer {
    settings.deviation > 0 ? noisy(update.base, settings.deviation, &stream) : update.base
  }
}

/// Sends the difference of its first training again and again.
public struct StaleReplay: Attack {
  public static let name = "stale-replay"
  /// What it does, in one sentence.
  public static let summary = "Sends the difference of its first training every time"

  public typealias Settings = NoSettings
  public init(_ settings: NoSettings) {}

  /// The first one.
  public var replaysFirst: Bool { true }

  /// b + (w₁ − b₁). Draws: none.
  public func forge(
    _ update: AttackedUpdate, _ stream: inout RandomStream
  ) -> ParameterBuffer {
    guard let first = update.first else { return update.parameters }
    guard first.parameters.isFinite else { return first.parameters }
    return ParameterBuffer(count: update.base.count) { target in
      for i in 0..<target.count {
        target[i] = ParameterBuffer.nearest(
          Double(update.base[i]) + (Double(first.parameters[i]) - Double(first.base[i])))
      }
    }
  }
}

/// Parameters with noise on each; those that are not finite, which are rejected, as they are.
private func noisy(
  _ parameters: ParameterBuffer, _ deviation: Double, _ stream: inout RandomStream
) -> ParameterBuffer {
  guard parameters.isFinite else { return parameters }
  return ParameterBuffer(count: parameters.count) { target in
    var start = 0
    while start < target.count {
      for (i, noise) in stream.normals(min(4096, target.count - start)).enumerated() {
        target[start + i] = ParameterBuffer.nearest(
          Double(parameters[start + i]) + deviation * noise)
      }
      start += 4096
    }
  }
}
