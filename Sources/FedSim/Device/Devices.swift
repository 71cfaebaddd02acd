/// The devices of the fleet, and what each of them remembers besides what all have.
struct Devices {
  private var table = RecordArray<Device>()
  /// Where tables of many devices are; nil in a small fleet.
  private(set) var rows: DeviceRows?
  /// Batteries and heat, for each device; empty where no group has a battery.
  var bodies = RecordArray<Body>()
  /// What bodies share: each has the address of one, so they never move once there are bodies.
  var bodyFigures = RecordArray<BodyFigures>()
  /// The settings of batteries, by group; empty where no group has a battery.
  var batteryFigures: [BatterySettings] = []
  /// What system and app remember, for each device; empty where no group has `system` or `app`.
  var apps = RecordArray<AppRegion?>()
  /// Tokens, registrations, heartbeats and clocks; empty where no group has any.
  var identities = Identities()
  /// What the fleet consists of, where its groups say so.
  var fleetTables = FleetTables()
  /// What each device's library remembers; empty where nothing asks for it.
  var clients: [ClientRegion] = []
  /// The conditions that someone looks at, by group.
  let groupConditions: [GroupConditions]
  /// Figures of the operating system's rules, by group; empty where no group has `system` or `app`.
  var systemFigures: [SystemFigures?] = []
  /// The names of requests to the operating system.
  var taskNames: [String] = []

  init(_ inputs: SimulationInputs) {
    groupConditions = inputs.fleet.map { GroupConditions($0) }
  }

  /// How many there are.
  var count: Int { table.count }
  /// Their numbers, in the order of the fleet.
  var indices: Range<Int> { table.startIndex..<table.endIndex }
  /// All of them, as they are saved.
  var all: RecordArray<Device> { table }

  /// A device by its number, read and changed where it is.
  subscript(device: Int) -> Device {
    @inline(__always) unsafeAddress { table.address(device) }
    @inline(__always) unsafeMutableAddress { table.mutableAddress(device) }
  }

  mutating func reserveCapacity(_ count: Int) { table.reserveCapacity(count) }
  mutating func append(_ device: Device) { table.append(device) }
  /// Takes back devices that were saved.
  mutating func restore(_ saved: RecordArray<Device>) { table.take(saved) }

  /// Makes one row of what will be known of each device, in a fleet that is not small.
  mutating func makeRows(_ cx: inout Context) {
    let (count, fleet) = (cx.inputs.deviceCount, cx.inputs.fleet)
    guard count > cx.inputs.shortcuts.devicesWithoutRows else { return }
    let hasBodies = fleet.contains { $0.battery != nil }
    let hasApps = fleet.contains(where: \.needsApps)
    var (first, next) = ([Int](), 0)
    for group in fleet {
      first.append(next)
      next += group.count
    }
    rows = DeviceRows.make(count: count) { rows in
      table.move(to: rows)
      if hasBodies { bodies.move(to: rows) }
      if hasApps { apps.move(to: rows) }
      cx.agenda.queue.move(to: rows)
      cx.network.move(to: rows)
      cx.world.move(to: rows, first: first)
      cx.books.move(to: rows, hasEnergy: hasBodies)
    }
  }

  /// Asks for the memory of a device, if there is one.
  func prefetch(_ device: Int) {
    guard indices.contains(device) else { return }
    if let rows { rows.prefetch(device) } else { table.prefetch(device) }
  }
}
