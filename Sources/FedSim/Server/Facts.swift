import Learning
import Numerics

/// What the selector sees of devices.
enum Facts {
  /// What the parts of the policy see of the server.
  static func serverView(_ server: borrowing Server, _ cx: borrowing Context) -> ServerView {
    server.view(at: cx.now, late: lateCount(server, cx))
  }

  /// What the selector tells a device that asks for work.
  ///
  /// The view is gone with the answer, so that what is known of devices is changed in place.
  static func askSelector(about checkIn: CheckIn, _ server: inout Server, _ cx: inout Context)
    -> AnySelector.Answer
  {
    cx.agenda.pollers.isStale = true
    let view = serverView(server, cx)
    return cx.inputs.server.selector.value.answer(checkIn, view, with: &server.memories.selector)
  }

  /// Lets the selector choose a cohort for the open round, if enough devices wait.
  ///
  /// Draws: the selector's, at slot = the round (seed `policy`, purpose `selection`).
  static func chooseCohort(_ server: inout Server, _ cx: inout Context)
    -> Cohort?
  {
    var stream = cx.streamKeys.selection.stream(slot: UInt64(server.openRound.number))
    let (view, selector) = (serverView(server, cx), cx.inputs.server.selector.value)
    guard selector.needs.contains(.currentLosses) else {
      return selector.chooseCohort(
        from: server.waiting.inOrder(), view, &stream, with: &server.memories.selector)
    }
    guard
      let places = selector.chooseCandidates(
        from: server.waiting.inOrder(), view, &stream, with: &server.memories.selector)
    else { return nil }
    let losses = currentLosses(of: places.map { server.waiting[$0].device }, server, cx)
    return selector.chooseCohort(
      of: places, losses: losses, view, with: &server.memories.selector)
  }

  /// What the current model loses on the training samples that some devices have now, as an oracle
  /// sees it: with the data's own labels and the devices' own layers. −∞ without samples.
  ///
  /// Complexity: a pass over their samples.
  private static func currentLosses(
    of chosen: [Int], _ server: borrowing Server,
    _ cx: borrowing Context
  ) -> [Double] {
    if cx.inputs.omitsArithmetic { return chosen.map { _ in .infinity } }
    let (task, model, kernels) = (cx.inputs.task, server.model, cx.inputs.kernels)
    let ranges = cx.features.privateRanges
    var shards: [[Int32]] = []
    var own: [DeferredTraining?] = []
    let isAlike = ranges.isEmpty ? true : cx.states.last.isEmpty
    for device in chosen {
      let client = Int(cx.members.clients[device])
      shards.append(
        client < task.partition.clientCount ? Roster.shard(of: device, cx) : [])
      own.append(
        isAlike ? nil : cx.states.last[device]?.training)
    }
    let facts = (shards, own)
    return cx.inputs.pool.spread(chosen.count) { place, scratch in
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
  static func lateCount(_ server: borrowing Server, _ cx: borrowing Context) -> Int {
    guard cx.inputs.server.selector.value.rules?.acceptsLate == true else { return 0 }
    var count = 0
    for update in server.pending where cx.updates[update].round != server.openRound.number {
      count += 1
    }
    return count
  }

  /// Whether an update belongs to a round that is over, and so is not taken in.
  static func isLate(_ update: Int32, _ server: borrowing Server, _ cx: borrowing Context) -> Bool {
    let rules = cx.inputs.server.selector.value.rules
    if !cx.features.givesKeys, rules?.acceptsLate != false { return false }
    return cx.updates[update].round != server.openRound.number || server.underWay != nil
  }

  /// Changes what is known of a device, where the selector looks at that.
  private static func learn(
    _ device: Int, _ server: inout Server, _ change: (inout DeviceFacts) -> Void
  ) {
    while server.known.count <= device { server.known.append(DeviceFacts()) }
    change(&server.known[device])
  }

  /// What is believed of a device by its heartbeats.
  static func believe(
    _ presence: Presence, battery: Double?, of device: Int, _ server: inout Server
  ) {
    learn(device, &server) {
      $0.believed = presence
      $0.reportedBattery = battery
    }
  }

  /// What a device wants that checks in.
  enum Wish {
    /// To train, or only to know what is new.
    case work, news
  }

  /// A device checks in, and says how many samples it has.
  static func checkIn(
    _ device: Int, _ participation: Int32, _ server: inout Server,
    _ cx: inout Context
  ) -> Wish {
    cx.participations.reach(participation, .checkedIn)
    guard participation >= 0 else { return .news }
    guard cx.inputs.server.selector.value.needs.contains(.facts) else { return .work }
    let samples = Roster.samples(
      group: cx.members.group(of: device), ordinal: cx.members.ordinal(of: device),
      client: Int(cx.members.clients[device]), at: cx.now, cx)
    let time = cx.now
    learn(device, &server) {
      $0.samples = samples
      $0.checkIns += 1
      $0.checkedInAt = time
    }
    return .work
  }

  /// A device is let in.
  static func letIn(
    _ device: Int, _ participation: Int32, _ server: inout Server, _ cx: inout Context
  ) {
    cx.participations.accept(participation, into: server.openRound.number)
    guard cx.inputs.server.selector.value.needs.contains(.facts) else { return }
    let (round, time) = (Int(server.openRound.number), cx.now)
    learn(device, &server) {
      $0.timesChosen += 1
      $0.lastRound = round
      $0.chosenAt = time
    }
  }

  /// An update arrives for the first time; the one that the device was last chosen for tells how
  /// long it takes.
  static func noteDelivered(_ update: Int32, _ server: inout Server, _ cx: inout Context) {
    guard cx.inputs.server.selector.value.needs.contains(.facts) else { return }
    let (round, time) = (Int(cx.updates[update].round), cx.now)
    learn(Int(cx.updates[update].device), &server) {
      guard round == $0.lastRound, let since = $0.chosenAt else { return }
      $0.duration = time - since
    }
  }

  /// An update is aggregated, and its training's losses are known.
  static func noteLoss(
    _ lossSum: Double, squares: Double?, of update: Int32, _ server: inout Server,
    _ cx: inout Context
  ) {
    guard cx.inputs.server.selector.value.needs.contains(.facts) else { return }
    let (round, processed) = (Int(server.openRound.number), cx.updates[update].samplesProcessed)
    let isKnown = !cx.inputs.omitsArithmetic && processed > 0
    learn(Int(cx.updates[update].device), &server) {
      $0.timesAggregated += 1
      if isKnown {
        $0.loss = lossSum / Double(processed)
        $0.rootMeanSquareLoss = squares.map { ($0 / Double(processed)).squareRoot() }
      }
      $0.lossRound = round
    }
  }
}
