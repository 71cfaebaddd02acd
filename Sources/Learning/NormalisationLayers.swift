import Numerics

/// Each sample's channels in groups, each brought to mean 0 and variance 1, then scaled and shifted
/// channel by channel; or each place's channels by themselves.
///
/// Source: Wu and He, "Group normalization" (2018), and for each place Ba et al., "Layer
/// normalization" (2016), with epsilon 10⁻⁵. Order: sums over places,
/// then the group's channels, in `Double`; gradients over (sample,
/// place), likewise.
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

  /// Calls for every group with its first element and its number over all samples.
  private func forEachGroup(_ rows: Int, _ body: (_ first: Int, _ channel: Int, _ at: Int) -> Void)
  {
    for row in 0..<rows * pieces {
      for group in 0..<groups {
        let channel = group * (channels / groups)
        body(row * places * channels + channel, channel, row * groups + group)
      }
    }
  }

  func forward(_ pass: Pass) {
    let width = channels / groups
    let (input, output, normal) = (pass.input, pass.output, pass.state)
    let (scale, shift) = (pass.parameters, pass.parameters + channels)
    let inverses = pass.state + pass.rows * outputCount
    let count = Double(places * width)
    forEachGroup(pass.rows) { first, channel, at in
      var sum = 0.0
      for place in 0..<places {
        for c in 0..<width { sum += Double(input[first + place * channels + c]) }
      }
      let mean = sum / count
      var squares = 0.0
      for place in 0..<places {
        for c in 0..<width {
          let difference = Double(input[first + place * channels + c]) - mean
          squares += difference * difference
        }
      }
      let inverse = 1 / (squares / count + Self.epsilon).squareRoot()
      inverses[at] = Float(inverse)
      for place in 0..<places {
        for c in 0..<width {
          let index = first + place * channels + c
          normal[index] = Float((Double(input[index]) - mean) * inverse)
          output[index] = normal[index] * scale[channel + c] + shift[channel + c]
        }
      }
    }
  }

  func backward(_ pass: Pass, _ deltas: Deltas) {
    let width = channels / groups
    let (delta, normal) = (deltas.output, pass.state)
    let scale = pass.parameters
    if let inputDelta = deltas.input {
      let inverses = pass.state + pass.rows * outputCount
      let count = Double(places * width)
      forEachGroup(pass.rows) { first, channel, at in
        var sum = 0.0
        var product = 0.0
        for place in 0..<places {
          for c in 0..<width {
            let index = first + place * channels + c
            let value = Double(delta[index]) * Double(scale[channel + c])
            sum += value
            product += value * Double(normal[index])
          }
        }
        for place in 0..<places {
          for c in 0..<width {
            let index = first + place * channels + c
            let value = Double(delta[index]) * Double(scale[channel + c])
            let rest = value - (sum + Double(normal[index]) * product) / count
            inputDelta[index] = Float(rest * Double(inverses[at]))
          }
        }
      }
    }
    guard let target = deltas.target else { return }
    for channel in 0..<channels {
      var (product, sum) = (0.0, 0.0)
      for place in 0..<pass.rows * pieces * places {
        let index = place * channels + channel
        product += Double(delta[index]) * Double(normal[index])
        sum += Double(delta[index])
      }
      target[channel] = (deltas.start?[channel] ?? 0) + Float(product)
      target[channels + channel] = (deltas.start?[channels + channel] ?? 0) + Float(sum)
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
