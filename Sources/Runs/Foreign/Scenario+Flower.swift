import DataSets
import FedSim
import Learning
import Processes
import Scenarios
import Schema

extension Scenario {
  /// What a Flower program's clients have, as far as FedSim has to know: numbers of samples.
  func flowerTask(_ flower: FlowerSettings) -> LearningTask {
    let devices = settings.fleet.reduce(0) { $0 + $1.count }
    let tests = flower.evaluationSamples ?? []
    let clients = max(flower.samples.count, tests.count)
    let train = shares(flower.samples, clients > 1 ? clients : devices)
    let test = shares(tests, clients > 1 ? clients : devices)
    let model = FlowerModel()
    return LearningTask(
      network: Network(model), initial: ParameterBuffer(count: 1) { $0[0] = 0 },
      train: samples(train), test: samples(test),
      partition: Partition(shards: train, validation: Array(repeating: [], count: train.count)),
      plan: settings.task.training.plan, clientTests: test)
  }

  /// Each client's samples, one client's behind the other's.
  private func shares(_ counts: [Int], _ clients: Int) -> [[Int32]] {
    guard !counts.isEmpty else { return [] }
    var next: Int32 = 0
    return (0..<clients).map { client in
      let first = next
      next += Int32(counts.count == 1 ? counts[0] : counts[client])
      return Array(first..<next)
    }
  }

  private func samples(_ shares: [[Int32]]) -> Dataset {
    let count = shares.reduce(0) { $0 + $1.count }
    return Dataset(
      features: .bytes(Array(repeating: 0, count: count)), sampleShape: [1],
      labels: Array(repeating: 0, count: count), classCount: 1)
  }

  /// The Flower program that has started this process; nil: the scenario is for none.
  ///
  /// Throws: that there is none.
  func flowerProgram() throws(Faults) -> FlowerProgram? {
    guard let flower = settings.task.flower else { return nil }
    guard let pipe = ParentPipe.shared else {
      throw Faults([
        Fault(
          at: place(of: ["task", "flower"]), path: "task.flower",
          .contradiction(
            "a Flower program plays this scenario: run it with `pyfedsim.flower.run`"
              + " (docs/flower.md)"))
      ])
    }
    return FlowerProgram(
      pipe, flower, seed: settings.seed,
      names: settings.fleet.flatMap { group in (0..<group.count).map { "\(group.name)/\($0)" } })
  }
}

/// The model of a Flower program, of which FedSim knows nothing.
private final class FlowerModel: ForeignModel {
  let layout = ParameterLayout([TensorSpec(name: "model", shape: [1], offset: 0)])
  let classCount = 1
  let cost: ForeignCost? = nil

  func train(_ batches: ForeignBatches, from memory: ForeignMemory) -> ForeignOutcome {
    preconditionFailure("the program trains")
  }

  func evaluate(
    _ samples: ArraySlice<Int32>, of dataset: Dataset, by parameters: ParameterBuffer
  ) -> Evaluation { preconditionFailure("the program evaluates") }
}
