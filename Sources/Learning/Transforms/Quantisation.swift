import Numerics
import Schema

/// Writes each parameter of an update as one signed byte, with a scale for each tensor.
///
/// Symmetric linear quantisation: with s = max |Δ| / 127, q = Δ / s to the nearest whole number, of
/// two equally near the even one; the server reads q·s. Source: Jacob et al., "Quantization and
/// training of neural networks for efficient integer-arithmetic-only inference" (2018), §2.1, with
/// the zero point 0.
public struct ByteQuantisation: UpdateTransform {
  public static let name = "int8"
  /// What it does, in one sentence.
  public static let summary = "Rounds an update to signed bytes, with one scale per tensor"

  public typealias Settings = NoSettings
  public init(_ settings: NoSettings) {}

  /// A byte a number, and a float a tensor.
  public func shape(_ form: inout UpdateForm) {
    form.bitsPerNumber = min(form.bitsPerNumber ?? 8, 8)
    form.scaleBytes = 4 * form.tensors.count
  }

  /// Draws: none.
  public func apply(_ update: inout OutgoingUpdate) {
    guard update.parameters.isFinite else { return }
    let before = update
    let scales = before.tensors.map { tensor in
      Double(Float(tensor.reduce(0.0) { max($0, before.difference($1).magnitude) } / 127))
    }
    update.setDifferences { tensor, difference, _ in
      let scale = scales[tensor]
      if scale == 0 { return 0 }
      return min(max((difference / scale).rounded(.toNearestOrEven), -127), 127) * scale
    }
  }
}

/// Rounds each parameter of an update at random to one of some levels, so that the mean is right.
///
/// Source: Alistarh et al., "QSGD" (2017), §3.1: Q(v) = ‖v‖₂·sign(v)·ξ with ξ = l/s or (l + 1)/s,
/// where l = ⌊s·|v|/‖v‖₂⌋ and the chance of the latter is s·|v|/‖v‖₂ − l. Each tensor is its own
/// bucket. Levels have a fixed number of bits and not Elias' codes.
public struct StochasticQuantisation: UpdateTransform {
  public static let name = "qsgd"
  /// What it does, in one sentence.
  public static let summary = "Stochastically rounds an update to levels of each tensor's norm"

  public struct Settings: PartSettings {
    /// Levels other than 0, of each sign.
    public var levels = 16
    public init() {}
    public static var shorthand: String? { "levels" }
    public static var fields: [Field<Settings>] {
      [
        Field(
          "levels", \.levels, .integer(1...32_767), "Number of levels per sign, not counting 0, s")
      ]
    }
  }

  private let settings: Settings
  public init(_ settings: Settings) { self.settings = settings }

  /// Bits for 2s + 1 levels a number, and a float a tensor.
  public func shape(_ form: inout UpdateForm) {
    let bits = Int.bitWidth - (2 * settings.levels).leadingZeroBitCount
    form.bitsPerNumber = bits
    form.scaleBytes = 4 * form.tensors.count
  }

  /// Draws: one `uniform` a parameter that travels, in their order. Order: each norm sums in the
  /// order of `BlockSum`.
  public func apply(_ update: inout OutgoingUpdate) {
    guard update.parameters.isFinite else { return }
    let before = update
    let norms = before.tensors.map { tensor in
      let square = before.parameters.squaredNorm(less: before.base, in: tensor)
      return Double(ParameterBuffer.nearest(square.squareRoot()))
    }
    let levels = Double(settings.levels)
    update.setDifferences { tensor, difference, stream in
      let (norm, draw) = (norms[tensor], stream.uniform())
      if norm == 0 { return 0 }
      let exact = min(difference.magnitude / norm, 1) * levels
      let floor = exact.rounded(.down)
      let level = draw < exact - floor ? floor + 1 : floor
      return (difference < 0 ? -norm : norm) * level / levels
    }
  }
}
