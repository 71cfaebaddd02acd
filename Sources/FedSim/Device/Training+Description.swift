import Learning
import Numerics

/// Trainings as they are described, and what is predicted of them.
extension Training {
  /// Describes an attempt's training up to a number of batches.
  static func describe(
    _ device: Int, batches: Int, validation: Bool, _ devices: inout Devices, _ cx: inout Context
  ) {
    // Where nothing is computed, nothing needs to be described.
    if cx.inputs.omitsArithmetic { return devices[device].attempt!.described = batches }
    let attempt = devices[device].attempt!
    let training: DeferredTraining
    if batches == attempt.described, !validation, case .checkpoint = attempt.start { return }
    if batches == 0 { return }
    let isWhole = batches == devices[device].pace.batchCount && attempt.described == 0
    if validation, isWhole, case .parameters(let base) = attempt.start,
      let predicted = cx.computations.predicted(by: device, from: base, epoch: attempt.firstEpoch)
    {
      training = predicted
    } else {
      training = newTraining(
        of: device, attempt.described..<batches, from: attempt.start,
        firstEpoch: attempt.firstEpoch, isLast: validation, relabelling: attempt.relabelling,
        devices, cx)
    }
    devices[device].attempt!.start = .checkpoint(training)
    devices[device].attempt!.described = batches
    let isOfUpdate = validation && areFoundThroughUpdates(cx)
    if cx.computations.described(training, isOfUpdate: isOfUpdate) {
      var ofUpdates: [DeferredTraining] = []
      for update in cx.updates.numbers {
        if let training = cx.updates[update].training { ofUpdates.append(training) }
      }
      // This one's update is still to be made.
      if isOfUpdate { ofUpdates.append(training) }
      cx.computations.sweep(ofUpdates)
    }
  }

  /// Whether a training that becomes an update is nowhere else once the update is gone.
  private static func areFoundThroughUpdates(_ cx: borrowing Context) -> Bool {
    if cx.features.isOn { return false }
    return cx.states.keepNoTrainings
  }

  /// Some batches of a device's training; the last ones are evaluated on its validation samples.
  private static func newTraining(
    of device: Int, _ batches: Range<Int>, from start: DeferredTraining.Start, firstEpoch: UInt64,
    isLast: Bool, relabelling: [Int32]? = nil, _ devices: borrowing Devices, _ cx: borrowing Context
  ) -> DeferredTraining {
    let client = Int(cx.members.clients[device])
    let local = LocalTraining(
      network: cx.inputs.task.network, dataset: cx.inputs.task.train,
      shard: Roster.shard(of: device, cx), plan: OwnModel.plan(of: device, devices, cx),
      order: order(device, firstEpoch: firstEpoch, cx),
      noise: cx.inputs.task.network.isNoisy
        ? .init(key: batchKey(device, cx), firstSlot: firstEpoch) : nil,
      relabelling: relabelling,
      keepsLossSquares: cx.inputs.keepsLossSquares,
      owner: .init(client: client, device: device))
    return DeferredTraining(
      local, by: cx.inputs.task.algorithm, batches: batches, from: start,
      validation: isLast ? cx.inputs.task.partition.validation[client] : [], isLast: isLast,
      kernels: cx.inputs.kernels, executor: cx.inputs.executor)
  }

  /// The members of a cohort will most likely train on the latest version next, all batches: idle
  /// threads may begin with that. `isBeforehand`: the cohort has not formed yet.
  static func predict(
    _ members: [Int], from model: ParameterBuffer, isBeforehand: Bool, _ devices: inout Devices,
    _ cx: inout Context
  ) {
    let most = cx.computations.predictionRoom
    guard !members.isEmpty, most > 0, !devices.fleetTables.hasArrivals,
      cx.features.plans.isEmpty, cx.features.privateRanges.isEmpty,
      !cx.features.isStateful, cx.states.adversaries.isEmpty
    else { return }
    // In the order in which they are summed, as many as there is room for.
    let some = Array(members.sorted().prefix(most))
    for (place, device) in some.enumerated() where devices.indices.contains(device) {
      askForMemory(of: some.dropFirst(place), devices, cx)
      let (batches, epoch) = (devices[device].pace.batchCount, devices[device].nextEpoch)
      guard batches > 0, !devices[device].hasAttempt,
        !cx.computations.isPredicted(by: device, from: model, epoch: epoch)
      else { continue }
      cx.computations.predict(
        newTraining(
          of: device, 0..<batches, from: .parameters(model), firstEpoch: epoch,
          isLast: true, devices, cx),
        by: device, from: model, epoch: epoch, isBeforehand: isBeforehand)
    }
  }

  /// Asks for what the trainings of some devices will be described by, a few devices ahead: a round
  /// of trainings has driven it out of the caches.
  private static func askForMemory(
    of members: ArraySlice<Int>, _ devices: borrowing Devices, _ cx: borrowing Context
  ) {
    func device(_ distance: Int) -> Int? {
      let place = members.startIndex + distance
      guard place < members.endIndex, devices.indices.contains(members[place]) else { return nil }
      return members[place]
    }
    if let far = device(6) { devices.prefetch(far) }
    if let near = device(3) {
      let client = Int(cx.members.clients[near])
      cx.inputs.task.partition.shards.withUnsafeBytes { HostMemory.prefetch(list: client, of: $0) }
      cx.inputs.task.orders?.withUnsafeBytes { HostMemory.prefetch(list: client, of: $0) }
    }
    if let next = device(1), let lists = cx.inputs.task.orders?[Int(cx.members.clients[next])] {
      let epoch = Int(devices[next].nextEpoch) % max(1, lists.count)
      lists.withUnsafeBytes { HostMemory.prefetch(list: epoch, of: $0) }
    }
  }

  /// The batch order of a device's data epochs from `firstEpoch` on; `count`: of as many samples,
  /// where it has more by now.
  static func order(
    _ device: Int, firstEpoch: UInt64, of count: Int32? = nil, _ cx: borrowing Context
  ) -> BatchOrder {
    if let orders = cx.inputs.task.orders {
      let lists = Roster.ordersThere(
        device, orders[Int(cx.members.clients[device])], of: count, cx)
      return .cycle(lists, first: Int(firstEpoch))
    }
    return .keyed(batchKey(device, cx), firstSlot: firstEpoch)
  }

  private static func batchKey(_ device: Int, _ cx: borrowing Context)
    -> StreamKey
  {
    StreamKey(
      seed: cx.inputs.seeds.training, purpose: "batches",
      group: cx.inputs.fleet[cx.members.group(of: device)].name,
      ordinal: UInt32(cx.members.ordinal(of: device)))
  }
}
