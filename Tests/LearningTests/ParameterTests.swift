import Learning
import Numerics
import Testing

@Suite struct ParameterTests {
  @Test("a network's tensors are one behind the other under their names")
  func layout() {
    let network = Network.multilayerPerceptron(inputCount: 784, hidden: [200, 200], classCount: 10)
    let layout = network.layout
    #expect(
      layout.tensors.map(\.name) == [
        "dense1.weight", "dense1.bias", "dense2.weight", "dense2.bias", "dense3.weight",
        "dense3.bias",
      ])
    #expect(layout.tensors.map(\.offset) == [0, 156_800, 157_000, 197_000, 197_200, 199_200])
    #expect(layout["dense1.weight"]?.shape == [784, 200])
    #expect(layout["dense3.bias"]?.shape == [10])
    #expect(layout["dense4.bias"] == nil)
    #expect(layout.count == 199_210)
    #expect(layout.byteCount == 796_840)
    #expect(layout.updatableRanges == [0..<199_210])
    // The figures that are usual for these two models.
    #expect(network.trainingOperationsPerSample == 879_200)
    let regression = Network.softmaxRegression(inputCount: 784, classCount: 10)
    #expect(regression.trainingOperationsPerSample == 31_360)
  }

  @Test("updatable ranges leave out the rest and merge neighbours")
  func updatable() {
    let layout = ParameterLayout([
      TensorSpec(name: "a", shape: [2, 3], offset: 0),
      TensorSpec(name: "b", shape: [4], offset: 6),
      TensorSpec(name: "c", shape: [5], offset: 10, isUpdatable: false),
      TensorSpec(name: "d", shape: [1], offset: 15),
    ])
    #expect(layout.updatableRanges == [0..<10, 15..<16])
    #expect(layout.updatableCount == 11)
    #expect(layout.updatableByteCount == 44)
    #expect(layout.count == 16)
  }

  @Test("a buffer keeps its values, aligned to 64 bytes")
  func buffer() {
    let buffer = ParameterBuffer(count: 5) { target in
      #expect(target.allSatisfy { $0 == 0 })
      target[3] = 1.5
    }
    #expect(buffer.values == [0, 0, 0, 1.5, 0])
    #expect(buffer[3] == 1.5)
    #expect(buffer.byteCount == 20)
    buffer.withUnsafeBufferPointer { #expect(UInt(bitPattern: $0.baseAddress) % 64 == 0) }
    let tensor = TensorSpec(name: "t", shape: [2], offset: 2)
    #expect(buffer.values(of: tensor) == [0, 1.5])
  }

  @Test("buffers of the same bits have the same digest, others another")
  func digest() {
    func value(_ floats: [Float]) -> UInt64 {
      var digest = Digest()
      ParameterBuffer(floats).combine(into: &digest)
      return digest.value
    }
    #expect(value([1, 2]) == value([1, 2]))
    #expect(value([1, 2]) != value([2, 1]))
    #expect(value([0]) != value([-0.0]))
    #expect(value([0]) != value([0, 0]))
  }

  @Test("a weight of few outputs is as [out][in], and is given and drawn as [in][out]")
  func transposed() throws {
    let network = Network.softmaxRegression(inputCount: 32, classCount: 3)
    let weight = try #require(network.layout["dense1.weight"])
    #expect(weight.shape == [32, 3] && weight.isTransposed)
    // Input 5, output 2 is element 17 as it is given, and number 2·32 + 5 as it is.
    #expect(weight.position(ofElement: 17) == 69)
    let given = (0..<network.layout.count).map(Float.init)
    let parameters = ParameterBuffer(given, layout: network.layout)
    #expect(parameters[69] == 17)
    #expect(parameters[96] == 96)  // The bias.
    #expect(parameters.values(of: weight) == Array(given[..<96]))
    #expect(parameters.values(layout: network.layout) == given)
    // Few inputs, or many outputs: as given.
    for (inputs, outputs) in [(31, 3), (32, 17)] {
      let other = Network.softmaxRegression(inputCount: inputs, classCount: outputs)
      #expect(other.layout.tensors.allSatisfy { !$0.isTransposed })
    }
  }

  @Test("initial parameters are uniform within the bound of their layer, and repeat")
  func initial() {
    let network = Network.multilayerPerceptron(inputCount: 100, hidden: [50], classCount: 4)
    let parameters = network.initialParameters(testStream(1))
    var stream = testStream(1)
    for (index, value) in parameters.values(layout: network.layout).enumerated() {
      let bound = index < 100 * 50 + 50 ? 0.1 : 1 / 50.0.squareRoot()
      #expect(value == Float((2 * stream.uniform() - 1) * bound))
      #expect(Double(abs(value)) <= bound)
    }
    #expect(firstDifference(parameters, network.initialParameters(testStream(1))) == nil)
    #expect(firstDifference(parameters, network.initialParameters(testStream(2))) != nil)
  }

  @Test("gathering bytes divides by 255, gathering floats copies")
  func gather() {
    let bytes = Dataset(
      features: .bytes([0, 51, 255, 1, 2, 3]), sampleShape: [1, 2], labels: [0, 1, 0],
      classCount: 2)
    let gathered = bytes.gather([2, 0, 2] as [Int32], kernels: .best)
    let expected: [Float] = [2 / 255, 3 / 255, 0, 0.2, 2 / 255, 3 / 255]
    #expect(gathered == expected)
    let floats = Dataset(
      features: .floats([1, -2, 3]), sampleShape: [1], labels: [0, 1, 0], classCount: 2)
    #expect(floats.gather([1, 1, 2] as [Int32], kernels: .best) == [-2, -2, 3])
    #expect(floats.gather([] as [Int32], kernels: .best) == [])
  }

  @Test("baseline kernels are always there, and the best body is supported")
  func bodies() {
    #expect(KernelBody.baseline.isSupported)
    #expect(KernelBody.best.isSupported)
    #expect(Kernels.best.body == .best)
    #expect(Kernels(.baseline)?.body == .baseline)
  }
}
