import Learning
import Numerics

/// Who is in the fleet: data, pace and series of each device.
enum Roster {
  /// What a device is made of; nil: its group does not say.
  static func hardware(of device: Int, _ devices: borrowing Devices) -> AssignedHardware? {
    devices.fleetTables.hardware.isEmpty ? nil : devices.fleetTables.hardware[device]
  }

  /// Whether a device can train the model at all.
  static func isFit(_ device: Int, _ devices: borrowing Devices) -> Bool {
    hardware(of: device, devices)?.unfitness == nil
  }

  // MARK: Pace and data of one training

  /// How long batches over this many samples take on a device in the training that begins with a
  /// data epoch; where a `share` is given, in an evaluation that takes that share of the time of
  /// steps.
  ///
  /// Draws: one `normal` per device at slot 0 of `compute`, one per training at slot = its first
  /// data epoch of `compute-jitter` (seed `world`).
  static func pace(
    group: Int, ordinal: Int, device: Int, samples: Int, epoch: UInt64,
    plan: TrainingPlan? = nil, share: Double? = nil, _ devices: borrowing Devices,
    _ cx: borrowing Context
  ) -> Pace {
    let usual = cx.inputs.task.plan
    let plan = plan ?? usual
    let settings = cx.inputs.fleet[group].compute
    let factor =
      factor("compute", settings.spread, group, ordinal, cx)
      * factor("compute-jitter", settings.jitter ?? 0, group, ordinal, slot: epoch, cx)
      * (share == nil ? Double(cx.inputs.task.algorithm.needs.passes) : 1)
    let share = share ?? 1
    if let capacity = capacity(group: group, ordinal: ordinal, cx) {
      let perSample = cx.inputs.fleet[group].capacity!.factor * capacity.milliseconds / 1000
      return Pace(samples: samples, plan: plan) { count in
        perSample * Double(count) * (factor * share) / (settings.dutyCycle ?? 1)
      }
    }
    guard let made = hardware(of: device, devices) else {
      return Pace(settings, samples: samples, plan: plan, factor: factor * share)
    }
    let cost = cx.inputs.task.network.trainingCost(plan)
    return Pace(samples: samples, plan: plan) { count in
      made.hardware.seconds(cost, samples: count, on: made.engine) * (factor * share)
        / (settings.dutyCycle ?? 1)
    }
  }

  /// exp(spread·z) by a device's key.
  static func factor(
    _ purpose: Purpose, _ spread: Double, _ group: Int, _ ordinal: Int, slot: UInt64 = 0,
    _ cx: borrowing Context
  ) -> Double {
    guard spread != 0 else { return 1 }
    var stream = StreamKey(
      seed: cx.inputs.seeds.world, purpose: purpose, group: cx.inputs.fleet[group].name,
      ordinal: UInt32(ordinal)
    ).stream(slot: slot)
    return Portable.exp(spread * stream.normal())
  }

  /// Samples that a device has at a time.
  ///
  /// Draws: one `normal` per device at slot 0 of `arrival` (seed `world`).
  static func samples(
    group: Int, ordinal: Int, client: Int, at time: SimTime, _ cx: borrowing Context
  ) -> Int {
    let shards = cx.inputs.task.partition.shards
    let count = shards.isEmpty ? 0 : shards[client].count
    guard let arrival = cx.inputs.fleet[group].arrival else {
      return count
    }
    return arrival.arrived(
      of: count, at: time, factor: factor("arrival", arrival.spread, group, ordinal, cx))
  }

  /// Finds out what the next training of a device would be: with which samples, how fast.
  static func takeStock(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    guard devices.fleetTables.variesByTraining, devices[device].attempt == nil else { return }
    let (group, ordinal) = (Int(devices[device].group), Int(devices[device].ordinal))
    guard cx.inputs.fleet[group].arrival != nil || cx.inputs.fleet[group].compute.jitter != nil
    else {
      return
    }
    let samples = samples(
      group: group, ordinal: ordinal, client: Int(cx.members.clients[device]), at: cx.now, cx)
    cx.members.sampleCounts[device] = Int32(samples)
    devices[device].pace = pace(
      group: group, ordinal: ordinal, device: device, samples: samples,
      epoch: devices[device].nextEpoch, plan: OwnModel.plan(of: device, devices, cx), devices, cx)
  }

  /// The positions in its client's shard of the samples that a device has, or had when there were
  /// that many, ascending; nil: all.
  private static func positionsThere(
    _ device: Int, of count: Int32?, _ cx: borrowing Context
  ) -> [Int32]? {
    guard cx.inputs.fleet[cx.members.group(of: device)].arrival != nil else {
      return nil
    }
    let shard = cx.inputs.task.partition.shards[Int(cx.members.clients[device])]
    let present = cx.members.sampleCounts[device]
    let count = count ?? present
    guard count < shard.count else { return nil }
    return arrivalOrder(device, cx).prefix(Int(count)).sorted()
  }

  /// The positions in its client's shard in the order in which they reach a device.
  ///
  /// Draws: one shuffle of the shard at slot 0 of `arrival-order` (seed `data`).
  static func arrivalOrder(_ device: Int, _ cx: borrowing Context)
    -> [Int32]
  {
    let count = cx.inputs.task.partition.shards[Int(cx.members.clients[device])].count
    var stream = StreamKey(
      seed: cx.inputs.seeds.data, purpose: "arrival-order",
      group: cx.inputs.fleet[cx.members.group(of: device)].name,
      ordinal: UInt32(cx.members.ordinal(of: device))
    ).stream(slot: 0)
    var order = (0..<Int32(count)).map { $0 }
    stream.shuffle(&order)
    return order
  }

  /// The samples that a device trains on, in its client's order.
  static func shard(
    of device: Int, of count: Int32? = nil, _ cx: borrowing Context
  ) -> [Int32] {
    let shard = cx.inputs.task.partition.shards[Int(cx.members.clients[device])]
    return positionsThere(device, of: count, cx)?.map { shard[Int($0)] } ?? shard
  }

  /// The orders that a file gives for the whole shard, without what is not there.
  static func ordersThere(
    _ device: Int, _ orders: [[Int32]], of count: Int32? = nil, _ cx: borrowing Context
  ) -> [[Int32]] {
    guard let there = positionsThere(device, of: count, cx) else { return orders }
    let count = cx.inputs.task.partition.shards[Int(cx.members.clients[device])].count
    var places = [Int32](repeating: -1, count: count)
    for (place, position) in there.enumerated() { places[Int(position)] = Int32(place) }
    return orders.map { $0.map { places[Int($0)] }.filter { $0 >= 0 } }
  }
}
