import FedSim
import Learning
import Results

/// The devices at the end of the run.
enum DeviceTable {
  /// A row per device, in the order of the fleet.
  static func group(
    _ simulation: Simulation, _ federated: FederatedEvaluation?,
    _ evaluations: [CentralEvaluation?]
  ) -> ResultDocument.Group {
    let axis = ["device"]
    let devices = simulation.deviceRecords
    let names = simulation.inputs.fleet.map(\.name)
    func count(
      _ name: String, _ text: String, units: String = "1", _ value: (DeviceRecord) -> Int
    ) -> ResultDocument.Variable {
      .count(name, axis, devices.map(value), text, units: units)
    }
    let group: ResultDocument.Variable
    if names.count <= 127 {
      group = .init(
        "group", axis, codes: devices.map { Int8($0.group) }, meanings: names,
        longName: "fleet group")
    } else {
      group = .init(
        "group", axis, .int32(devices.map { Int32($0.group) }), units: "1",
        longName: "fleet group, by its place in the fleet")
    }
    return ResultDocument.Group(
      "devices",
      attributes: [.init("comment", .text("A device's path is its group's name / its ordinal."))],
      axes: [.init("device", length: devices.count)],
      variables: [
        .count("device", axis, Array(devices.indices), "number in the fleet"), group,
        count("ordinal", "number in its group") { $0.ordinal },
        count("client", "client whose data the device has") { $0.client },
        count("samples", "training samples") { $0.samples },
        count("heldVersion", "version that the device holds at the end, -1: none") {
          $0.heldVersion
        },
        count("sessions", "sessions begun") { $0.activity.sessions },
        count("attempts", "training attempts begun") { $0.activity.attempts },
        count("expired", "trainings running when their task expired") { $0.activity.expired },
        count("updates", "updates made") { $0.activity.updates },
        count("aggregated", "updates of the device that became part of a version") {
          $0.activity.aggregated
        },
        count("bytesUp", "bytes sent", units: "byte") { Int($0.activity.bytesUp) },
        count("bytesDown", "bytes received", units: "byte") { Int($0.activity.bytesDown) },
        .init(
          "exogenousDigest", axis,
          .int64(devices.map { Int64(bitPattern: $0.exogenousDigest) }), units: "1",
          longName:
            "digest of the device's exogenous series until the end of the run, as signed bits"),
      ] + VersionTable.byDevice(evaluations, simulation) + EffortTable.byDevice(simulation)
        + energy(devices) + FleetColumns.byDevice(devices)
        + (federated.map { FederatedColumns.byDevice($0, simulation) } ?? []))
  }

  /// Energy by contributor, where any device has a battery; 0 for those that have none.
  private static func energy(_ devices: DeviceRecords) -> [ResultDocument.Variable] {
    guard devices.contains(where: { $0.energy != nil }) else { return [] }
    func column(
      _ name: String, _ text: String, _ value: (EnergyLedger) -> Int64
    ) -> ResultDocument.Variable {
      .init(
        name, ["device"], .int64(devices.map { $0.energy.map { value($0.flows) } ?? 0 }),
        units: "nJ", longName: text)
    }
    return [
      .init(
        "energyInitial", ["device"], .int64(devices.map { $0.energy?.initial ?? 0 }), units: "nJ",
        longName: "energy in the battery at the start"),
      .init(
        "energyFinal", ["device"], .int64(devices.map { $0.energy?.final ?? 0 }), units: "nJ",
        longName: "energy in the battery at the end: initial + charged - used"),
      column("energyCharged", "energy from the charger") { $0.charged },
      column("energyIdle", "energy used at all times, regardless of activity") { $0.idle },
      column("energyScreen", "energy used by the screen") { $0.screen },
      column("energyTraining", "energy used by training") { $0.training },
      column("energyRadio", "energy used by sending and receiving") { $0.radio },
    ]
  }
}

/// Who holds which data, after every split.
enum PartitionTable {
  /// A row per client.
  static func group(_ simulation: Simulation) -> ResultDocument.Group {
    let task = simulation.inputs.task
    let partition = task.partition
    func histogram(
      _ name: String, _ lists: [[Int32]], of data: Dataset, _ text: String
    ) -> ResultDocument.Variable {
      let counts = Partition(shards: lists).labelHistogram(
        labels: data.labels, classCount: task.train.classCount)
      return .init(
        name, ["client", "label"], .int32(counts.flatMap { $0 }), units: "1", longName: text)
    }
    let hasClasses = task.train.kind == .classes
    func classes(_ variable: @autoclosure () -> ResultDocument.Variable)
      -> [ResultDocument.Variable]
    { hasClasses ? [variable()] : [] }
    var variables: [ResultDocument.Variable] =
      [.count("client", ["client"], Array(0..<partition.clientCount), "client")]
      + classes(.count("label", ["label"], Array(0..<task.train.classCount), "class of a sample"))
      + classes(
        histogram(
          "labelHistogram", partition.shards, of: task.train,
          "training samples of each label, after every split"))
      + [.count("samples", ["client"], partition.shards.map(\.count), "training samples")]
      + classes(
        histogram(
          "validationLabelHistogram", partition.validation, of: task.train,
          "samples of each label used for validation"))
      + [
        .count(
          "validationSamples", ["client"], partition.validation.map(\.count),
          "samples used for validation")
      ]
    if !task.clientTests.isEmpty {
      variables +=
        classes(
          histogram(
            "testLabelHistogram", task.clientTests, of: task.test,
            "test samples of each label that belong to the client"))
        + [
          .count(
            "testSamples", ["client"], task.clientTests.map(\.count),
            "test samples that belong to the client")
        ]
    }
    return ResultDocument.Group(
      "partition",
      attributes: [
        .init(
          "comment", .text("Which client has which data; devices/client is the client of a device.")
        )
      ],
      axes: [.init("client", length: partition.clientCount)]
        + (hasClasses ? [.init("label", length: task.train.classCount)] : []),
      variables: variables)
  }
}

/// The last model.
enum ModelTable {
  /// A variable per tensor, with separate axes.
  static func group(_ simulation: Simulation) -> ResultDocument.Group {
    var attributes: [ResultDocument.Attribute] = [
      .init("version", .integer(Int64(simulation.version))),
      .init("comment", .text("Parameters of the last version; a weight is [in][out].")),
    ]
    if let digest = simulation.inputs.task.modelDigests.first, !digest.isEmpty {
      attributes.append(.init("coreMLDigest", .text(digest)))
    }
    return group(
      "model", simulation.inputs.task.network.layout, simulation.model, attributes: attributes)
  }

  /// What a result calls a tensor: letters, digits and `_`, a letter first.
  static func variable(of tensor: String) -> String {
    let name = String(
      tensor.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
    return name.first?.isLetter == true ? name : "tensor_" + name
  }

  /// The same of any parameters.
  static func group(
    _ name: String, _ layout: ParameterLayout, _ parameters: ParameterBuffer,
    attributes: [ResultDocument.Attribute]
  ) -> ResultDocument.Group {
    var group = ResultDocument.Group(name, attributes: attributes)
    for tensor in layout.tensors {
      let name = variable(of: tensor.name)
      let axes = tensor.shape.indices.map { "\(name)_axis\($0)" }
      group.axes += zip(axes, tensor.shape).map { .init($0, length: $1) }
      group.variables.append(
        .init(
          name, axes, .float(parameters.values(of: tensor)), units: "1",
          longName: "tensor \(tensor.name)", attributes: [.init("tensor", .text(tensor.name))]))
    }
    return group
  }
}
