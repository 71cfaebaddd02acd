import Learning
import Testing

@Suite struct AggregationTests {
  private let pool = WorkerPool(threads: 2)

  @Test("three weighted updates give the mean worked out by hand")
  func weights() {
    // Samples 10, 30, 60: ¹⁄₁₀·1 + ³⁄₁₀·2 + ⁶⁄₁₀·4 = 3.1; 0.1·(-1) + 0.3·0 + 0.6·2 = 1.1.
    let sum = Aggregation.weights(
      [
        .init(ParameterBuffer([1, -1]), weight: 0.1), .init(ParameterBuffer([2, 0]), weight: 0.3),
        .init(ParameterBuffer([4, 2]), weight: 0.6),
      ], kernels: .best, pool: pool)
    #expect(sum.values == [3.1, 1.1])
  }

  @Test("differences are taken from each update's own base")
  func deltas() {
    // now = 10; ¼·(3 − 1) + ¾·(8 − 4) = 3.5; rate ½: 11.75. Then 20 + ½·(¼·(−4) + ¾·0) = 19.5.
    let sum = Aggregation.deltas(
      [
        .init(ParameterBuffer([3, 0]), base: ParameterBuffer([1, 4]), weight: 0.25),
        .init(ParameterBuffer([8, 5]), base: ParameterBuffer([4, 5]), weight: 0.75),
      ], now: ParameterBuffer([10, 20]), rate: 0.5, kernels: .best, pool: pool)
    #expect(sum.values == [11.75, 19.5])
  }

  @Test("sums go in the order of the terms, in double")
  func order() {
    func sum(_ values: [Float]) -> Float {
      let terms = values.map { Aggregation.Term(ParameterBuffer([$0]), weight: 1) }
      return Aggregation.weights(terms, kernels: .best, pool: pool)[0]
    }
    // 2⁶⁰ + 1 rounds to 2⁶⁰ in double.
    #expect(sum([0x1p60, 1, -0x1p60]) == 0)
    #expect(sum([0x1p60, -0x1p60, 1]) == 1)
    // In float 2²⁴ + 1 would be lost.
    #expect(sum([0x1p24, 1, -0x1p24]) == 1)
  }

  @Test("bits do not depend on threads or body")
  func threads() {
    let count = 10_007
    let buffers = (0..<7).map { term in
      var stream = testStream(UInt64(100 + term))
      return ParameterBuffer((0..<count).map { _ in Float(stream.uniform() - 0.5) })
    }
    let weights = buffers.indices.map { 1 / Double($0 + 3) }
    let expected = (0..<count).map { index in
      var sum = 0.0
      for (buffer, weight) in zip(buffers, weights) { sum += weight * Double(buffer[index]) }
      return Float(sum)
    }
    for kernels in KernelBody.allCases.compactMap({ Kernels($0) }) {
      for threads in 1...3 {
        let pool = WorkerPool(threads: threads)
        let terms = zip(buffers, weights).map { Aggregation.Term($0, weight: $1) }
        let sum = Aggregation.weights(terms, kernels: kernels, pool: pool)
        #expect(sum.values == expected)
      }
    }
  }
}
