import FedSim
import Results

/// What the server's own work costs, where the scenario asks for it.
enum ServerColumns {
  /// Sessions that do not take part, by their reason.
  static func addIneligibility(_ simulation: Simulation, to group: inout ResultDocument.Group) {
    guard simulation.inputs.record.ineligibility == true else { return }
    let reasons = Condition.refusals(in: simulation.inputs.fleet)
    group.axes.append(.init("ineligibility", length: reasons.count))
    group.variables += [
      .init(
        "ineligibility", ["ineligibility"], codes: reasons.indices.map { Int8($0) },
        meanings: reasons, longName: "the first condition that did not hold"),
      .count(
        "ineligible", ["ineligibility"],
        reasons.map { Condition.count(of: $0, in: simulation.books.tallies.ineligible) },
        "sessions in which it did not"),
    ]
  }

  /// Restarts, and aggregations that took time.
  static func ledger(_ simulation: Simulation) -> [ResultDocument.Variable] {
    let restarts = simulation.serverRecord.restartCount.map {
      ResultDocument.Variable.scalar(
        "serverRestarts", .int64([Int64($0)]), "times at which the server's process stopped")
    }
    return aggregations(simulation) + (restarts.map { [$0] } ?? [])
  }

  private static func aggregations(_ simulation: Simulation) -> [ResultDocument.Variable] {
    guard let tallies = simulation.serverRecord.aggregationTallies else { return [] }
    return [
      .scalar("aggregations", .int64([Int64(tallies.begun)]), "aggregations begun"),
      .scalar(
        "aggregationTime", .double([tallies.lasted.seconds]), units: "s",
        "total time of the aggregations that ended"),
      .scalar(
        "heldRequests", .int64([Int64(tallies.held)]),
        "requests that waited for an aggregation"),
      .scalar(
        "heldWait", .double([tallies.waited.seconds]), units: "s",
        "total time that requests waited for an aggregation"),
    ]
  }
}
