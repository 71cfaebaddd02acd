import Learning
import Numerics
import Testing

/// Embedding and group normalisation against plain loops, bit for bit.
///
/// The network is an embedding, a normalisation and the squared error; so the gradient by the
/// embedding shows what comes through the normalisation.
@Suite struct NormalisationReferenceTests {
  private struct Problem {
    let time: Int, count: Int, groups: Int, width: Int, rows: Int
    let tokens: [Float]
    let labels: [Int32]
    let parameters: [Float]
    let scale: Float
    var channels: Int { groups * width }
    var places: Int { rows * time }
    private var weights: Int { count * channels }

    init(_ slot: UInt64) {
      var stream = StreamKey(seed: 1, purpose: "normalisation").stream(slot: slot)
      func size(_ bound: UInt32) -> Int { 1 + Int(stream.below(bound)) }
      (time, count, groups, width, rows) = (size(4), size(9), size(4), size(6), size(4))
      tokens = (0..<rows * time).map { [count] _ in Float(stream.below(UInt32(count))) }
      let outputs = time * groups * width
      labels = (0..<rows).map { _ in Int32(stream.below(UInt32(outputs))) }
      parameters = (0..<(count + 2) * groups * width).map { _ in
        switch stream.below(10) {
        case 0: 0
        case 1: Float(stream.uniform()) * 0x1p-130
        default: Float(2 * stream.uniform() - 1)
        }
      }
      scale = Float(stream.uniform())
    }

    private func token(_ place: Int) -> Int { Int(tokens[place]) }
    private func weight(_ place: Int, _ channel: Int) -> Float {
      parameters[token(place) * channels + channel]
    }
    private func factor(_ channel: Int) -> Float { parameters[weights + channel] }
    private func shift(_ channel: Int) -> Float { parameters[weights + channels + channel] }

    /// The places and channels of one sample's group, in order.
    private func members(_ row: Int, _ group: Int) -> [(place: Int, channel: Int)] {
      (row * time..<(row + 1) * time).flatMap { place in
        (group * width..<(group + 1) * width).map { (place, $0) }
      }
    }

    /// Outputs, and the gradient by all parameters.
    func reference() -> (outputs: [Float], gradient: [Float]) {
      var normal = [Float](repeating: 0, count: places * channels)
      var (outputs, passed) = (normal, normal)
      var gradient = [Float](repeating: 0, count: parameters.count)
      let size = Double(time * width)
      for row in 0..<rows {
        for group in 0..<groups {
          let members = members(row, group)
          var (sum, squares) = (0.0, 0.0)
          for (place, channel) in members { sum += Double(weight(place, channel)) }
          for (place, channel) in members {
            let difference = Double(weight(place, channel)) - sum / size
            squares += difference * difference
          }
          let inverse = 1 / (squares / size + 1e-5).squareRoot()
          for (place, channel) in members {
            let at = place * channels + channel
            normal[at] = Float((Double(weight(place, channel)) - sum / size) * inverse)
            outputs[at] = normal[at] * factor(channel) + shift(channel)
          }
          // The way back: of the gradient by the normalised values, what changes neither the mean
          // nor the variance.
          func delta(_ place: Int, _ channel: Int) -> Double {
            let at = place * channels + channel
            return Double(outputDelta(at, outputs[at])) * Double(factor(channel))
          }
          var (plain, weighted) = (0.0, 0.0)
          for (place, channel) in members {
            plain += delta(place, channel)
            weighted += delta(place, channel) * Double(normal[place * channels + channel])
          }
          for (place, channel) in members {
            let at = place * channels + channel
            let rest = delta(place, channel) - (plain + Double(normal[at]) * weighted) / size
            passed[at] = Float(rest * Double(Float(inverse)))
          }
        }
      }
      for place in 0..<places {
        for channel in 0..<channels {
          let at = place * channels + channel
          gradient[token(place) * channels + channel] += passed[at]
        }
      }
      for channel in 0..<channels {
        var (byScale, byShift) = (0.0, 0.0)
        for place in 0..<places {
          let at = place * channels + channel
          let delta = Double(outputDelta(at, outputs[at]))
          byScale += delta * Double(normal[at])
          byShift += delta
        }
        gradient[weights + channel] = Float(byScale)
        gradient[weights + channels + channel] = Float(byShift)
      }
      return (outputs, gradient)
    }

    /// The squared error's gradient by an output.
    private func outputDelta(_ at: Int, _ output: Float) -> Float {
      let classes = time * channels
      let target: Float = at % classes == Int(labels[at / classes]) ? 1 : 0
      return (output - target) * (2 / Float(classes) * scale)
    }
  }

  @Test("1,000 random shapes equal plain loops", arguments: KernelBody.allCases)
  func shapes(body: KernelBody) throws {
    let kernels = try kernels(body)
    for slot in 0..<1000 as Range<UInt64> {
      let problem = Problem(slot)
      let network = try Network(
        sampleShape: [problem.time],
        layers: [
          .embedding(count: problem.count, width: problem.channels),
          .groupNormalisation(groups: problem.groups), .flatten,
        ], loss: .meanSquaredError)
      let parameters = ParameterBuffer(problem.parameters)
      let expected = problem.reference()
      let outputs = network.outputs(
        inputs: problem.tokens, parameters: parameters, kernels: kernels)
      try #require(
        outputs.map(\.bitPattern) == expected.outputs.map(\.bitPattern), "problem \(slot)")
      let gradient = network.gradient(
        inputs: problem.tokens, labels: problem.labels, parameters: parameters,
        scale: problem.scale, kernels: kernels
      ).gradient
      try #require(
        firstDifference(gradient, ParameterBuffer(expected.gradient)) == nil, "problem \(slot)")
    }
  }
}
