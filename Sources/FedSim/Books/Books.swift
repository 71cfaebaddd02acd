/// What is counted and measured of a run: nothing of it changes what happens.
public struct Books: Codable {
  /// What was begun and how it ended.
  public internal(set) var ledgers = Ledgers()
  /// What happened, counted.
  public internal(set) var tallies = Tallies()
  /// What happened between devices and server beyond the usual, counted.
  var exchange = ExchangeTallies()
  /// What happened where the server asks for more than trainings, counted.
  var instructions = InstructionTallies()
  /// Work by how it ended.
  public internal(set) var effort = EffortLedger()
  /// Bytes by link and by how their transmission ended.
  public internal(set) var traffic = TrafficLedger()
  /// Sums over all devices that are true at a moment.
  var progress = ProgressLog()
  /// What devices were doing, by hour.
  public internal(set) var hours = FleetHours()
  /// What happened to the identities of devices, counted.
  var identities = IdentityCounts()
  /// What each device did, counted.
  var activity = RecordArray<DeviceActivity>()
  /// The work of each device.
  private(set) var devices = RecordArray<DeviceEffort>()
  /// What the work of each device drew; empty where no group has a battery.
  private(set) var energies = RecordArray<DeviceEnergy>()
  /// Aggregated updates by their staleness.
  public private(set) var staleness = PagedArray<Int>()
  /// Test samples that each version gets right, or the last one before it that was evaluated; empty
  /// where nothing is learned.
  private(set) var correct = PagedArray<Int64>()

  /// The work of each device, in the order of the fleet.
  public var deviceEfforts: [DeviceEffort] { Array(devices) }
  /// What it drew; empty where no group has a battery.
  public var deviceEnergies: [DeviceEnergy] { Array(energies) }

  /// A training or an update of a group's device was interrupted, or a training continues.
  mutating func interrupted(_ column: FleetHours.Count, group: Int32, at time: SimTime) {
    hours.count(column, group: Int(group), at: time)
  }

  /// Opens an account for each device, and one of energy where there are batteries.
  mutating func open(devices count: Int, hasEnergy: Bool) {
    activity.reserveCapacity(count)
    devices.reserveCapacity(count)
    for _ in 0..<count {
      activity.append(DeviceActivity())
      devices.append(DeviceEffort())
    }
    guard hasEnergy else { return }
    energies.reserveCapacity(count)
    for _ in 0..<count { energies.append(DeviceEnergy()) }
  }

  /// Moves what will be counted of each device into its row.
  mutating func move(to rows: DeviceRows, hasEnergy: Bool) {
    activity.move(to: rows)
    devices.move(to: rows)
    if hasEnergy { energies.move(to: rows) }
  }

  /// Puts what was saved in place of what there is; devices' records stay in their rows.
  mutating func restore(_ saved: Books) {
    var (activity, devices, energies) = (activity, devices, energies)
    self = saved
    activity.take(saved.activity)
    devices.take(saved.devices)
    energies.take(saved.energies)
    (self.activity, self.devices, self.energies) = (activity, devices, energies)
  }

  /// Work of a device has ended.
  mutating func book(_ effort: Effort, of device: Int, _ end: EffortEnd) {
    self.effort.book(effort, end)
    let isUsed = end == .update(.aggregated)
    if isUsed {
      devices[device].aggregated += effort.microseconds
    } else {
      devices[device].wasted += effort.microseconds
    }
    guard !energies.isEmpty else { return }
    let energy = effort.training + effort.radio
    if isUsed {
      energies[device].aggregated += energy
    } else {
      energies[device].wasted += energy
    }
  }

  /// The work in an update has ended with it.
  mutating func bookUpdate(
    _ effort: Effort, samples: Int, of device: Int, _ outcome: UpdateOutcome
  ) {
    book(effort, of: device, .update(outcome))
    if outcome == .aggregated { devices[device].samplesAggregated += Int64(samples) }
  }

  /// An update of a device became part of a version, this many versions behind.
  mutating func countStaleness(_ versions: Int) {
    while staleness.count <= versions { staleness.append(0) }
    staleness[versions] += 1
  }

  /// Test samples that a version gets right; −1: none is held.
  func correct(_ version: Int32) -> Int64 {
    version < 0 || correct.isEmpty ? 0 : correct[Int(version)]
  }

  /// Notes how many test samples the version gets right that is published now; nil: it is not
  /// evaluated.
  mutating func publish(correct count: Int64?) { correct.append(count ?? correct.last ?? 0) }
}
