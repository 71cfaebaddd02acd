import FedSim
import Learning
import Schema
import Testing

private func make(
  _ rate: Double = 0.1, _ domains: AgnosticAggregator.Domain = .groups,
  _ weights: UpdateWeights = .samples
) -> AgnosticAggregator {
  var settings = AgnosticAggregator.Settings()
  (settings.rate, settings.domains, settings.weights) = (rate, domains, weights)
  return AgnosticAggregator(settings)
}

private let sizes = [3, 2, 4]

/// One of the four versions of `RobustNumbers.swift`.
private func version(_ number: Int, payload: Payload = .delta, threads: Int = 1)
  -> AggregationBatch
{
  let updates = domainVersions[number].map { device in
    let row = 9 * number + device
    return AggregatedUpdate(
      device: device, samples: domainSamples[device], staleness: 0,
      parameters: ParameterBuffer(domainModels.row(row, of: 13)),
      base: ParameterBuffer(domainBases.row(row, of: 13)), baseLoss: domainLosses[row])
  }
  return AggregationBatch(
    updates: updates, payload: payload, current: ParameterBuffer([Float](repeating: 0, count: 13)),
    groupSizes: sizes, pool: WorkerPool(threads: threads))
}

/// Updates of one parameter from 0, of these devices.
private func single(
  _ devices: [Int], _ values: [Float], losses: [Double], payload: Payload = .delta
) -> AggregationBatch {
  AggregationBatch(
    updates: zip(devices, zip(values, losses)).map { device, pair in
      AggregatedUpdate(
        device: device, samples: 1, staleness: 0, parameters: ParameterBuffer([pair.0]),
        base: ParameterBuffer([0]), baseLoss: pair.1)
    }, payload: payload, current: ParameterBuffer([7]), groupSizes: sizes,
    pool: WorkerPool(threads: 1))
}

@Suite("Agnostic aggregation")
struct AgnosticTests {
  @Test("The nearest points of a simplex are those that SciPy's roots give")
  func projections() {
    for known in simplexPoints {
      let found = AgnosticAggregator.projection(known.point, mass: known.mass)
      // Points far out have fewer digits behind the point.
      let share = 1e-12 * max(1, known.point.map(\.magnitude).max()!)
      #expect(zip(found, known.nearest).allSatisfy { ($0 - $1).magnitude <= share }, "\(found)")
      #expect(found.count == known.nearest.count)
      #expect((found.reduce(0, +) - known.mass).magnitude < 1e-12)
    }
    #expect(AgnosticAggregator.projection([1e38, 0, -1e38]) == [1, 0, 0])
    #expect(AgnosticAggregator.projection([]) == [])
  }

  @Test("Weights of domains and steps are NumPy's over four versions", arguments: 0..<4)
  func numbers(index: Int) {
    let known = domainCases[index]
    for threads in 1...3 {
      let part = make(known.rate, known.domains == "groups" ? .groups : .devices)
      var memory = make().makeMemory()
      let domains = known.mixtures.count / 4
      for turn in 0..<4 {
        let step = part.combine(version(turn, threads: threads), &memory)
        for i in 0..<13 {
          #expect((Double(step[i]) - known.steps[13 * turn + i]).magnitude < 1e-6)
        }
        #expect(memory.weights.count == domains)
        for (found, expected) in zip(
          memory.weights, known.mixtures[domains * turn..<domains * (turn + 1)])
        {
          #expect((found - expected).magnitude < 1e-12)
        }
      }
    }
  }

  @Test("With a rate of 0 it is the uniform mean over domains, bit for bit")
  func uniform() {
    for payload in Payload.allCases {
      var memory = make().makeMemory()
      for turn in 0..<4 {
        // Every device is a domain: each update counts the same.
        let batch = version(turn, payload: payload)
        let found = make(0, .devices).combine(batch, &memory)
        let mean = UniformMean(NoSettings()).combine(batch)
        #expect(found.values.map(\.bitPattern) == mean.values.map(\.bitPattern))
        #expect(memory.weights == [Double](repeating: 1 / 9, count: 9))
      }
    }
    // Groups: (1 + 3)/2 of the first, 8 of the second, 5 of the third.
    let batch = single([0, 2, 4, 6], [1, 3, 8, 5], losses: [1, 2, 3, 4])
    #expect(make(0).combine(batch).values == [5])
  }

  @Test("A fleet of one group is the mean of FedAvg, bit for bit, whatever the rate")
  func oneGroup() {
    var memory = make().makeMemory()
    for payload in Payload.allCases {
      for _ in 0..<3 {
        let batch = numbered(payload: payload)
        let found = make(5).combine(batch, &memory)
        let mean = SampleWeightedMean(NoSettings()).combine(batch)
        #expect(found.values.map(\.bitPattern) == mean.values.map(\.bitPattern))
      }
    }
    #expect(memory.weights == [1])
  }

  @Test("A loss counts from the next version on; who is not there keeps its weight")
  func byHand() {
    var memory = make().makeMemory()
    let part = make(0.5, .groups, .uniform)
    // λ = (⅓, ⅓, ⅓): the plain mean. Then the first two share ⅔: with ½·(1, 0) the difference of
    // theirs becomes ½: (7/12, 1/12).
    var step = part.combine(single([0, 3], [2, 4], losses: [1, 0]), &memory)
    #expect(step.values == [3])
    let expected = [7.0 / 12, 1.0 / 12, 1.0 / 3]
    #expect(zip(memory.weights, expected).allSatisfy { ($0 - $1).magnitude < 1e-15 })
    // 7/8 of 2 and 1/8 of 4 are 2.25. A loss 2 above the other's takes all: (2/3, 0).
    step = part.combine(single([0, 3], [2, 4], losses: [3, 1]), &memory)
    #expect((step[0] - 2.25).magnitude < 1e-6)
    #expect((memory.weights[0] - 2.0 / 3).magnitude < 1e-15)
    #expect((memory.weights[1], memory.weights[2]) == (0, 1.0 / 3))
    // The second alone has nothing to say; the model stays.
    let weightless = single([3, 4], [2, 4], losses: [3, 1])
    #expect(part.combine(weightless, &memory).values == [0])
    #expect(
      part.combine(single([3], [2], losses: [3], payload: .weights), &memory).values == [7])
    // With the third it comes back: ½·(4, 0) moves ⅓ to it.
    _ = part.combine(single([3, 8], [2, 4], losses: [4, 0]), &memory)
    #expect((memory.weights[1] - 1.0 / 3).magnitude < 1e-15)
    #expect(memory.weights[2] == 0)
  }

  @Test("Losses without end, or that are no numbers, take all weight and make none")
  func extremes() {
    for loss in [Double.infinity, .nan, 1e300] {
      var memory = make().makeMemory()
      let part = make(1000)
      #expect(part.combine(single([0, 3, 8], [1, 2, 3], losses: [1, loss, 2]), &memory)[0] == 2)
      #expect(memory.weights == [0, 1, 0])
    }
  }

  /// Eight devices in three groups over some versions.
  private var inputs: SimulationInputs {
    var buffer = BufferTrigger.Settings()
    buffer.size = 5
    var scene = Scene(
      .tiny(),
      fleet: [("a", 2), ("b", 0), ("c", 5), ("d", 1)].map { name, count in
        .group(name, count: count, windows: [[0, 300_000, 305_000]]) {
          $0.compute.spread = 0.8
          $0.participation.repeats = true
        }
      })
    scene.inputs.server.payload = .delta
    scene.inputs.server.trigger = [Choice(BufferTrigger.self, buffer) { $0 }]
    var agnostic = AgnosticAggregator.Settings()
    agnostic.rate = 0.5
    scene.inputs.server.aggregator = Choice(AgnosticAggregator.self, agnostic) { $0 }
    scene.inputs.stop.after = .seconds(400)
    return scene.inputs
  }

  @Test("In a run the losses of the bases move the weights of groups, by hand")
  func engine() {
    let start: [Float] = [0.25, -0.125, 0.5, 0.75, 0.0625, -0.5]
    let task = LearningTask.tiny(initial: start)
    let windows: [[Int64]] = [[0, 50_000, 55_000], [100_000, 150_000, 155_000]]
    var scene = Scene(
      task,
      fleet: [
        .group("a", windows: windows),
        .group("b", count: 2, windows: windows) { $0.firstClient = 1 },
      ])
    scene.threshold(3)
    scene.inputs.server.payload = .delta
    var agnostic = AgnosticAggregator.Settings()
    agnostic.rate = 0.5
    scene.inputs.server.aggregator = Choice(AgnosticAggregator.self, agnostic) { $0 }
    let played = scene.play()
    guard played.tape.versions.count == 3 else {
      Issue.record("\(played.tape.versions.count) versions")
      return
    }
    func next(_ model: [Float], _ epoch: UInt64, _ first: Double) -> [Double] {
      let ends = (0..<3).map {
        directTraining(
          task, 0..<4, from: model, group: $0 == 0 ? "a" : "b", client: $0,
          ordinal: $0 == 2 ? 1 : 0, firstEpoch: epoch)
      }
      let shares = [first, (1 - first) / 2, (1 - first) / 2]
      return (0..<6).map { i -> Double in
        (0..<3).reduce(Double(model[i])) { sum, device -> Double in
          let way = Double(ends[device][i]) - Double(model[i])
          return sum + shares[device] * way
        }
      }
    }
    let losses = (0..<3).map {
      Evaluation(
        of: task.network, parameters: ParameterBuffer(start), dataset: task.train,
        samples: task.partition.shards[$0], kernels: .best, scratch: Scratch()
      ).meanLoss
    }
    // Both groups weigh ½; then ½ of the difference of their losses is between them.
    let difference = 0.5 * (losses[0] - (losses[1] + losses[2]) / 2)
    #expect(difference.magnitude > 1e-3 && difference.magnitude < 1)
    #expect(played.version(0).groupWeights == [0.5, 0.5])
    let weights = played.version(1).groupWeights
    #expect(weights.count == 2 && (weights[0] - 0.5 - difference / 2).magnitude < 1e-9)
    #expect((weights.reduce(0, +) - 1).magnitude < 1e-12)
    #expect(zip(played.model(1), next(start, 0, 0.5)).allSatisfy { abs(Double($0) - $1) < 1e-6 })
    let second = next(played.model(1), 1, 0.5 + difference / 2)
    #expect(zip(played.model(2), second).allSatisfy { abs(Double($0) - $1) < 2e-6 })
  }

  @Test("Lazily or eagerly, on any threads, saved on the way: the same run")
  func same() throws {
    let whole = try Stretches.expectSameAnyhow(inputs)
    #expect(whole.turns > 50)
  }
}
