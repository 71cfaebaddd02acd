import DataSets
import FedSim
import Learning
import Numerics
import Scenarios
import Schema

extension Scenario {
  /// The models of `task.models`, which the server trains.
  ///
  /// Draws: as `Network.initialParameters`, from slot 0 of `initial-weights` in the group of the
  /// model's name.
  func centralModels(for data: TrainAndTest) throws(Faults) -> [CentralModel] {
    var models: [CentralModel] = []
    for (place, named) in (settings.task.models ?? []).enumerated() {
      let keys = ["task", "models", "[\(place)]", "model"]
      let network = try network(
        named.model, for: data.train, training: named.training, at: keys)
      try checkTokens(of: data, for: network, at: keys)
      let key = StreamKey(seed: seeds.initial, purpose: "initial-weights", group: named.name)
      models.append(
        CentralModel(
          name: named.name, network: network,
          initial: network.initialParameters(key.stream(slot: 0)), plan: named.training.plan,
          algorithm: named.training.algorithm.value))
    }
    return models
  }
}
