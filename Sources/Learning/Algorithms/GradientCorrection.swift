/// What an algorithm adds to the mean gradient of each batch.
///
/// A training without one takes the path of plain SGD where it can, so an algorithm that adds
/// nothing gives none, and not one of zeros.
public struct GradientCorrection: Sendable {
  /// μ: the loss has μ/2·‖w − anchor‖² added to it. Its gradient is clipped with the loss's own.
  public let pull: Double
  /// What the pull is towards.
  public let anchor: ParameterBuffer?
  /// λ: besides the pull the loss has −⟨λ, w⟩ added to it. Its gradient is clipped with them.
  public let linear: ParameterBuffer?
  /// What is added after clipping, the same for each batch.
  public let shift: ParameterBuffer?
  /// Whether the shift, times the rate, is subtracted from what the optimiser's step gives, which
  /// does not see it.
  public let isBehindSteps: Bool

  /// A pull towards some parameters, and a linear term.
  public init(pull: Double, towards anchor: ParameterBuffer, linear: ParameterBuffer? = nil) {
    self.pull = pull
    self.anchor = anchor
    self.linear = linear
    (shift, isBehindSteps) = (nil, false)
  }

  /// A vector that is added to each gradient, or that each step is followed by.
  public init(shift: ParameterBuffer, behindSteps: Bool = false) {
    isBehindSteps = behindSteps
    pull = 0
    anchor = nil
    linear = nil
    self.shift = shift
  }

  /// Whether its buffers have this size.
  func fits(_ count: Int) -> Bool {
    [anchor, linear, shift].allSatisfy { ($0?.count ?? count) == count }
  }

  /// Adds μ·(w − anchor) − λ to a gradient, in `Double`, rounded to float once.
  func pull(
    _ gradient: UnsafeMutablePointer<Float>, _ weights: UnsafePointer<Float>,
    _ layout: ParameterLayout
  ) {
    guard let anchor = anchor?.storage else { return }
    let linear = linear?.storage
    for range in layout.trainedRanges {
      for i in range {
        let pulled = Double(gradient[i]) + pull * (Double(weights[i]) - Double(anchor[i]))
        gradient[i] = Float(linear.map { pulled - Double($0[i]) } ?? pulled)
      }
    }
  }

  /// Subtracts rate·shift from weights behind a step, in `Double`, rounded to float once.
  func follow(
    _ weights: UnsafeMutablePointer<Float>, rate: Double, _ layout: ParameterLayout
  ) {
    guard isBehindSteps, let shift = shift?.storage else { return }
    for range in layout.trainedRanges {
      for i in range { weights[i] = Float(Double(weights[i]) - rate * Double(shift[i])) }
    }
  }

  /// Adds the shift to a gradient.
  func shift(_ gradient: UnsafeMutablePointer<Float>, _ layout: ParameterLayout) {
    guard !isBehindSteps, let shift = shift?.storage else { return }
    for range in layout.trainedRanges {
      for i in range { gradient[i] += shift[i] }
    }
  }
}
