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
