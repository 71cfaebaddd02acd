import FedSim
import Results

/// Each update, where `record.updates` asks for it.
enum UpdateTable {
  /// A row for each update, in the order of their making.
  static func groups(_ simulation: Simulation) -> [ResultDocument.Group] {
    guard let log = simulation.updateLog else { return [] }
    let axis = ["update"]
    let rows = Array(log.rows)
    let clients = simulation.deviceRecords.clients
    func numbers(
      _ name: String, _ text: String, _ value: (UpdateLog.Row) -> Int32
    ) -> ResultDocument.Variable {
      .init(
        name, axis, .int32(rows.map(value)), units: "1", longName: text,
        attributes: [.init("coordinates", .text("createdAt"))])
    }
    func seconds(_ time: SimTime) -> Double { time == .never ? .nan : time.seconds }
    let isError = simulation.inputs.task.train.kind == .values
    return [
      ResultDocument.Group(
        "updates",
        attributes: [
          .init(
            "comment",
            .text(
              "The updates that devices made, in the order of their making; `update` is the number "
                + "in `events`. Only trainings that went into a version are computed: the others "
                + "have no loss and no accuracy."))
        ], axes: [.init("update", length: rows.count)],
        variables: [
          .count("update", axis, Array(rows.indices), "number of the update, from 0"),
          numbers("device", "number of the device in the fleet") { $0.device },
          numbers("client", "client whose data the device has") { clients[Int($0.device)] },
          numbers("base", "version from which the update was trained") { $0.base },
          .seconds(
            "createdAt", axis, rows.map(\.createdAt.seconds),
            "simulated time at which the update was made"),
          .seconds(
            "receivedAt", axis, rows.map { seconds($0.receivedAt) },
            "simulated time at which the update first reached the server; NaN: it did not"),
          numbers("round", "round that the update went into, -1: none") { $0.round },
          numbers("version", "version that the update became part of, -1: none") { $0.version },
          numbers(
            "staleness",
            "versions published since the base when aggregated, else when received, -1: neither"
          ) { $0.staleness },
          numbers("samples", "size of the share that the update was trained on") { $0.samples },
          numbers("samplesProcessed", "samples processed by the training, including repetitions") {
            $0.samplesProcessed
          },
          .number(
            "trainingLoss", axis, rows.map(\.trainingLoss),
            "mean training loss over the samples processed; NaN: not aggregated"),
          .number(
            "validationAccuracy", axis,
            rows.map { Double($0.validated.correct) / Double($0.validated.count) },
            "accuracy on the device's validation samples; NaN: not aggregated, or there are none"),
          .init(
            "bytesUp", axis, .int64(rows.map(\.bytesUp)), units: "byte",
            longName: "bytes sent for the update, including failed transmissions",
            attributes: [.init("coordinates", .text("createdAt"))]),
          .init(
            "outcome", axis, codes: rows.map { code(of: $0.outcome ?? .unfinishedAtEnd) },
            meanings: UpdateOutcome.allCases.map(\.rawValue), longName: "how the update ended",
            attributes: [.init("coordinates", .text("createdAt"))]),
        ].filter { !isError || $0.name != "validationAccuracy" })
    ]
  }
}
