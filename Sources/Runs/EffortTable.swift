import FedSim
import Results

/// What work went into training and its outcome, and which links bytes took.
enum EffortTable {
  /// A row per end of work, and a row per end of transmissions for each link.
  static func group(_ simulation: Simulation) -> ResultDocument.Group {
    let ends = EffortEnd.all
    let outcomes = TransmissionOutcome.allCases
    let carriers = Carrier.allCases
    let rows = ends.map { simulation.books.effort[$0] }
    var group = ResultDocument.Group(
      "effort",
      attributes: [
        .init(
          "comment",
          .text(
            "Work is booked when it ends; the sum of each column over `outcome` is all work begun."
          ))
      ],
      axes: [
        .init("outcome", length: ends.count), .init("link", length: carriers.count),
        .init("transmissionOutcome", length: outcomes.count),
      ])
    func count(
      _ name: String, _ text: String, _ value: (Effort) -> Int
    ) -> ResultDocument.Variable {
      .count(name, ["outcome"], rows.map(value), text)
    }
    group.variables = [
      .init(
        "outcome", ["outcome"], codes: ends.indices.map { Int8($0) }, meanings: ends.map(\.name),
        longName: "outcome of the work"),
      count("attempts", "training attempts with this outcome") { $0.attempts },
      .seconds(
        "deviceSeconds", ["outcome"], rows.map { Double($0.microseconds) / 1e6 },
        "time that devices trained", comment: "includes interrupted batches"),
      count("samplesProcessed", "samples processed, including repetitions") { $0.samples },
      count("batches", "finished batches") { $0.batches },
    ]
    addEnergy(simulation, rows, to: &group)
    group.variables += [
      .init(
        "link", ["link"], codes: carriers.indices.map { Int8($0) },
        meanings: carriers.map { "\($0)" }, longName: "link of the transmission"),
      .init(
        "transmissionOutcome", ["transmissionOutcome"], codes: outcomes.indices.map { Int8($0) },
        meanings: outcomes.map(\.rawValue), longName: "how the transmission ended"),
      bytes("bytesUp", "bytes sent by devices") { simulation.books.traffic.up($0, $1) },
      bytes("bytesDown", "bytes received by devices") { simulation.books.traffic.down($0, $1) },
    ]
    return group
  }

  private static func bytes(
    _ name: String, _ text: String, _ value: (Carrier, TransmissionOutcome) -> Int64
  ) -> ResultDocument.Variable {
    let counts = Carrier.allCases.flatMap { carrier in
      TransmissionOutcome.allCases.map { value(carrier, $0) }
    }
    return .init(
      name, ["link", "transmissionOutcome"], .int64(counts), units: "byte", longName: text)
  }

  /// Energy where any device has a battery, evaluations where the server asks for any.
  private static func addEnergy(
    _ simulation: Simulation, _ rows: [Effort], to group: inout ResultDocument.Group
  ) {
    let hasEnergy = !simulation.books.deviceEnergies.isEmpty
    if hasEnergy {
      group.variables += [
        .init(
          "energyTraining", ["outcome"], .int64(rows.map(\.training)), units: "nJ",
          longName: "energy used by these trainings"),
        .init(
          "energyRadio", ["outcome"], .int64(rows.map(\.radio)), units: "nJ",
          longName: "energy used to send the updates and receive the answers"),
        .scalar(
          "energyRadioOther", .int64([simulation.books.effort.otherRadio]), units: "nJ",
          "energy used by requests without an update"),
      ]
    }
    guard simulation.inputs.server.evaluation != nil else { return }
    let evaluations = simulation.books.effort.evaluations
    group.variables.append(
      .scalar(
        "evaluationSeconds", .double([Double(evaluations.microseconds) / 1e6]), units: "s",
        "time that devices evaluated versions sent by the server"))
    guard hasEnergy else { return }
    group.variables.append(
      .scalar(
        "evaluationEnergy", .int64([evaluations.training]), units: "nJ",
        "energy used by these evaluations"))
  }

  /// Columns of the devices' table.
  static func byDevice(_ simulation: Simulation) -> [ResultDocument.Variable] {
    let efforts = simulation.books.deviceEfforts
    let energies = simulation.books.deviceEnergies
    let axis = ["device"]
    var variables: [ResultDocument.Variable] = [
      .init(
        "samplesAggregated", axis, .int64(efforts.map(\.samplesAggregated)), units: "1",
        longName: "sum of the share's size over the device's aggregated updates"),
      .seconds(
        "deviceSecondsAggregated", axis, efforts.map { Double($0.aggregated) / 1e6 },
        "training time of the device's aggregated updates"),
      .seconds(
        "deviceSecondsWasted", axis, efforts.map { Double($0.wasted) / 1e6 },
        "training time whose work was lost, including unfinished work"),
    ]
    if !energies.isEmpty {
      variables += [
        .init(
          "energyAggregated", axis, .int64(energies.map(\.aggregated)), units: "nJ",
          longName: "energy of trainings and transfers of the device's aggregated updates"),
        .init(
          "energyWasted", axis, .int64(energies.map(\.wasted)), units: "nJ",
          longName: "energy of trainings and transfers whose work was lost"),
      ]
    }
    return variables
  }
}
