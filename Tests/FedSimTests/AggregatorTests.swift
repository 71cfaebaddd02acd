import FedSim
import Learning
import Schema
import Testing

extension Array where Element == Float {
  /// One of the rows of equal length that this is made of.
  func row(_ number: Int, of count: Int) -> [Float] {
    Array(self[(number * count)..<((number + 1) * count)])
  }
}

/// Some of the seven updates of `PolicyNumbers.swift`.
func numbered(
  _ count: Int = 7, payload: Payload = .weights, threads: Int = 1, order: [Int]? = nil,
  staleness: StalenessRule? = nil
) -> AggregationBatch {
  AggregationBatch(
    updates: (order ?? Array(0..<count)).enumerated().map { device, place in
      AggregatedUpdate(
        device: device, samples: policySamples[place], staleness: place,
        parameters: ParameterBuffer(policyUpdates.row(place, of: 13)),
        base: ParameterBuffer(policyBases.row(place, of: 13)), baseLoss: policyLosses[place])
    }, payload: payload, current: ParameterBuffer(policyStart), staleness: staleness,
    pool: WorkerPool(threads: threads))
}

/// One update a number, of one parameter.
private func single(
  _ values: [Float], payload: Payload = .weights, samples: [Int]? = nil
) -> AggregationBatch {
  AggregationBatch(
    updates: values.indices.map { place in
      AggregatedUpdate(
        device: place, samples: samples?[place] ?? 1, staleness: 0,
        parameters: ParameterBuffer([values[place]]), base: ParameterBuffer([0]), baseLoss: 1)
    }, payload: payload, current: ParameterBuffer([0]), pool: WorkerPool(threads: 1))
}

/// Each aggregator, with settings under which it does something.
private let all: [(name: String, part: any Aggregator)] = [
  ("samples", make(SampleWeightedMean.self)), ("uniform", make(UniformMean.self)),
  ("median", make(CoordinateMedian.self)),
  ("trimmed", make(CoordinateTrimmedMean.self) { $0.share = 0.3 }),
  ("untrimmed", make(CoordinateTrimmedMean.self) { $0.share = 0 }),
  ("krum", make(Krum.self)), ("multi-krum", make(MultiKrum.self)), ("bulyan", make(Bulyan.self)),
  ("geometric", make(GeometricMedian.self)),
  ("bounded", make(NormBoundedMean.self) { $0.maximum = 2 }),
  ("fair", make(FairAggregator.self)), ("agnostic", make(AgnosticAggregator.self)),
]

private func close(_ found: ParameterBuffer, _ expected: [Double], within: Double = 1e-6) -> Bool {
  found.count == expected.count
    && expected.indices.allSatisfy {
      (Double(found[$0]) - expected[$0]).magnitude <= within * max(1, expected[$0].magnitude)
    }
}

private func numbers(_ name: String) -> [Double] {
  aggregateNumbers.first { $0.name == name }!.values
}

@Suite("Aggregators compared with other programs")
struct AggregatorNumberTests {
  private static let cases: [(name: String, part: any Aggregator, count: Int, payload: Payload)] = [
    ("median of seven", make(CoordinateMedian.self), 7, .weights),
    ("median of six", make(CoordinateMedian.self), 6, .weights),
    ("median of differences", make(CoordinateMedian.self), 7, .delta),
    ("trimmed 0.2 of seven", make(CoordinateTrimmedMean.self) { $0.share = 0.2 }, 7, .weights),
    ("trimmed 0.4 of seven", make(CoordinateTrimmedMean.self) { $0.share = 0.4 }, 7, .weights),
    ("trimmed 0.34 of six", make(CoordinateTrimmedMean.self) { $0.share = 0.34 }, 6, .weights),
    ("krum 0", make(Krum.self) { $0.byzantine = 0 }, 7, .weights),
    ("krum 1", make(Krum.self), 7, .weights),
    ("krum 2", make(Krum.self) { $0.byzantine = 2 }, 7, .weights),
    ("krum 1 of differences", make(Krum.self), 7, .delta),
    ("multi-krum 1 keep 3", make(MultiKrum.self) { $0.keep = 3 }, 7, .weights),
    (
      "multi-krum 2 keep 5", make(MultiKrum.self) { ($0.byzantine, $0.keep) = (2, 5) }, 7, .weights
    ),
    ("bulyan 0", make(Bulyan.self) { $0.byzantine = 0 }, 7, .weights),
    ("bulyan 1", make(Bulyan.self), 7, .weights),
    ("rfa 3 by samples", make(GeometricMedian.self) { $0.iterations = 3 }, 7, .weights),
    ("bounded 2", make(NormBoundedMean.self) { $0.maximum = 2 }, 7, .delta),
    ("bounded 1000", make(NormBoundedMean.self) { $0.maximum = 1000 }, 7, .delta),
    ("q-ffl 0", make(FairAggregator.self) { $0.q = 0 }, 7, .delta),
    ("q-ffl 1", make(FairAggregator.self), 7, .delta),
    ("q-ffl 2.5", make(FairAggregator.self) { ($0.q, $0.lipschitz) = (2.5, 4) }, 7, .delta),
  ]

  @Test("Flower, SciPy and NumPy find the same", arguments: cases.indices)
  func same(index: Int) {
    let one = Self.cases[index]
    let found = one.part.combine(numbered(one.count, payload: one.payload))
    #expect(close(found, numbers(one.name)), "\(one.name): \(found.values)")
  }

  @Test("The geometric median ends at the minimum that SciPy finds, whatever the payload")
  func minimum() {
    for (weights, name) in [
      (UpdateWeights.uniform, "geometric median"), (.samples, "geometric median by samples"),
    ] {
      let part = make(GeometricMedian.self) {
        ($0.weights, $0.iterations, $0.tolerance, $0.smoothing) = (weights, 2_000, 0, 1e-12)
      }
      let found = part.combine(numbered())
      #expect(close(found, numbers(name), within: 2e-6), "\(name): \(found.values)")
    }
    // Fewer steps are further away: the test can fail.
    let few = make(GeometricMedian.self) { ($0.weights, $0.iterations) = (.uniform, 1) }
    #expect(!close(few.combine(numbered()), numbers("geometric median"), within: 1e-3))
  }

  @Test("Weights that are bounded are bases and the bounded differences")
  func boundedWeights() {
    let part = make(NormBoundedMean.self) { $0.maximum = 2 }
    let found = part.combine(numbered(payload: .weights))
    let bounded = numbers("bounded 2")
    let expected = (0..<13).map { (place: Int) -> Double in
      var base = 0.0
      for update in 0..<7 { base += Double(policyBases[update * 13 + place]) }
      return bounded[place] + base / 7
    }
    #expect(close(found, expected))
  }

  @Test("A fair step on weights begins at the model of now")
  func fairWeights() {
    let found = make(FairAggregator.self).combine(numbered(payload: .weights))
    let step = numbers("q-ffl 1")
    #expect(close(found, (0..<13).map { Double(policyStart[$0]) + step[$0] }))
  }
}

@Suite("Limits of aggregators")
struct AggregatorLimitTests {
  @Test("A trimmed mean of nothing, a wide bound and q = 0 are the uniform mean, bit for bit")
  func uniform() {
    for payload in Payload.allCases {
      let expected = make(UniformMean.self).combine(numbered(payload: payload)).values
      let untrimmed = make(CoordinateTrimmedMean.self) { $0.share = 0 }
      #expect(untrimmed.combine(numbered(payload: payload)).values == expected)
      // 0.14 of seven is less than one.
      let hardly = make(CoordinateTrimmedMean.self) { $0.share = 0.14 }
      #expect(hardly.combine(numbered(payload: payload)).values == expected)
      let wide = make(NormBoundedMean.self) { $0.maximum = 1e6 }
      #expect(wide.combine(numbered(payload: payload)).values == expected)
    }
    let expected = make(UniformMean.self).combine(numbered(payload: .delta)).values
    let fair = make(FairAggregator.self) { $0.q = 0 }
    #expect(fair.combine(numbered(payload: .delta)).values == expected)
  }

  @Test("Losses of the devices decide, each its own: q makes the highest count most")
  func fairness() {
    // Differences of 1 and −1 with losses 4 and 1, q = 1, L = 1: h = 1 + 4 and 1 + 1, so that the
    // step is (4 − 1) / 7.
    let part = make(FairAggregator.self) { $0.lipschitz = 1 }
    let batch = AggregationBatch(
      updates: [(Float(1), 4.0), (-1, 1)].enumerated().map { place, pair in
        AggregatedUpdate(
          device: place, samples: 1, staleness: 0, parameters: ParameterBuffer([pair.0]),
          base: ParameterBuffer([0]), baseLoss: pair.1)
      }, payload: .delta, current: ParameterBuffer([0]), pool: WorkerPool(threads: 1))
    #expect(close(part.combine(batch), [3.0 / 7], within: 1e-7))
  }

  @Test("Medians of even counts are the mean of the two in the middle")
  func even() {
    #expect(make(CoordinateMedian.self).combine(single([9, 1, 4, 2])).values == [3])
    #expect(make(CoordinateMedian.self).combine(single([9, 1, 4])).values == [4])
    #expect(make(CoordinateMedian.self).combine(single([5])).values == [5])
  }

  @Test("Of equal scores Krum takes the update with the lowest number")
  func ties() {
    // All neighbours are 1 apart; then two pairs of which the second is nearer.
    #expect(make(Krum.self) { $0.byzantine = 0 }.combine(single([1, 2, 3])).values == [1])
    #expect(make(Krum.self).combine(single([0, 4, 10, 11])).values == [10])
    // n − f − 2 is below one: the nearest one counts, and alone there is none.
    #expect(make(Krum.self) { $0.byzantine = 9 }.combine(single([3, 0, 1])).values == [0])
    #expect(make(Krum.self).combine(single([7])).values == [7])
    // Scores of one neighbour: 16, 1, 1, 1, 36; the three of lowest score are 4, 5 and 6.
    let multi = make(MultiKrum.self) { ($0.byzantine, $0.keep) = (2, 3) }
    #expect(multi.combine(single([0, 4, 5, 6, 12])).values == [5])
    #expect(make(MultiKrum.self) { $0.keep = 9 }.combine(single([1, 3])).values == [2])
  }

  @Test("Of two values equally near to the median Bulyan takes the lower one")
  func bulyanTie() {
    // f = 1 of seven: Krum chooses five, of which the three nearest to the median are averaged.
    // f = 0 keeps all; with one update there is nothing to choose.
    let values: [Float] = [0, 1, 2, 3, 4, 100, -100]
    #expect(make(Bulyan.self).combine(single(values)).values == [2])
    #expect(make(Bulyan.self) { $0.byzantine = 0 }.combine(single([1, 2, 6])).values == [3])
    #expect(make(Bulyan.self).combine(single([5])).values == [5])
    // Four of f = 1: θ = 2 of them, and one value: 2 and 3 are as far from 2.5.
    #expect(make(Bulyan.self).combine(single([2, 3, 50, -60])).values == [2])
  }

  @Test("Liars move no robust aggregator far, and the means any distance")
  func liars() {
    let lies: [Float] = [1, 1.5, 2, 2.5, 3, 1e6, 1e6]
    for (name, part) in all {
      var part = part
      switch name {
      case "krum": part = make(Krum.self) { $0.byzantine = 2 }
      case "multi-krum": part = make(MultiKrum.self) { $0.byzantine = 2 }
      case "geometric": part = make(GeometricMedian.self) { $0.iterations = 200 }
      // It is no mean of updates: a long one makes the step of all shorter.
      case "fair": continue
      default: break
      }
      // Bulyan's f = 1 tolerates one adversary of seven.
      let values = part is Bulyan ? Array(lies.dropLast()) + [2] : lies
      let found = part.combine(single(values))[0]
      let isRobust = !["samples", "uniform", "untrimmed", "agnostic"].contains(name)
      #expect((found < 4) == isRobust, "\(name): \(found)")
    }
  }
}

@Suite("Every aggregator")
struct EveryAggregatorTests {
  @Test("gives the same bits on 1, 2 and 3 threads, and as it was", arguments: all.indices)
  func threads(index: Int) {
    for payload in Payload.allCases {
      let expected = all[index].part.combine(numbered(payload: payload)).values
      for threads in 1...3 {
        let found = all[index].part.combine(numbered(payload: payload, threads: threads))
        #expect(found.values.map(\.bitPattern) == expected.map(\.bitPattern))
      }
    }
  }

  @Test("of equal updates gives that update", arguments: all.indices)
  func equal(index: Int) {
    let found = all[index].part.combine(single([0.75, 0.75, 0.75, 0.75], payload: .weights))[0]
    // q-FedAvg divides by more than the sum of the weights, and a bound of 2 is not reached.
    if all[index].name == "fair" {
      // h = 10·0.75² + 1 for each, the step 0.75 / 6.625.
      #expect((found - 0.75 / 6.625).magnitude < 1e-7)
    } else {
      #expect(found == 0.75)
    }
  }

  @Test("makes no number that is not finite of finite ones", arguments: all.indices)
  func finite(index: Int) {
    let most = Float.greatestFiniteMagnitude
    for values in [
      [0], [0, 0], [most, most, most], [most, 0, 0], [.leastNonzeroMagnitude, 0, 0, 0],
      [-most, 1, 2],
    ] {
      let floats = values.map { Float($0) }
      let found = all[index].part.combine(single(floats))
      #expect(found.isFinite, "\(all[index].name) of \(values): \(found.values)")
    }
  }

  @Test("takes updates without samples for equals where none has any", arguments: all.indices)
  func weightless(index: Int) {
    let found = all[index].part.combine(single([1, 2, 3], samples: [0, 0, 0]))
    let equal = all[index].part.combine(single([1, 2, 3], samples: [1, 1, 1]))
    #expect(found.values == equal.values)
    #expect(all[index].part.combine(single([1, 2, 3], samples: [0, 0, 5])).isFinite)
  }

  @Test("of sorted values does not depend on the order of the updates")
  func order() {
    for name in ["median", "trimmed"] {
      let part = all.first { $0.name == name }!.part
      for payload in Payload.allCases {
        let expected = part.combine(numbered(payload: payload))
        let turned = part.combine(numbered(payload: payload, order: [6, 2, 0, 5, 1, 4, 3]))
        #expect(turned.values == expected.values)
      }
    }
  }
}
