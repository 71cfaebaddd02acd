import Foundation
import Learning
import Numerics
import Schema
import Synchronization
import Testing

@Suite("A sum formed while its trainings are computed")
struct StreamedSumTests {
  // 64·97 + 97 + 97·5 + 5 parameters: four blocks of 2,048, the last one ragged.
  private let network = Network.multilayerPerceptron(
    inputCount: 64, hidden: [97], classCount: 5)

  private func trainings(
    _ count: Int, learningRate: Double = 0.1,
    by algorithm: (Int) -> any LocalAlgorithm = { _ in FedAvgLocal(NoSettings()) }
  ) -> [DeferredTraining] {
    let dataset = byteDataset(count: 300, size: 64)
    let start = network.initialParameters(testStream(3))
    let key = StreamKey(seed: 1, purpose: "batches")
    let plan = TrainingPlan(epochs: 1, batchSize: 5, learningRate: learningRate)
    var trainings: [DeferredTraining] = []
    for number in 0..<count {
      let shard: [Int32] = (0..<12).map { Int32(number * 12 + $0) }
      let local = LocalTraining(
        network: network, dataset: dataset, shard: shard, plan: plan,
        order: .keyed(key, firstSlot: UInt64(number)))
      trainings.append(
        DeferredTraining(
          local, by: algorithm(number), batches: 0..<3, from: .parameters(start),
          validation: number % 2 == 0 ? [1, 2, 3] : [], kernels: .best))
    }
    return trainings
  }

  private func base(_ number: Int) -> ParameterBuffer {
    network.initialParameters(testStream(UInt64(50 + number)))
  }

  @Test(
    "it has the bits of training first and adding then, whatever the threads and groups",
    arguments: [1, 2, 3, 8], [1, 60_000, 1 << 30])
  func bits(threads: Int, groupBytes: Int) throws {
    let pool = WorkerPool(threads: threads)
    for count in [1, 2, 7, 23] {
      let weights = (0..<count).map { 1 / Double($0 + 3) }
      let values = trainings(count).map { $0.value(Scratch()) }
      let weighted = Aggregation.weights(
        zip(values, weights).map { .init($0.parameters, weight: $1) }, kernels: .best, pool: pool)
      let moved = Aggregation.deltas(
        (0..<count).map { .init(values[$0].parameters, base: base($0), weight: weights[$0]) },
        now: ParameterBuffer(count: network.layout.count) { _ in }, rate: 1, kernels: .best,
        pool: pool)
      for (expected, hasBases) in [(weighted, false), (moved, true)] {
        let fresh = trainings(count)
        for training in fresh.prefix(count / 3) { _ = training.value(Scratch()) }
        let terms = (0..<count).map {
          StreamedSum.Term(fresh[$0], weight: weights[$0], base: hasBases ? base($0) : nil)
        }
        let sum = try #require(
          StreamedSum(
            terms, count: network.layout.count, kernels: .best, pool: pool,
            groupBytes: groupBytes))
        #expect(firstDifference(sum.parameters, expected) == nil)
        #expect(sum.scores.map(\.lossSum) == values.map(\.lossSum))
        #expect(sum.scores.map(\.validation) == values.map(\.validation))
      }
    }
  }

  @Test(
    "of several ranks each has the bits of one, whatever the groups and who trains",
    arguments: [1, 2, 3, 5], [1, 60_000, 1 << 30])
  func ranks(count ranks: Int, groupBytes: Int) throws {
    for (count, threads) in [(1, 1), (7, 2), (23, 1)] {
      let weights = (0..<count).map { 1 / Double($0 + 3) }
      let first = Aggregation.Term(base(9), weight: 0.25)
      for hasBases in [false, true] {
        @Sendable func terms() -> [StreamedSum.Term] {
          let fresh = trainings(count)
          return (0..<count).map {
            StreamedSum.Term(fresh[$0], weight: weights[$0], base: hasBases ? base($0) : nil)
          }
        }
        let expected = try #require(
          StreamedSum(
            terms(), first: hasBases ? nil : first, count: network.layout.count, kernels: .best,
            pool: WorkerPool(threads: 1)))
        let sums = ThreadRanks.run(ranks) { own in
          let mine = terms()
          // Some were begun before the sum.
          for training in mine.prefix(count / 3) { _ = training.training.value(Scratch()) }
          return StreamedSum(
            mine, by: (0..<count).map { $0 * $0 % ranks }, first: hasBases ? nil : first,
            count: network.layout.count, kernels: .best,
            pool: WorkerPool(threads: threads, ranks: own), ranks: own, groupBytes: groupBytes)
        }
        #expect(sums.count == ranks)
        for sum in sums {
          let sum = try #require(sum)
          #expect(firstDifference(sum.parameters, expected.parameters) == nil)
          #expect(sum.scores.map(\.lossSum) == expected.scores.map(\.lossSum))
          #expect(sum.scores.map(\.validation) == expected.scores.map(\.validation))
        }
      }
    }
  }

  @Test("of several ranks none has a sum that is not finite")
  func ranksNotFinite() {
    let sums = ThreadRanks.run(3) { own in
      StreamedSum(
        trainings(4, learningRate: 1e30).map { .init($0, weight: 1e30, base: nil) },
        by: [0, 1, 2, 0], first: nil, count: network.layout.count, kernels: .best,
        pool: WorkerPool(threads: 1, ranks: own), ranks: own) == nil
    }
    #expect(sums == [true, true, true])
  }

  /// Local training that, where `Gate` says so, waits until others have run.
  private struct GatedLocal: LocalAlgorithm {
    static let name = "gated"
    static let summary = "Waits"
    typealias Settings = NoSettings
    private let plain = FedAvgLocal(NoSettings())
    private let gate: Gate?
    private let isWaiting: Bool

    init(_ settings: NoSettings) { (gate, isWaiting) = (nil, false) }
    init(_ gate: Gate, isWaiting: Bool) { (self.gate, self.isWaiting) = (gate, isWaiting) }

    func run(
      _ training: LocalTraining, _ batches: Range<Int>, from memory: DeviceMemory,
      lossSum: Double, kernels: Kernels, scratch: Scratch
    ) -> TrainingOutcome {
      if isWaiting { gate?.wait() }
      defer { if !isWaiting { gate?.pass() } }
      return plain.run(
        training, batches, from: memory, lossSum: lossSum, kernels: kernels, scratch: scratch)
    }
  }

  /// Opens when this many have passed; a thread that waits too long gives up, and that is seen.
  private final class Gate: Sendable {
    private let begun = DispatchSemaphore(value: 0)
    private let opened = DispatchSemaphore(value: 0)
    private let state: Mutex<(left: Int, gaveUp: Bool)>

    init(_ count: Int) { state = Mutex((count, false)) }

    func pass() {
      let opens = state.withLock { state in
        state.left -= 1
        return state.left == 0
      }
      if opens { opened.signal() }
    }

    func wait() {
      begun.signal()
      guard opened.wait(timeout: .now() + 60) == .timedOut else { return }
      state.withLock { $0.gaveUp = true }
    }

    /// Until somebody waits.
    func waitForWaiter() { begun.wait() }

    var gaveUp: Bool { state.withLock { $0.gaveUp } }
  }

  @Test(
    "nobody waits for a training that another thread has begun while there are others to do",
    arguments: [1, 2, 3], [1, 1 << 30])
  func begun(threads: Int, groupBytes: Int) throws {
    let pool = WorkerPool(threads: threads)
    let count = network.layout.count
    let weights = (0..<23).map { 1 / Double($0 + 3) }
    let expected = Aggregation.weights(
      zip(trainings(23), weights).map {
        .init($0.value(Scratch()).parameters, weight: $1)
      }, kernels: .best, pool: pool)
    // A separate thread is at the first training, and continues with it only when all others are
    // done that need no sum before them: the rest of the first group, of one training a thread or
    // of all, and the second group.
    let others = groupBytes == 1 ? 2 * threads - 1 : 22
    let gate = Gate(others)
    let fresh = trainings(23) { GatedLocal(gate, isWaiting: $0 == 0) }
    let thread = Thread { fresh[0].computeUnlessBusy(Scratch()) }
    thread.start()
    gate.waitForWaiter()
    let terms = zip(fresh, weights).map { StreamedSum.Term($0, weight: $1, base: nil) }
    let sum = try #require(
      StreamedSum(terms, count: count, kernels: .best, pool: pool, groupBytes: groupBytes))
    #expect(!gate.gaveUp, "the sum waited for the first training, with \(others) others to do")
    #expect(firstDifference(sum.parameters, expected) == nil)
    #expect(fresh[0].isComputed && !fresh[1].isComputed, "the other thread's value was taken")
  }

  @Test("a training that leaves numbers that are not finite gives no sum")
  func notFinite() {
    let pool = WorkerPool(threads: 2)
    let count = network.layout.count
    let broken = trainings(1, learningRate: 1e38)
    #expect(!broken[0].value(Scratch()).parameters.isFinite)
    for place in 0...4 {
      var all = trainings(4)
      all.insert(broken[0], at: place)
      let terms = all.map { StreamedSum.Term($0, weight: 0.2, base: nil) }
      #expect(StreamedSum(terms, count: count, kernels: .best, pool: pool) == nil)
    }
  }

  @Test("it keeps no training's value, and what a value was, it is when computed again")
  func keepsNothing() throws {
    let pool = WorkerPool(threads: 1)
    let training = trainings(1)[0]
    let terms = [1.0, 1.0].map { StreamedSum.Term(training, weight: $0 / 2, base: nil) }
    let sum = try #require(
      StreamedSum(terms, count: network.layout.count, kernels: .best, pool: pool))
    #expect(!training.isComputed)
    #expect(firstDifference(sum.parameters, training.value(Scratch()).parameters) == nil)
    #expect(training.isComputed)
  }

  @Test("wanted trainings are computed by other threads alone, and not when they are forgotten")
  func wanted() {
    let alone = WantedTrainings()
    let first = trainings(1)[0]
    #expect(alone.add(first, pool: WorkerPool(threads: 1)) == nil)
    #expect(!first.isComputed)

    let pool = WorkerPool(threads: 2)
    let list = WantedTrainings()
    let all = trainings(9)
    let tickets = all.compactMap { list.add($0, pool: pool) }
    #expect(!tickets.isEmpty)
    for ticket in tickets { pool.wait(ticket) }
    #expect(all.allSatisfy { $0.isComputed })
    list.forget()
  }
}
