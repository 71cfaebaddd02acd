import FedSim
import Foundation
import Learning
import Numerics
import Runs
import Scenarios
import Testing

@Suite("Ranks, and trainings that continue one another")
struct RankedChainTests {
  /// Two slow devices of six train in each round, and no version ever has them, so that their
  /// trainings form chains of more than 64.
  private static func text(_ algorithm: String) -> String {
    """
    seed: 5
    stop: {rounds: 150, after: 1000 d}
    task:
      data:
        source: {blobs: {classes: 4, features: 10, train: 400, test: 200}}
        partition: {iid: {clients: 6}}
      model: {mlp: {hidden: [8]}}
      training: {epochs: 1, batchSize: 20, optimizer: {sgd: 0.05}, algorithm: \(algorithm)}
    fleet:
      - &phone
        name: phones
        count: 4
        background: {windows: {fixed: open}}
        participation: {repeats: true, pause: 1 s}
        compute: {perBatch: 1 s}
      - {<<: *phone, name: slow, count: 2, compute: {perBatch: 15 s}}
    server:
      selector: {uniform: {cohort: 6}}
      trigger: {cohort-complete: {}, deadline: {after: 40 s, minimum: 1}}
    record: {evaluateEvery: {versions: 50}}
    """
  }

  private struct Outcome: Equatable {
    var events: UInt64
    var model: UInt64
    var version: Int
  }

  private static func play(_ inputs: SimulationInputs) -> Outcome {
    var simulation = Simulation(inputs)
    simulation.run()
    var model = Digest()
    simulation.model.combine(into: &model)
    return Outcome(
      events: simulation.eventDigest.value, model: model.value, version: simulation.version)
  }

  @Test(
    "ranks stay in step however far each has computed beforehand",
    .timeLimit(.minutes(2)),
    arguments: ["{personal-layers: [dense2]}", "{scaffold: {}}"], [ComputeMode.lazy, .eager])
  func chains(algorithm: String, compute: ComputeMode) throws {
    let scenario = try Scenario(text: Self.text(algorithm), file: "chains.yaml")
    var inputs = try scenario.inputs()
    inputs.compute = compute
    let alone = Self.play(inputs)
    #expect(alone.version == 150)
    let plan = inputs
    let found = ThreadRanks.run(2) { ranks in
      var inputs = plan
      inputs.pool = WorkerPool(threads: 2, ranks: ranks)
      return Self.play(inputs)
    }
    #expect(found == [alone, alone])
  }
}
