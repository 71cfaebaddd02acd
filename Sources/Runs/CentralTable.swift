import FedSim
import Learning
import Results

/// Files, central trainings and their models, where any group collects.
enum CentralTable {
  /// What was sent and trained on, a row a version; what each device did; the models at the end.
  ///
  /// `later` are versions that only a journal told of.
  static func groups(
    _ simulation: Simulation, later: [CentralVersion]
  ) -> [ResultDocument.Group] {
    guard simulation.isCentral else { return [] }
    var groups = [central(simulation, later), collection(simulation)]
    if simulation.inputs.record.finalModel { groups += models(simulation) }
    return groups
  }

  /// The versions, and the ledger of files.
  static func central(
    _ simulation: Simulation, _ later: [CentralVersion]
  ) -> ResultDocument.Group {
    let versions = simulation.centralVersions + later
    let axis = ["publication"]
    func count(
      _ name: String, _ text: String, _ value: (CentralVersion) -> Int
    ) -> ResultDocument.Variable {
      .count(name, axis, versions.map(value), text)
    }
    var rows: [ResultDocument.Variable] = [
      .init(
        "model", axis, codes: versions.map { Int8($0.model) },
        meanings: simulation.centralModels.map(\.name), longName: "model that was trained"),
      count("version", "version of that model, from 1") { $0.version },
      .seconds(
        "startedAt", axis, versions.map(\.startedAt.seconds),
        "simulated time at which the training began: what the store had then was read"),
      .seconds(
        "publishedAt", axis, versions.map(\.publishedAt.seconds), "simulated time of publication"),
      count("files", "files that were read") { $0.files },
      count("samples", "samples in them") { $0.samples },
      count("newSamples", "samples that no training of this model had read") { $0.newSamples },
      count("users", "users whose samples they are") { $0.users },
      count("samplesProcessed", "samples processed, repetitions counted") { $0.samplesProcessed },
      .number(
        "trainingLoss", axis, versions.map(\.trainingLoss), "mean loss over the samples processed"),
      .number(
        "testAccuracy", axis, versions.map { $0.evaluation?.accuracy ?? .nan },
        "accuracy on the test samples", comment: "NaN for users' own models"),
      .number(
        "testLoss", axis, versions.map { $0.evaluation?.meanLoss ?? .nan },
        "mean loss on the test samples", comment: "NaN for users' own models"),
      .number(
        "userAccuracy", axis, versions.map(\.userAccuracy),
        "mean over the users trained of their own model's accuracy on their held-out samples",
        comment: "NaN for a model of all users"),
      .number(
        "meanLag", axis, versions.map(\.meanLag),
        "versions that devices were behind as it was published, mean over those that fetch it",
        comment: "the placeholder counts as version 0; NaN where none fetches it"),
      .number(
        "heldAccuracy", axis, versions.map(\.heldAccuracy),
        "mean test accuracy of the versions in use as it was published, over devices that have one",
        comment: "NaN where none has, and for users' own models"),
      count("adoptions", "devices that took it into use") { $0.adoptions },
      .seconds(
        "meanAdoptionTime", axis,
        versions.map { $0.adoptionTime.seconds / Double($0.adoptions) },
        "mean time from its publication to its use, over these", comment: "NaN without any"),
    ]
    for index in rows.indices where rows[index].name != "publishedAt" {
      rows[index].attributes.append(.init("coordinates", .text("publishedAt")))
    }
    rows += ledger(simulation)
    rows += (simulation.centralTallies?.named ?? []).map { name, count, text in
      .scalar(name, .int64([Int64(count)]), text)
    }
    return ResultDocument.Group(
      "central",
      attributes: [
        .init(
          "comment",
          .text(
            "Training at the server on files that devices sent. Every file opened ends in exactly "
              + "one outcome. Accuracies are an oracle's, without virtual time."))
      ],
      axes: [
        .init("publication", length: versions.count),
        .init("fileOutcome", length: FileOutcome.allCases.count),
      ], variables: rows)
  }

  /// Files by how they end, and their samples.
  private static func ledger(_ simulation: Simulation) -> [ResultDocument.Variable] {
    let ends = FileOutcome.allCases
    let ledger = simulation.fileLedger
    let outcome = ["fileOutcome"]
    return [
      .init(
        "fileOutcome", outcome, codes: ends.indices.map { Int8($0) },
        meanings: ends.map(\.rawValue), longName: "how files end"),
      .count("filesEnded", outcome, ends.map { ledger[$0] }, "files that ended so"),
      .count("samplesEnded", outcome, simulation.fileSamples, "samples in files that ended so"),
      .scalar("filesOpened", .int64([Int64(ledger.opened)]), "files formatted"),
    ]
  }

  /// A row a device; zeros for those that do not collect.
  private static func collection(_ simulation: Simulation) -> ResultDocument.Group {
    let devices = (0..<simulation.inputs.deviceCount).map { simulation.collectorRecord($0) }
    let models = simulation.centralModels
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
        .init("comment", .text("What each device collected; rows as in devices."))
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
        count("samples", "samples in them") { $0.counts.samples },
        count("stored", "files that came into the store") { $0.counts.stored },
        count("failed", "uploads that failed") { $0.counts.failed },
        count("trained", "files that a training read") { $0.counts.trained },
        count("waiting", "samples that had come and were not formatted at the end") { $0.waiting },
        count("keptFiles", "files on its disk at the end") { $0.keptFiles },
        count("logged", "files in its error log at the end") { $0.logged },
        count("keptBytes", "bytes of the files on its disk at the end", units: "byte") {
          Int($0.keptBytes)
        },
        count("mostBytes", "the most bytes of files on its disk at once", units: "byte") {
          Int($0.mostBytes)
        },
        .init(
          "inUse", ["device", "centralModel"], .int64(inUse), units: "1",
          longName: "version in use at the end, -1: the placeholder, -2: it fetches none"),
      ])
  }

  /// The latest parameters of the models of all users, a group each.
  private static func models(_ simulation: Simulation) -> [ResultDocument.Group] {
    let versions = simulation.centralVersions
    return simulation.centralModels.enumerated().compactMap { place, model in
      let last = versions.last { $0.model == place }
      guard let last, !simulation.isOwn(place), !simulation.inputs.omitsArithmetic else {
        return nil
      }
      return ModelTable.group(
        "centralModel_\(place)", model.network.layout, simulation.centralParameters(place),
        attributes: [
          .init("model", .text(model.name)), .init("version", .integer(Int64(last.version))),
          .init(
            "comment",
            .text("Parameters of a central model's latest version; a weight is [in][out].")),
        ])
    }
  }
}
