import FedSim
import Testing

@Suite("Invariants")
struct InvariantsTests {
  @Test("Every event of a device is looked at, everything is recounted now and then")
  func looks() {
    for seed in UInt64(1)...5 {
      var world = RandomWorld(seed: seed)
      let scene = world.scene()
      let (tape, invariants) = (Tape(audits: false), Invariants(interval: .seconds(600)))
      var simulation = Simulation(scene.inputs)
      simulation.run(observers: [tape, invariants])
      let ofDevices = tape.events.count {
        switch $0.event {
        case .server, .serverTimer, .end: false
        default: true
        }
      }
      #expect(invariants.looks == ofDevices, "seed \(seed)")
      #expect(invariants.audits > 2, "seed \(seed)")
      #expect(invariants.broken == [], "seed \(seed)")
    }
  }

  @Test("Time that goes back and a session beyond its hard expiry are found")
  func findings() {
    // The one phone's session may run until 105 s. An observer that is told of an event at 200 s,
    // and then of one at 100 s, has seen time go back.
    let invariants = Invariants(keeping: 3)
    let scene = Scene(fleet: [.group(windows: [[0, 100_000, 105_000]])])
    let simulation = Simulation(scene.inputs)
    invariants.handled(.end, at: ms(200_000), simulation)
    invariants.handled(.end, at: ms(100_000), simulation)
    #expect(invariants.broken.count == 1)
    #expect(invariants.broken.first?.hasSuffix("time went back to \(ms(100_000))") == true)
    for _ in 0..<9 {
      invariants.handled(.end, at: ms(50_000), simulation)
      invariants.handled(.end, at: ms(60_000), simulation)
    }
    #expect(invariants.broken.count == 3)
  }
}
