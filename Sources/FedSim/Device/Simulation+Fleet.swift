import Learning
import Numerics

/// What a device is made of, as drawn.
struct AssignedHardware {
  let hardware: Hardware
  /// The class's place in the group's list.
  let place: Int16
  /// Where its speed stands in its group, from 0 (slow) to 1.
  let speedRank: Double
  let engine: HardwareSettings.Engine
  let unfitness: Unfitness?

  /// What training adds to the power drawn.
  var power: Int64 {
    let onEngine = engine == .neuralEngine && hardware.neuralEngine > 0
    return (onEngine ? hardware.neuralEnginePower : hardware.power).milliwatts
  }
}

/// What a fleet consists of, by device; each list is empty where no group asks for it.
struct FleetTables: Codable {
  @Rebuilt var hardware: [AssignedHardware?] = []
  var presence: [Presence?] = []
  /// Whether samples arrive over time in any group.
  var hasArrivals = false
  /// Whether a continued task may wait in any group.
  var mayQueue = false
  /// Whether a training's length or its samples are found out as it begins.
  var variesByTraining = false

  /// A device that joins and leaves.
  struct Presence: Codable {
    var isHere: Bool
    var since = SimTime.start
    var total = SimDuration.zero
    var joins: Int32 = 0
    var leaves: Int32 = 0
  }
}

extension HardwareSettings {
  /// The class and the figures of one device.
  ///
  /// Draws, of `hardware`: one `uniform` each at slot 0 (class, slow ones first, and its place in
  /// the class), 1 (speed), 2 (memory), 3 (storage).
  func assign(
    _ key: StreamKey, cost: TrainingCost, batchSize: Int, needs: LocalNeeds, updates: Int
  ) -> AssignedHardware {
    func uniform(_ slot: UInt64) -> Double {
      var stream = key.stream(slot: slot)
      return stream.uniform()
    }
    let known = classes.map(\.value.hardware)
    let times = known.map { $0.seconds(cost, samples: batchSize, on: engine) }
    let order = known.indices.sorted { times[$0] != times[$1] ? times[$0] > times[$1] : $0 < $1 }
    let total = order.reduce(0) { $0 + known[$1].share }
    let drawn = uniform(0)
    var (place, before) = (order[order.count - 1], 0.0)
    for candidate in order {
      let share = known[candidate].share / total
      if drawn < before + share || candidate == order[order.count - 1] {
        place = candidate
        break
      }
      before += share
    }
    let share = known[place].share / total
    var hardware = known[place]
    var rank = drawn
    if let speeds {
      let own = uniform(1)
      hardware.speed *= Quantiles.value(speeds, at: own)
      rank = before + share * own
    }
    if let memories { hardware.memory = Int64(Quantiles.value(memories, at: uniform(2))) }
    if let freeStorages {
      hardware.freeStorage = Int64(Quantiles.value(freeStorages, at: uniform(3)))
    }
    return AssignedHardware(
      hardware: hardware, place: Int16(place), speedRank: min(rank, 1.0.nextDown), engine: engine,
      unfitness: unfitness(
        of: hardware, cost, batchSize: batchSize, needs: needs, updates: updates))
  }

  /// Why a device cannot train: the first of version, memory and storage that does not suffice.
  /// `updates` are those of a full outbox.
  func unfitness(
    of hardware: Hardware, _ cost: TrainingCost, batchSize: Int, needs: LocalNeeds, updates: Int
  ) -> Unfitness? {
    if let minimumOSVersion, hardware.osVersion < minimumOSVersion { return .osVersion }
    let memory = memoryNeeded ?? cost.workingBytes(batchSize: batchSize, needs: needs)
    if Double(memory) > memoryShare * Double(hardware.memory) { return .memory }
    let storage = storageNeeded ?? Int64(needs.storedBuffers(updates: updates)) * cost.modelBytes
    return storage > hardware.freeStorage ? .storage : nil
  }
}

extension Simulation {
  /// Draws what the devices are made of, where a group says so.
  mutating func makeHardware() {
    let fleet = cx.inputs.fleet
    devices.fleetTables.hasArrivals = fleet.contains { $0.arrival != nil }
    devices.fleetTables.mayQueue = fleet.contains { $0.background.continued?.strategy == .queue }
    devices.fleetTables.variesByTraining =
      devices.fleetTables.hasArrivals || fleet.contains { $0.compute.jitter != nil }
    if fleet.contains(where: { $0.presence != nil }) {
      devices.fleetTables.presence = fleet.flatMap { group in
        [FleetTables.Presence?](
          repeating: group.presence.map { _ in .init(isHere: true) }, count: group.count)
      }
    }
    guard fleet.contains(where: { $0.hardware != nil }) else { return }
    let cost = cx.inputs.task.network.trainingCost(cx.inputs.task.plan)
    devices.fleetTables.hardware = fleet.flatMap { group in
      (0..<group.count).map { ordinal in
        group.hardware?.assign(
          StreamKey(
            seed: cx.inputs.seeds.world, purpose: "hardware", group: group.name,
            ordinal: UInt32(ordinal)), cost: cost, batchSize: cx.inputs.task.plan.batchSize,
          needs: cx.inputs.task.algorithm.needs, updates: max(1, group.outbox.capacity))
      }
    }
  }
}

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

  /// How long batches over so many samples take on a device in the training that begins with a data
  /// epoch; where a `share` is given, in an evaluation that takes that share of the time of steps.
  ///
  /// Draws: one `normal` a device at slot 0 of `compute`, one a training at slot = its first data
  /// epoch of `compute-jitter` (seed `world`).
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
  /// Draws: one `normal` a device at slot 0 of `arrival` (seed `world`).
  static func samples(
    group: Int, ordinal: Int, client: Int, at time: SimTime, _ devices: borrowing Devices,
    _ cx: borrowing Context
  ) -> Int {
    let shards = cx.inputs.task.partition.shards
    let count = shards.isEmpty ? 0 : shards[client].count
    guard devices.fleetTables.hasArrivals, let arrival = cx.inputs.fleet[group].arrival else {
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
      group: group, ordinal: ordinal, client: Int(devices[device].client), at: cx.now, devices, cx)
    devices[device].sampleCount = Int32(samples)
    devices[device].pace = pace(
      group: group, ordinal: ordinal, device: device, samples: samples,
      epoch: devices[device].nextEpoch, plan: OwnModel.plan(of: device, devices, cx), devices, cx)
  }

  /// The positions in its client's shard of the samples that a device has, or had when they were so
  /// many, ascending; nil: all.
  private static func positionsThere(
    _ device: Int, of count: Int32?, _ devices: borrowing Devices, _ cx: borrowing Context
  ) -> [Int32]? {
    guard devices.fleetTables.hasArrivals, group(of: device, devices, cx).arrival != nil else {
      return nil
    }
    let shard = cx.inputs.task.partition.shards[Int(devices[device].client)]
    let present = devices[device].sampleCount
    let count = count ?? present
    guard count < shard.count else { return nil }
    return arrivalOrder(device, devices, cx).prefix(Int(count)).sorted()
  }

  /// The positions in its client's shard in the order in which they come to a device.
  ///
  /// Draws: one shuffle of the shard at slot 0 of `arrival-order` (seed `data`).
  static func arrivalOrder(_ device: Int, _ devices: borrowing Devices, _ cx: borrowing Context)
    -> [Int32]
  {
    let count = cx.inputs.task.partition.shards[Int(devices[device].client)].count
    var stream = StreamKey(
      seed: cx.inputs.seeds.data, purpose: "arrival-order",
      group: group(of: device, devices, cx).name,
      ordinal: UInt32(devices[device].ordinal)
    ).stream(slot: 0)
    var order = (0..<Int32(count)).map { $0 }
    stream.shuffle(&order)
    return order
  }

  /// The samples that a device trains on, in its client's order.
  static func shard(
    of device: Int, of count: Int32? = nil, _ devices: borrowing Devices, _ cx: borrowing Context
  ) -> [Int32] {
    let shard = cx.inputs.task.partition.shards[Int(devices[device].client)]
    return positionsThere(device, of: count, devices, cx)?.map { shard[Int($0)] } ?? shard
  }

  /// The orders that a file gives for the whole shard, without what is not there.
  static func ordersThere(
    _ device: Int, _ orders: [[Int32]], of count: Int32? = nil, _ devices: borrowing Devices,
    _ cx: borrowing Context
  ) -> [[Int32]] {
    guard let there = positionsThere(device, of: count, devices, cx) else { return orders }
    let count = cx.inputs.task.partition.shards[Int(devices[device].client)].count
    var places = [Int32](repeating: -1, count: count)
    for (place, position) in there.enumerated() { places[Int(position)] = Int32(place) }
    return orders.map { $0.map { places[Int($0)] }.filter { $0 >= 0 } }
  }
}

extension Pace {
  /// A pace by the seconds that a batch of so many samples takes.
  init(samples: Int, plan: TrainingPlan, seconds: (Int) -> Double) {
    func batch(_ samples: Int) -> SimDuration {
      max(SimDuration(microseconds: 1), SimDuration(roundingUp: seconds(samples)))
    }
    let batches = samples == 0 ? 0 : plan.batchesPerEpoch(shardCount: samples)
    let last = samples - max(0, batches - 1) * plan.batchSize
    self.init(
      full: batch(min(plan.batchSize, max(samples, 1))), ragged: batch(max(last, 1)),
      batchesPerEpoch: batches, batchCount: plan.batchCount(shardCount: samples))
  }
}
