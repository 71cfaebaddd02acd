import FedSim
import Learning
import Schema
import Testing

/// One batch from zero weights: logits are 0, both classes have probability ½, and the step is the
/// rate times ½ times the mean of ±x over the samples. All numbers are exact binary fractions.
///
/// Features: client 0 has x = (1, ½) of class 0; client 1 x = (½, −1) of class 1; client 2
/// x = (−1, ¼) of class 0 and x = (½, ½) of class 1. The rate is ½. Weights [in][out], then the
/// bias:
///
///     client 0: Δw = ¼·x for class 0, −¼·x for class 1: (.25, −.25, .125, −.125, .25, −.25)
///     client 1: −¼·x, ¼·x: (−.125, .125, .25, −.25, −.25, .25)
///     client 2: half the sum of both samples' steps:
///       sample a: (−.25, .25, .0625, −.0625, .25, −.25)
///       sample b: (−.125, .125, −.125, .125, −.25, .25)
///       mean:     (−.1875, .1875, −.03125, .03125, 0, 0)
private let stepOf: [[Float]] = [
  [0.25, -0.25, 0.125, -0.125, 0.25, -0.25],
  [-0.125, 0.125, 0.25, -0.25, -0.25, 0.25],
  [-0.1875, 0.1875, -0.03125, 0.03125, 0, 0],
]

private func task(initial: [Float] = [0, 0, 0, 0, 0, 0]) -> LearningTask {
  let data = Dataset(
    features: .floats([1, 0.5, 0.5, -1, -1, 0.25, 0.5, 0.5]), sampleShape: [2],
    labels: [0, 1, 0, 1], classCount: 2)
  return LearningTask(
    network: .softmaxRegression(inputCount: 2, classCount: 2), initial: ParameterBuffer(initial),
    train: data, test: data, partition: Partition(shards: [[0], [1], [2, 3]]),
    plan: TrainingPlan(epochs: 1, batchSize: 2, learningRate: 0.5))
}

private func windows(_ start: Int64) -> [[Int64]] { [[start, start + 50_000, start + 55_000]] }

/// Three devices that begin at 0, 20 and 40 s, each with one batch.
private func three(_ change: (inout ServerSettings) -> Void = { _ in }) -> Scene {
  var scene = Scene(
    task(), fleet: (0..<3).map { .group("p\($0)", windows: windows(20_000 * Int64($0))) })
  change(&scene.inputs.server)
  return scene
}

@Suite("FedAvg of three devices, by hand")
struct FedAvgTests {
  /// ¼·client 0 + ¼·client 1 + ½·client 2, for the weights are 1, 1 and 2 samples of 4.
  static let mean: [Float] = [-0.0625, 0.0625, 0.078125, -0.078125, 0, 0]

  @Test("Weighted by samples, weights and differences agree when all bases are version 0")
  func bySamples() {
    for payload in Payload.allCases {
      let played = three { $0.payload = payload }.play()
      #expect(played.tape.versions.count == 2)
      #expect(played.model(1) == Self.mean)
    }
  }

  @Test("An update has the weight of its distinct samples, however often they were processed")
  func distinctSamples() {
    // Two epochs. Client 2 is cut after one batch: 2 samples, processed once. Client 0 does both
    // batches: 1 sample, processed twice. The weights are 2/3 and 1/3, and not halves.
    let one = task()
    let twice = LearningTask(
      network: one.network, initial: one.initial, train: one.train, test: one.test,
      partition: one.partition, plan: TrainingPlan(epochs: 2, batchSize: 2, learningRate: 0.5))
    var scene = Scene(
      twice,
      fleet: [
        .group("cut", windows: [[0, 5_000, 30_000]]) {
          $0.firstClient = 2
          $0.interruption.onExpiry = .submitPartial
        },
        .group("whole", windows: windows(0)) { $0.firstClient = 0 },
      ])
    scene.threshold(2)
    let played = scene.play()
    #expect((played.version(1).samples, played.version(1).samplesProcessed) == (3, 4))
    let whole = directTraining(twice, 0..<2, from: [0, 0, 0, 0, 0, 0], group: "whole", client: 0)
    for (place, found) in played.model(1).enumerated() {
      let sum = 2 * Double(stepOf[2][place]) + Double(whole[place])
      #expect((Double(found) - sum / 3).magnitude < 1e-7, "\(place)")
    }
  }

  @Test("The uniform mean counts every update the same")
  func uniform() {
    // With a fourth device like client 0 the weights are quarters:
    // (2·client 0 + client 1 + client 2) / 4.
    var scene = Scene(
      task(),
      fleet: (0..<4).map { place in
        .group("p\(place)", windows: windows(20_000 * Int64(place))) {
          $0.firstClient = place % 3
        }
      })
    scene.inputs.server.aggregator = Choice(UniformMean.self) { $0 }
    scene.threshold(4)
    #expect(
      scene.play().model(1) == [0.046875, -0.046875, 0.1171875, -0.1171875, 0.0625, -0.0625])
  }

  @Test("The server's rate scales the way from the model to the mean")
  func serverRate() {
    // From zero: half the mean, for both payloads.
    for payload in Payload.allCases {
      var settings = ServerSGD.Settings()
      settings.learningRate = 0.5
      let played = three {
        $0.payload = payload
        $0.optimizer = Choice(ServerSGD.self, settings) { $0 }
      }.play()
      #expect(played.model(1) == Self.mean.map { $0 / 2 })
    }
  }

  /// Six devices: three make version 1 at 44.650 + …; the other three had loaded version 0 before
  /// and bring updates of it, each a batch of 100 s.
  private func stale(_ payload: Payload) -> Played {
    let fleet = (0..<6).map { place in
      FleetGroupSettings.group(
        "p\(place)", windows: [[1_000 * Int64(place), 300_000, 305_000]]
      ) {
        $0.firstClient = place % 3
        if place >= 3 { $0.compute.perBatch = .seconds(100) }
      }
    }
    var scene = Scene(task(), fleet: fleet)
    scene.inputs.server.payload = payload
    return scene.play()
  }

  @Test("Stale weights are averaged: the model moves back to where version 1 was")
  func staleWeights() {
    let played = stale(.weights)
    #expect(played.model(1) == Self.mean)
    #expect(played.model(2) == Self.mean)
    #expect(played.version(2).meanStaleness == 1)
  }

  @Test("Stale differences are added to the version of now")
  func staleDeltas() {
    let played = stale(.delta)
    #expect(played.model(2) == Self.mean.map { 2 * $0 })
    #expect(played.version(2).maximumStaleness == 1)
  }

  @Test("One stale and two fresh updates", arguments: Payload.allCases)
  func mixed(payload: Payload) {
    // Clients 0 and 1 make version 1 together with a first client 2. Then clients 0 and 1 train
    // from version 1, and a slow device with client 2's data brings an update of version 0.
    var fleet = (0..<3).map { place in
      FleetGroupSettings.group(
        "p\(place)",
        windows: [[1_000 * Int64(place), 40_000, 45_000], [50_000, 90_000, 95_000]].prefix(
          place == 2 ? 1 : 2
        ).map { $0 })
    }
    fleet.append(
      .group("slow", windows: [[3_000, 90_000, 95_000]]) {
        $0.firstClient = 2
        $0.compute.perBatch = .seconds(60)
      })
    var scene = Scene(task(), fleet: fleet)
    scene.inputs.server.payload = payload
    let played = scene.play()
    #expect(played.model(1) == Self.mean)
    let one = Self.mean
    let fresh = (0..<2).map {
      directTraining(task(), 0..<1, from: one, group: "p\($0)", client: $0, firstEpoch: 1)
    }
    let slow = stepOf[2]
    let expected: [Float] = (0..<6).map { i in
      switch payload {
      case .weights:
        Float(0.25 * Double(fresh[0][i]) + 0.25 * Double(fresh[1][i]) + 0.5 * Double(slow[i]))
      case .delta:
        Float(
          Double(one[i])
            + Double(
              Float(
                0.25 * (Double(fresh[0][i]) - Double(one[i]))
                  + 0.25 * (Double(fresh[1][i]) - Double(one[i])) + 0.5 * Double(slow[i]))))
      }
    }
    #expect(played.model(2) == expected)
    #expect(played.version(2).meanStaleness == 1.0 / 3)
    #expect(played.version(2).maximumStaleness == 1)
  }

  @Test("E20: An update too stale is rejected at its arrival")
  func tooStale() {
    var fleet = (0..<3).map { FleetGroupSettings.group("p\($0)", windows: windows(0)) }
    fleet.append(
      .group("slow", windows: windows(0)) {
        $0.firstClient = 0
        $0.compute.perBatch = .seconds(20)
      })
    var scene = Scene(task(), fleet: fleet)
    scene.inputs.server.maximumStaleness = 0
    let played = scene.play()
    // 4.340 + 20 + 1.310 at the server, the answer read 1.010 later.
    #expect(
      played.story(of: 3, only: "arrives", "receipt")
        == ["25650 arrives 3", "26660 receipt 3 rejected v1 n0"])
    #expect(played.simulation.books.ledgers.updates[.rejectedStale] == 1)
  }

  @Test("A round whose updates are not finite fails, and the model stays")
  func notFinite() {
    var scene = Scene(
      .tiny(samples: [4], rate: 1, initial: [3e38, -3e38, 3e38, -3e38, 0, 0]),
      fleet: [.group("p", windows: windows(0))])
    scene.threshold(1)
    let played = scene.play()
    #expect(played.tape.versions.count == 1)
    #expect(played.tape.rounds.first?.outcome == .failed)
    #expect(played.simulation.books.ledgers.updates[.rejectedNotFinite] == 1)
    #expect(played.story(of: 0, only: "receipt") == ["10660 receipt 0 rejected v0 n0"])
  }
}
