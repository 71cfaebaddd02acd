import Learning
import Numerics

/// Which client's data a device has, where data go with devices.
///
/// Clients are ranked by what the rule says, a device by its own properties alone: so another
/// device in the fleet changes nobody's data. Devices draw from all clients with replacement.
struct Coupling {
  private let byLabel: [Int32]
  private let byQuantity: [Int32]
  private let counts: [Int]
  private let offsets: [SimDuration]

  /// The ranks of a task's clients and of a fleet's time zones.
  init(_ inputs: SimulationInputs) {
    let shards = inputs.task.partition.shards
    let labels = inputs.task.train.labels
    let counts = shards.map(\.count)
    let means = shards.map { shard in
      shard.isEmpty
        ? 0.0 : Double(shard.reduce(0) { $0 + Int(labels[Int($1)]) }) / Double(shard.count)
    }
    let clients = (0..<Int32(shards.count)).map { $0 }
    byLabel = clients.sorted { (means[Int($0)], $0) < (means[Int($1)], $1) }
    byQuantity = clients.sorted { (counts[Int($0)], $0) < (counts[Int($1)], $1) }
    self.counts = counts
    var offsets: [SimDuration] = []
    for group in inputs.fleet where !offsets.contains(group.utcOffset) {
      offsets.append(group.utcOffset)
    }
    self.offsets = offsets.sorted()
  }

  /// The client at a rank by labels, by quantity, or, of those near the one by labels, by quantity.
  func client(labels: Double?, quantity: Double?) -> Int {
    func place(_ rank: Double, of count: Int) -> Int { min(count - 1, Int(rank * Double(count))) }
    guard let labels else { return Int(byQuantity[place(quantity!, of: byQuantity.count)]) }
    let middle = place(labels, of: byLabel.count)
    guard let quantity else { return Int(byLabel[middle]) }
    let width = max(1, Int(Double(byLabel.count).squareRoot()))
    let first = max(0, min(byLabel.count - width, middle - width / 2))
    let near = byLabel[first..<first + width].sorted {
      (counts[Int($0)], $0) < (counts[Int($1)], $1)
    }
    return Int(near[place(quantity, of: width)])
  }

  /// The client of a device.
  ///
  /// Draws: for each rule, at slot 0 (labels) and 1 (quantity) of `couple`, one `uniform` whether
  /// the device follows it and one for its place: its rank where it does not, its place within its
  /// time zone where it does.
  func client(
    of group: FleetGroupSettings, ordinal: Int, hardware: AssignedHardware?,
    _ inputs: SimulationInputs
  ) -> Int {
    let key = StreamKey(
      seed: inputs.seeds.world, purpose: "couple", group: group.name, ordinal: UInt32(ordinal))
    func rank(_ rule: CoupleSettings.Rule?, _ slot: UInt64) -> Double? {
      guard let rule else { return nil }
      var stream = key.stream(slot: slot)
      let follows = stream.uniform() < rule.strength
      let own = stream.uniform()
      guard follows else { return own }
      switch rule.by {
      case .timeZone:
        let band = offsets.firstIndex(of: group.utcOffset)!
        return (Double(band) + own) / Double(offsets.count)
      case .speed:
        if let hardware { return hardware.speedRank }
        var stream = StreamKey(
          seed: inputs.seeds.world, purpose: "compute", group: group.name,
          ordinal: UInt32(ordinal)
        ).stream(slot: 0)
        // A logistic curve that is within 0.01 of the normal distribution; slow is first.
        return 1 / (1 + Portable.exp(1.702 * stream.normal()))
      case .availability:
        return World.availability(of: group, ordinal: ordinal, inputs)
      }
    }
    return client(labels: rank(group.couple!.labels, 0), quantity: rank(group.couple!.quantity, 1))
  }
}

extension World {
  /// The share of the run, at most of its first week, in which a device is plugged in, connected
  /// and locked, or in a window that is given directly: a function of its series alone.
  static func availability(
    of group: FleetGroupSettings, ordinal: Int, _ inputs: SimulationInputs
  ) -> Double {
    let hasWindows = group.background.windows != nil
    let wanted: [Series] =
      (hasWindows ? [.window] : [.power, .link, .usage])
      + (group.presence == nil ? [] : [.presence])
    var timelines = wanted.map { timeline($0, of: group, ordinal: ordinal, inputs)! }
    let horizon = SimTime.start + min(inputs.stop.after, .days(7))
    var (time, available) = (SimTime.start, SimDuration.zero)
    while time < horizon {
      var (end, isAvailable) = (horizon, true)
      for (place, series) in wanted.enumerated() {
        let segment = timelines[place].segment(at: time)
        end = min(end, segment.end)
        let holds = series == .usage ? segment.state == 0 : segment.state != 0
        isAvailable = isAvailable && holds
      }
      if isAvailable { available = available + (end - time) }
      time = end
    }
    return available.seconds / (horizon - .start).seconds
  }
}
