import FedSim
import Learning
import Numerics
import Schema
import Testing

/// The three devices of `FedAvgTests`: one step each from zero weights, in exact fractions.
///
///     p0, 1 sample:  (.25, −.25, .125, −.125, .25, −.25)
///     p1, 1 sample:  (−.125, .125, .25, −.25, −.25, .25)
///     p2, 2 samples: (−.1875, .1875, −.03125, .03125, 0, 0)
///
/// Where p0 sends f times its step the model is the honest mean and (f − 1)/4 of that step more.
private func model(_ factor: Float) -> [Float] {
  let step: [Float] = [0.25, -0.25, 0.125, -0.125, 0.25, -0.25]
  let mean: [Float] = [-0.0625, 0.0625, 0.078125, -0.078125, 0, 0]
  return zip(mean, step).map { $0 + (factor - 1) / 4 * $1 }
}

private let task = learning([0, 1, 0, 1])

private func learning(_ labels: [Int32]) -> LearningTask {
  let data = Dataset(
    features: .floats([1, 0.5, 0.5, -1, -1, 0.25, 0.5, 0.5]), sampleShape: [2],
    labels: labels, classCount: 2)
  return LearningTask(
    network: .softmaxRegression(inputCount: 2, classCount: 2),
    initial: ParameterBuffer([0, 0, 0, 0, 0, 0]), train: data, test: data,
    partition: Partition(shards: [[0], [1], [2, 3]]),
    plan: TrainingPlan(epochs: 1, batchSize: 2, learningRate: 0.5))
}

private func adversary<A: Attack>(
  _ type: A.Type, share: Double = 1, from: SimTime = .start,
  _ change: (inout A.Settings) -> Void = { _ in }
) -> AdversarySettings {
  var (settings, attack) = (AdversarySettings(), A.Settings())
  change(&attack)
  settings.share = share
  settings.from = from
  settings.attack = Choice(type, attack) { $0 }
  return settings
}

/// Three devices that begin at 0, 20 and 40 s, of which p0 may be an adversary.
private func three(_ adversary: AdversarySettings?, payload: Payload = .weights) -> Scene {
  var scene = Scene(
    task,
    fleet: (0..<3).map { place in
      let start = 20_000 * Int64(place)
      return .group("p\(place)", windows: [[start, start + 50_000, start + 55_000]]) {
        if place == 0 { $0.adversary = adversary }
      }
    })
  scene.inputs.server.payload = payload
  return scene
}

/// p0 alone, which trains from 0 s and from 100 s on; each update makes a version.
private func twice(_ adversary: AdversarySettings?, payload: Payload = .delta) -> Scene {
  var scene = Scene(
    task,
    fleet: [
      .group("p0", windows: [[0, 50_000, 55_000], [100_000, 150_000, 155_000]]) {
        $0.adversary = adversary
      }
    ])
  scene.threshold(1)
  scene.inputs.server.payload = payload
  return scene
}

private let attacks: [AdversarySettings] = [
  adversary(LabelFlip.self), adversary(SignFlip.self), adversary(ScaledUpdate.self),
  adversary(GaussianAttack.self), adversary(FreeRider.self), adversary(StaleReplay.self),
]

@Suite("Adversaries")
struct AdversaryTests {
  @Test("What one of three sends moves the mean as worked out by hand", arguments: Payload.allCases)
  func byHand(payload: Payload) {
    func play(_ adversary: AdversarySettings?) -> [Float] {
      three(adversary, payload: payload).play().model(1)
    }
    #expect(play(nil) == model(1))
    #expect(play(adversary(SignFlip.self)) == model(-1))
    #expect(play(adversary(SignFlip.self) { $0.scale = 4 }) == model(-4))
    // From zero weights both classes have probability ½: the other label gives the opposite step.
    #expect(play(adversary(LabelFlip.self)) == model(-1))
    #expect(
      play(adversary(ScaledUpdate.self) { ($0.factor, $0.flipsLabels) = (4, false) }) == model(4))
    #expect(play(adversary(ScaledUpdate.self) { $0.factor = 4 }) == model(-4))
    #expect(play(adversary(FreeRider.self)) == model(0))
    // Its first update is what it repeats.
    #expect(play(adversary(StaleReplay.self)) == model(1))
  }

  @Test("One class is taken for another; the other labels stay")
  func onePair() {
    // The sample of p0 has class 0.
    func play(_ from: Int, _ to: Int) -> [Float] {
      three(adversary(LabelFlip.self) { ($0.from, $0.to) = (from, to) }).play().model(1)
    }
    #expect(play(0, 1) == model(-1))
    #expect(play(1, 0) == model(1))
  }

  @Test("Noise has the stated draws, in place of what was learned or on top of it")
  func noise() {
    var stream = StreamKey(seed: 1, purpose: "attack", group: "p0").stream(slot: 0)
    let drawn = (0..<6).map { _ in 0.5 * stream.normal() }
    let step: [Double] = [0.25, -0.25, 0.125, -0.125, 0.25, -0.25]
    func play(_ adversary: AdversarySettings) -> [Float] {
      twice(adversary, payload: .weights).play().model(1)
    }
    #expect(play(adversary(GaussianAttack.self) { $0.deviation = 0.5 }) == drawn.map { Float($0) })
    #expect(
      play(adversary(GaussianAttack.self) { ($0.deviation, $0.adds) = (0.5, true) })
        == zip(step, drawn).map { Float($0 + $1) })
    #expect(play(adversary(FreeRider.self) { $0.deviation = 0.5 }) == drawn.map { Float($0) })
  }

  @Test("What is replayed is the difference of the first training, on whatever base")
  func replay() {
    let first: [Float] = [0.25, -0.25, 0.125, -0.125, 0.25, -0.25]
    // Also where it was honest at first.
    for from in [SimTime.start, ms(60_000)] {
      let played = twice(adversary(StaleReplay.self, from: from)).play()
      #expect(played.model(1) == first)
      #expect(played.model(2) == first.map { 2 * $0 })
    }
    #expect(twice(nil).play().model(2) != first.map { 2 * $0 })
  }

  @Test("Before their time adversaries are honest")
  func start() {
    let honest = twice(nil).play()
    let first = honest.model(1)
    let trained = directTraining(
      task, 0..<1, from: first, group: "p0", client: 0, firstEpoch: 1)
    let flipped = twice(adversary(SignFlip.self, from: ms(60_000))).play()
    #expect(flipped.model(1) == first)
    let expected = zip(first, trained).map { 2 * Double($0) - Double($1) }
    #expect(flipped.model(2).count == 6)
    #expect(zip(flipped.model(2), expected).allSatisfy { abs(Double($0) - $1) < 1e-6 })
    let poisoned = twice(adversary(LabelFlip.self, from: ms(60_000))).play()
    #expect(poisoned.model(1) == first)
    // What it trains then is its own data with the other labels.
    let misled = directTraining(
      learning([1, 0, 1, 0]), 0..<1, from: first, group: "p0", client: 0, firstEpoch: 1)
    #expect(poisoned.model(2).count == 6)
    #expect(zip(poisoned.model(2), misled).allSatisfy { abs($0 - $1) < 1e-6 })
    #expect(zip(misled, trained).contains { abs($0 - $1) > 0.01 })
    // From the time itself on: the update is made at 5.340 s.
    #expect(twice(adversary(SignFlip.self, from: ms(5_340))).play().model(1) == first.map { -$0 })
    #expect(twice(adversary(SignFlip.self, from: ms(5_341))).play().model(1) == first)
  }

  @Test("A forged update goes through the transforms: a bound bounds it")
  func bounded() {
    // p0's step has the norm √(4/16 + 2/64) = √0.28125; −4 of it, scaled to that, is −1 of it. The
    // others are no longer: p1's has the same squares, p2's are 2·9/256 + 2/1,024.
    var clip = ClipNorm.Settings()
    clip.maximum = 0.28125.squareRoot()
    var scene = three(adversary(SignFlip.self) { $0.scale = 4 }, payload: .delta)
    scene.inputs.server.transforms = [Choice(ClipNorm.self, clip) { $0 }]
    let found = scene.play().model(1)
    #expect(zip(found, model(-1)).allSatisfy { abs($0 - $1) < 1e-6 }, "\(found)")
    #expect(found.count == 6)
  }

  @Test("Nobody's events depend on who the adversaries are; nor do batch orders")
  func world() {
    let honest = three(nil).play().simulation
    for attack in attacks {
      let other = three(attack).play().simulation
      #expect(other.eventDigest.value == honest.eventDigest.value)
      #expect(other.books.ledgers.bytesUp == honest.books.ledgers.bytesUp)
    }
  }

  @Test("A share is a number of devices, to the nearest whole one; more of them include the fewer")
  func shares() {
    func liars(_ share: Double, seed: UInt64 = 1) -> [Int] {
      var scene = Scene(
        fleet: [
          .group("honest", count: 3),
          .group("others", count: 10) { $0.adversary = adversary(SignFlip.self, share: share) },
        ])
      scene.inputs.seeds = Seeds(seed)
      scene.inputs.stop.after = .seconds(1)
      let simulation = scene.play().simulation
      return (0..<13).filter { simulation.deviceRecords.isAdversary($0) }
    }
    #expect(liars(0) == [])
    #expect(liars(1) == Array(3..<13))
    #expect(liars(0.25).count == 3)  // 2.5 is rounded up.
    #expect(liars(0.24).count == 2)
    let few = liars(0.3)
    #expect(few.allSatisfy { $0 >= 3 && liars(0.6).contains($0) })
    #expect((2...20).contains { liars(0.3, seed: $0) != few })
    // As stated: the lowest of one draw a device.
    let draws = (0..<10).map { ordinal in
      var stream = StreamKey(
        seed: 1, purpose: "adversary", group: "others", ordinal: UInt32(ordinal)
      ).stream(slot: 0)
      return stream.uniform()
    }
    #expect(Set(few) == Set((0..<10).sorted { draws[$0] < draws[$1] }.prefix(3).map { $0 + 3 }))
  }

  @Test("What is not finite is not made finite by an attack: the server sees it and rejects it")
  func notFinite() {
    let diverged = AttackedUpdate(
      parameters: ParameterBuffer([.nan, .infinity]), base: ParameterBuffer([0, 0]),
      first: (ParameterBuffer([.nan, 0]), ParameterBuffer([0, 0])))
    for attack in [
      make(SignFlip.self), make(ScaledUpdate.self), make(GaussianAttack.self) { $0.adds = true },
      make(StaleReplay.self),
    ] as [any Attack] {
      var stream = StreamKey(seed: 1, purpose: "attack").stream(slot: 0)
      #expect(!attack.forge(diverged, &stream).isFinite, "\(type(of: attack).name)")
    }
    #expect(ParameterBuffer.nearest(.nan).isNaN)
    #expect(ParameterBuffer.nearest(-.infinity) == -Float.greatestFiniteMagnitude)
  }

  @Test("Every attack gives equal models lazily and eagerly, on one thread and three")
  func computing() {
    for attack in attacks {
      let models = [(1, ComputeMode.lazy), (3, .lazy), (2, .eager)].map { threads, mode in
        var scene = twice(attack)
        scene.inputs.pool = WorkerPool(threads: threads)
        scene.inputs.compute = mode
        return scene.play().model(2)
      }
      #expect(models[0] == models[1] && models[0] == models[2], "\(attack.attack.name)")
    }
  }
}
