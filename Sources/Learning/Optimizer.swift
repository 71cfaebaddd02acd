import CKernels

/// How a device's parameters move with each batch.
///
/// Plain SGD (no momentum, no weight decay) keeps nothing between batches; the others keep their
/// slots in `DeviceMemory`. A fresh training begins with slots of zeros.
public struct Optimizer: Equatable, Sendable, Codable {
  /// The rule of a step.
  public enum Rule: Equatable, Sendable, Codable {
    /// v = momentum·v + g; the step is v, or g + momentum·v by Nesterov.
    case sgd(momentum: Double, nesterov: Bool)
    /// Kingma and Ba, "Adam" (2015), algorithm 1, with corrections for the first steps.
    case adam(beta1: Double, beta2: Double, epsilon: Double)
  }

  /// The step on the mean gradient of a batch, before the schedule's factor.
  public var learningRate: Double
  /// The rule of a step.
  public var rule: Rule
  /// What is added to the gradient for each parameter, as a share of it (L2).
  public var weightDecay: Double

  /// Stochastic gradient descent.
  public static func sgd(
    learningRate: Double, momentum: Double = 0, nesterov: Bool = false, weightDecay: Double = 0
  ) -> Optimizer {
    Optimizer(
      learningRate: learningRate, rule: .sgd(momentum: momentum, nesterov: nesterov),
      weightDecay: weightDecay)
  }

  /// Adam.
  public static func adam(
    learningRate: Double, beta1: Double = 0.9, beta2: Double = 0.999, epsilon: Double = 1e-8,
    weightDecay: Double = 0
  ) -> Optimizer {
    Optimizer(
      learningRate: learningRate, rule: .adam(beta1: beta1, beta2: beta2, epsilon: epsilon),
      weightDecay: weightDecay)
  }

  /// Whether a step is the weights plus a multiple of the gradient, and nothing is kept.
  public var isPlain: Bool {
    guard case .sgd(let momentum, _) = rule else { return false }
    return momentum == 0 && weightDecay == 0
  }

  /// How many buffers of the parameters' size are kept between batches.
  package var slotCount: Int {
    switch rule {
    case .sgd: 1
    case .adam: 2
    }
  }

  /// One step over the layout's trained parameters, from `weights` into `target`.
  ///
  /// `step` counts the steps of this training from 0; `rate` is its learning rate.
  func apply(
    _ gradient: UnsafePointer<Float>, step: Int, rate: Double, layout: ParameterLayout,
    slots: [ParameterBuffer], weights: UnsafePointer<Float>,
    target: UnsafeMutablePointer<Float>, kernels: Kernels
  ) {
    var values = fs_step()
    values.rate = Float(rate)
    values.decay = Float(weightDecay)
    switch rule {
    case .sgd(let momentum, let nesterov):
      values.momentum = Float(momentum)
      values.nesterov = nesterov ? 1 : 0
    case .adam(let beta1, let beta2, let epsilon):
      values.beta1 = Float(beta1)
      values.beta2 = Float(beta2)
      values.rest1 = Float(1 - beta1)
      values.rest2 = Float(1 - beta2)
      values.epsilon = Float(epsilon)
      values.correction1 = Float(1 / (1 - power(beta1, step + 1)))
      values.correction2 = Float(1 / (1 - power(beta2, step + 1)))
    }
    for range in layout.trainedRanges {
      let first = range.lowerBound
      switch rule {
      case .sgd:
        kernels.functions.sgd(
          range.count, &values, gradient + first, slots[0].storage + first, weights + first,
          target + first)
      case .adam:
        kernels.functions.adam(
          range.count, &values, gradient + first, slots[0].storage + first,
          slots[1].storage + first, weights + first, target + first)
      }
    }
  }

  /// baseⁿ by squaring.
  private func power(_ base: Double, _ exponent: Int) -> Double {
    var (result, square, rest) = (1.0, base, exponent)
    while rest > 0 {
      if rest & 1 == 1 { result *= square }
      square *= square
      rest >>= 1
    }
    return result
  }
}
