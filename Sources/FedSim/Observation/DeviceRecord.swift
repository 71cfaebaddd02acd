import Learning
import Numerics

/// A device at the end of the run.
public struct DeviceRecord: Sendable {
  /// Its fleet group's place.
  public let group: Int
  /// Its number in the group.
  public let ordinal: Int
  /// The client whose data it has.
  public let client: Int
  /// Its training samples.
  public let samples: Int
  /// The version that it holds; −1: none.
  public let heldVersion: Int
  /// What it did.
  public let activity: DeviceActivity
  /// Digest of its exogenous series until the run ended: to compare runs that end at one time.
  public let exogenousDigest: UInt64
  /// Its battery at the start and at the end, and what came between; nil: it has none.
  public let energy: (initial: Int64, final: Int64, flows: EnergyLedger)?
  /// What it is made of; nil: its group does not say.
  public let hardware: (name: String, speedRank: Double, unfitness: Unfitness?)?
  /// How often it joined and left, and how long it was there; nil: it always is.
  public let presence: (joins: Int, leaves: Int, total: SimDuration)?
  /// Samples that have arrived; nil: all are there from the start.
  public let arrived: Int?
  /// The traces that it has, by what they give, each by its place in its file.
  public let traces: [(name: String, number: Int)]
  /// The version that its own model was trained from, −1: it has trained none; nil: no device keeps
  /// one.
  public let ownBase: Int?
}

extension DeviceRecord {
  /// Samples that a device will have had.
  static func samples(of device: Int, _ cx: borrowing Context) -> Int {
    let shards = cx.inputs.task.partition.shards
    return shards.isEmpty ? 0 : shards[Int(cx.members.clients[device])].count
  }

  static func hardwareRecord(
    _ device: Int, _ devices: borrowing Devices, _ cx: borrowing Context
  ) -> (name: String, speedRank: Double, unfitness: Unfitness?)? {
    guard let made = Roster.hardware(of: device, devices) else { return nil }
    let classes = cx.inputs.fleet[Int(devices[device].group)].hardware!.classes
    return (classes[Int(made.place)].name, made.speedRank, made.unfitness)
  }

  static func presenceRecord(_ device: Int, _ devices: borrowing Devices) -> (
    joins: Int, leaves: Int, total: SimDuration
  )? {
    guard !devices.fleetTables.presence.isEmpty, let presence = devices.fleetTables.presence[device]
    else {
      return nil
    }
    return (Int(presence.joins), Int(presence.leaves), presence.total)
  }

  static func arrivalRecord(_ device: Int, _ devices: borrowing Devices, _ cx: borrowing Context)
    -> Int?
  {
    guard devices.fleetTables.hasArrivals,
      cx.inputs.fleet[Int(devices[device].group)].arrival != nil
    else {
      return nil
    }
    return Roster.samples(
      group: Int(devices[device].group), ordinal: Int(devices[device].ordinal),
      client: Int(cx.members.clients[device]), at: cx.now, cx)
  }
}

extension DeviceRecord {
  /// A device as it is now, by its number in the fleet.
  init(_ device: Int, _ devices: borrowing Devices, _ cx: borrowing Context) {
    self.init(
      group: Int(devices[device].group), ordinal: Int(devices[device].ordinal),
      client: Int(cx.members.clients[device]), samples: Self.samples(of: device, cx),
      heldVersion: Int(devices[device].heldVersion), activity: cx.books.activity[device],
      exogenousDigest: devices[device].exogenous.value, energy: Self.energyRecord(device, devices),
      hardware: Self.hardwareRecord(device, devices, cx),
      presence: Self.presenceRecord(device, devices),
      arrived: Self.arrivalRecord(device, devices, cx),
      traces: Roster.traceRecord(device, devices, cx), ownBase: Instructions.ownBase(of: device, cx)
    )
  }

  private static func energyRecord(
    _ device: Int, _ devices: borrowing Devices
  ) -> (initial: Int64, final: Int64, flows: EnergyLedger)? {
    guard Body.hasBody(device, devices) else { return nil }
    let body = devices.bodies[device]
    return (body.initial, body.energy, body.ledger)
  }
}
