import CKernels
import Numerics

/// Each sample's channels in groups, each brought to mean 0 and variance 1, then scaled and shifted
/// channel by channel; or each place's channels by themselves.
///
/// Source: Wu and He, "Group normalization" (2018), and for each place Ba et al., "Layer
/// normalization" (2016), with epsilon 10⁻⁵. Order: that of the kernels `normalise`
/// and `normalise_back`.
struct GroupNormalisationLayer: PlacedLayer {
  private let groups: Int
  private let channels: Int
  /// Places that are normalised together, and how many such pieces a sample has.
  private let places: Int
  private let pieces: Int
  let outputShape: [Int]
  private static let epsilon = 1e-5

  init(groups: Int, inputShape: [Int], eachPlace: Bool = false) throws(ShapeProblem) {
    channels = inputShape[inputShape.count - 1]
    guard groups > 0, channels % groups == 0 else {
      throw ShapeProblem("\(groups) groups do not divide \(channels) channels")
    }
    self.groups = groups
    outputShape = inputShape
    let all = inputShape.dropLast().reduce(1, *)
    (places, pieces) = eachPlace ? (1, all) : (all, 1)
  }

  var stem: String { "norm" }
  var tensors: [(name: String, shape: [Int])] {
    [("scale", [channels]), ("shift", [channels])]
  }

  /// The normalised values, and 1/√variance of each group.
  func stateCount(_ rows: Int) -> Int { rows * pieces * (places * channels + groups) }

  func initialise(_ target: UnsafeMutablePointer<Float>, _ stream: inout RandomStream) {
    for channel in 0..<channels { target[channel] = 1 }
  }

  /// The gradients by scales and shifts, as `Double`.
  func scratchCount(_ rows: Int, needsInputDelta: Bool) -> Int { 4 * channels }

  private func shape(_ pass: Pass) -> fs_normalisation {
    fs_normalisation(
      pieces: pass.rows * pieces, places: places, channels: channels, groups: groups,
      epsilon: Self.epsilon)
  }

  func forward(_ pass: Pass) {
    var shape = shape(pass)
    pass.kernels.functions.normalise(
      &shape, pass.input, pass.parameters, pass.parameters + channels, pass.state,
      pass.state + pass.rows * outputCount, pass.output)
  }

  func backward(_ pass: Pass, _ deltas: Deltas) {
    var shape = shape(pass)
    UnsafeMutableRawPointer(pass.scratch).withMemoryRebound(
      to: Double.self, capacity: 2 * channels
    ) { sums in
      pass.kernels.functions.normalise_back(
        &shape, deltas.output, pass.state, pass.state + pass.rows * outputCount, pass.parameters,
        sums, deltas.input)
      guard let target = deltas.target else { return }
      for index in 0..<2 * channels {
        target[index] = (deltas.start?[index] ?? 0) + Float(sums[index])
      }
    }
  }
}

/// Whole numbers below `count` become vectors of `width` values.
///
/// Order: a vector's gradient adds up over (sample, time).
struct EmbeddingLayer: PlacedLayer {
  private let count: Int
  private let width: Int
  private let time: Int

  init(count: Int, width: Int, inputShape: [Int]) throws(ShapeProblem) {
    guard inputShape.count == 1 else {
      throw ShapeProblem("takes [time] and gets \(inputShape)")
    }
    guard count > 0 && width > 0 else { throw ShapeProblem("count and width are at least 1") }
    self.count = count
    self.width = width
    time = inputShape[0]
  }

  var outputShape: [Int] { [time, width] }
  var stem: String { "embedding" }
  var tensors: [(name: String, shape: [Int])] { [("weight", [count, width])] }

  func initialise(_ target: UnsafeMutablePointer<Float>, _ stream: inout RandomStream) {
    initialiseUniform(target, count: parameterCount, fan: width, &stream)
  }

  private func token(_ value: Float) -> Int {
    precondition(
      value >= 0 && value < Float(count) && value == value.rounded(.towardZero),
      "an embedding of \(count) gets \(value)")
    return Int(value)
  }

  func forward(_ pass: Pass) {
    for place in 0..<pass.rows * time {
      (pass.output + place * width).update(
        from: pass.parameters + token(pass.input[place]) * width, count: width)
    }
  }

  func backward(_ pass: Pass, _ deltas: Deltas) {
    guard let target = deltas.target else { return }
    if let start = deltas.start {
      if start != UnsafePointer(target) { target.update(from: start, count: count * width) }
    } else {
      target.update(repeating: 0, count: count * width)
    }
    for place in 0..<pass.rows * time {
      let to = target + token(pass.input[place]) * width
      for i in 0..<width { to[i] += deltas.output[place * width + i] }
    }
  }
}
