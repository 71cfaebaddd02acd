import Learning
import Numerics

/// A model that a device has trained and keeps.
struct OwnModel: Codable {
  /// The version that the training began with.
  let base: Int32
  /// The training; nil where nothing is computed.
  let training: DeferredTraining?
  /// How many trainings have to be computed for its value, at most.
  let depth: Int

  /// How many there may be before they are computed unasked.
  static let longestChain = 64
}

extension OwnModel {
  // MARK: Hyper-parameters

  /// The plan that a device trains by now.
  static func plan(of device: Int, _ devices: borrowing Devices, _ cx: borrowing Context)
    -> TrainingPlan
  {
    let place = Int(devices[device].planPlace)
    return place < 0 ? cx.inputs.task.plan : cx.features.plans[place]
  }

  /// A training is about to begin: by the hyper-parameters that came with its round, or the
  /// device's own.
  static func takeConfig(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    guard !cx.features.plans.isEmpty, let round = devices[device].session?.round else {
      return
    }
    let group = cx.members.group(of: device)
    var place: Int16 = -1
    if cx.inputs.fleet[group].protocol?.ignoresConfig != true {
      for (index, config) in (cx.inputs.server.clientConfig ?? []).enumerated()
      where config.fromRound <= Int(round) { place = Int16(index) }
      // Plan e − 1 is that of e epochs.
      if !cx.states.stragglers.isEmpty { place = Int16(cx.states.stragglers[device]) - 1 }
    }
    if place >= 0 { cx.books.instructions.configuredTrainings += 1 }
    guard place != devices[device].planPlace else { return }
    devices[device].planPlace = place
    devices[device].pace = Roster.pace(
      group: group, ordinal: cx.members.ordinal(of: device), device: device,
      samples: Int(cx.members.sampleCounts[device]), epoch: devices[device].nextEpoch,
      plan: plan(of: device, devices, cx), devices, cx)
  }

  // MARK: Models of a device's own

  /// The model that a device's app came with.
  ///
  /// Draws: as `Network.initialParameters`, from slot 0 of `own-weights` (seed `initial`), where
  /// apps differ.
  static func ownInitial(_ device: Int, _ cx: borrowing Context)
    -> ParameterBuffer
  {
    if cx.inputs.task.isInitialGiven { return cx.inputs.task.initial }
    let key = StreamKey(
      seed: cx.inputs.seeds.initial, purpose: "own-weights",
      group: cx.inputs.fleet[cx.members.group(of: device)].name,
      ordinal: UInt32(cx.members.ordinal(of: device)))
    let network = cx.inputs.task.network
    return network.keepingFrozen(
      of: cx.inputs.task.initial, in: network.initialParameters(key.stream(slot: 0)))
  }

  /// What a device's training of a version begins with: what never travels is its own.
  static func start(
    of device: Int, from version: ParameterBuffer, held: Int32, _ cx: borrowing Context
  ) -> DeferredTraining.Start {
    if cx.features.isStateful {
      return ClientStates.continued(device, from: version, held: held, cx)
    }
    let ranges = cx.features.privateRanges
    if ranges.isEmpty { return .parameters(version) }
    if !cx.states.own.isEmpty,
      let training = cx.states.own[device]?.training
    {
      return .joined(version, keeping: ranges, of: training)
    }
    guard cx.inputs.server.initialModel == .client else { return .parameters(version) }
    return .parameters(version.replacing(ranges, from: ownInitial(device, cx)))
  }

  /// A training has ended well: where trainings overwrite the device's model, it is that now.
  static func keepOwn(
    _ device: Int, _ training: DeferredTraining?, base: Int32, _ cx: inout Context
  ) {
    guard overwritesModel(device, cx) else { return }
    guard let training else {
      cx.states.own[device] = OwnModel(base: base, training: nil, depth: 0)
      return
    }
    cx.states.own[device] = linked(
      training, base: base, after: cx.states.own[device],
      isChain: !cx.features.privateRanges.isEmpty, &cx)
  }

  /// A device's training behind the one before; where they continue from one another and the chain
  /// of those that nobody asked for has grown too long, it is computed.
  static func linked(
    _ training: DeferredTraining, base: Int32, after before: OwnModel?, isChain: Bool = true,
    _ cx: inout Context
  ) -> OwnModel {
    var depth = 1
    if let before, let earlier = before.training, !cx.computations.isKnown(earlier) {
      depth += before.depth
    }
    if depth > OwnModel.longestChain, isChain {
      _ = cx.computations.values(of: [training])
      depth = 1
    }
    return OwnModel(base: base, training: training, depth: depth)
  }

  /// Whether a device's trainings overwrite its model, so that each round's model has to be sent.
  static func overwritesModel(_ device: Int, _ cx: borrowing Context)
    -> Bool
  {
    guard !cx.states.own.isEmpty else { return false }
    return cx.inputs.fleet[cx.members.group(of: device)].protocol?.overwritesModel == true
  }

  /// The app is removed: its model is the one that it came with again, and nothing is left of its
  /// updates.
  static func loseOwn(_ device: Int, _ cx: inout Context) {
    if !cx.states.lastSent.isEmpty { cx.states.lastSent[device] = nil }
    if !cx.states.own.isEmpty { cx.states.own[device] = nil }
    ClientStates.loseLast(device, &cx)
  }
}
