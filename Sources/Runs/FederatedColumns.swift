import FedSim
import Results

/// What federated evaluation adds to the table of devices.
enum FederatedColumns {
  /// One row a device, of the last version.
  static func byDevice(
    _ found: FederatedEvaluation, _ simulation: Simulation
  ) -> [ResultDocument.Variable] {
    let isError = simulation.inputs.task.train.kind == .values
    let (name, word) = isError ? ("RMSE", "RMSE") : ("Accuracy", "accuracy")
    let devices = simulation.deviceRecords.map { simulation.inputs.task.heldOut(by: $0.client) }
    let own = simulation.deviceRecords.ownAccuracies().map { accuracies in
      [
        ResultDocument.Variable.number(
          "own\(name)", ["device"], accuracies,
          "\(word) of the device's personal model after its last training, on held-out samples",
          comment: "NaN for a device that has not trained")
      ]
    }
    return (own ?? []) + [
      .number(
        "federated\(name)", ["device"], found.accuracies,
        "\(word) of the last version; \(FederatedEvaluation.oracle)",
        comment: "NaN for a device without samples"),
      .count(
        "federatedSamples", ["device"], devices.map(\.indices.count),
        "number of samples for federated\(name)"),
      .init(
        "federatedOn", ["device"], codes: devices.map { code(of: $0.samples) },
        meanings: FederatedEvaluation.Samples.allCases.map(\.rawValue),
        longName: "which of the client's samples federated\(name) is based on"),
    ]
  }
}
