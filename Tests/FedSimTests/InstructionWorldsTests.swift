import FedSim
import Learning
import Numerics
import Schema
import Testing

/// A random world whose server asks for more than trainings.
private func instructed(_ seed: UInt64) -> Scene {
  var world = RandomWorld(seed: seed)
  var scene = world.scene()
  var stream = StreamKey(seed: seed, purpose: "instructed-world").stream(slot: 0)
  func chance(_ share: Double) -> Bool { stream.uniform() < share }
  let isFlower = chance(0.6)
  for place in scene.inputs.fleet.indices {
    var library = scene.inputs.fleet[place].protocol ?? ProtocolSettings()
    library.stream = isFlower
    // A result belongs to its stream.
    if isFlower { scene.inputs.fleet[place].background.transfers = nil }
    library.keepalive = .seconds(1 + Int64(stream.below(100)))
    if chance(0.5) { library.overwritesModel = true }
    if chance(0.5) { library.evaluation = chance(0.5) ? .asCoded : .asDocumented }
    if chance(0.5) { library.properties = chance(0.5) }
    if chance(0.3) { library.ignoresConfig = true }
    if !isFlower, chance(0.8) {
      library.worker = WorkerSettings()
      library.worker!.probeBytes = Int64(stream.below(20_000))
      library.worker!.probeTimeout = .seconds(1 + Int64(stream.below(30)))
    }
    scene.inputs.fleet[place].protocol = library
    if chance(0.3) {
      scene.inputs.fleet[place].app = scene.inputs.fleet[place].app ?? AppSettings()
      scene.inputs.fleet[place].app!.onRejection = .forget
    }
  }
  if chance(0.5) { scene.inputs.server.exchange = .weightsOnly }
  if chance(0.5) {
    var config = ClientConfig()
    config.batchSize = 1 + Int(stream.below(3))
    config.maximumUpdates = 1 + Int(stream.below(6))
    config.fromRound = 1 + Int(stream.below(3))
    scene.inputs.server.clientConfig = [config]
  }
  if isFlower {
    var selector = FractionSelector.Settings()
    selector.minimum = 1
    selector.minimumAvailable = 1 + Int(stream.below(2))
    if chance(0.5) { selector.waitLimit = .seconds(300) }
    var answered = CohortAnsweredTrigger.Settings()
    answered.acceptFailures = chance(0.5)
    answered.timeout = .seconds(100 + Int64(stream.below(600)))
    scene.inputs.server.selector = Choice(FractionSelector.self, selector) { $0 }
    scene.inputs.server.trigger = [Choice(CohortAnsweredTrigger.self, answered) { $0 }]
    if chance(0.5) { scene.inputs.server.initialModel = .client }
    if chance(0.5) { scene.inputs.server.asksProperties = true }
    if chance(0.8) {
      var evaluation = ClientEvaluationSettings()
      (evaluation.minimum, evaluation.minimumAvailable) = (1, 1)
      evaluation.waitLimit = .seconds(200)
      if chance(0.5) { evaluation.timeout = .seconds(60) }
      scene.inputs.server.evaluation = evaluation
    }
  } else {
    var cycle = CycleSettings()
    cycle.maximumDiffs = 2
    cycle.minimumUpload = BitRate(bitsPerSecond: Int64(1 + stream.below(9_000)))
    if chance(0.5) { cycle.planBytes = Int64(stream.below(5_000)) }
    scene.inputs.server.selector = Choice(CycleSelector.self, cycle) { $0 }
    scene.inputs.server.trigger = [Choice(CycleEndTrigger.self) { $0 }]
    scene.inputs.server.duplicates = .overwrite
  }
  return scene
}

@Suite("Random worlds whose server asks for more than trainings")
struct InstructionWorldsTests {
  @Test("In sixty of them every audit after every event finds nothing, and they are not dull")
  func audits() {
    var totals = [String: Int]()
    for seed in UInt64(1)...60 {
      let tape = Tape()
      var simulation = Simulation(instructed(seed).inputs)
      simulation.run(observers: [tape])
      #expect(tape.faults == [], "seed \(seed)")
      for (name, count, _) in simulation.serverRecord.instructionTallies?.named ?? [] {
        totals[name, default: 0] += count
      }
      for record in simulation.serverRecord.evaluations {
        totals["evaluations", default: 0] += 1
        totals["evaluationFailures", default: 0] += record.failures
        totals["evaluationResults", default: 0] += record.results
      }
      totals["versions", default: 0] += simulation.version
      totals["own", default: 0] += simulation.deviceRecords.count { ($0.ownBase ?? -1) >= 0 }
    }
    for name in [
      "workers", "speedTests", "plans", "configuredTrainings", "modelsAsked",
      "propertiesAnswered", "propertiesNotImplemented", "disconnectsUnknown", "evaluations",
      "evaluationFailures", "evaluationResults", "versions", "own",
    ] {
      #expect(totals[name, default: 0] > 10, "\(name) in \(totals)")
    }
  }

  @Test("Nothing depends on when trainings are computed, or on how many threads")
  func sameBits() {
    for seed in UInt64(1)...30 {
      var found: [(UInt64, [UInt32], [UInt64])] = []
      for (mode, threads) in [(ComputeMode.lazy, 1), (.eager, 1), (.lazy, 3)] {
        var inputs = instructed(seed).inputs
        inputs.compute = mode
        inputs.pool = WorkerPool(threads: threads)
        var simulation = Simulation(inputs)
        simulation.run()
        found.append(
          (
            simulation.eventDigest.value, simulation.model.values.map(\.bitPattern),
            simulation.serverRecord.evaluations.map(\.loss.bitPattern)
              + (simulation.deviceRecords.ownAccuracies() ?? []).map(\.bitPattern)
          ))
      }
      for other in found.dropFirst() {
        #expect(other.0 == found[0].0, "seed \(seed)")
        #expect(other.1 == found[0].1, "seed \(seed)")
        #expect(other.2 == found[0].2, "seed \(seed)")
      }
    }
  }
}
