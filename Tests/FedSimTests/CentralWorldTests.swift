import FedSim
import Learning
import Testing

@Suite("Random worlds of devices that collect")
struct CentralWorldTests {
  @Test("In a hundred and fifty of them every audit after every event finds nothing")
  func audits() {
    var ends = [Int](repeating: 0, count: FileOutcome.allCases.count)
    var counts: [(name: String, count: Int)] = []
    var versions = 0
    for seed in UInt64(1)...150 {
      var world = RandomWorld(seed: seed)
      let tape = Tape()
      var simulation = Simulation(world.collectingScene().inputs)
      simulation.run(observers: [tape])
      #expect(tape.faults == [], "seed \(seed)")
      #expect(simulation.collection.ledger.stillOpen == 0, "seed \(seed)")
      versions += simulation.collection.versions.count
      for (place, outcome) in FileOutcome.allCases.enumerated() {
        ends[place] += simulation.collection.ledger[outcome]
      }
      let named = simulation.collection.tallies.named
      counts = named.enumerated().map { place, tally in
        (tally.name, tally.count + (counts.isEmpty ? 0 : counts[place].count))
      }
    }
    // The worlds are not dull: every end of a file, and all that is counted but what takes names
    // that begin alike, or a link on which two files come within a second.
    #expect(versions > 500)
    for (outcome, count) in zip(FileOutcome.allCases, ends) { #expect(count > 0, "\(outcome)") }
    let rare = ["erasedOfOthers", "overwrittenFiles", "overwrittenItems"]
    for (name, count) in counts where !rare.contains(name) { #expect(count > 0, "\(name)") }
  }

  @Test("One thread and three, at once and when needed: the same events and the same models")
  func computed() {
    for seed in UInt64(1)...12 {
      var world = RandomWorld(seed: seed)
      let inputs = world.collectingScene().inputs
      func trace(threads: Int, _ mode: ComputeMode) -> ([UInt64], [[UInt32]]) {
        var inputs = inputs
        inputs.pool = .init(threads: threads)
        inputs.compute = mode
        var simulation = Simulation(inputs)
        simulation.run()
        return (
          [simulation.eventDigest.value]
            + simulation.collection.versions.map(\.trainingLoss.bitPattern),
          (0..<2).map { simulation.collection.parameters(of: $0).values.map(\.bitPattern) }
        )
      }
      let reference = trace(threads: 1, .lazy)
      #expect(trace(threads: 3, .lazy) == reference, "seed \(seed)")
      #expect(trace(threads: 2, .eager) == reference, "seed \(seed)")
      // The story alone: nothing is computed, and everything happens.
      var story = inputs
      story.omitsArithmetic = true
      var simulation = Simulation(story)
      simulation.run()
      #expect(simulation.eventDigest.value == reference.0[0], "seed \(seed)")
    }
  }

  @Test("What is collected does not depend on how often the server trains")
  func exogenous() {
    // Formatting and its bytes follow from the device alone where nothing is fetched.
    for seed in UInt64(1)...12 {
      var world = RandomWorld(seed: seed)
      var scene = world.collectingScene()
      for place in scene.inputs.fleet.indices { scene.inputs.fleet[place].collection?.fetch = nil }
      scene.inputs.fleet.removeAll { $0.collection == nil }
      scene.inputs.server.service = nil
      /// When and of how many samples and bytes; files are numbered over the fleet.
      func formatted() -> [String] {
        let played = scene.play()
        return (0..<played.simulation.inputs.deviceCount).flatMap { device in
          played.story(of: device, only: "formats").map { line in
            line.split(separator: " ").filter { !$0.hasPrefix("f") }.joined(separator: " ")
          }
        }
      }
      let first = formatted()
      scene.inputs.server.central = nil
      #expect(formatted() == first, "seed \(seed)")
    }
  }
}
