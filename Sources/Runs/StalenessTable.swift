import FedSim
import Results

/// How far aggregated updates were behind.
enum StalenessTable {
  /// A row per staleness.
  static func group(_ simulation: Simulation) -> ResultDocument.Group {
    let counts = Array(simulation.books.staleness)
    return ResultDocument.Group(
      "staleness",
      attributes: [
        .init(
          "comment",
          .text("Aggregated updates by versions since their base version, over the whole run."))
      ],
      axes: [.init("staleness", length: counts.count)],
      variables: [
        .count(
          "staleness", ["staleness"], Array(counts.indices),
          "versions published since the update's base version"),
        .count("updates", ["staleness"], counts, "updates aggregated with that staleness"),
      ])
  }
}
