import FedSim
import Learning
import Results

/// Published models.
enum VersionTable {
  /// A row per version: a variable for each column that is there, then those over further axes.
  static func group(_ series: VersionSeries, _ simulation: Simulation) -> ResultDocument.Group {
    let inputs = simulation.inputs
    var variables = VersionColumn.all.filter { $0.presence.holds(inputs) }
      .map { $0.variable(series, inputs) }
    for index in variables.indices
    where !["version", "publishedAt"].contains(variables[index].name) {
      variables[index].attributes.append(.init("coordinates", .text("publishedAt")))
    }
    var group = ResultDocument.Group(
      "versions",
      attributes: [
        .init(
          "comment",
          .text(
            "Published models. The accuracy at a time is that of the last version published at or "
              + "before it. central*: evaluated at the server, without virtual time."))
      ], axes: [.init("version", length: series.records.count)], variables: variables)
    addLists(series.records, simulation, to: &group)
    return group
  }

  /// The axes of labels, tensors and groups, with their columns, where they are recorded.
  private static func addLists(
    _ versions: [VersionRecord], _ simulation: Simulation, to group: inout ResultDocument.Group
  ) {
    if simulation.inputs.recordsLabels { addLabels(versions, simulation, to: &group) }
    if simulation.inputs.recordsNorms { addNorms(versions, simulation, to: &group) }
    if !simulation.serverRecord.groupWeights.isEmpty {
      addGroupWeights(versions, simulation, to: &group)
    }
  }

  private static func addLabels(
    _ versions: [VersionRecord], _ simulation: Simulation, to group: inout ResultDocument.Group
  ) {
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
        longName: "share of the label among the samples of the version's updates",
        attributes: [
          .init("coordinates", .text("publishedAt")),
          .init("comment", .text("each update's samples counted once; NaN for version 0")),
        ]),
    ]
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
        longName: "weight of the group's updates in the next version",
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
        "L2 norm of the tensor's change since the previous version", comment: "NaN for version 0"),
    ]
    for place in group.variables.indices.suffix(2) {
      group.variables[place].attributes.append(.init("coordinates", .text("publishedAt")))
    }
  }

  /// The central accuracy, or RMSE, of the version that each device holds at the end.
  static func byDevice(
    _ evaluations: [CentralEvaluation?], _ simulation: Simulation
  ) -> [ResultDocument.Variable] {
    guard !simulation.inputs.omitsArithmetic else { return [] }
    let targets = simulation.inputs.task.train.kind
    let (name, word) = targets == .values ? ("RMSE", "RMSE") : ("Accuracy", "accuracy")
    var scores: [Double] = []
    for evaluation in evaluations {
      scores.append(evaluation?.test.score(targets) ?? scores.last ?? .nan)
    }
    return [
      .number(
        "held\(name)", ["device"],
        simulation.deviceRecords.map { device in
          scores.indices.contains(device.heldVersion) ? scores[device.heldVersion] : .nan
        }, "central \(word) of the version that the device holds at the end",
        comment: "of the last evaluated version up to the held one; NaN if the device holds none")
    ]
  }
}

extension VersionColumn {
  /// The column in a result file.
  fileprivate func variable(
    _ series: VersionSeries, _ inputs: SimulationInputs
  ) -> ResultDocument.Variable {
    let values = series.records.map { value($0, series) }
    let remarks: [ResultDocument.Attribute] =
      comment(inputs).map { [.init("comment", .text($0))] } ?? []
    if case .code(let words) = kind {
      return .init(
        name, ["version"], codes: values.map(\.asCode), meanings: words, longName: text,
        attributes: remarks)
    }
    return .init(
      name, ["version"],
      kind == .integer ? .int64(values.map(\.asInteger)) : .double(values.map(\.asDouble)),
      units: unit, longName: text, attributes: remarks)
  }
}

extension ColumnValue {
  fileprivate var asInteger: Int64 {
    guard case .integer(let number) = self else { preconditionFailure("a whole number") }
    return number
  }

  fileprivate var asCode: Int8 {
    guard case .code(let place) = self else { preconditionFailure("a place among words") }
    return place
  }
}
