import FedSim
import Learning
import Numerics
import Schema
import Testing

private let start: [Float] = [0.25, -0.125, 0.5, 0.75, 0.0625, -0.5]

private func noise(_ multiplier: Double) -> PrivacySettings {
  var settings = PrivacySettings()
  settings.noiseMultiplier = multiplier
  return settings
}

/// Phones with one batch each, whose updates arrive at 6.650 s after their sessions begin, and a
/// server that aggregates `buffer` of them.
private func phones(
  _ windows: [[[Int64]]], buffer: Int = 1, _ change: (inout ServerSettings) -> Void = { _ in }
) -> Scene {
  var scene = Scene(
    .tiny(samples: windows.map { _ in 1 }, initial: start),
    fleet: windows.enumerated().map { place, windows in
      .group("p\(place)", windows: windows) { $0.firstClient = place }
    })
  var settings = BufferTrigger.Settings()
  settings.size = buffer
  scene.inputs.server.payload = .delta
  scene.inputs.server.trigger = [Choice(BufferTrigger.self, settings) { $0 }]
  scene.inputs.server.aggregator = Choice(UniformMean.self) { $0 }
  scene.inputs.server.transforms = [choice(ClipNorm.self) { $0.maximum = 0.25 }]
  scene.inputs.stop.after = .seconds(500)
  change(&scene.inputs.server)
  return scene
}

private func trained(_ place: Int, from model: [Float], epoch: UInt64 = 0) -> [Float] {
  directTraining(
    .tiny(samples: [1, 1, 1], initial: start), 0..<1, from: model, group: "p\(place)",
    client: place, firstEpoch: epoch)
}

private func norm(_ a: [Float], _ b: [Float]) -> Double {
  zip(a, b).reduce(0) { $0 + (Double($1.0) - Double($1.1)) * (Double($1.0) - Double($1.1)) }
    .squareRoot()
}

@Suite("Privacy of runs")
struct PrivacyRunTests {
  private let three: [[[Int64]]] = (0..<3).map { [[1_000 * $0, 60_000, 65_000]] }

  @Test("Each version adds to ε, the initial model has reported nothing")
  func versions() {
    let played = phones(three) { $0.privacy = noise(2) }.play()
    #expect(played.tape.versions.count == 4)
    #expect(played.version(0).privacy?.epsilon == 0)
    for version in 1...3 {
      let expected = PrivacySampling.none.epsilon(
        noiseMultiplier: 2, versions: version, delta: 1e-5)
      let found = played.version(version).privacy!
      #expect((found.epsilon - expected).magnitude < 1e-12 * expected)
      // z·C/n = 2·0.25/1.
      #expect((found.noise - 0.5).magnitude < 1e-15)
      #expect(found.bound.isNaN)
    }
  }

  @Test("Noise is z·C/n times the same draws, on the mean of clipped updates")
  func draws() {
    let plain = phones(three, buffer: 3).play().model(1)
    let one = phones(three, buffer: 3) { $0.privacy = noise(1) }.play().model(1)
    let two = phones(three, buffer: 3) { $0.privacy = noise(2) }.play().model(1)
    for i in 0..<6 {
      let first = Double(one[i]) - Double(plain[i])
      #expect(first != 0)
      #expect((Double(two[i]) - Double(plain[i]) - 2 * first).magnitude < 1e-6)
      // Six draws of deviation 0.25/3: none is five of them away.
      #expect(first.magnitude < 5 * 0.25 / 3)
    }
  }

  @Test("Noise is z·C/n times the stated draws, other ones for each version")
  func stated() {
    let (plain, noisy) = (phones(three).play(), phones(three) { $0.privacy = noise(1) }.play())
    #expect(plain.tape.versions.count == 4 && noisy.tape.versions.count == 4)
    var sum = [Double](repeating: 0, count: 6)
    for version in 1...3 {
      // All three trained version 0, so only the noise differs: 1·0.25/1 times a draw.
      var stream = StreamKey(seed: 1, purpose: "privacy-noise").stream(slot: UInt64(version))
      for i in 0..<6 {
        sum[i] += 0.25 * stream.normal()
        let found = Double(noisy.model(version)[i]) - Double(plain.model(version)[i])
        #expect((found - sum[i]).magnitude < 1e-6, "v\(version)")
      }
    }
  }

  @Test("Each 4,096 parameters have separate draws")
  func blocks() {
    let count = 4_202  // 2,100 · 2 weights and 2 biases
    let data = Dataset(
      features: .floats([Float](repeating: 0, count: 2_100)), sampleShape: [2_100], labels: [0],
      classCount: 2)
    let task = LearningTask(
      network: .softmaxRegression(inputCount: 2_100, classCount: 2),
      initial: ParameterBuffer([Float](repeating: 0, count: count)), train: data, test: data,
      partition: Partition(shards: [[0]]),
      plan: TrainingPlan(epochs: 1, batchSize: 1, learningRate: 0.5))
    func model(_ privacy: PrivacySettings?) -> [Float] {
      var scene = Scene(task, fleet: [.group("p0", windows: [[0, 60_000, 65_000]])])
      scene.threshold(1)
      // 4,202 B each way: 4.2 s.
      scene.inputs.server.bytesPerParameter = 1
      scene.inputs.server.payload = .delta
      scene.inputs.server.aggregator = Choice(UniformMean.self) { $0 }
      scene.inputs.server.transforms = [choice(ClipNorm.self) { $0.maximum = 0.25 }]
      scene.inputs.server.privacy = privacy
      scene.inputs.stop.after = .seconds(70)
      return scene.play().model(1)
    }
    let (plain, noisy) = (model(nil), model(noise(1)))
    #expect((plain.count, noisy.count) == (count, count))
    guard plain.count == count, noisy.count == count else { return }
    for (ordinal, places) in [0..<4_096, 4_096..<count].enumerated() {
      var stream = StreamKey(seed: 1, purpose: "privacy-noise", ordinal: UInt32(ordinal))
        .stream(slot: 1)
      let expected = places.map { _ in 0.25 * stream.normal() }
      #expect(
        zip(places, expected).allSatisfy {
          (Double(noisy[$0]) - Double(plain[$0]) - $1).magnitude < 1e-6
        })
    }
  }

  @Test("A device with two updates in a version counts twice")
  func twice() {
    // p0 sends again from the version that it holds before two others have come.
    let windows: [[[Int64]]] = [
      [[0, 10_000, 12_000], [20_000, 30_000, 32_000]], [[40_000, 60_000, 65_000]],
    ]
    let played = phones(windows, buffer: 3) {
      $0.privacy = noise(4)
      $0.duplicates = .overwrite
    }.play()
    #expect(played.version(1).updates == 3 && played.version(1).devices == 2)
    let expected = PrivacySampling.none.epsilon(noiseMultiplier: 2, versions: 1, delta: 1e-5)
    #expect((played.version(1).privacy!.epsilon - expected).magnitude < 1e-12 * expected)
  }

  @Test("Chance counts where the cohort is drawn from all, against twice the bound; else nothing")
  func population() {
    func played(waiting: Int) -> Played {
      var selector = UniformSelector.Settings()
      (selector.cohort, selector.minimumWaiting) = (2, waiting)
      let windows: [[[Int64]]] = (0..<4).map { [[100 * $0, 60_000, 65_000]] }
      return phones(windows) {
        $0.selector = Choice(UniformSelector.self, selector) { $0 }
        $0.trigger = [Choice(CohortCompleteTrigger.self) { $0 }]
        $0.privacy = noise(3)
        $0.privacy!.amplification = .population
      }.play()
    }
    let all = PrivacySampling.withoutReplacement(0.5).epsilon(
      noiseMultiplier: 1.5, versions: 1, delta: 1e-5)
    #expect((played(waiting: 4).version(1).privacy!.epsilon - all).magnitude < 1e-12 * all)
    let some = PrivacySampling.none.epsilon(noiseMultiplier: 1.5, versions: 1, delta: 1e-5)
    #expect((played(waiting: 3).version(1).privacy!.epsilon - some).magnitude < 1e-12 * some)
  }

  @Test("An ε gives the noise, which keeps it to the version that it is for")
  func target() {
    let played = phones(three) {
      var settings = PrivacySettings()
      (settings.epsilon, settings.versions) = (5, 3)
      $0.privacy = settings
    }.play()
    let last = played.version(3).privacy!.epsilon
    #expect(last <= 5 && last > 4.99)
    #expect(played.version(2).privacy!.epsilon < last)
  }

  @Test("A bound that grows is the one of the version that a device began with")
  func staleBounds() {
    // All three begin with version 0 and are longer than 0.001: each is scaled to that, while the
    // bound doubles with each version: ln 2 times the quantile 1 that nobody is within.
    let played = phones(three) {
      $0.transforms = [
        choice(AdaptiveClip.self) {
          ($0.quantile, $0.initial, $0.rate) = (1, 0.001, 0.693_147_180_559_945)
        }
      ]
    }.play()
    for version in 1...3 {
      let record = played.version(version).privacy!
      #expect((record.bound - 0.001 * Double(1 << version)).magnitude < 1e-12)
      #expect(record.within == 0 && record.epsilon.isNaN)
      let step = norm(played.model(version), played.model(version - 1))
      #expect((step - 0.001).magnitude < 1e-6)
    }
  }

  @Test("With a bound that is learned by a noisy count the sum has the noise that is left")
  func sharedNoise() {
    let played = phones(three) {
      $0.transforms = [
        choice(AdaptiveClip.self) { ($0.initial, $0.rate, $0.countNoise) = (0.25, 0, 1) }
      ]
      $0.privacy = noise(1)
    }.play()
    // z = 1, σ_b = 1: (1 − ¼)^−½ = 1.1547; times 0.25.
    #expect((played.version(1).privacy!.noise - 0.25 / 0.75.squareRoot()).magnitude < 1e-12)
  }

  @Test("Where the bound has fallen, the noise is that of the larger bound of an old update")
  func fallingBound() {
    // Each update makes a version, and all three are of version 0, whose bound is 100. All are
    // within it, so it is halved with each version (η = 2·ln 2, γ = ½) but for the count's noise.
    let played = phones(three) {
      $0.transforms = [
        choice(AdaptiveClip.self) {
          ($0.initial, $0.rate, $0.countNoise) = (100, 1.3862943611198906, 0.001)
        }
      ]
      $0.privacy = noise(0.0015)
    }.play()
    // (0.0015⁻² − 0.002⁻²)^−½ = 0.0022677868380553632, times 100.
    for version in 1...3 {
      let record = played.version(version).privacy!
      #expect((record.noise - 0.22677868380553632).magnitude < 1e-12, "version \(version)")
      #expect((record.bound / (100 / Double(1 << version)) - 1).magnitude < 0.05)
    }
  }

  @Test("What does not go together is said")
  func contradictions() {
    func keys(_ change: (inout ServerSettings) -> Void) -> [String] {
      var server = ServerSettings()
      server.payload = .delta
      server.transforms = [choice(ClipNorm.self)]
      server.aggregator = Choice(UniformMean.self) { $0 }
      server.privacy = noise(1)
      change(&server)
      return server.contradictions().map(\.key)
    }
    #expect(keys { _ in } == [])
    #expect(keys { $0.payload = .weights } == ["privacy"])
    #expect(keys { $0.transforms = [] } == ["privacy"])
    #expect(keys { $0.transforms.append(choice(ByteQuantisation.self)) } == ["privacy"])
    #expect(keys { $0.aggregator = Choice(SampleWeightedMean.self) { $0 } } == ["privacy"])
    #expect(keys { $0.privacy!.amplification = .population } == ["privacy"])
    #expect(keys { $0.transforms = [choice(AdaptiveClip.self)] } == ["privacy"])
    #expect(keys { $0.initialModel = .client }.contains("privacy"))
    var both = noise(1)
    both.epsilon = 1
    #expect(both.contradictions().map(\.key) == ["epsilon"])
    #expect(PrivacySettings().contradictions().map(\.key) == ["noiseMultiplier"])
    var half = PrivacySettings()
    half.epsilon = 1
    #expect(half.contradictions().map(\.key) == ["versions"])
  }
}

@Suite("What devices keep of their updates")
struct ResidualTests {
  private let twice: [[[Int64]]] = [[[0, 15_000, 16_000], [20_000, 60_000, 65_000]]]

  /// What is sent of a difference, the largest half, and what is left.
  private func half(_ difference: [Float]) -> (sent: [Float], rest: [Float]) {
    let order = difference.indices.sorted {
      difference[$0].magnitude != difference[$1].magnitude
        ? difference[$0].magnitude > difference[$1].magnitude : $0 < $1
    }
    let chosen = Set(order.prefix(3))
    return (
      difference.indices.map { chosen.contains($0) ? difference[$0] : 0 },
      difference.indices.map { chosen.contains($0) ? 0 : difference[$0] }
    )
  }

  @Test("What an update leaves out comes with the next, and an upload of half takes less time")
  func rest() {
    let scene = phones(twice) {
      $0.transforms = [choice(TopK.self) { $0.share = 0.5 }]
    }
    let played = scene.play()
    // Three numbers of 50 B and three places of 4 B: 162 B instead of 300, so 0.138 s earlier than
    // 6.650; the second session asks and loads as ever.
    #expect(
      played.story(of: -1) == ["0 published v0 0", "6512 published v1 1", "26512 published v2 1"])
    let first = zip(trained(0, from: start), start).map { Float(Double($0) - Double($1)) }
    let (sent, rest) = half(first)
    for i in 0..<6 {
      #expect((played.model(1)[i] - (start[i] + sent[i])).magnitude < 1e-6)
    }
    let one = played.model(1)
    let second = zip(trained(0, from: one, epoch: 1), one).enumerated().map { i, pair in
      Float(Double(pair.0) - Double(pair.1) + Double(rest[i]))
    }
    let expected = zip(one, half(second).sent).map { $0 + $1 }
    for i in 0..<6 { #expect((played.model(2)[i] - expected[i]).magnitude < 1e-6) }
  }

  @Test("An app that is reinstalled has nothing left")
  func reinstalled() {
    var scene = phones(twice) {
      $0.transforms = [choice(TopK.self) { $0.share = 0.5 }]
    }
    scene.inputs.fleet[0].registration = RegistrationSettings()
    scene.inputs.fleet[0].registration!.keepsData = true
    scene.inject(.reinstall, "p0/0", at: 17_000)
    let played = scene.play()
    guard played.tape.versions.count > 2 else {
      Issue.record("the second update came to no version")
      return
    }
    let one = played.model(1)
    let second = zip(trained(0, from: one, epoch: 1), one).map { Float(Double($0) - Double($1)) }
    let expected = zip(one, half(second).sent).map { $0 + $1 }
    for i in 0..<6 { #expect((played.model(2)[i] - expected[i]).magnitude < 1e-6) }
  }

  @Test("Lazily or eagerly, on any threads, saved on the way: the same run")
  func same() throws {
    var buffer = BufferTrigger.Settings()
    buffer.size = 3
    var scene = Scene(
      .tiny(),
      fleet: [
        .group(count: 8, windows: [[0, 300_000, 305_000]]) {
          $0.compute.spread = 0.8
          $0.participation.repeats = true
          $0.participation.pause = .minutes(1)
        }
      ])
    scene.inputs.server.payload = .delta
    scene.inputs.server.trigger = [Choice(BufferTrigger.self, buffer) { $0 }]
    scene.inputs.server.aggregator = Choice(UniformMean.self) { $0 }
    scene.inputs.server.duplicates = .overwrite
    scene.inputs.server.transforms = [
      choice(TopK.self) { $0.share = 0.5 }, choice(StochasticQuantisation.self),
      choice(AdaptiveClip.self) { $0.countNoise = 2 },
    ]
    scene.inputs.server.privacy = noise(0.5)
    scene.inputs.stop.after = .seconds(400)
    let inputs = scene.inputs
    let whole = try Stretches.expectSameAnyhow(inputs)
    #expect(whole.turns > 50 && whole.simulation.version >= 4)
  }
}
