import Learning
import Numerics

extension CentralTraining {
  /// Makes the models that are trained at the server.
  static func makeCentralModels(_ cx: inout Context) {
    let own = CentralModel(
      name: CentralModel.ownName, network: cx.inputs.task.network, initial: cx.inputs.task.initial,
      plan: cx.inputs.task.plan, algorithm: cx.inputs.task.algorithm)
    let known = cx.inputs.task.models.isEmpty ? [own] : cx.inputs.task.models
    for name in cx.inputs.centralNames {
      guard let model = known.first(where: { $0.name == name }) else {
        preconditionFailure("no model \(name)")
      }
      let listed = cx.inputs.server.central?.models?.first { $0.name == name }
      cx.collection.models.append(
        TrainedModel(task: model, scope: listed?.scope ?? .all, parameters: model.initial))
    }
  }
}
