import FedSim
import Learning
import Numerics
import Schema
import Testing

private func stream(_ slot: UInt64 = 0) -> RandomStream {
  StreamKey(seed: 5, purpose: "transform-test").stream(slot: slot)
}

/// An update with this difference from zeros; two tensors, as in `PrivacyNumbers.swift`.
private func update(
  _ difference: [Float], tensors: [Range<Int>]? = nil, slot: UInt64 = 0,
  residual: ParameterBuffer? = nil, told: Double? = nil
) -> OutgoingUpdate {
  OutgoingUpdate(
    parameters: ParameterBuffer(difference),
    base: ParameterBuffer(difference.map { _ in 0 }),
    tensors: tensors ?? (difference.count == 24 ? [0..<10, 10..<24] : [0..<difference.count]),
    stream: stream(slot), residual: residual, told: told)
}

private func row(_ index: Int) -> [Float] { Array(sentUpdates[index * 24..<(index + 1) * 24]) }

@Suite("Transforms of updates")
struct TransformTests {
  @Test("Signed bytes are those of NumPy")
  func bytes() {
    var sent = update(row(0))
    make(ByteQuantisation.self).apply(&sent)
    #expect(sent.parameters.values == sentBytes.map { Float($0) })
  }

  @Test("The largest, with what was left before, are those of NumPy over four updates")
  func largest() {
    // A fifth of 24 is 4.8: five.
    let part = make(TopK.self) { $0.share = 0.2 }
    var rest: ParameterBuffer?
    for turn in 0..<4 {
      var sent = update(row(turn), residual: rest)
      part.apply(&sent)
      #expect(
        sent.parameters.values == sentLargest[turn * 24..<(turn + 1) * 24].map { Float($0) })
      rest = sent.residual
    }
    #expect(rest?.values == sentRest.map { Float($0) })
  }

  @Test("Of equal magnitudes the first are sent, and one at least")
  func ties() {
    let part = make(TopK.self) { ($0.share, $0.feedback) = (0.5, false) }
    var sent = update([1, -2, 2, -1, 2, 0.5])
    part.apply(&sent)
    #expect(sent.parameters.values == [0, -2, 2, 0, 2, 0])
    #expect(sent.residual == nil)
    var first = update([3, 3, -3])
    make(TopK.self) { $0.share = 0 }.apply(&first)
    #expect(first.parameters.values == [3, 0, 0])
    #expect(first.residual?.values == [0, 3, -3])
  }

  @Test("Random ones are sent as they are, and nothing is lost: what is left waits")
  func random() {
    let part = make(RandomK.self) { $0.share = 0.25 }
    var rest: ParameterBuffer?
    var (given, arrived) = ([Double](repeating: 0, count: 24), [Double](repeating: 0, count: 24))
    for turn in 0..<4 {
      let carried = (0..<24).map { row(turn)[$0] + (rest?[$0] ?? 0) }
      var sent = update(row(turn), slot: UInt64(turn), residual: rest)
      part.apply(&sent)
      rest = sent.residual
      // A quarter: six, of which some may be zeros.
      let zeros = carried.count { $0 == 0 }
      let others = (0..<24).count { sent.parameters[$0] != 0 }
      #expect((max(0, 6 - zeros)...6).contains(others), "\(others)")
      for i in 0..<24 {
        given[i] += Double(row(turn)[i])
        arrived[i] += Double(sent.parameters[i])
        #expect(sent.parameters[i] == 0 || rest![i] == 0)
      }
    }
    // Multiples of 1/64: sums are exact.
    for i in 0..<24 { #expect(given[i] == arrived[i] + Double(rest![i])) }
  }

  @Test("Without feedback random ones are sent four times as large where a quarter is sent")
  func unbiased() {
    let part = make(RandomK.self) { ($0.share, $0.feedback) = (0.25, false) }
    var sent = update(row(0))
    part.apply(&sent)
    let chosen = (0..<24).filter { sent.parameters[$0] != 0 }
    #expect(chosen.count == 6 - chosen.count { row(0)[$0] == 0 })
    for i in chosen { #expect(sent.parameters[i] == 4 * row(0)[i]) }
    #expect(sent.residual == nil)
  }

  @Test("Random ones are any of them, each as often as the others")
  func evenly() {
    let part = make(RandomK.self) { ($0.share, $0.feedback) = (0.25, false) }
    var counts = [Int](repeating: 0, count: 24)
    for slot in 0..<4_000 {
      var sent = update([Float](repeating: 1, count: 24), slot: UInt64(slot))
      part.apply(&sent)
      for i in 0..<24 where sent.parameters[i] != 0 { counts[i] += 1 }
    }
    // A quarter of 4,000, within five errors: 5·√(4,000·¼·¾) = 137.
    for count in counts { #expect(abs(count - 1_000) <= 137, "\(counts)") }
    #expect(counts.reduce(0, +) == 24_000)
  }

  @Test("A norm is scaled down to the bound, and a shorter one left as it is")
  func bound() {
    // (3, 4) is 5 long; (0.75, 1) is 1.25.
    let part = make(ClipNorm.self) { $0.maximum = 2.5 }
    var long = update([3, 4])
    part.apply(&long)
    #expect(long.parameters.values == [1.5, 2])
    var short = update([0.75, 1])
    part.apply(&short)
    #expect(short.parameters.values == [0.75, 1])
  }

  @Test("Stochastic levels are the two around a number, and right in the mean")
  func levels() {
    // The norm of (3, −4, 0, 1.2, 0) is √(25 + 1.44) = 5.1419…; with 4 levels 3 is at 2.33, 4 at
    // 3.11, 1.2 at 0.93.
    let difference: [Float] = [3, -4, 0, 1.2, 0]
    let norm = difference.reduce(0.0) { $0 + Double($1) * Double($1) }.squareRoot()
    let part = make(StochasticQuantisation.self) { $0.levels = 4 }
    let rounds = 20_000
    var sums = [Double](repeating: 0, count: 5)
    for slot in 0..<rounds {
      var sent = update(difference, slot: UInt64(slot))
      part.apply(&sent)
      for i in 0..<5 {
        let level = Double(sent.parameters[i]) / norm * 4
        let exact = Double(difference[i]) / norm * 4
        #expect((level - level.rounded()).magnitude < 1e-5)
        #expect((level - exact).magnitude < 1.001)
        sums[i] += Double(sent.parameters[i])
      }
    }
    // A level is norm / 4 = 1.29 wide, a draw's deviation at most half of it: five errors of the
    // mean are 5 · 0.643 / √20,000 = 0.0227.
    for i in 0..<5 {
      #expect((sums[i] / Double(rounds) - Double(difference[i])).magnitude < 0.0227)
    }
    #expect((sums[2], sums[4]) == (0, 0))
  }

  @Test("The bound that is sent follows the quantile as in NumPy, and updates are scaled to it")
  func adaptive() {
    let part = make(AdaptiveClip.self) { ($0.quantile, $0.initial, $0.rate) = (0.75, 1, 0.5) }
    var bound = part.firstTold
    #expect(bound == 1)
    for turn in 0..<5 {
      let reports = clipNorms[turn * 8..<(turn + 1) * 8].map { norm in
        var sent = update([Float(norm), 0], told: bound)
        part.apply(&sent)
        let most = min(Double(Float(norm)), bound)
        #expect((Double(sent.parameters[0]) - most).magnitude < 1e-6)
        return sent.report!
      }
      var none = stream()
      bound = part.tellNext(after: bound, reports: Array(reports), &none)
      #expect((bound - clipBounds[turn]).magnitude < 1e-12)
    }
  }

  @Test("Noise on the count moves the bound by its deviation, the same way for the same stream")
  func countNoise() {
    // The logarithm of the bound moves by −η·(b̄ − γ), and its noise is η·σ_b/n = 1·2/4.
    let part = make(AdaptiveClip.self) { ($0.rate, $0.countNoise, $0.quantile) = (1, 2, 0.5) }
    var sum = 0.0
    var square = 0.0
    for slot in 0..<4_000 {
      var draws = stream(UInt64(slot))
      let next = part.tellNext(after: 1, reports: [1, 1, 0, 0], &draws)
      let log = Portable.log(next)
      (sum, square) = (sum + log, square + log * log)
    }
    // Five errors: 5·0.5/√4,000 = 0.04 of the mean, 5·0.25·√2/√4,000 = 0.028 of the variance.
    #expect((sum / 4_000).magnitude < 0.04)
    #expect((square / 4_000 - 0.25).magnitude < 0.028)
  }

  @Test("Noise on a device has its deviation and its law, and stays within what travels")
  func noise() {
    let parts: [(any UpdateTransform, Double)] = [
      // The mean magnitude of a normal variable is √(2/π) = 0.7979 of its deviation.
      (make(GaussianNoise.self) { $0.deviation = 0.5 }, 0.3989),
      // A Laplace variable's is its scale, and its deviation √2 of that.
      (make(LaplaceNoise.self) { $0.scale = 0.5 / 2.0.squareRoot() }, 0.3536),
    ]
    for (part, expected) in parts {
      var sent = update([Float](repeating: 1, count: 8_002), tensors: [1..<8_001])
      part.apply(&sent)
      #expect((sent.parameters[0], sent.parameters[8_001]) == (1, 1))
      let values = (1..<8_001).map { Double(sent.parameters[$0]) - 1 }
      let mean = values.reduce(0, +) / 8_000
      let variance = values.reduce(0) { $0 + $1 * $1 } / 8_000
      // Five errors: 5·0.5/√8,000; of the variance 5·0.25·√5/√8,000 with a fourth moment of 6.
      #expect(mean.magnitude < 0.028)
      #expect((variance - 0.25).magnitude < 0.032)
      // A magnitude's deviation is 0.354 at most: five errors are 5·0.354/√8,000 = 0.0198.
      let magnitude = values.reduce(0) { $0 + $1.magnitude } / 8_000
      #expect((magnitude - expected).magnitude < 0.02)
    }
  }

  @Test("An update that is not finite is sent as it is, and leaves what waits alone")
  func notFinite() {
    let rest = ParameterBuffer([1, 2])
    for part in [
      make(TopK.self), make(RandomK.self), make(GaussianNoise.self), make(LaplaceNoise.self),
    ] as [any UpdateTransform] {
      var sent = update([.nan, 1], residual: rest)
      part.apply(&sent)
      #expect(!sent.parameters.isFinite)
      #expect(sent.residual === rest)
    }
  }
}

@Suite("Sizes of transformed updates")
struct TransformSizeTests {
  private typealias Chosen = Choice<any UpdateTransform>
  /// 1,000 parameters that travel in two tensors, and 7 that are frozen.
  private let layout = ParameterLayout([
    TensorSpec(name: "a", shape: [30, 30], offset: 0),
    TensorSpec(name: "f", shape: [7], offset: 900, isUpdatable: false),
    TensorSpec(name: "b", shape: [100], offset: 907),
  ])

  private func bytes(
    _ transforms: [Chosen], _ format: PayloadFormat? = nil, perParameter: Int = 4
  ) -> Int64 {
    var server = ServerSettings()
    server.transforms = transforms
    server.bytesPerParameter = perParameter
    if let format {
      server.payloadFormat = PayloadFormatSettings()
      server.payloadFormat!.upload = format
    }
    return server.updateBytes(of: layout)
  }

  @Test("Bytes follow from the transforms, by hand")
  func sizes() {
    let top = choice(TopK.self) { $0.share = 0.01 }
    let random = choice(RandomK.self) { $0.share = 0.01 }
    let int8 = choice(ByteQuantisation.self)
    let qsgd = choice(StochasticQuantisation.self) { $0.levels = 16 }
    #expect(bytes([]) == 4_000)
    #expect(bytes([choice(ClipNorm.self)]) == 4_000)
    // What comes later undoes it: floats for all; a bit each and one scale.
    let noise = choice(GaussianNoise.self)
    #expect(bytes([int8, noise]) == 4_000 && bytes([random, noise]) == 4_000)
    #expect(bytes([int8, choice(SignCompression.self)]) == 125 + 8)
    // A byte that reports.
    #expect(bytes([choice(AdaptiveClip.self)]) == 4_001)
    // Ten numbers of 4 B, and ten places of 4 B.
    #expect(bytes([top]) == 80)
    #expect(bytes([top], perParameter: 2) == 60)
    // Ten numbers and a seed.
    #expect(bytes([random]) == 48)
    // A byte each, two scales.
    #expect(bytes([int8]) == 1_008)
    // 33 levels: 6 bits each, two norms.
    #expect(bytes([qsgd]) == 750 + 8)
    // Ten bytes, ten places, two scales.
    #expect(bytes([top, int8]) == 10 + 40 + 8)
    // Ten times 6 bits are 7.5 B.
    #expect(bytes([top, qsgd]) == 8 + 40 + 8)
    // With what was left before, numbers are floats again, and scales would say nothing.
    #expect(bytes([int8, top]) == 80)
    // Signs at random levels have four values and not two: 6 bits, and norms in place of scales.
    #expect(bytes([choice(SignCompression.self), qsgd]) == 750 + 8)
    // Noise on every parameter leaves nothing out.
    #expect(bytes([top, choice(GaussianNoise.self)]) == 4_000)
  }

  @Test("And from the format around them")
  func formats() {
    let top = choice(TopK.self) { $0.share = 0.01 }
    let int8 = choice(ByteQuantisation.self)
    #expect(bytes([top], .raw) == 80)
    // 80 B are 26 times 3 and 2 over.
    #expect(bytes([top], .base64) == 108)
    // A file of numbers and one of places; a file a tensor.
    #expect(bytes([top], .npy) == 80 + 256)
    #expect(bytes([int8], .npy) == 1_008 + 256)
    #expect(bytes([choice(RandomK.self) { $0.share = 0.01 }], .npy) == 48 + 128)
    var server = ServerSettings()
    server.transforms = [top]
    server.payloadFormat = PayloadFormatSettings()
    server.payloadFormat!.upload = .json
    #expect(server.contradictions().map(\.key) == ["payloadFormat"])
    server.transforms = [top, choice(RandomK.self) { $0.share = 0.001 }]
    #expect(server.contradictions().map(\.key) == ["transforms"])
  }

  @Test("What the server tells goes with the model")
  func told() {
    var server = ServerSettings()
    server.transforms = [choice(AdaptiveClip.self)]
    #expect(server.modelBytes(of: layout) == 4_004)
  }
}
