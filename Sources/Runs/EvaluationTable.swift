import FedSim
import Results

/// What devices reported of versions, where the server asks them to evaluate.
enum EvaluationTable {
  /// A row per evaluation, in order; no group where the server never asks.
  static func groups(_ simulation: Simulation) -> [ResultDocument.Group] {
    guard simulation.inputs.server.evaluation != nil || simulation.inputs.program != nil else {
      return []
    }
    let axis = ["evaluation"]
    let records = simulation.serverRecord.evaluations
    func count(
      _ name: String, _ text: String, _ path: KeyPath<EvaluationRecord, Int>
    ) -> ResultDocument.Variable {
      .count(name, axis, records.map { $0[keyPath: path] }, text)
    }
    let comment = "weighted by the samples; NaN if there are none, or if failures are not accepted"
    return [
      ResultDocument.Group(
        "evaluations",
        attributes: [
          .init(
            "comment",
            .text(
              "Evaluations on devices' local samples, in virtual time, as the devices reported "
                + "them: after each round, before the next cohort."))
        ], axes: [.init("evaluation", length: records.count)],
        variables: [
          .count("evaluation", axis, Array(records.indices), "number, from 0"),
          count("round", "round before the evaluation", \.round),
          count("version", "version that was evaluated", \.version),
          .seconds(
            "begunAt", axis, records.map(\.begunAt.seconds), "simulated time of the round's end"),
          .seconds(
            "endedAt", axis, records.map(\.endedAt.seconds),
            "simulated time at which the last member had replied or failed"),
          count("members", "devices asked to evaluate", \.members),
          count("results", "devices that replied", \.results),
          count("failures", "devices that did not reply", \.failures),
          count("examples", "samples in the replies", \.examples),
          .number(
            "loss", axis, records.map(\.loss), "mean of the reported losses", comment: comment),
          .number(
            "accuracy", axis, records.map(\.accuracy),
            "mean of the accuracies computed by the apps; an app as coded reports 1 - loss",
            comment: comment),
        ].filter { $0.name != "accuracy" || simulation.inputs.task.train.kind != .values })
    ]
  }
}
