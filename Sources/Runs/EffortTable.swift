import FedSim
import Results

/// What work went into training and what became of it, and which links bytes took.
enum EffortTable {
  /// A row an end of work, and a row an end of transmissions for each link.
  static func group(_ simulation: Simulation) -> ResultDocument.Group {
    let ends = EffortEnd.all
    let outcomes = TransmissionOutcome.allCases
    let carriers = Carrier.allCases
    let rows = ends.map { simulation.effort[$0] }
    var group = ResultDocument.Group(
      "effort",
      attributes: [
        .init(
          "comment",
          .text(
            "Work is booked when it ends; each column over `outcome` adds up to all that was begun."
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
        longName: "what became of the work"),
      count("attempts", "training attempts whose work ended so") { $0.attempts },
      .seconds(
        "deviceSeconds", ["outcome"], rows.map { Double($0.microseconds) / 1e6 },
        "time that devices trained", comment: "batches that were broken off are in it"),
      count("samplesProcessed", "samples processed, repetitions counted") { $0.samples },
      count("batches", "batches done") { $0.batches },
    ]
    addEnergy(simulation, rows, to: &group)
    group.variables += [
      .init(
        "link", ["link"], codes: carriers.indices.map { Int8($0) },
        meanings: carriers.map { "\($0)" }, longName: "the link that bytes took"),
      .init(
        "transmissionOutcome", ["transmissionOutcome"], codes: outcomes.indices.map { Int8($0) },
        meanings: outcomes.map(\.rawValue), longName: "how transmissions end"),
      bytes("bytesUp", "bytes that devices sent") { simulation.traffic.up($0, $1) },
      bytes("bytesDown", "bytes that devices received") { simulation.traffic.down($0, $1) },
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
    let hasEnergy = !simulation.deviceEnergies.isEmpty
    if hasEnergy {
      group.variables += [
        .init(
          "energyTraining", ["outcome"], .int64(rows.map(\.training)), units: "nJ",
          longName: "energy drawn by these trainings"),
        .init(
          "energyRadio", ["outcome"], .int64(rows.map(\.radio)), units: "nJ",
          longName: "energy drawn by sending their updates and receiving the answers"),
        .scalar(
          "energyRadioOther", .int64([simulation.effort.otherRadio]), units: "nJ",
          "energy drawn by requests that carry no update"),
      ]
    }
    guard simulation.inputs.server.evaluation != nil else { return }
    let evaluations = simulation.effort.evaluations
    group.variables.append(
      .scalar(
        "evaluationSeconds", .double([Double(evaluations.microseconds) / 1e6]), units: "s",
        "time that devices evaluated a version that the server had sent them"))
    guard hasEnergy else { return }
    group.variables.append(
      .scalar(
        "evaluationEnergy", .int64([evaluations.training]), units: "nJ",
        "energy drawn by these evaluations"))
  }

  /// Columns of the devices' table.
  static func byDevice(_ simulation: Simulation) -> [ResultDocument.Variable] {
    let efforts = simulation.deviceEfforts
    let energies = simulation.deviceEnergies
    let axis = ["device"]
    var variables: [ResultDocument.Variable] = [
      .init(
        "samplesAggregated", axis, .int64(efforts.map(\.samplesAggregated)), units: "1",
        longName: "sum of the distinct samples of its updates that became part of a version"),
      .seconds(
        "deviceSecondsAggregated", axis, efforts.map { Double($0.aggregated) / 1e6 },
        "time that it trained for updates that became part of a version"),
      .seconds(
        "deviceSecondsWasted", axis, efforts.map { Double($0.wasted) / 1e6 },
        "time that it trained for nothing, unfinished work included"),
    ]
    if !energies.isEmpty {
      variables += [
        .init(
          "energyAggregated", axis, .int64(energies.map(\.aggregated)), units: "nJ",
          longName: "energy of trainings and sending for updates that became part of a version"),
        .init(
          "energyWasted", axis, .int64(energies.map(\.wasted)), units: "nJ",
          longName: "energy of trainings and sending for nothing"),
      ]
    }
    return variables
  }
}
