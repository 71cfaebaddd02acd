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

    /// A group's sum: a channel's over places, by its factor, in eight lanes that are added up.
    private func sum(
      _ row: Int, _ group: Int, by factor: (Int) -> Float = { _ in 1 },
      _ value: (_ place: Int, _ channel: Int) -> Float
    ) -> Double {
      var lanes = [Double](repeating: 0, count: 8)
      for index in 0..<width {
        let channel = group * width + index
        var own = 0.0
        for place in row * time..<(row + 1) * time { own += Double(value(place, channel)) }
        lanes[index % 8] += Double(factor(channel)) * own
      }
      for half in [4, 2, 1] {
        for lane in 0..<half { lanes[lane] += lanes[lane + half] }
      }
      return lanes[0]
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
          let mean = Float(sum(row, group, weight) / size)
          let squares = sum(row, group) { place, channel in
            let difference = weight(place, channel) - mean
            return difference * difference
          }
          let inverse = Float(1 / (squares / size + 1e-5).squareRoot())
          for (place, channel) in members {
            let at = place * channels + channel
            normal[at] = (weight(place, channel) - mean) * inverse
            outputs[at] = normal[at] * factor(channel) + shift(channel)
          }
          // The way back: of the gradient by the normalised values, what changes neither the mean
          // nor the variance. Factors are the channels' own, behind the sums over places.
          func delta(_ place: Int, _ channel: Int) -> Float {
            let at = place * channels + channel
            return outputDelta(at, outputs[at])
          }
          let plain = Float(sum(row, group, by: factor, delta) / size)
          let weighted = Float(
            sum(row, group, by: factor) { delta($0, $1) * normal[$0 * channels + $1] } / size)
          for (place, channel) in members {
            let at = place * channels + channel
            let rest = delta(place, channel) * factor(channel) - (normal[at] * weighted + plain)
            passed[at] = rest * inverse
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
        for row in 0..<rows {
          var (product, sum) = (0.0, 0.0)
          for place in row * time..<(row + 1) * time {
            let at = place * channels + channel
            let delta = outputDelta(at, outputs[at])
            product += Double(delta * normal[at])
            sum += Double(delta)
          }
          byScale += product
          byShift += sum
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
