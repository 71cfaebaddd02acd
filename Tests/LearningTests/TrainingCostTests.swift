import Learning
import Testing

@Suite("What training a network costs")
struct TrainingCostTests {
  private let plan = TrainingPlan(epochs: 1, batchSize: 5, learningRate: 0.1)

  @Test("a perceptron: six operations a multiply-add, parameters, and what its layers give")
  func perceptron() {
    let network = Network.multilayerPerceptron(inputCount: 6, hidden: [8], classCount: 4)
    let cost = network.trainingCost(plan)
    // 6·8 + 8·4 = 80 multiply-adds, 48 + 8 + 32 + 4 parameters, 8 + 4 values.
    #expect(cost.operationsPerSample == 480)
    #expect(cost.parameters == 92)
    #expect(cost.valuesPerSample == 12)
    // Parameters and gradient; for each of five samples 6 inputs, 12 values and 12 gradients.
    #expect(cost.workingBytes(batchSize: 5) == 4 * (2 * 92 + 5 * 30))
    #expect(cost.modelBytes == 368)
    let adam = TrainingPlan(length: .epochs(1), batchSize: 5, optimizer: .adam(learningRate: 0.1))
    #expect(network.trainingCost(adam).workingBytes(batchSize: 5) == 4 * (4 * 92 + 5 * 30))
    // Ditto: what the training began with, the device's own model, and Adam's two slots for it.
    let needs = Ditto(.init()).needs
    #expect(cost.workingBytes(batchSize: 5, needs: needs) == 4 * (4 * 92 + 5 * 30))
    #expect(
      network.trainingCost(adam).workingBytes(batchSize: 5, needs: needs)
        == 4 * (8 * 92 + 5 * 30))
  }

  @Test("what algorithms hold in addition to the model, in memory and stored with three updates")
  func needs() {
    func buffers(_ algorithm: any LocalAlgorithm) -> [Int] {
      [
        algorithm.needs.workingBuffers(optimizerSlots: 1),
        algorithm.needs.storedBuffers(updates: 3),
      ]
    }
    // The model held, a checkpoint, three updates.
    #expect(buffers(FedAvgLocal(.init())) == [0, 5])
    // The pull's origin is the model held.
    #expect(buffers(FedProx(.init())) == [1, 5])
    // Its origin and the device's term.
    #expect(buffers(FedDyn(.init())) == [2, 6])
    // Its origin, c and cᵢ; stored c with the model, a difference with each update, and cᵢ.
    #expect(buffers(Scaffold(.init())) == [3, 10])
    // Its origin, v and v's slot; stored v, and v as it is under way in the checkpoint.
    #expect(buffers(Ditto(.init())) == [3, 7])
  }

  @Test("the network of Flower's iOS example, whose pooling is fused to its convolutions")
  func convolutions() throws {
    let network = try Network(
      sampleShape: [28, 28, 1],
      layers: [
        .convolution(.init(filters: 32, size: 3, activation: .relu)),
        .maxPooling(size: 2, stride: 2),
        .convolution(.init(filters: 32, size: 2, activation: .relu)),
        .maxPooling(size: 2, stride: 2), .flatten, .dense(outputs: 500, activation: .relu),
        .dense(outputs: 10, activation: .identity),
      ])
    let cost = network.trainingCost(plan)
    #expect(cost.parameters == 585_958)
    // 26·26·32·9 + 12·12·32·128 + 1152·500 + 500·10 multiply-adds.
    #expect(cost.operationsPerSample == 6 * (194_688 + 589_824 + 576_000 + 5_000))
    #expect(cost.valuesPerSample == 26 * 26 * 32 + 12 * 12 * 32 + 500 + 10)
  }

  @Test("a recurrent layer gives its units at each time; a frozen layer costs less")
  func recurrentAndFrozen() throws {
    let lstm = try Network(
      sampleShape: [5, 3],
      layers: [
        .lstm(units: 4, returnsSequence: false), .dense(outputs: 2, activation: .identity),
      ])
    // 5 times 16 gates' values of 3 features and 4 units; then 4·2.
    #expect(lstm.trainingCost(plan).operationsPerSample == 6 * (5 * 16 * 7 + 8))
    #expect(lstm.trainingCost(plan).valuesPerSample == 5 * 4 + 2)
    let frozen = try Network(
      sampleShape: [6],
      layers: [
        .frozen(.dense(outputs: 8, activation: .relu)), .dense(outputs: 8, activation: .relu),
        .frozen(.dense(outputs: 4, activation: .identity)),
      ])
    // Forward only; all three; forward and the gradient of the inputs.
    #expect(frozen.trainingCost(plan).operationsPerSample == 2 * 48 + 6 * 64 + 4 * 32)
    #expect(frozen.trainingCost(plan).parameters == 72)
    #expect(frozen.trainingCost(plan).storedParameters == 56 + 72 + 36)
  }
}
