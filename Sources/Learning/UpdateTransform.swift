import Numerics
import Schema

/// What is done to an update on its way: a pure function of the update, its base and a keyed
/// stream.
public protocol UpdateTransform: Part {
  /// The transformed parameters; their difference from `base` is the update.
  ///
  /// Draws: from the stream, keyed by device and by the first data epoch of its training.
  func apply(
    to parameters: ParameterBuffer, base: ParameterBuffer, _ stream: inout RandomStream
  ) -> ParameterBuffer
}

extension Seam where Value == any UpdateTransform {
  /// What is done to an update on its way.
  public static var updateTransform: Seam {
    Seam("update transform", "What is done to an update on its way?")
  }
}

/// Scales an update down to a largest Euclidean norm.
///
/// Source: McMahan et al., "Learning differentially private recurrent language models" (2018), §3:
/// Δ ← Δ·min(1, C/‖Δ‖₂).
public struct ClipNorm: UpdateTransform {
  /// Its name in a scenario.
  public static let name = "clip-norm"
  /// What it does, in one sentence.
  public static let summary = "Scales an update down to a largest Euclidean norm"

  /// What can be set.
  public struct Settings: PartSettings {
    /// The largest norm.
    public var maximum = 1.0
    /// The defaults.
    public init() {}
    /// The field that a bare value stands for.
    public static var shorthand: String? { "maximum" }
    /// The fields, in the order in which they are documented and written.
    public static var fields: [Field<Settings>] {
      [Field("maximum", \.maximum, .positive, "The largest norm")]
    }
  }

  private let settings: Settings
  /// A transform with this bound.
  public init(_ settings: Settings) { self.settings = settings }

  /// Draws: none. Order: the norm sums in order of the parameters, in `Double`.
  public func apply(
    to parameters: ParameterBuffer, base: ParameterBuffer, _ stream: inout RandomStream
  ) -> ParameterBuffer {
    var square = 0.0
    for i in 0..<parameters.count {
      let difference = Double(parameters[i]) - Double(base[i])
      square += difference * difference
    }
    let norm = square.squareRoot()
    if norm <= settings.maximum { return parameters }
    let factor = settings.maximum / norm
    return ParameterBuffer(count: parameters.count) { target in
      for i in 0..<target.count {
        let difference = Double(parameters[i]) - Double(base[i])
        target[i] = Float(Double(base[i]) + factor * difference)
      }
    }
  }
}
