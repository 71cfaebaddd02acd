import DataSets
import FedSim
import Learning
import Schema

/// What a Flower program's clients compute, which the program does not say: durations follow.
public struct FlowerSettings: PartSettings {
  /// Training samples: one number for each device, or a list, one per client.
  public var samples: [Int] = []
  /// Samples that a client evaluates on; nil: its training samples.
  public var evaluationSamples: [Int]?
  public var batchSize = 1
  public var epochs = 1

  public init() {}

  public static var fields: [Field<FlowerSettings>] {
    [
      Field(
        "samples", \.samples, .oneOrMore(1...100_000_000), required: true,
        "Training samples of a client: a number for all, or a list by client"),
      Field(
        "batchSize", \.batchSize, .integer(1...1_000_000), required: true,
        "Samples in a batch of a client's training"),
      Field(
        "epochs", \.epochs, .integer(1...10_000), required: true,
        "Passes of a client's training over its samples"),
      Field(
        "evaluationSamples", \.evaluationSamples, feature: .oneOrMore(1...100_000_000),
        "Samples that a client evaluates on: a number for all, or a list by client; absent: its"
          + " training samples"),
    ]
  }

  /// More than memory should hold, or two lists that do not fit.
  public func contradictions() -> [(key: String, message: String)] {
    let tests = evaluationSamples?.count ?? 1
    if samples.count > 1, tests > 1, samples.count != tests {
      return [
        (
          "evaluationSamples",
          "\(tests) clients, and `samples` has \(samples.count)"
        )
      ]
    }
    return []
  }
}

extension TaskSettings {
  /// Puts what the program's clients compute in place of FedSim's own data and model.
  mutating func takeFlower(_ node: Node, _ reader: inout Reader) {
    guard let flower else { return }
    learning = Learning.none
    data.source = Choice(NoData.self) { $0 }
    var clients = PartitionIID.Settings()
    clients.clients = flower.samples.count
    data.partition = Choice(PartitionIID.self, clients) { $0 }
    training.epochs = flower.epochs
    training.batchSize = flower.batchSize
    // A result has these values in place of the program's own.
    let own = resolved
    for key in ["learning", "python", "data", "model", "models", "initialWeights", "training"] {
      guard let written = node[key], own[key]?.hasSameContent(as: written) != true else { continue }
      reader.within(key) {
        $0.report(
          .contradiction("with `task.flower` the program has data, model and training"),
          at: written.place)
      }
    }
  }
}
