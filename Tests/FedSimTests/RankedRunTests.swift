import FedSim
import Learning
import Numerics
import Schema
import Testing

@Suite("Runs that several ranks play together")
struct RankedRunTests {
  /// What a run has produced.
  private struct Outcome: Equatable {
    var events: UInt64
    var model: UInt64
    var versions: [String]

    init(_ inputs: SimulationInputs, threads: Int = 1, ranks: (any Ranks)? = nil) {
      var inputs = inputs
      inputs.pool = WorkerPool(threads: threads, ranks: ranks)
      let log = VersionLog()
      var simulation = Simulation(inputs)
      simulation.run(observers: [log])
      var digest = Digest()
      simulation.model.combine(into: &digest)
      (events, model) = (simulation.eventDigest.value, digest.value)
      versions = log.versions.map { "\($0)" }
    }
  }

  private final class VersionLog: Observer {
    var versions: [VersionRecord] = []
    func published(_ record: VersionRecord, _ simulation: borrowing Simulation) {
      versions.append(record)
    }
  }

  @Test(
    "random worlds have the same bits on one rank and on several",
    arguments: 0..<48 as Range<UInt64>)
  func worlds(seed: UInt64) {
    var world = RandomWorld(seed: seed)
    var inputs = world.scene().inputs
    if seed % 3 == 0 { inputs.compute = .eager }
    // Trainings are computed before they are asked for.
    if seed % 4 == 0 { inputs.retainedBytes = 1 }
    let alone = Outcome(inputs)
    let (count, threads) = (2 + Int(seed % 3), 1 + Int(seed % 2))
    let plan = inputs
    for other in ThreadRanks.run(count, { Outcome(plan, threads: threads, ranks: $0) }) {
      #expect(other == alone, "seed \(seed), \(count) ranks of \(threads) threads")
    }
  }

  @Test(
    "a saved run continues on another number of ranks, to the same bits",
    arguments: 0..<12 as Range<UInt64>)
  func resumes(seed: UInt64) throws {
    var world = RandomWorld(seed: seed)
    let inputs = world.scene().inputs
    let alone = Outcome(inputs)
    @Sendable func saved(_ ranks: any Ranks) -> [UInt8]? {
      struct Stop: Error {}
      var inputs = inputs
      inputs.pool = WorkerPool(threads: 1, ranks: ranks)
      var simulation = Simulation(inputs)
      var bytes: [UInt8]?
      try? simulation.run(every: 64) { simulation throws(Stop) in
        guard simulation.turns >= 640 else { return }
        bytes = try? simulation.archive()
        throw Stop()
      }
      return bytes
    }
    let archives = ThreadRanks.run(2) { saved($0) }
    guard let bytes = archives[0] else { return }  // It was over before.
    let ends = ThreadRanks.run(3) { ranks -> [UInt64] in
      var inputs = inputs
      inputs.pool = WorkerPool(threads: 1, ranks: ranks)
      guard var simulation = try? Simulation(inputs, archive: bytes) else { return [] }
      simulation.run()
      var digest = Digest()
      simulation.model.combine(into: &digest)
      return [simulation.eventDigest.value, digest.value]
    }
    for end in ends { #expect(end == [alone.events, alone.model], "seed \(seed)") }
  }

  @Test("a training goes to the rank with the fewest batches, or to that of the one before it")
  func deals() {
    // Batches by rank after each: 3 0, 3 1, 3 3, 4 3, 4 8; the last one goes where the one before
    // it is, and not where the fewest are.
    let dealt = ThreadRanks.run(2) { ranks in
      var division = Division(ranks)
      var all = [3, 1, 2, 1, 5].map { Self.training($0) }
      all.append(Self.training(9, after: all[1]))
      for training in all { division.deal(training) }
      return all.map(\.trainer)
    }
    let expected: [DeferredTraining.Trainer] = [0, 1, 1, 0, 1, 1].map { .rank($0) }
    #expect(dealt == [expected, expected])
  }

  /// A training of `batches` batches of four samples, which begins with zeros or an earlier one.
  private static func training(
    _ batches: Int, after earlier: DeferredTraining? = nil
  ) -> DeferredTraining {
    let network = Network.multilayerPerceptron(inputCount: 4, hidden: [], classCount: 2)
    let dataset = Dataset(
      features: .floats(Array(repeating: 0, count: 16)), sampleShape: [4],
      labels: [0, 1, 0, 1], classCount: 2)
    let local = LocalTraining(
      network: network, dataset: dataset, shard: [0, 1, 2, 3],
      plan: TrainingPlan(epochs: 10, batchSize: 4, learningRate: 0.1),
      order: .keyed(StreamKey(seed: 1, purpose: "batches"), firstSlot: 0))
    let start = ParameterBuffer(count: network.layout.count) { _ in }
    return DeferredTraining(
      local, by: FedAvgLocal(NoSettings()), batches: 0..<batches,
      from: earlier.map { .checkpoint($0) } ?? .parameters(start), validation: [],
      kernels: .best)
  }
}
