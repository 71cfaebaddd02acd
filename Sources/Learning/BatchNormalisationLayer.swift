import Numerics

/// Each channel brought to mean 0 and variance 1 over all places of a batch, then scaled and
/// shifted; outside of training, and where the layer is frozen, by running statistics.
///
/// A step moves these: running ← (1 − momentum)·running + momentum·batch's, with the variance that
/// is divided by one place less. A batch of one place for each channel gives the shift and moves
/// nothing: PyTorch refuses it. A running variance below 0, as noise may make one, counts as 0.
/// Source: Ioffe and Szegedy, "Batch normalization" (2015), algorithms 1 and 2; momentum as in
/// PyTorch. Order: sums over (sample, place), channel by channel, in `Double`.
struct BatchNormalisationLayer: PlacedLayer {
  private let epsilon: Double
  private let momentum: Double
  fileprivate let isFrozen: Bool
  private let channels: Int
  fileprivate let places: Int
  let outputShape: [Int]

  init(
    epsilon: Double, momentum: Double, isFrozen: Bool, inputShape: [Int]
  ) throws(ShapeProblem) {
    guard epsilon > 0, momentum >= 0, momentum <= 1 else {
      throw ShapeProblem("epsilon is above 0, and momentum from 0 to 1")
    }
    self.epsilon = epsilon
    self.momentum = momentum
    self.isFrozen = isFrozen
    outputShape = inputShape
    channels = inputShape[inputShape.count - 1]
    places = inputShape.dropLast().reduce(1, *)
  }

  var stem: String { "norm" }
  var tensors: [(name: String, shape: [Int])] {
    [
      ("scale", [channels]), ("shift", [channels]), ("mean", [channels]), ("variance", [channels]),
    ]
  }
  var statistics: [String] { ["mean", "variance"] }

  /// The normalised values, and each channel's 1/√variance, mean and variance to move by.
  func stateCount(_ rows: Int) -> Int { rows * outputCount + 3 * channels }

  func initialise(_ target: UnsafeMutablePointer<Float>, _ stream: inout RandomStream) {
    for channel in 0..<channels { (target[channel], target[3 * channels + channel]) = (1, 1) }
  }

  /// Lends memory for two numbers a channel.
  private func withSums(
    _ body: (UnsafeMutablePointer<Double>, UnsafeMutablePointer<Double>) -> Void
  ) {
    withUnsafeTemporaryAllocation(of: Double.self, capacity: 2 * channels) { sums in
      guard let first = sums.baseAddress else { return }
      body(first, first + channels)
    }
  }

  func forward(_ pass: Pass) {
    withSums { means, inverses in
      if pass.isTraining && !isFrozen {
        measure(pass, means, inverses)
      } else {
        let (mean, variance) = (pass.parameters + 2 * channels, pass.parameters + 3 * channels)
        for c in 0..<channels {
          means[c] = Double(mean[c])
          inverses[c] = 1 / (max(0, Double(variance[c])) + epsilon).squareRoot()
        }
      }
      pass.kernels.functions.batch_normalise(
        pass.rows * places, channels, pass.input, means, inverses, pass.parameters,
        pass.parameters + channels, pass.state, pass.output)
    }
  }

  /// Means and 1/√variance of a batch; what statistics move by is kept.
  private func measure(
    _ pass: Pass, _ means: UnsafeMutablePointer<Double>, _ inverses: UnsafeMutablePointer<Double>
  ) {
    let count = pass.rows * places
    pass.kernels.functions.batch_moments(count, channels, pass.input, means, inverses)
    let kept = pass.state + pass.rows * outputCount
    for c in 0..<channels {
      kept[channels + c] = Float(means[c])
      kept[2 * channels + c] = Float(inverses[c] / Double(max(1, count - 1)))
      inverses[c] = 1 / (inverses[c] / Double(count) + epsilon).squareRoot()
      kept[c] = Float(inverses[c])
    }
  }

  func backward(_ pass: Pass, _ deltas: Deltas) {
    if isFrozen { return passOn(pass, deltas) }
    withSums { sums, products in
      pass.kernels.functions.batch_back(
        pass.rows * places, channels, deltas.output, pass.state,
        pass.state + pass.rows * outputCount, pass.parameters, sums, products, deltas.input)
      guard let target = deltas.target else { return }
      for c in 0..<channels {
        target[c] = (deltas.start?[c] ?? 0) + Float(products[c])
        target[channels + c] = (deltas.start?[channels + c] ?? 0) + Float(sums[c])
      }
      for statistic in 2 * channels..<4 * channels {
        target[statistic] = deltas.start?[statistic] ?? 0
      }
    }
  }

  /// The gradient by the input where statistics are those of the parameters.
  private func passOn(_ pass: Pass, _ deltas: Deltas) {
    guard let inputDelta = deltas.input else { return }
    let (scale, variance) = (pass.parameters, pass.parameters + 3 * channels)
    withSums { factors, _ in
      for c in 0..<channels {
        factors[c] = Double(scale[c]) / (max(0, Double(variance[c])) + epsilon).squareRoot()
      }
      for place in 0..<pass.rows * places {
        let first = place * channels
        for c in 0..<channels {
          inputDelta[first + c] = Float(Double(deltas.output[first + c]) * factors[c])
        }
      }
    }
  }

  func moveStatistics(_ pass: Pass, to target: UnsafeMutablePointer<Float>) {
    if isFrozen { return }
    let moves = pass.rows * places > 1
    let batch = pass.state + pass.rows * outputCount + channels
    let (running, next) = (pass.parameters + 2 * channels, target + 2 * channels)
    for index in 0..<2 * channels {
      next[index] =
        moves
        ? Float((1 - momentum) * Double(running[index]) + momentum * Double(batch[index]))
        : running[index]
    }
  }
}

extension Network {
  /// Whether a batch of one sample has a single value for each channel of a normalisation.
  public var normalisesSingleValues: Bool {
    nodes.flatMap(\.leaves).contains { node in
      (node.layer as? BatchNormalisationLayer).map { !$0.isFrozen && $0.places == 1 } ?? false
    }
  }
}
