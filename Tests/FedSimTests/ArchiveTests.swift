import FedSim
import Learning
import Numerics
import Schema
import Testing

@Suite("A run that is saved and goes on")
struct ArchiveTests {
  private func expectSame(_ seed: UInt64, _ whole: [String], _ parts: [String]) {
    #expect(whole.count == parts.count, "seed \(seed)")
    for (a, b) in zip(whole, parts) where a != b {
      Issue.record("seed \(seed): \(a) and \(b)")
      return
    }
  }

  private func check(_ seed: UInt64, _ inputs: SimulationInputs) throws {
    let whole = try Stretches(inputs, stops: [])
    var stream = StreamKey(seed: seed, purpose: "stops").stream(slot: 0)
    guard whole.turns > 1 else { return }
    let stops = Set((0..<3).map { _ in 1 + Int(stream.below(UInt32(whole.turns - 1))) }).sorted()
    var other = inputs
    if seed % 2 == 0 { other.compute = .eager }
    if seed % 3 == 0 { other.pool = WorkerPool(threads: 2) }
    let parts = try Stretches(inputs, stops: stops) { $0 == 1 ? other : nil }
    expectSame(seed, whole.found, parts.found)
  }

  @Test("Random worlds come out the same wherever they are saved", arguments: [0, 1, 2, 3])
  func worlds(part: UInt64) throws {
    for seed in (1 + part * 100)...(100 + part * 100) {
      var world = RandomWorld(seed: seed)
      try check(seed, world.scene().inputs)
    }
  }

  @Test("So do worlds that collect for central training")
  func collecting() throws {
    for seed in UInt64(1)...100 {
      var world = RandomWorld(seed: seed)
      try check(seed, world.collectingScene().inputs)
    }
  }

  @Test("An archive holds every stored property of a run but those that are made anew")
  func properties() {
    let names = Simulation(Scene(.tiny()).inputs).archivedNames
    #expect(Set(names.stored).subtracting(names.saved) == Simulation.unsaved)
    #expect(Set(names.saved).isSubset(of: names.stored))
  }
}
