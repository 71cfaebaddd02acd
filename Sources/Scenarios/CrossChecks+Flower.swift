import FedSim

extension CrossChecks {
  /// A Flower program has what it runs on, and nothing that it would have to be able to do.
  mutating func checkFlower() {
    let server = settings.server
    let isChosen = server.selector.name == ProgramSelector.name
    guard let flower = settings.task.flower else {
      if isChosen {
        report("there is no Flower program: `task.flower` is absent", at: ["server", "selector"])
      }
      return
    }
    if !isChosen || server.trigger.contains(where: { $0.name != ProgramTrigger.name }) {
      report(
        "with `task.flower` Flower's strategy decides: `policy: flower-app`",
        at: isChosen ? ["server", "trigger"] : ["server", "selector"])
    }
    if settings.stop.rounds != nil {
      report("the Flower program says how many rounds there are", at: ["stop", "rounds"])
    }
    for (given, key) in [
      (server.evaluation != nil, "evaluation"), (server.restarts != nil, "restarts"),
      (server.initialModel != nil, "initialModel"), (server.privacy != nil, "privacy"),
      (!server.transforms.isEmpty, "transforms"), (server.clientConfig != nil, "clientConfig"),
    ] where given {
      report("with `task.flower` this is the program's affair", at: ["server", key])
    }
    let devices = settings.fleet.reduce(0) { $0 + $1.count }
    for (counts, key) in [
      (flower.samples, "samples"), (flower.evaluationSamples ?? [], "evaluationSamples"),
    ] {
      let total = counts.count == 1 ? counts[0] * devices : counts.reduce(0, +)
      if total > Self.mostFlowerSamples {
        report(
          "\(total) samples of all clients together; \(Self.mostFlowerSamples) at most",
          at: ["task", "flower", key])
      }
    }
    checkNodes(flower)
  }

  /// Each takes 4 bytes of memory or more.
  private static let mostFlowerSamples = 1_000_000_000

  private mutating func checkNodes(_ flower: FlowerSettings) {
    for (index, group) in settings.fleet.enumerated() {
      let keys = ["fleet", "[\(index)]"]
      if group.protocol?.stream != true || group.protocol?.overwritesModel != true
        || !group.participation.repeats
      {
        report("a Flower node holds a stream: give the group `profile: flower-node`", at: keys)
      }
      if group.interruption.onExpiry != .discard {
        report(
          "a Flower client trains whole messages and not up to a batch:"
            + " `onExpiry: \(group.interruption.onExpiry.rawValue)` asks for a trainer"
            + " (`task.python`); a Flower program goes with `discard`",
          at: keys + ["interruption", "onExpiry"])
      }
      if group.interruption.onConditionsLost == .suspend {
        report(
          "a Flower client does not save a training: `onConditionsLost: suspend` asks for a trainer"
            + " (`task.python`)", at: keys + ["interruption", "onConditionsLost"])
      }
      if group.hardware != nil {
        report(
          "nobody knows what a step of a Flower program costs: say how long a batch takes"
            + " (`compute`) in place of `hardware`", at: keys + ["hardware"])
      }
      if group.adversary != nil {
        report("an attack is on FedSim's own trainings", at: keys + ["adversary"])
      }
      if group.collection != nil {
        report("a Flower program trains on devices", at: keys + ["collection"])
      }
    }
  }
}
