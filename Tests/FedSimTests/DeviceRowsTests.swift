import FedSim
import Learning
import Numerics
import Schema
import Testing

@Suite("Tables of devices in one memory")
struct DeviceRowsTests {
  /// All that a result is made of.
  private func outcome(_ inputs: SimulationInputs) throws -> [String] {
    try Stretches(inputs, stops: []).found
  }

  private func inRows(_ inputs: SimulationInputs) -> SimulationInputs {
    var inputs = inputs
    inputs.shortcuts.devicesWithoutRows = 0
    return inputs
  }

  @Test("A run is the same whether each table has its own memory or all share the devices' rows")
  func same() throws {
    for seed in UInt64(1)...300 {
      var world = RandomWorld(seed: seed)
      let inputs = seed % 2 == 0 ? world.scene().inputs : RandomWorld.quietInputs(seed: seed)
      Stretches.expectSame(try outcome(inputs), try outcome(inRows(inputs)), "seed \(seed)")
    }
  }

  @Test("It continues from its bytes in rows or without them")
  func saved() throws {
    var saved = 0
    for seed in UInt64(1)...100 {
      let inputs = RandomWorld.quietInputs(seed: seed)
      let whole = try Stretches(inputs, stops: [])
      guard whole.turns > 3 else { continue }
      let stops = [whole.turns / 3, 2 * whole.turns / 3]
      let parts = try Stretches(inputs, stops: stops) { $0 == 1 ? inRows(inputs) : nil }
      Stretches.expectSame(whole.found, parts.found, "seed \(seed)")
      let others = try Stretches(inRows(inputs), stops: stops) { $0 == 1 ? inputs : nil }
      Stretches.expectSame(whole.found, others.found, "seed \(seed)")
      saved += parts.archives.count
    }
    #expect(saved > 100, "the worlds are not over at once")
  }

  @Test("A run and its copy change apart from each other")
  func copied() {
    for seed in UInt64(1)...50 {
      let inputs = inRows(RandomWorld.quietInputs(seed: seed))
      var whole = Simulation(inputs)
      whole.run()
      var first = Simulation(inputs)
      first.begin([])
      for _ in 0..<20 where first.step() {}
      var second = first
      while second.step() {}
      while first.step() {}
      #expect(first.eventDigest == whole.eventDigest, "seed \(seed)")
      #expect(second.eventDigest == whole.eventDigest, "seed \(seed)")
    }
  }

  @Test("A fleet of two groups that is not small is in rows, and each device is who it was")
  func large() throws {
    var scene = Scene(fleet: [.group("a", count: 1500), .group("b", count: 600)])
    scene.inputs.stop.after = .seconds(600)
    var inputs = scene.inputs
    let rows = try outcome(inputs)
    #expect(Simulation(inputs).bytesOfRow > 0)
    inputs.shortcuts.devicesWithoutRows = .max
    #expect(Simulation(inputs).bytesOfRow == 0)
    Stretches.expectSame(rows, try outcome(inputs))
  }

  @Test("The first fleet in rows has 2,001 devices", arguments: [1, 2000, 2001])
  func least(count: Int) {
    let inputs = Scene(fleet: [.group("a", count: count)]).inputs
    #expect((Simulation(inputs).bytesOfRow > 0) == (count > 2000))
    #expect(Simulation(inRows(inputs)).bytesOfRow > 0)
  }
}
