import Learning

extension Simulation {
  /// Makes what the algorithm and the fleet ask for.
  mutating func makeLocalStates() {
    let needs = cx.inputs.task.algorithm.needs
    if needs.chainsTrainings { cx.states.last = Array(repeating: nil, count: devices.count) }
    cx.features.hasCompanions = needs.companions > 0
    cx.features.isStateful = needs.chainsTrainings && devices.count > 0 || needs.companions > 0
    if !needs.personalLayers.isEmpty {
      guard let ranges = cx.inputs.task.network.layout.ranges(ofLayers: needs.personalLayers) else {
        preconditionFailure("the layers that stay on devices are the model's")
      }
      cx.features.privateRanges = ranges
    }
    makeAdversaries()
  }

  /// What a device's trainings have left for its next one, such as SCAFFOLD's own variate; none:
  /// nothing, or zeros.
  public func deviceState(of device: Int) -> [ParameterBuffer] {
    guard !cx.states.last.isEmpty, let last = cx.states.last[device]?.training
    else { return [] }
    return last.value(Scratch()).leavings.kept
  }
}
