import Learning
import Numerics

/// What a device is made of, as drawn.
struct AssignedHardware {
  let hardware: Hardware
  /// The class's place in the group's list.
  let place: Int16
  /// Where its speed is in its group, from 0 (slow) to 1.
  let speedRank: Double
  let engine: HardwareSettings.Engine
  let unfitness: Unfitness?

  /// What training adds to the power drawn.
  var power: Int64 {
    let onEngine = engine == .neuralEngine && hardware.neuralEngine > 0
    return (onEngine ? hardware.neuralEnginePower : hardware.power).milliwatts
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
