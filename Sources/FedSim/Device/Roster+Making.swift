import Learning
import Numerics
import Schema

extension Roster {
  /// The places in their files of the traces that a device has, by what they give.
  static func traceRecord(_ device: Int, _ devices: borrowing Devices, _ cx: borrowing Context)
    -> [(name: String, number: Int)]
  {
    if cx.inputs.traces.isEmpty, cx.inputs.capacities.isEmpty { return [] }
    let (place, ordinal) = (Int(devices[device].group), Int(devices[device].ordinal))
    let group = cx.inputs.fleet[place]
    var sources: [(String, StateSpace, (any TimelineSource)?)] = [
      ("power", .power, group.power.value), ("link", .link, group.link.value),
      ("usage", .usage, group.usage.value), ("window", .window, group.background.windows?.value),
    ]
    sources += [
      ("share", .share, group.network.share?.value),
      ("presence", .presence, group.presence?.value),
    ]
    var record: [(name: String, number: Int)] = []
    for case let (name, space, source?) in sources {
      guard let source = source.asTraces else { continue }
      let key = StreamKey(seed: cx.inputs.seeds.world, purpose: "trace", ordinal: UInt32(ordinal))
      let context = TimelineContext(
        space: space, key: key, device: group.name, traces: cx.inputs.traces,
        seed: cx.inputs.seeds.world)
      record.append((name, source.traceNumber(context)))
    }
    if let number = Roster.capacityNumber(group: place, ordinal: ordinal, cx) {
      record.append(("capacity", number))
    }
    return record
  }
}

extension Roster {
  /// Draws what the devices are made of, where a group says so.
  static func makeHardware(_ devices: inout Devices, _ cx: inout Context) {
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
