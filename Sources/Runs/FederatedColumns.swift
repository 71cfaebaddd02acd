import FedSim
import Results

/// What federated evaluation adds to the table of devices.
enum FederatedColumns {
  /// One row a device, of the last version.
  static func byDevice(
    _ found: FederatedEvaluation, _ simulation: Simulation
  ) -> [ResultDocument.Variable] {
    let devices = simulation.deviceRecords.map { simulation.inputs.task.heldOut(by: $0.client) }
    let own = simulation.deviceRecords.ownAccuracies().map { accuracies in
      [
        ResultDocument.Variable.number(
          "ownAccuracy", ["device"], accuracies,
          "accuracy of the device's personal model after its last training, on held-out samples",
          comment: "NaN for a device that has not trained")
      ]
    }
    return (own ?? []) + [
      .number(
        "federatedAccuracy", ["device"], found.accuracies,
        "accuracy of the last version; \(FederatedEvaluation.oracle)",
        comment: "NaN for a device without samples"),
      .count(
        "federatedSamples", ["device"], devices.map(\.indices.count),
        "number of samples for federatedAccuracy"),
      .init(
        "federatedOn", ["device"], codes: devices.map { code(of: $0.samples) },
        meanings: FederatedEvaluation.Samples.allCases.map(\.rawValue),
        longName: "which of the client's samples federatedAccuracy is based on"),
    ]
  }
}
