import Learning
import Numerics

extension Simulation {
  /// Evaluations that the server asked devices for, in order.
  public var evaluationRecords: [EvaluationRecord] { Array(server.instructions.evaluations) }
}
