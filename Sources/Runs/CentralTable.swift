import FedSim
import Learning
import Results

/// Files, central trainings and their models, where any group collects.
enum CentralTable {
  /// What was sent and trained on, a row per version; what each device did; the models at the end.
  ///
  /// `later` are versions that only a journal holds.
  static func groups(
    _ simulation: Simulation, later: [CentralVersion]
  ) -> [ResultDocument.Group] {
    guard simulation.collection.isOn else { return [] }
    var groups = [central(simulation, later), collection(simulation)]
    if simulation.inputs.record.finalModel { groups += models(simulation) }
    return groups
  }

  /// The versions, and the ledger of files.
  static func central(
    _ simulation: Simulation, _ later: [CentralVersion]
  ) -> ResultDocument.Group {
    let versions = simulation.collection.versions + later
    var rows = publications(versions, simulation)
    for index in rows.indices where rows[index].name != "publishedAt" {
      rows[index].attributes.append(.init("coordinates", .text("publishedAt")))
    }
    rows += ledger(simulation)
    return ResultDocument.Group(
      "central",
      attributes: [
        .init(
          "comment",
          .text(
            "Training at the server on files that devices sent. Every file opened ends in exactly "
              + "one outcome. Accuracies are computed without virtual time."))
      ],
      axes: [
        .init("publication", length: versions.count),
        .init("fileOutcome", length: FileOutcome.allCases.count),
      ], variables: rows)
  }

  /// A row per version.
  private static func publications(
    _ versions: [CentralVersion], _ simulation: Simulation
  ) -> [ResultDocument.Variable] {
    let axis = ["publication"]
    func count(
      _ name: String, _ text: String, _ value: (CentralVersion) -> Int
    ) -> ResultDocument.Variable {
      .count(name, axis, versions.map(value), text)
    }
    let targets = simulation.inputs.task.test.kind
    let (name, word) = targets == .values ? ("RMSE", "RMSE") : ("Accuracy", "accuracy")
    return [
      .init(
        "model", axis, codes: versions.map { Int8($0.model) },
        meanings: simulation.collection.tasks.map(\.name), longName: "model that was trained"),
      count("version", "version of the trained model, from 1") { $0.version },
      .seconds(
        "startedAt", axis, versions.map(\.startedAt.seconds),
        "simulated time at which the training began; the training reads what the store had then"),
      .seconds(
        "publishedAt", axis, versions.map(\.publishedAt.seconds), "simulated time of publication"),
      count("files", "files read by the training") { $0.files },
      count("samples", "samples in the files read") { $0.samples },
      count("newSamples", "samples new to this model") { $0.newSamples },
      count("users", "users of the samples") { $0.users },
      count("samplesProcessed", "samples processed, including repetitions") { $0.samplesProcessed },
      .number(
        "trainingLoss", axis, versions.map(\.trainingLoss), "mean loss over the samples processed"),
      .number(
        "test\(name)", axis, versions.map { $0.evaluation?.score(targets) ?? .nan },
        "\(word) on the test samples", comment: "NaN for users' personal models"),
      .number(
        "testLoss", axis, versions.map { $0.evaluation?.meanLoss ?? .nan },
        "mean loss on the test samples", comment: "NaN for users' personal models"),
      .number(
        "user\(name)", axis, versions.map(\.userAccuracy),
        "mean over the trained users of their personal model's \(word) on held-out samples",
        comment: "NaN for a model of all users"),
      .number(
        "meanLag", axis, versions.map(\.meanLag),
        "mean number of versions behind when published, over devices that fetch the model",
        comment: "the placeholder counts as version 0; NaN if no device fetches the model"),
      .number(
        "held\(name)", axis, versions.map(\.heldAccuracy),
        "mean test \(word) of the versions in use when published, over devices that use a version",
        comment: "NaN if no device uses a version, and for users' personal models"),
      count("adoptions", "devices that started to use the version") { $0.adoptions },
      .seconds(
        "meanAdoptionTime", axis,
        versions.map { $0.adoptionTime.seconds / Double($0.adoptions) },
        "mean time from the publication to the first use, over these devices",
        comment: "NaN if there are none"),
    ]
  }

  /// Files by how they end, and their samples.
  private static func ledger(_ simulation: Simulation) -> [ResultDocument.Variable] {
    let ends = FileOutcome.allCases
    let ledger = simulation.collection.ledger
    let outcome = ["fileOutcome"]
    return [
      .init(
        "fileOutcome", outcome, codes: ends.indices.map { Int8($0) },
        meanings: ends.map(\.rawValue), longName: "how files ended"),
      .count("filesEnded", outcome, ends.map { ledger[$0] }, "files that ended with this outcome"),
      .count("samplesEnded", outcome, simulation.collection.samples, "samples in these files"),
      .scalar("filesOpened", .int64([Int64(ledger.opened)]), "files formatted"),
    ]
      + simulation.collection.tallies.named.map { name, count, text in
        .scalar(name, .int64([Int64(count)]), text)
      }
  }

  /// A row per device; zeros for those that do not collect.
  private static func collection(_ simulation: Simulation) -> ResultDocument.Group {
    let records = simulation.deviceRecords
    let devices = records.indices.map { records.collector($0) }
    let models = simulation.collection.tasks
    func count(
      _ name: String, _ text: String, units: String = "1", _ value: (CollectorRecord) -> Int
    ) -> ResultDocument.Variable {
      .count(name, ["device"], devices.map { $0.map(value) ?? 0 }, text, units: units)
    }
    let inUse = devices.flatMap { device in
      (device?.inUse ?? models.map { _ in -2 }).map { Int64($0) }
    }
    return ResultDocument.Group(
      "collection",
      attributes: [
        .init("comment", .text("Files collected by each device; rows as in devices."))
      ],
      axes: [
        .init("device", length: devices.count), .init("centralModel", length: models.count),
      ],
      variables: [
        .count("device", ["device"], Array(devices.indices), "number in the fleet"),
        .init(
          "centralModel", ["centralModel"], codes: models.indices.map { Int8($0) },
          meanings: models.map(\.name), longName: "model that the server trains"),
        count("files", "files formatted") { $0.counts.files },
        count("samples", "samples in these files") { $0.counts.samples },
        count("stored", "files that reached the store") { $0.counts.stored },
        count("failed", "failed uploads") { $0.counts.failed },
        count("trained", "files that a training read") { $0.counts.trained },
        count("waiting", "samples that had arrived, unformatted at the end") { $0.waiting },
        count("keptFiles", "files on the device's disk at the end") { $0.keptFiles },
        count("logged", "files in the device's error log at the end") { $0.logged },
        count("keptBytes", "bytes of files on the device's disk at the end", units: "byte") {
          Int($0.keptBytes)
        },
        count("mostBytes", "maximum bytes of files on the device's disk", units: "byte") {
          Int($0.mostBytes)
        },
        .init(
          "inUse", ["device", "centralModel"], .int64(inUse), units: "1",
          longName: "version in use at the end, -1: the placeholder, -2: the device fetches none"),
      ])
  }

  /// The latest parameters of the models of all users, a group each.
  private static func models(_ simulation: Simulation) -> [ResultDocument.Group] {
    let versions = simulation.collection.versions
    return simulation.collection.tasks.enumerated().compactMap { place, model in
      let last = versions.last { $0.model == place }
      guard let last, !simulation.collection.isOwn(place), !simulation.inputs.omitsArithmetic else {
        return nil
      }
      return ModelTable.group(
        "centralModel_\(place)", model.network.layout, simulation.collection.parameters(of: place),
        attributes: [
          .init("model", .text(model.name)), .init("version", .integer(Int64(last.version))),
          .init(
            "comment",
            .text(
              "Parameters of the latest version of a model trained on collected data; a weight "
                + "is [in][out]."
            )),
        ])
    }
  }
}
