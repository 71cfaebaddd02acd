import Learning
import Testing

@Suite struct EvaluationTests {
  private let network = Network.multilayerPerceptron(inputCount: 30, hidden: [16], classCount: 5)

  private func evaluate(
    _ indices: [Int32], of dataset: Dataset, kernels: Kernels = .best, threads: Int = 1
  ) -> Evaluation {
    Evaluation(
      of: network, parameters: network.initialParameters(testStream(6)), dataset: dataset,
      indices: indices, kernels: kernels, pool: WorkerPool(threads: threads))
  }

  @Test("one, two and three threads and all bodies give the same bits")
  func threads() {
    let dataset = byteDataset(count: 4321)
    let indices = (0..<4321).reversed().map { Int32($0) }
    let reference = evaluate(indices, of: dataset)
    for body in KernelBody.allCases.compactMap({ Kernels($0) }) {
      for threads in 1...3 {
        #expect(evaluate(indices, of: dataset, kernels: body, threads: threads) == reference)
      }
    }
  }

  @Test("chunks of 1,000 are added in their order")
  func chunks() {
    let dataset = byteDataset(count: 700)
    let indices = (0..<20_500).map { Int32($0 % 700) }
    let parts = (0..<21).map {
      evaluate(Array(indices[$0 * 1000..<min(20_500, $0 * 1000 + 1000)]), of: dataset)
    }
    let whole = evaluate(indices, of: dataset)
    #expect(whole.count == 20_500)
    #expect(whole.correct == parts.map(\.correct).reduce(0, +))
    #expect(whole.lossSum == parts.map(\.lossSum).reduce(0, +))
    // The order shows in the bits.
    #expect(whole.lossSum != parts.map(\.lossSum).reversed().reduce(0, +))
  }

  @Test("loss and accuracy of three samples are those worked out by hand")
  func byHand() {
    // Logits are (0, x): classes 1, 1 (a tie goes to 0), 0 are chosen... for x = 2, 0, -1.
    let dataset = Dataset(
      features: .floats([2, 0, -1]), sampleShape: [1], labels: [1, 1, 1], classCount: 2)
    let result = Evaluation(
      of: .softmaxRegression(inputCount: 1, classCount: 2),
      parameters: ParameterBuffer([0, 1, 0, 0]), dataset: dataset, indices: [0, 1, 2],
      kernels: .best, pool: WorkerPool(threads: 1))
    #expect(result.correct == 1)
    #expect(abs(result.accuracy - 1.0 / 3) < 1e-15)
    // log(1 + e⁻²) + log 2 + log(1 + e).
    #expect(abs(result.lossSum - (0.126928011 + 0.693147181 + 1.313261688)) < 1e-6)
  }

  @Test("no samples give no number that looks right")
  func empty() {
    let result = evaluate([], of: byteDataset(count: 3))
    #expect(result.count == 0 && result.accuracy.isNaN && result.meanLoss.isNaN)
  }
}
