import DataSets
import FedSim
import Learning
import Numerics
import Scenarios
import Schema

extension Scenario {
  /// The models of `task.models`, which the server trains, and the files they are from.
  ///
  /// Draws: as `Network.initialParameters`, from slot 0 of `initial-weights` in the group of the
  /// model's name.
  func centralModels(
    for data: TrainAndTest
  ) throws(Faults) -> (models: [CentralModel], files: [CoreMLNetwork?]) {
    var models: [CentralModel] = []
    var files: [CoreMLNetwork?] = []
    for (place, named) in (settings.task.models ?? []).enumerated() {
      let keys = ["task", "models", "[\(place)]", "model"]
      let file = try modelFile(named.model, at: keys)
      files.append(file)
      let network = try network(
        named.model, file, for: data.train, training: named.training, at: keys)
      try checkTokens(of: data, for: network, at: keys)
      let key = StreamKey(seed: seeds.initial, purpose: "initial-weights", group: named.name)
      models.append(
        CentralModel(
          name: named.name, network: network,
          initial: file?.parameters(of: network)
            ?? network.initialParameters(key.stream(slot: 0)), plan: named.training.plan,
          algorithm: named.training.algorithm.value))
    }
    return (models, files)
  }
}
