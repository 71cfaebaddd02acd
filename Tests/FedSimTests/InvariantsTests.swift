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

  @Test("Time that goes back is found, and the first findings are kept")
  func findings() {
    // An observer that hears of an event at 200 s, and then of one at 100 s, has seen time go
    // back.
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

  @Test("As many requests may be pending as the group's system allows, and where it has none, any")
  func pendingRequests() {
    // The app's own refresh request and two more wait for ten hours, with eleven of processing
    // besides the app's own: 3 and 12 at once. The phone is in use all the time.
    func play(_ change: (inout SystemSettings) -> Void, hasSystem: Bool = true) -> Tape {
      var phone = Phone()
      phone.refresh = Phone.refreshing { $0.earliestBegin = .hours(10) }
      phone.group.usage = .always("active")
      change(&phone.system)
      var scene = phone.scene()
      if !hasSystem { scene.inputs.fleet[0].background.system = nil }
      scene.submit("a", .refresh, at: 1000)
      scene.submit("b", .refresh, at: 2000)
      for number in 1...11 { scene.submit("p\(number)", at: 10_000 * Int64(number)) }
      return scene.play().tape
    }
    func refused(_ tape: Tape) -> [String] {
      tape.observed.map(\.kind.line).filter { $0.hasPrefix("submits") && $0.contains(":") }
    }
    let roomy = play {
      $0.refreshLimit = 3
      $0.processingLimit = 12
    }
    #expect(refused(roomy) == [])
    // With one place less each, the last of either kind is refused.
    let tight = play {
      $0.refreshLimit = 2
      $0.processingLimit = 11
    }
    #expect(refused(tight) == ["submits b: 2", "submits p11: 2"])
    #expect(refused(play({ _ in }, hasSystem: false)) == [])
  }

  @Test("A request that changes its kind needs a place among those of its new kind")
  func changedKind() {
    // The app's own refresh request takes the one place; `a` waits for processing, and asks to be
    // a refresh task.
    var phone = Phone()
    phone.refresh = Phone.refreshing { $0.earliestBegin = .hours(10) }
    phone.group.usage = .always("active")
    var scene = phone.scene()
    scene.submit("a", at: 1000)
    scene.submit("a", .refresh, at: 2000)
    #expect(
      scene.play().story(of: 0, only: "submits") == ["1000 submits a", "2000 submits a: 2"])
  }
}
