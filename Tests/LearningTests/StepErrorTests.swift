import Learning
import Testing

@Suite("The error of a step of plain SGD")
struct StepErrorTests {
  private static let rates = [1e-1, 1e-2, 1e-3, 1e-4, 1e-5]

  /// A network of make_step_numbers.py with its samples.
  private struct Problem {
    let network: Network
    let inputs: [Float]
    let labels: [Int32]
    let parameters: ParameterBuffer

    init(_ name: String) throws {
      let (rows, shape, layers): (Int, [Int], [Network.Layer]) =
        switch name {
        case "dense":
          (
            10, [20],
            [.dense(outputs: 24, activation: .relu), .dense(outputs: 4, activation: .identity)]
          )
        case "convolution":
          (
            64, [14, 14, 1],
            [
              .convolution(Network.Convolution(filters: 6, size: 5, activation: .relu)), .flatten,
              .dense(outputs: 4, activation: .identity),
            ]
          )
        case "group norm":
          (
            20, [10, 10, 2],
            [
              .convolution(Network.Convolution(filters: 6, size: 3)),
              .groupNormalisation(groups: 3), .activation(.relu), .flatten,
              .dense(outputs: 4, activation: .identity),
            ]
          )
        case "embedding":
          (
            50, [30],
            [.embedding(count: 11, width: 6), .flatten, .dense(outputs: 4, activation: .identity)]
          )
        case "lstm":
          (
            64, [60, 5],
            [
              .lstm(units: 16, returnsSequence: false),
              .dense(outputs: 4, activation: .identity),
            ]
          )
        default:
          (
            32, [40, 5],
            [.gru(units: 16, returnsSequence: false), .dense(outputs: 4, activation: .identity)]
          )
        }
      network = try Network(sampleShape: shape, layers: layers)
      let count = shape.reduce(1, *)
      if name == "embedding" {
        inputs = (0..<rows * count).map { Float(($0 * 7 + $0 / 13) % 11) }
      } else {
        inputs = Self.numbers(rows * count, salt: 99, scale: 1).enumerated().map { place, value in
          value + Float((Double(place / count % 4) - 1.5) / 2)
        }
      }
      labels = (0..<rows).map { Int32($0 % 4) }
      parameters = ParameterBuffer(
        network.layout.tensors.enumerated().flatMap { salt, tensor in
          let isWide =
            tensor.name.hasSuffix("inputWeight") || tensor.name.hasSuffix("recurrentWeight")
          return Self.numbers(tensor.count, salt: salt, scale: isWide ? 0.3 : 0.1)
        })
    }

    static func numbers(_ count: Int, salt: Int, scale: Double) -> [Float] {
      (0..<count).map { place -> Float in
        let whole: Int = (place + 1) * 7919 + salt * 104_729
        let share: Double = Double(whole % 20_011 - 10_005) / 10_005
        return Float(share * scale)
      }
    }

    /// The parameters after one step.
    func step(rate: Double, _ kernels: Kernels) -> ParameterBuffer {
      let dataset = Dataset(
        features: .floats(inputs), sampleShape: network.sampleShape, labels: labels, classCount: 4)
      let plan = TrainingPlan(epochs: 1, batchSize: labels.count, learningRate: rate)
      let shard = labels.indices.map { Int32($0) }
      let training = LocalTraining(
        network: network, dataset: dataset, shard: shard, plan: plan, order: .explicit([shard]))
      return training.run(
        0..<1, from: DeviceMemory(parameters: parameters), kernels: kernels, scratch: Scratch()
      ).memory.parameters
    }
  }

  @Test(
    "In each kind of layer, at five rates, it is at most twice PyTorch's",
    arguments: ["dense", "convolution", "group norm", "embedding", "lstm", "gru"])
  func step(name: String) throws {
    let problem = try Problem(name)
    let expected = stepNumbers.filter { $0.network == name }
    #expect(expected.map(\.tensor) == problem.network.layout.tensors.map(\.name))
    for (place, rate) in Self.rates.enumerated() {
      let after = problem.step(rate: rate, try kernels(.baseline))
      for (tensor, numbers) in zip(problem.network.layout.tensors, expected) {
        var (error, size) = (0.0, 0.0)
        for (entry, gradient) in numbers.gradient.enumerated() {
          let at = tensor.offset + entry * tensor.count / numbers.gradient.count
          let step = Double(after[at]) - Double(problem.parameters[at])
          error += (step + rate * gradient) * (step + rate * gradient)
          size += rate * gradient * rate * gradient
        }
        let share = (error / size).squareRoot()
        #expect(
          share <= 2 * numbers.errors[place] + 1e-6,
          "\(tensor.name), rate \(rate): \(share), PyTorch \(numbers.errors[place])"
        )
      }
    }
  }
}
