import Foundation
import Learning
import Schema
import Testing

@Suite("Values of updates, side by side")
struct UpdateValuesTests {
  /// Updates of 13 parameters: one block of eight lanes and a rest.
  private func buffers(_ updates: Int, count: Int = 13, seed: UInt64 = 7) -> [ParameterBuffer] {
    (0..<updates).map { update in
      var stream = testStream(seed + UInt64(update))
      return ParameterBuffer((0..<count).map { _ in Float(stream.uniform() - 0.5) })
    }
  }

  @Test("norms and distances sum blocks of 4,096 parameters, and then the blocks")
  func blocks() {
    // The first value is 2²⁷, all others are 1. Next to 2⁵⁴ a double takes steps of 4, so in the
    // first block the lane of the first value stays 2⁵⁴; the other seven lanes add up 512 ones
    // each, in the tree 3,584. The second block is 4,096, and the rest 8: 2⁵⁴ + 7,688.
    let count = 2 * 4_096 + 8
    let ones = [Float](repeating: 1, count: count)
    let values = ParameterBuffer([0x1p27] + ones.dropFirst())
    let zeros = ParameterBuffer([Float](repeating: 0, count: count))
    let expected = 0x1p54 + 7_688
    #expect(values.squaredNorm() == expected)
    #expect(values.squaredNorm(less: zeros) == expected)
    // A part of the first block without its first eight, a block, and three of the rest.
    #expect(values.squaredNorm(in: 8..<8_195) == 8_187)
    let pool = WorkerPool(threads: 2)
    #expect(UpdateValues([values]).squaredNorms(pool: pool) == [expected])
    let both = UpdateValues([values, zeros])
    #expect(both.squaredDistances(pool: pool) == [0, expected, expected, 0])
    let center = [Double](repeating: 0, count: count)
    #expect(both.squaredDistances(to: center, pool: pool) == [expected, 0])
    let update = OutgoingUpdate(
      parameters: values, base: zeros, tensors: [0..<count], stream: testStream(1))
    #expect(update.norm == expected.squareRoot())
  }

  @Test("norms and distances are those of pairs of values, with and without bases")
  func distances() {
    let pool = WorkerPool(threads: 2)
    // (3, 4) and (0, 8) from (0, 0) and (0, 2): (3, 4), (0, 6); the distance is √(9 + 4).
    let values = UpdateValues(
      [ParameterBuffer([3, 4]), ParameterBuffer([0, 8])],
      bases: [ParameterBuffer([0, 0]), ParameterBuffer([0, 2])])
    #expect(values.squaredNorms(pool: pool) == [25, 36])
    #expect(values.squaredDistances(pool: pool) == [0, 13, 13, 0])
    #expect(values.squaredDistances(to: [3, 6], pool: pool) == [4, 9])
    #expect(values.weightedSum([0.5, 0.25], pool: pool) == [1.5, 3.5])
    for count in [1, 7, 8, 9, 16, 3_001] {
      let (some, bases) = (buffers(3, count: count), buffers(3, count: count, seed: 70))
      let found = UpdateValues(some, bases: bases).squaredDistances(pool: pool)
      for (i, j) in [(0, 1), (0, 2), (1, 2)] {
        let expected = (0..<count).reduce(0.0) { sum, place in
          let a = Double(some[i][place]) - Double(bases[i][place])
          let b = Double(some[j][place]) - Double(bases[j][place])
          return sum + (a - b) * (a - b)
        }
        #expect((found[3 * i + j] - expected).magnitude <= 1e-12 * expected)
        #expect(found[3 * j + i] == found[3 * i + j])
      }
    }
  }

  @Test("means and deviations are those of each parameter, whatever the threads")
  func moments() {
    // 1, 2 and 6 have the mean 3, and squares of (4 + 1 + 9)/3; less a base of 1 that is 2.
    let three = [1, 2, 6].map { ParameterBuffer([Float($0)]) }
    let ones = three.map { _ in ParameterBuffer([1]) }
    for (bases, mean) in [([], 3.0), (ones, 2)] {
      let found = UpdateValues(three, bases: bases).moments(pool: WorkerPool(threads: 1))
      #expect(found.means == [mean])
      #expect((found.deviations[0] - (14.0 / 3).squareRoot()).magnitude < 1e-15)
    }
    for count in [8, 9, 5_003] {
      let some = buffers(4, count: count)
      let one = UpdateValues(some).moments(pool: WorkerPool(threads: 1))
      #expect((one.means.count, one.deviations.count) == (count, count))
      for place in 0..<count {
        let values = some.map { Double($0[place]) }
        let mean = values.reduce(0, +) / 4
        let square = values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / 4
        #expect((one.means[place] - mean).magnitude < 1e-14)
        #expect((one.deviations[place] - square.squareRoot()).magnitude < 1e-14)
      }
      let other = UpdateValues(some).moments(pool: WorkerPool(threads: 3))
      #expect((one.means, one.deviations) == (other.means, other.deviations))
    }
  }

  @Test("each lane is sorted, for any number of updates")
  func sorted() {
    let pool = WorkerPool(threads: 1)
    for updates in 1...40 {
      let some = buffers(updates, count: 21)
      for rank in [0, updates / 3, updates - 1] {
        let found = UpdateValues(some).sorted(pool: pool) { $0[rank] }
        for place in 0..<21 {
          #expect(found[place] == some.map { $0[place] }.sorted()[rank], "\(rank) of \(updates)")
        }
      }
    }
  }

  @Test("bits do not depend on threads, and of sorted values not on the order of the updates")
  func threads() {
    let some = buffers(9, count: 5_003)
    let weights = some.indices.map { 1 / Double($0 + 2) }
    let one = WorkerPool(threads: 1)
    let expected = UpdateValues(some).weightedSum(weights, pool: one)
    let norms = UpdateValues(some).squaredNorms(pool: one)
    let far = UpdateValues(some).squaredDistances(pool: one)
    let median = UpdateValues(some).sorted(pool: one) { $0[4] + $0[5] }
    let turned = UpdateValues(some.reversed()).sorted(pool: one) { $0[4] + $0[5] }
    #expect(turned.values == median.values)
    for threads in 2...3 {
      let pool = WorkerPool(threads: threads)
      #expect(UpdateValues(some).weightedSum(weights, pool: pool) == expected)
      #expect(UpdateValues(some).squaredNorms(pool: pool) == norms)
      #expect(UpdateValues(some).squaredDistances(pool: pool) == far)
      #expect(UpdateValues(some).sorted(pool: pool) { $0[4] + $0[5] }.values == median.values)
    }
  }

  @Test("what is rounded is finite, and no zero has a sign")
  func rounding() {
    #expect(ParameterBuffer.nearest(1e300) == .greatestFiniteMagnitude)
    #expect(ParameterBuffer.nearest(-.infinity) == -.greatestFiniteMagnitude)
    #expect(ParameterBuffer.nearest(-0.0).bitPattern == 0)
    #expect(ParameterBuffer(nearest: [0.1, -1e-60]).values.map(\.bitPattern) == [0x3dcc_cccd, 0])
    let zeros = UpdateValues([ParameterBuffer([0, -0]), ParameterBuffer([-0, -0])])
    let found = zeros.sorted(pool: WorkerPool(threads: 1)) { $0[0] }
    #expect(found.values.map(\.bitPattern) == [0, 0])
  }
}

/// Counts how many of its results live at once.
private final class Counting: LocalAlgorithm {
  static let name = "counting"
  static let summary = "Adds one, and counts"
  typealias Settings = NoSettings
  let living = Living()
  init(_ settings: NoSettings) {}

  final class Living: @unchecked Sendable {
    private struct Weak { weak var buffer: ParameterBuffer? }
    private let lock = NSLock()
    private var all: [Weak] = []
    private(set) var most = 0
    private(set) var added = 0
    func add(_ buffer: ParameterBuffer) {
      lock.withLock {
        added += 1
        all.removeAll { $0.buffer == nil }
        all.append(Weak(buffer: buffer))
        most = max(most, all.count)
      }
    }
  }

  func run(
    _ training: LocalTraining, _ batches: Range<Int>, from memory: DeviceMemory, lossSum: Double,
    kernels: Kernels, scratch: Scratch
  ) -> TrainingOutcome {
    let outcome = training.run(batches, from: memory, kernels: kernels, scratch: scratch)
    living.add(outcome.parameters)
    return outcome
  }
}

@Suite("A mean of updates that are computed on the way")
struct WindowTests {
  @Test(
    "holds a group for each thread and one more at most, however many updates there are",
    arguments: [1, 2, 3])
  func window(threads: Int) throws {
    let network = Network.softmaxRegression(inputCount: 64, classCount: 5)
    let algorithm = Counting(NoSettings())
    let start = ParameterBuffer(count: network.layout.count) { _ in }
    let dataset = byteDataset(count: 300, size: 64)
    let plan = TrainingPlan(epochs: 1, batchSize: 5, learningRate: 0.1)
    let terms = (0..<200).map { number in
      let local = LocalTraining(
        network: network, dataset: dataset, shard: [Int32(number)], plan: plan,
        order: .explicit([[0]]))
      return StreamedSum.Term(
        DeferredTraining(
          local, by: algorithm, batches: 0..<1, from: .parameters(start), validation: [],
          kernels: .best),
        weight: 1.0 / 200, base: nil)
    }
    // Groups of six models of 1,300 bytes.
    let sum = StreamedSum(
      terms, count: network.layout.count, kernels: .best, pool: WorkerPool(threads: threads),
      groupBytes: 6 * 1300)
    #expect(sum != nil)
    #expect(algorithm.living.added == 200)
    #expect(algorithm.living.most <= (threads + 1) * 6, "\(algorithm.living.most)")
  }

  @Test("begins with what is there already, with the bits of one sum")
  func first() throws {
    let network = Network.softmaxRegression(inputCount: 64, classCount: 5)
    let dataset = byteDataset(count: 300, size: 64)
    let start = network.initialParameters(testStream(3))
    let plan = TrainingPlan(epochs: 1, batchSize: 5, learningRate: 0.1)
    let trainings = (0..<7).map { number in
      DeferredTraining(
        LocalTraining(
          network: network, dataset: dataset, shard: [Int32(number), 20], plan: plan,
          order: .explicit([[0, 1]])),
        by: FedAvgLocal(NoSettings()), batches: 0..<1, from: .parameters(start), validation: [],
        kernels: .best)
    }
    let first = Aggregation.Term(network.initialParameters(testStream(4)), weight: 0.3)
    for threads in 1...3 {
      let pool = WorkerPool(threads: threads)
      let sum = try #require(
        StreamedSum(
          trainings.map { .init($0, weight: 0.1, base: nil) }, first: first,
          count: network.layout.count, kernels: .best, pool: pool, groupBytes: 3000))
      let expected = Aggregation.weights(
        [first] + trainings.map { .init($0.value(Scratch()).parameters, weight: 0.1) },
        kernels: .best, pool: pool)
      #expect(sum.parameters.values == expected.values)
    }
  }
}
