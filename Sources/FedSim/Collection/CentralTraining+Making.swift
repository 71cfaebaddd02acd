import Learning
import Numerics

extension CentralTraining {
  /// Makes the models that are trained at the server.
  static func makeCentralModels(_ cx: inout Context) {
    for model in cx.inputs.centralModels {
      let name = model.name
      let listed = cx.inputs.server.central?.models?.first { $0.name == name }
      cx.collection.models.append(
        TrainedModel(task: model, scope: listed?.scope ?? .all, parameters: model.initial))
    }
  }
}

extension SimulationInputs {
  /// The models that are trained at the server, in the order of their places.
  var centralModels: [CentralModel] {
    let own = CentralModel(
      name: CentralModel.ownName, network: task.network, initial: task.initial, plan: task.plan,
      algorithm: task.algorithm)
    let known = task.models.isEmpty ? [own] : task.models
    return centralNames.map { name in
      guard let model = known.first(where: { $0.name == name }) else {
        preconditionFailure("no model \(name)")
      }
      return model
    }
  }
}
