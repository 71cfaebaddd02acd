import FedSim
import Results

/// Where participations were lost, and why.
enum LossTable {
  /// A row for each stage that some did not reach, and each reason; nothing where none was lost.
  static func groups(_ simulation: Simulation) -> [ResultDocument.Group] {
    let losses = simulation.participations.losses
    var rows: [(stage: Int, reason: Int, count: Int)] = []
    for (place, stage) in Stage.allCases.dropLast().enumerated() {
      for reason in FunnelLoss.names.indices where losses[stage, reason] > 0 {
        rows.append((place + 1, reason, losses[stage, reason]))
      }
    }
    guard !rows.isEmpty else { return [] }
    let axis = ["loss"]
    return [
      ResultDocument.Group(
        "losses",
        attributes: [
          .init(
            "comment",
            .text(
              "Participations that came no further in the funnel: the rows of a stage add up to "
                + "the difference between the stage before and this one."))
        ], axes: [.init("loss", length: rows.count)],
        variables: [
          .init(
            "stage", axis, codes: rows.map { Int8($0.stage) },
            meanings: Stage.allCases.map { "\($0)" },
            longName: "the first stage that the participations did not reach"),
          .init(
            "reason", axis, codes: rows.map { Int8($0.reason) }, meanings: FunnelLoss.names,
            longName: "why"),
          .count("participations", axis, rows.map(\.count), "participations"),
        ])
    ]
  }
}
