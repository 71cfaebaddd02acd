import Learning
import Numerics

extension Instructions {
  /// Makes what the settings ask for.
  static func makeInstructions(
    _ server: inout Server, _ cx: inout Context
  ) {
    let settings = cx.inputs.server
    var made = Instructions()
    cx.features.hasInstructions =
      cx.inputs.fleet.contains { $0.protocol?.hasInstructions == true } || settings.exchange != nil
      || cx.inputs.program != nil || settings.initialModel != nil || settings.clientConfig != nil
      || settings.evaluation != nil || settings.stragglers?.drop == false
      || settings.asksProperties != nil || cx.features.admission?.cycle.planBytes != nil
    made.awaitsModel = settings.initialModel == .client
    if settings.asksProperties == true {
      made.connections = Array(repeating: 0, count: cx.members.count)
    }
    if settings.exchange == .weightsOnly {
      cx.features.privateRanges = cx.inputs.task.network.layout.rangesBesideWeights
    }
    if cx.inputs.fleet.contains(where: { $0.protocol?.overwritesModel == true }) {
      cx.states.own = Array(repeating: nil, count: cx.members.count)
    }
    cx.features.plans = (settings.clientConfig ?? []).map { config in
      cx.inputs.task.plan.with(
        epochs: config.epochs, batchSize: config.batchSize, learningRate: config.learningRate,
        maximumSteps: config.maximumUpdates)
    }
    Stragglers.makePlans(&cx)
    server.instructions = made
  }

  /// The version that a device's own model was trained from; −1: it has not trained one, nil: no
  /// device keeps one.
  static func ownBase(of device: Int, _ cx: borrowing Context) -> Int? {
    cx.states.own.isEmpty
      ? nil : cx.states.own[device].map { Int($0.base) } ?? -1
  }
}
