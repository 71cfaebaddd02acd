import DataSets
import FedSim
import Learning
import Schema

/// What must hold between sections that are each right alone.
struct CrossChecks {
  let settings: ScenarioSettings
  private let written: Node
  private(set) var faults: [Fault] = []

  /// Checks settings that were read from a tree.
  init(_ settings: ScenarioSettings, written: Node) {
    self.settings = settings
    self.written = written
    checkFleet()
    checkClients()
    checkInjections()
    checkTimelines()
    checkCohort()
    checkPrivacy()
    checkIdentity()
    checkLearning()
    checkNoise()
    checkFlower()
    checkTargets()
    checkAlgorithm()
    checkAdversaries()
    checkInstructions()
    checkCentral()
  }

  /// What needs learning has it.
  private mutating func checkLearning() {
    guard settings.task.learning != nil else {
      if settings.task.data.source.name == NoData.name {
        report(
          "these samples have no content to learn from: use `learning: none`",
          at: ["task", "data", "source"])
      }
      return
    }
    let without = "there is none without learning (`task: none`)"
    if settings.stop.accuracy != nil { report(without, at: ["stop", "accuracy"]) }
    if settings.record.federatedEvaluation != nil {
      report(without, at: ["record", "federatedEvaluation"])
    }
    if settings.record.modelFiles != nil { report(without, at: ["record", "modelFiles"]) }
    if settings.server.evaluation != nil { report(without, at: ["server", "evaluation"]) }
    if settings.server.selector.value.needs.contains(.losses) {
      report(
        "`\(settings.server.selector.name)` chooses by losses, and \(without)",
        at: ["server", "selector"])
    }
    if settings.server.central != nil { report(without, at: ["server", "central"]) }
  }

  /// Features that are quantities, of samples that FedSim has, can have noise.
  private mutating func checkNoise() {
    guard settings.task.data.featureNoise != nil else { return }
    let keys = ["task", "data", "featureNoise"]
    if settings.task.python != nil {
      report("the trainer of `task.python` has the data", at: keys)
    } else if settings.task.data.source.value.targets == .tokens {
      report("tokens are no quantities that noise could be added to", at: keys)
    }
  }

  /// The local algorithm can train by the plan, and what stays on devices is said once.
  private mutating func checkAlgorithm() {
    let training = settings.task.training
    let keys = ["task", "training", "algorithm"]
    if let objection = training.algorithm.value.objection(to: training.plan) {
      report(objection, at: keys)
    }
    let needs = training.algorithm.value.needs
    if needs.ownModel || needs.keepsParameters,
      settings.server.exchange == .weightsOnly
    {
      report(
        "`\(training.algorithm.name)` and `server.exchange: weightsOnly` both decide what stays on"
          + " devices", at: keys)
    }
    checkDynamics()
    if settings.server.aggregator.value.needs.contains(.stepSums),
      training.plan.stepSum(batches: 1, of: 1) == nil
    {
      report(
        "`\(settings.server.aggregator.name)` needs steps that are sums of gradients: SGD, without"
          + " `weightDecay`", at: ["server", "aggregator"])
    }
    if settings.server.aggregator.value.needs.contains(.stepSums),
      training.algorithm.value.proximalPull * training.plan.learningRate > 1
    {
      report(
        "`\(settings.server.aggregator.name)` divides by the length of trainings, but steps that"
          + " overshoot have none: the proximal strength times the learning rate must be at most 1",
        at: ["task", "training", "algorithm"])
    }
  }

  /// What colluders send is known at the aggregation, when the device may have made its next
  /// update: none of it can be left for that one.
  private mutating func checkAdversaries() {
    guard let keeps = settings.server.transforms.first(where: { $0.value.keepsResidual })
    else { return }
    for (i, group) in settings.fleet.enumerated() {
      guard let attack = group.adversary?.attack, attack.value.colludes else { continue }
      report(
        "`\(attack.name)` is computed at the aggregation, too late for the part that "
          + "`\(keeps.name)`"
          + " keeps for a device's next update: use `feedback: false`",
        at: ["fleet", "[\(i)]", "adversary", "attack"])
    }
  }

  /// Some policies have a part on devices and one at the server, as FedDyn.
  private mutating func checkDynamics() {
    guard settings.task.learning == nil else { return }
    let (algorithm, optimizer) = (settings.task.training.algorithm, settings.server.optimizer)
    if let needed = algorithm.value.needs.serverOptimizer, needed != optimizer.name {
      report(
        "`\(algorithm.name)` also needs a server part: `server.optimizer: \(needed)`",
        at: ["task", "training", "algorithm"])
    } else if let needed = optimizer.value.neededAlgorithm, needed != algorithm.name {
      report(
        "`\(optimizer.name)` also needs a device part: `task.training.algorithm: \(needed)`",
        at: ["server", "optimizer"])
    }
  }

  /// What the server asks of devices can be heard of when it fails, and there are devices enough.
  private mutating func checkInstructions() {
    let server = settings.server
    checkUnasked()
    let streams = settings.fleet.allSatisfy { $0.protocol?.stream == true }
    if server.initialModel == .client, !streams {
      report(
        "every group needs `protocol: {stream: true}`: else the server waits for lost devices",
        at: ["server", "initialModel"])
    }
    if server.retry != nil, settings.fleet.contains(where: { $0.protocol?.stream == true }) {
      report(
        "a device on a stream (`protocol: {stream: true}`) waits there and is never turned away",
        at: ["server", "retry"])
    }
    if server.stragglers != nil, settings.task.training.steps != nil {
      report(
        "stragglers do whole epochs: use `task.training.epochs` instead of `steps`",
        at: ["server", "stragglers"])
    }
    guard let evaluation = server.evaluation else { return }
    if evaluation.timeout == nil, !streams {
      report(
        "without a `timeout` every group needs `protocol: {stream: true}`: else the server waits"
          + " for lost devices", at: ["server", "evaluation"])
    }
    let devices = settings.fleet.reduce(0) { $0 + $1.count }
    if evaluation.minimumAvailable > devices, devices > 0 {
      report(
        "members are chosen when \(evaluation.minimumAvailable) devices wait, and the fleet has"
          + " \(devices)", at: ["server", "evaluation", "minimumAvailable"])
    }
  }

  /// Devices that train without an answer may do so; apps come with a model that the server has.
  private mutating func checkUnasked() {
    let server = settings.server
    for (i, group) in settings.fleet.enumerated() {
      let keys = ["fleet", "[\(i)]"]
      if group.participation.trainsOffline == true, server.selector.value.cycles != nil {
        report(
          "under `\(server.selector.name)` only a device that the server lets in trains",
          at: keys + ["participation", "trainsOffline"])
      }
      if group.app?.comesWithModel == true, server.initialModel == .client {
        report(
          "with `server.initialModel: client` there is no version 0 before a device gives it",
          at: keys + ["app", "comesWithModel"])
      }
    }
  }

  /// What the server knows of identities concerns some device.
  private mutating func checkIdentity() {
    if settings.server.authentication != nil,
      settings.fleet.allSatisfy({ $0.authentication == nil })
    {
      report("no group of the fleet has `authentication`", at: ["server", "authentication"])
    }
    if settings.server.presence != nil, settings.fleet.allSatisfy({ $0.heartbeats == nil }) {
      report("no group of the fleet has `heartbeats`", at: ["server", "presence"])
    }
    let selector = settings.server.selector
    if selector.value.needs.contains(.beliefs),
      settings.fleet.allSatisfy({ $0.heartbeats == nil })
    {
      report(
        "`\(selector.name)` chooses by heartbeats, and no group of the fleet has `heartbeats`",
        at: ["server", "selector"])
    } else if selector.value.needs.contains(.batteries),
      settings.fleet.allSatisfy({ $0.heartbeats == nil || $0.battery == nil })
    {
      report(
        "`\(selector.name)` looks at batteries, and no group with `heartbeats` has a `battery`",
        at: ["server", "selector"])
    }
  }

  /// The fleet has the devices that a cohort waits for.
  private mutating func checkCohort() {
    let devices = settings.fleet.reduce(0) { $0 + $1.count }
    let selector = settings.server.selector.value
    if let needed = selector.rules?.neededWaiting, needed > devices, devices > 0 {
      report(
        "a cohort is formed when \(needed) devices wait, and the fleet has \(devices)",
        at: ["server", "selector"])
    } else if let needed = selector.rules?.neededDevices, needed > devices, devices > 0 {
      report(
        "rounds need \(needed) devices before the first may be chosen again, but the fleet has"
          + " \(devices)", at: ["server", "selector"])
    }
  }

  /// Chance counts only where all devices wait for the draw, and there is noise that is enough.
  private mutating func checkPrivacy() {
    guard let privacy = settings.server.privacy else { return }
    let algorithm = settings.task.training.algorithm
    if settings.task.learning == nil, algorithm.value.needs.companions > 0 {
      return report(
        "`\(algorithm.name)` sends buffers in addition to updates, which have no bound and get no"
          + " noise", at: ["server", "privacy"])
    }
    let devices = settings.fleet.reduce(0) { $0 + $1.count }
    if privacy.amplification == .population, devices > 0,
      let rules = settings.server.selector.value.rules, rules.uniformMembers != nil,
      let needed = rules.neededWaiting, needed < devices
    {
      return report(
        "amplification needs cohorts drawn from the whole fleet: the selector needs"
          + " `minimumWaiting: \(devices)`", at: ["server", "privacy", "amplification"])
    }
    if settings.server.noiseMultiplier(devices: devices) == nil {
      report(
        "no noise reaches this ε after this many versions", at: ["server", "privacy", "epsilon"])
    }
  }

  /// Groups have their own names, and there is a device at all.
  private mutating func checkFleet() {
    var names: [String] = []
    for (i, group) in settings.fleet.enumerated() {
      if names.contains(group.name) {
        report("two groups have the name `\(group.name)`", at: ["fleet", "[\(i)]", "name"])
      }
      names.append(group.name)
    }
    if settings.fleet.allSatisfy({ $0.count == 0 }) {
      report("the fleet has no device", at: ["fleet"])
    }
  }

  /// A group's first client exists, where the number of clients is known before the data are read.
  ///
  /// More devices than clients are no fault: devices beyond the last client begin again at the
  /// first.
  private mutating func checkClients() {
    let partition = settings.task.data.partition
    guard let clients = partition.value.clientCount, settings.task.flower == nil else { return }
    for (i, group) in settings.fleet.enumerated() {
      guard let first = group.firstClient, first >= clients else { continue }
      report(
        "there is no client \(first): the partition `\(partition.name)` has \(clients) "
          + "client\(clients == 1 ? "" : "s"), numbered from 0",
        at: ["fleet", "[\(i)]", "firstClient"])
    }
  }

  /// Scripted events meet devices that exist.
  private mutating func checkInjections() {
    for (i, injection) in settings.inject.enumerated() {
      if injection.at > .start + settings.stop.after {
        report(
          "nothing happens after the end of the run, \(settings.stop.after)",
          at: ["inject", "[\(i)]", "at"])
      }
      checkDevice(injection.device, at: ["inject", "[\(i)]", "device"])
    }
  }

  /// Timelines are of devices that exist.
  private mutating func checkTimelines() {
    for (i, device) in (settings.record.timelineOf ?? []).enumerated() {
      checkDevice(device, at: ["record", "timelineOf", "[\(i)]"])
    }
  }

  /// A device's group is in the fleet and has its number.
  private mutating func checkDevice(_ device: DevicePath, at path: [String]) {
    let names = settings.fleet.map(\.name)
    let pieces = device.path.split(separator: "/").map(String.init)
    guard pieces.count == 2 else { return }
    guard let group = settings.fleet.first(where: { $0.name == pieces[0] }) else {
      let nearest = Spelling.nearest(to: pieces[0], among: names)
      return report(
        .unknownName(pieces[0], seam: "group in the fleet", nearest: nearest, known: names),
        at: path)
    }
    if Int(pieces[1]) ?? .max >= group.count {
      report(
        "there is no device `\(device.path)`: `\(group.name)` has \(group.count) "
          + "device\(group.count == 1 ? "" : "s"), numbered from 0", at: path)
    }
  }

  // MARK: Central training

  /// What is collected is for models that exist, and they for somebody who collects.
  private mutating func checkCentral() {
    let own = (settings.task.models ?? []).map(\.name)
    for (i, name) in own.enumerated() where own[..<i].contains(name) {
      report("two models have the name `\(name)`", at: ["task", "models", "[\(i)]", "name"])
    }
    let collectors = settings.fleet.contains { $0.collection != nil }
    if settings.server.central != nil, !collectors {
      report("no group of the fleet has `collection`", at: ["server", "central"])
    }
    if settings.server.central == nil, !own.isEmpty {
      report("no `server.central` trains these models", at: ["task", "models"])
    }
    let known = own.isEmpty ? [CentralModel.ownName] : own
    if known.count > CentralSettings.mostModels, settings.server.central?.models == nil {
      report(
        "at most \(CentralSettings.mostModels) models can be trained on collected data",
        at: ["task", "models"])
    }
    let listed = settings.server.central?.models?.map(\.name)
    for (i, name) in (listed ?? []).enumerated() {
      checkModel(name, among: known, at: ["server", "central", "models", "[\(i)]", "name"])
    }
    for (i, group) in settings.fleet.enumerated() {
      for (j, name) in (group.collection?.models ?? []).enumerated() {
        let path = ["fleet", "[\(i)]", "collection", "models", "[\(j)]"]
        checkModel(name, among: listed ?? known, at: path)
        if group.collection!.models![..<j].contains(name) {
          report("`\(name)` is listed twice", at: path)
        }
      }
    }
    checkCollectionScript()
  }

  private mutating func checkModel(_ name: String, among known: [String], at path: [String]) {
    guard !known.contains(name) else { return }
    report(
      .unknownName(
        name, seam: "model trained on collected data",
        nearest: Spelling.nearest(to: name, among: known), known: known), at: path)
  }

  /// What is scripted for collecting apps meets such.
  private mutating func checkCollectionScript() {
    for (i, injection) in settings.inject.enumerated() {
      guard [.clearData, .clearErrorLogs, .corruptErrorLogs].contains(injection.action),
        let name = injection.device.path.split(separator: "/").first,
        let group = settings.fleet.first(where: { $0.name == name }), group.collection == nil
      else { continue }
      report(
        "`\(group.name)` has no `collection` to clear", at: ["inject", "[\(i)]", "action"])
    }
  }

  // MARK: Places

  mutating func report(_ message: String, at path: [String]) {
    report(.contradiction(message), at: path)
  }

  private mutating func report(_ problem: Fault.Problem, at path: [String]) {
    faults.append(Fault(at: place(of: path), path: path.dotted, problem))
  }

  /// The place of what was written at a path, or of the nearest thing above it.
  private func place(of path: [String]) -> Place {
    var node = written
    for step in path {
      if step.hasPrefix("["), let index = Int(step.dropFirst().dropLast()) {
        guard case .sequence(let nodes) = node.content, nodes.indices.contains(index) else { break }
        node = nodes[index]
      } else if let next = node[step] {
        node = next
      } else {
        break
      }
    }
    return node.place
  }
}
