// Times a mean of many updates compared with a plain pass over the same memory.
//
//   fedsim-aggregate [--updates 1000] [--parameters 200000] [--threads 2] [--repetitions 9] [--most 1.3]
//
// The updates are there already. `streamed` is what a run does with a mean: groups of updates, summed while the next
// group is trained (here at no cost); `whole` what it does where all updates are there at once. Both are timed in
// turns with a pass that only reads; the median of the ratios is printed, and the exit code is 1 if one of them
// is above --most. Then every aggregator that needs all updates at once is timed with the first hundred of them.
import FedSim
import Foundation
import Learning
import Schema

/// A training that costs nothing: it gives what it starts from.
struct Ready: LocalAlgorithm {
  static let name = "ready"
  static let summary = "Gives what it starts from"
  typealias Settings = NoSettings
  init(_ settings: NoSettings) {}

  func run(
    _ training: LocalTraining, _ batches: Range<Int>, from memory: DeviceMemory, lossSum: Double,
    kernels: Kernels, scratch: Scratch
  ) -> TrainingOutcome {
    training.run(0..<0, from: memory, kernels: kernels, scratch: scratch)
  }
}

func seconds(_ work: () -> Void) -> Double {
  let time = ContinuousClock().measure(work).components
  return Double(time.seconds) + Double(time.attoseconds) * 1e-18
}

/// Reads every word of some buffers, on all threads.
func pass(_ updates: [ParameterBuffer], _ pool: WorkerPool) -> UInt32 {
  let sums = pool.map(updates.count) { index, _ in
    updates[index].withUnsafeBufferPointer { floats -> UInt32 in
      typealias Words = SIMD16<UInt32>
      var (a, b) = (Words.zero, Words.zero)
      let bytes = UnsafeRawBufferPointer(floats)
      for at in stride(from: 0, to: bytes.count - 127, by: 128) {
        a &+= bytes.loadUnaligned(fromByteOffset: at, as: Words.self)
        b &+= bytes.loadUnaligned(fromByteOffset: at + 64, as: Words.self)
      }
      return (a &+ b).wrappedSum()
    }
  }
  return sums.reduce(0, &+)
}

var values = [
  "--updates": 1000.0, "--parameters": 200_000, "--threads": 2, "--repetitions": 9, "--most": 1.3,
]
var arguments = CommandLine.arguments.dropFirst()
while let argument = arguments.popFirst() {
  guard values[argument] != nil, let value = arguments.popFirst().flatMap(Double.init), value > 0
  else {
    FileHandle.standardError.write(Data("not understood: \(argument)\n".utf8))
    exit(2)
  }
  values[argument] = value
}
let (count, size) = (Int(values["--updates"]!), Int(values["--parameters"]!))
let pool = WorkerPool(threads: Int(values["--threads"]!))
let kernels = Kernels.best
let network = Network.softmaxRegression(inputCount: size - 1, classCount: 1)
let dataset = Dataset(
  features: .floats([Float](repeating: 0, count: size - 1)), sampleShape: [size - 1], labels: [0],
  classCount: 1)
let updates = (0..<count).map { update in
  ParameterBuffer(count: size) { target in
    for i in 0..<target.count { target[i] = Float((update * 31 + i * 7) % 1013 - 506) / 512 }
  }
}
let weight = 1 / Double(count)
let terms = updates.map { Aggregation.Term($0, weight: weight) }
let streamed = updates.map { update in
  let local = LocalTraining(
    network: network, dataset: dataset, shard: [0],
    plan: TrainingPlan(epochs: 1, batchSize: 1, learningRate: 0.1), order: .explicit([[0]]))
  return StreamedSum.Term(
    DeferredTraining(
      local, by: Ready(NoSettings()), batches: 0..<1, from: .parameters(update), validation: [],
      kernels: kernels), weight: weight, base: nil)
}

var (reads, wholes, streams): ([Double], [Double], [Double]) = ([], [], [])
var word: UInt32 = 0
var sums: [ParameterBuffer] = []
for _ in 0...Int(values["--repetitions"]!) {
  sums = []
  reads.append(seconds { word &+= pass(updates, pool) })
  wholes.append(seconds { sums.append(Aggregation.weights(terms, kernels: kernels, pool: pool)) })
  streams.append(
    seconds {
      sums.append(StreamedSum(streamed, count: size, kernels: kernels, pool: pool)!.parameters)
    })
}
guard sums[0].values == sums[1].values else { fatalError("the sums differ") }
func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
/// The first turn warms up.
@MainActor func told(_ name: String, _ times: [Double]) -> Double {
  let ratio = median(zip(times, reads).dropFirst().map { $0 / $1 })
  let time = median(Array(times.dropFirst()))
  let rate = Double(count * size * 4) / time / 1e9
  print(
    String(
      format: "%@ %.1f ms, %.1f GB/s, ratio %.3f",
      name.padding(
        toLength: 10, withPad: " ", startingAt: 0), time * 1e3, rate, ratio))
  return ratio
}
print("\(count) updates of \(size) parameters, \(pool.threads) threads (\(word & 1))")
_ = told("plain pass", reads)
let ratios = [told("whole", wholes), told("streamed", streams)]

let hundred = AggregationBatch(
  updates: updates.prefix(100).enumerated().map { place, update in
    AggregatedUpdate(
      device: place, samples: 1, staleness: 0, parameters: update, base: updates[count - 1],
      baseLoss: 1)
  }, payload: .delta, current: updates[0], pool: pool)
for (name, part) in [
  ("median", CoordinateMedian(NoSettings())), ("trimmed-mean", CoordinateTrimmedMean(.init())),
  ("krum", Krum(.init())), ("multi-krum", MultiKrum(.init())), ("bulyan", Bulyan(.init())),
  ("geometric-median", GeometricMedian(.init())),
  ("norm-bounded-mean", NormBoundedMean(.init())), ("q-ffl", FairAggregator(.init())),
  ("agnostic", AgnosticAggregator(.init())),
] as [(String, any Aggregator)] {
  let times = (0..<3).map { _ in
    var memory = part.freshMemory()
    return seconds { _ = part.combine(hundred, with: &memory) }
  }
  let word = name.padding(toLength: 18, withPad: " ", startingAt: 0)
  print(
    "\(hundred.updates.count) updates, \(word)" + String(format: "%.1f ms", median(times) * 1e3))
}
exit(ratios.allSatisfy { $0 <= values["--most"]! } ? 0 : 1)
