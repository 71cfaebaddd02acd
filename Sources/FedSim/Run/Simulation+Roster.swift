import Learning
import Numerics

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
