import Learning
import Numerics

extension Simulation {
  /// What the parts of the policy see of the server.
  var serverView: ServerView { server.view(at: now, late: lateCount) }

  /// What the selector tells a device that asks for work.
  ///
  /// The view is gone with the answer, so that what is known of devices is changed in place.
  mutating func admission(of checkIn: CheckIn) -> AnySelector.Answer {
    let view = serverView
    return inputs.server.selector.value.answer(checkIn, view, with: &server.memories.selector)
  }

  /// The selector's cohort for the open round, if enough devices wait.
  ///
  /// Draws: the selector's, at slot = the round (seed `policy`, purpose `selection`).
  mutating func chosenCohort() -> Cohort? {
    var stream = keys.selection.stream(slot: UInt64(server.round))
    let (view, selector) = (serverView, inputs.server.selector.value)
    guard selector.needs.contains(.currentLosses) else {
      return selector.chooseCohort(
        from: server.waiting, view, &stream, with: &server.memories.selector)
    }
    guard
      let places = selector.chooseCandidates(
        from: server.waiting, view, &stream, with: &server.memories.selector)
    else { return nil }
    let losses = currentLosses(of: places.map { server.waiting[$0].device })
    return selector.chooseCohort(
      of: places, losses: losses, view, with: &server.memories.selector)
  }

  /// What the current model loses on the training samples that some devices have now, as an oracle
  /// sees it: with the data's own labels and the devices' own layers. −∞ without samples.
  ///
  /// Complexity: a pass over their samples.
  private func currentLosses(of chosen: [Int]) -> [Double] {
    if inputs.omitsArithmetic { return chosen.map { _ in .infinity } }
    let (task, model, kernels) = (inputs.task, server.model, inputs.kernels)
    let ranges = exchange.instructions.privateRanges
    var shards: [[Int32]] = []
    var own: [DeferredTraining?] = []
    for device in chosen {
      let client = Int(devices[device].client)
      shards.append(client < task.partition.clientCount ? shard(of: device) : [])
      own.append(
        ranges.isEmpty || exchange.locals.last.isEmpty
          ? nil : exchange.locals.last[device]?.training)
    }
    let facts = (shards, own)
    return inputs.pool.map(chosen.count) { place, scratch in
      let (shards, own) = facts
      guard !shards[place].isEmpty else { return -.infinity }
      let parameters =
        own[place].map { model.replacing(ranges, from: $0.value(scratch).parameters) } ?? model
      return Evaluation(
        of: task.network, parameters: parameters, dataset: task.train, samples: shards[place],
        kernels: kernels, scratch: scratch
      ).meanLoss
    }
  }

  /// How many of the updates that wait are of earlier rounds.
  var lateCount: Int {
    guard inputs.server.selector.value.rules?.acceptsLate == true else { return 0 }
    var count = 0
    for update in server.pending where updates[update].round != server.round { count += 1 }
    return count
  }

  /// Whether an update belongs to a round that is over, and so is not taken in.
  func isLate(_ update: Int32) -> Bool {
    let rules = inputs.server.selector.value.rules
    guard exchange.givesKeys || rules?.acceptsLate == false else { return false }
    return updates[update].round != server.round || server.underWay != nil
  }

  /// Changes what is known of a device, where the selector looks at that.
  private mutating func learn(_ device: Int, _ change: (inout DeviceFacts) -> Void) {
    while server.known.count <= device { server.known.append(DeviceFacts()) }
    change(&server.known[device])
  }

  /// A device checks in; whether it asks for work, as it does not where it only polls. It says how
  /// many samples it has.
  mutating func asks(_ device: Int, _ participation: Int32) -> Bool {
    reach(participation, .checkedIn)
    guard participation >= 0 else { return false }
    guard inputs.server.selector.value.needs.contains(.facts) else { return true }
    let samples = samples(
      group: Int(devices[device].group), ordinal: Int(devices[device].ordinal),
      client: Int(devices[device].client), at: now)
    let time = now
    learn(device) {
      $0.samples = samples
      $0.checkIns += 1
      $0.checkedInAt = time
    }
    return true
  }

  /// A device is let in.
  mutating func letIn(_ device: Int, _ participation: Int32) {
    accept(participation)
    guard inputs.server.selector.value.needs.contains(.facts) else { return }
    let (round, time) = (Int(server.round), now)
    learn(device) {
      $0.timesChosen += 1
      $0.lastRound = round
      $0.chosenAt = time
    }
  }

  /// An update arrives for the first time; the one that the device was last chosen for tells how
  /// long it takes.
  mutating func noteDelivered(_ update: Int32) {
    guard inputs.server.selector.value.needs.contains(.facts) else { return }
    let (round, time) = (Int(updates[update].round), now)
    learn(Int(updates[update].device)) {
      guard round == $0.lastRound, let since = $0.chosenAt else { return }
      $0.duration = time - since
    }
  }

  /// An update is aggregated, and its training's losses are known.
  mutating func noteLoss(_ lossSum: Double, squares: Double?, of update: Int32) {
    guard inputs.server.selector.value.needs.contains(.facts) else { return }
    let (round, processed) = (Int(server.round), updates[update].samplesProcessed)
    let isKnown = !inputs.omitsArithmetic && processed > 0
    learn(Int(updates[update].device)) {
      $0.timesAggregated += 1
      if isKnown {
        $0.loss = lossSum / Double(processed)
        $0.rootMeanSquareLoss = squares.map { ($0 / Double(processed)).squareRoot() }
      }
      $0.lossRound = round
    }
  }
}
