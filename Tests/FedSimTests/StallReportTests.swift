import FedSim
import Learning
import Schema
import Testing

@Suite("Looking ahead")
struct StallReportTests {
  /// A random world in which some groups are kept from working: no power where it is needed, no
  /// link, or a short chance at a time of the seed's.
  private func inputs(_ seed: UInt64) -> SimulationInputs {
    var world = RandomWorld(seed: seed)
    var inputs = world.scene().inputs
    inputs.injections = seed % 4 == 0 ? inputs.injections : []
    let chance = Int64(seed % 11) * 1_000_000
    for group in inputs.fleet.indices where seed % 5 != 0 {
      switch (Int(seed) + group) % 3 {
      case 0: inputs.fleet[group].link = .always("offline")
      case 1:
        inputs.fleet[group].participation.externalPower = true
        inputs.fleet[group].power = .states(
          "plugged", in: [chance...(chance + 200_000)], otherwise: "unplugged")
      default:
        inputs.fleet[group].link = .states(
          "wifi", in: [chance...(chance + 200_000)], otherwise: "offline")
      }
    }
    return inputs
  }

  private func played(_ inputs: SimulationInputs) -> Simulation {
    var simulation = Simulation(inputs)
    simulation.run()
    return simulation
  }

  @Test("A run that is stopped is one that would never have published another version")
  func soundness() {
    var counts = (stopped: 0, later: 0, published: 0)
    for seed in UInt64(0)..<120 {
      var inputs = inputs(seed)
      let full = played(inputs)
      inputs.stopsWhenStuck = true
      let stopped = played(inputs)
      #expect(stopped.version == full.version, "seed \(seed)")
      #expect(!full.isStuck)
      #expect(stopped.audit().isEmpty, "seed \(seed)")
      if stopped.isStuck {
        counts.stopped += 1
        if stopped.now > .start { counts.later += 1 }
        #expect(stopped.stallReport != nil)
        #expect(
          stopped.books.ledgers.updates.opened == full.books.ledgers.updates.opened, "seed \(seed)")
      } else {
        #expect(stopped.eventDigest == full.eventDigest, "seed \(seed)")
      }
      if full.version > 0 { counts.published += 1 }
    }
    #expect(counts.stopped > 5 && counts.later > 0 && counts.published > 20, "\(counts)")
  }

  @Test("The fewest conditions that never held at once are named, the first of equals")
  func missing() {
    let needed: Conditions = [.idle, .charging, .online]
    #expect(needed.missing(in: [[.idle, .charging, .online]]) == [])
    // Charging never; then idle and online never together, each with charging.
    #expect(needed.missing(in: [[.idle, .online], [.online]]) == [.charging])
    #expect(
      needed.missing(in: [[.idle, .charging], [.online, .charging]]) == [.idle, .online])
    // Each pair once, never all three.
    #expect(
      needed.missing(in: [[.idle, .charging], [.online, .charging], [.idle, .online]]) == needed)
  }

  @Test("Leaving the arithmetic out changes no event and no ledger")
  func withoutArithmetic() {
    for seed in UInt64(200)..<220 {
      var world = RandomWorld(seed: seed)
      var inputs = world.scene().inputs
      let whole = played(inputs)
      inputs.omitsArithmetic = true
      let bare = played(inputs)
      #expect(bare.eventDigest == whole.eventDigest, "seed \(seed)")
      for outcome in UpdateOutcome.allCases {
        #expect(
          bare.books.ledgers.updates[outcome] == whole.books.ledgers.updates[outcome],
          "seed \(seed)")
      }
      #expect(bare.version == whole.version)
      #expect(bare.model.values == inputs.task.initial.values)
    }
  }
}
