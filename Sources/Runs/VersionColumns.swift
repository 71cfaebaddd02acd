import FedSim
import Learning
import Results

/// What a version is measured by, beside its updates and its evaluation.
enum VersionColumns {
  /// What the run had come to, and what devices held.
  static func progress(
    _ versions: [VersionRecord], _ simulation: Simulation
  ) -> [ResultDocument.Variable] {
    let axis = ["version"]
    var variables: [ResultDocument.Variable] = [
      .init(
        "bytesUp", axis, .int64(versions.map(\.progress.bytesUp)), units: "byte",
        longName: "bytes that devices had sent by its publication"),
      .init(
        "bytesDown", axis, .int64(versions.map(\.progress.bytesDown)), units: "byte",
        longName: "bytes that devices had received by its publication"),
      .seconds(
        "deviceSeconds", axis, versions.map { Double($0.progress.microseconds) / 1e6 },
        "time that devices had trained by its publication",
        comment: "in stretches that had ended"),
    ]
    if !simulation.deviceEnergies.isEmpty {
      variables.append(
        .number(
          "joules", axis, versions.map { Double($0.progress.nanojoules) / 1e9 },
          "energy drawn by work and transfers by its publication", units: "J",
          comment: "of stretches and transfers that had ended"))
    }
    if !simulation.inputs.omitsArithmetic {
      variables.append(
        .number(
          "heldAccuracy", axis, versions.map(\.heldAccuracy),
          "mean over devices of the central accuracy of the version that each held then",
          comment: "of the last evaluated one at or before it; NaN where none held any"))
    }
    return variables + [
      .count(
        "heldNone", axis, versions.map(\.withoutVersion), "devices that held no version then")
    ]
  }

  /// The axes of labels, tensors and groups, with their columns, where they are recorded.
  static func add(
    _ versions: [VersionRecord], _ simulation: Simulation, to group: inout ResultDocument.Group
  ) {
    if simulation.recordsLabels {
      let count = simulation.inputs.task.train.classCount
      let shares = versions.flatMap { version in
        let total = Float(version.labelCounts.reduce(0, +))
        return version.labelCounts.map { total == 0 ? .nan : Float($0) / total }
      }
      group.axes.append(.init("label", length: count))
      group.variables += [
        .count("label", ["label"], Array(0..<count), "class of a sample"),
        .init(
          "labelShare", ["version", "label"], .float(shares), units: "1",
          longName: "share of the label among the samples of its updates",
          attributes: [
            .init("coordinates", .text("publishedAt")),
            .init("comment", .text("each update's samples counted once; NaN for version 0")),
          ]),
      ]
    }
    if simulation.recordsNorms { addNorms(versions, simulation, to: &group) }
    if !simulation.groupWeights.isEmpty { addGroupWeights(versions, simulation, to: &group) }
  }

  private static func addGroupWeights(
    _ versions: [VersionRecord], _ simulation: Simulation, to group: inout ResultDocument.Group
  ) {
    let fleet = simulation.inputs.fleet
    group.axes.append(.init("group", length: fleet.count))
    group.variables += [
      .count(
        "group", ["group"], Array(fleet.indices), "group, by its place in the fleet",
        comment: fleet.map(\.name).joined(separator: ", ")),
      .init(
        "groupWeight", ["version", "group"], .double(versions.flatMap(\.groupWeights)), units: "1",
        longName: "what the group's updates count in the version after it",
        attributes: [.init("coordinates", .text("publishedAt"))]),
    ]
  }

  private static func addNorms(
    _ versions: [VersionRecord], _ simulation: Simulation, to group: inout ResultDocument.Group
  ) {
    let tensors = simulation.inputs.task.network.layout.tensors
    let names = tensors.map(\.name).joined(separator: " ")
    let axes = ["version", "tensor"]
    let norms = versions.flatMap(\.norms)
    group.axes.append(.init("tensor", length: tensors.count))
    group.variables += [
      .count(
        "tensor", ["tensor"], Array(tensors.indices), "tensor, by its place in the model",
        comment: names),
      .number("layerNorm", axes, norms.map(\.norm), "L2 norm of the tensor"),
      .number(
        "layerStep", axes, norms.map(\.step),
        "L2 norm of the tensor's change since the version before", comment: "NaN for version 0"),
    ]
    for place in group.variables.indices.suffix(2) {
      group.variables[place].attributes.append(.init("coordinates", .text("publishedAt")))
    }
  }

  /// A row a staleness.
  static func staleness(_ simulation: Simulation) -> ResultDocument.Group {
    let counts = simulation.stalenessCounts
    return ResultDocument.Group(
      "staleness",
      attributes: [
        .init(
          "comment", .text("Aggregated updates by the versions since their bases, over the run."))
      ],
      axes: [.init("staleness", length: counts.count)],
      variables: [
        .count(
          "staleness", ["staleness"], Array(counts.indices), "versions since an update's base"),
        .count("updates", ["staleness"], counts, "updates aggregated with that staleness"),
      ])
  }

  /// The central accuracy of the version that each device holds at the end.
  static func byDevice(
    _ evaluations: [CentralEvaluation?], _ simulation: Simulation
  ) -> [ResultDocument.Variable] {
    guard !simulation.inputs.omitsArithmetic else { return [] }
    var accuracies: [Double] = []
    for evaluation in evaluations {
      accuracies.append(evaluation?.test.accuracy ?? accuracies.last ?? .nan)
    }
    return [
      .number(
        "heldAccuracy", ["device"],
        simulation.deviceRecords.map { device in
          accuracies.indices.contains(device.heldVersion) ? accuracies[device.heldVersion] : .nan
        }, "central accuracy of the version that it holds at the end",
        comment: "of the last evaluated one at or before it; NaN: it holds none")
    ]
  }
}
