import Learning

extension ClientStates {
  /// Makes what the algorithm and the fleet ask for.
  static func makeLocalStates(_ devices: inout Devices, _ cx: inout Context) {
    let needs = cx.inputs.task.algorithm.needs
    if needs.chainsTrainings { cx.states.last = Array(repeating: nil, count: cx.members.count) }
    cx.features.hasCompanions = needs.companions > 0
    cx.features.isStateful = needs.chainsTrainings && cx.members.count > 0 || needs.companions > 0
    if needs.keepsParameters {
      guard let ranges = cx.inputs.task.network.layout.personalRanges(needs) else {
        preconditionFailure("the layers that stay on devices are the model's")
      }
      cx.features.privateRanges = ranges
    }
    Adversary.makeAdversaries(&cx)
  }
}
