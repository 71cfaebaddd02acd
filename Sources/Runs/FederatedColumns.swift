import FedSim
import Results

/// What federated evaluation adds to the tables of versions, devices and clients.
enum FederatedColumns {
  private static let oracle =
    "each device on its own held-out samples: its user's test samples, else its validation "
    + "samples, else its training samples; an oracle's, without virtual time"
  private static let comment = "NaN where the version was not evaluated so"

  /// One row a version.
  static func byVersion(_ found: [FederatedEvaluation.Summary?]) -> [ResultDocument.Variable] {
    func number(
      _ name: String, _ text: String, _ value: (FederatedEvaluation.Summary) -> Double
    ) -> ResultDocument.Variable {
      .number(
        name, ["version"], found.map { $0.map(value) ?? .nan }, "\(text); \(oracle)",
        comment: comment)
    }
    return [
      number("federatedAccuracy", "mean over the devices of their accuracies") { $0.mean },
      number(
        "federatedAccuracyBySamples",
        "mean over the devices of their accuracies, weighted by the samples evaluated"
      ) { $0.weightedMean },
      number(
        "federatedAccuracyWorstTenth", "mean of the ceil(n/10) lowest of n devices' accuracies"
      ) { $0.worstTenth },
      number(
        "federatedAccuracyBestTenth", "mean of the ceil(n/10) highest of n devices' accuracies"
      ) { $0.bestTenth },
      number(
        "federatedAccuracySpread",
        "standard deviation over n devices of their accuracies, with n as divisor"
      ) { $0.standardDeviation },
      .count(
        "federatedDevices", ["version"], found.map { $0?.devices ?? 0 },
        "devices evaluated: those with samples; 0 where the version was not evaluated so"),
    ]
  }

  /// One row a device, of the last version.
  static func byDevice(
    _ found: FederatedEvaluation, _ simulation: Simulation
  ) -> [ResultDocument.Variable] {
    let devices = simulation.deviceRecords.map { simulation.inputs.task.heldOut(by: $0.client) }
    let own = simulation.ownAccuracies().map { accuracies in
      [
        ResultDocument.Variable.number(
          "ownAccuracy", ["device"], accuracies,
          "accuracy of the model on the device's own disk, of its last training, on these samples",
          comment: "NaN for a device that has trained none")
      ]
    }
    return (own ?? []) + [
      .number(
        "federatedAccuracy", ["device"], found.accuracies,
        "accuracy of the last version; \(oracle)", comment: "NaN for a device without samples"),
      .count(
        "federatedSamples", ["device"], devices.map(\.indices.count),
        "samples that federatedAccuracy is of"),
      .init(
        "federatedOn", ["device"], codes: devices.map { code(of: $0.samples) },
        meanings: FederatedEvaluation.Samples.allCases.map(\.rawValue),
        longName: "which of its client's samples federatedAccuracy is of"),
    ]
  }
}
