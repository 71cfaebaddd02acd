import FedSim
import Learning
import Numerics
import Schema
import Testing

/// The three devices of `AdversaryTests`: one step each from zero weights, in exact fractions.
///
///     p0, 1 sample:  (.25, −.25, .125, −.125, .25, −.25)
///     p1, 1 sample:  (−.125, .125, .25, −.25, −.25, .25)
///     p2, 2 samples: (−.1875, .1875, −.03125, .03125, 0, 0)
private let task: LearningTask = {
  let data = Dataset(
    features: .floats([1, 0.5, 0.5, -1, -1, 0.25, 0.5, 0.5]), sampleShape: [2],
    labels: [0, 1, 0, 1], classCount: 2)
  return LearningTask(
    network: .softmaxRegression(inputCount: 2, classCount: 2),
    initial: ParameterBuffer([0, 0, 0, 0, 0, 0]), train: data, test: data,
    partition: Partition(shards: [[0], [1], [2, 3]]),
    plan: TrainingPlan(epochs: 1, batchSize: 2, learningRate: 0.5))
}()

private func little(
  _ z: Double?, share: Double = 1, from: SimTime = .start
) -> AdversarySettings {
  var (settings, attack) = (AdversarySettings(), LittleIsEnough.Settings())
  attack.z = z
  settings.share = share
  settings.from = from
  settings.attack = Choice(LittleIsEnough.self, attack) { $0 }
  return settings
}

/// Three devices that begin at 0, 20 and 40 s and make one version; each is a separate group.
private func three(
  _ adversaries: [AdversarySettings?], payload: Payload = .weights
) -> Scene {
  var scene = Scene(
    task,
    fleet: (0..<3).map { place in
      let start = 20_000 * Int64(place)
      return .group("p\(place)", windows: [[start, start + 50_000, start + 55_000]]) {
        $0.adversary = place < adversaries.count ? adversaries[place] : nil
      }
    })
  scene.inputs.server.payload = payload
  return scene
}

private let honest: [Float] = [-0.0625, 0.0625, 0.078125, -0.078125, 0, 0]

@Suite("Adversaries that collude")
struct CollusionTests {
  private func buffers(_ values: [Float], _ chosen: [Int]) -> [ParameterBuffer] {
    chosen.map { ParameterBuffer(values.row($0, of: 13)) }
  }

  private func agreed(_ chosen: [Int], z: Double?, among updates: Int, threads: Int) -> [Double] {
    var settings = LittleIsEnough.Settings()
    settings.z = z
    let trained = UpdateValues(
      buffers(colluderTrained, chosen), bases: buffers(colluderBases, chosen))
    return LittleIsEnough(settings).agreement(
      Collusion(trained: trained, colluders: chosen.count, updates: updates),
      pool: WorkerPool(threads: threads))
  }

  @Test("How many deviations a majority lets pass is SciPy's")
  func quantiles() {
    for known in littleDeviations {
      let z = LittleIsEnough.deviations(colluders: known.colluders, of: known.updates)
      #expect((z - known.z).magnitude < 1e-9, "\(known): \(z)")
    }
    // One of ten: −0.14 by the formula. A majority: s = 1, of 10 with 7 a third is
    // above 0.4307. All: nobody is to be won over.
    #expect(LittleIsEnough.deviations(colluders: 1, of: 10) == 0)
    #expect((LittleIsEnough.deviations(colluders: 7, of: 10) - 0.430_727_299_295).magnitude < 1e-9)
    #expect(LittleIsEnough.deviations(colluders: 4, of: 4) == 0)
    #expect(Portable.normalQuantile(above: 0.5) == 0)
    #expect(Portable.normalQuantile(above: 0) == .infinity)
    #expect(Portable.normalQuantile(above: 1) == -.infinity)
    // By SciPy.
    #expect((Portable.normalQuantile(above: 1e-20) - 9.262_340_089_798).magnitude < 1e-8)
    #expect((Portable.normalQuantile(above: 0.975) + 1.959_963_984_540).magnitude < 1e-9)
  }

  @Test("What they agree on is NumPy's, whatever the threads")
  func numbers() {
    for threads in 1...3 {
      let five = agreed([0, 1, 2, 3, 4], z: 1.5, among: 9, threads: threads)
      #expect(zip(five, agreedOfFive).allSatisfy { ($0 - $1).magnitude < 1e-12 })
      let two = agreed([0, 2], z: nil, among: 7, threads: threads)
      #expect(zip(two, agreedOfTwo).allSatisfy { ($0 - $1).magnitude < 1e-9 })
      #expect((five.count, two.count) == (13, 13))
    }
  }

  @Test("Two of three move the mean as worked out by hand", arguments: Payload.allCases)
  func byHand(payload: Payload) {
    // Of p0 and p1 the mean is (.0625, −.0625, .1875, −.1875, 0, 0), the deviation half of what
    // is between them: (.1875, .1875, .0625, .0625, .25, .25). With z = 2 both send
    // (−.3125, −.4375, .0625, −.3125, −.5, −.5), and the model is half of that and half of p2's.
    let played = three([little(2), little(2)], payload: payload).play()
    #expect(played.model(1) == [-0.25, -0.125, 0.015625, -0.140625, -0.25, -0.25])
    // With z = 0 they send their mean, which leaves the mean of all as it is; also where z follows
    // from two of three: the one honest update would have to be further out for sure.
    #expect(three([little(0), little(0)], payload: payload).play().model(1) == honest)
    #expect(three([little(nil), little(nil)], payload: payload).play().model(1) == honest)
  }

  @Test("Each group has its own z, of the same colluders")
  func ownSettings() {
    // p0 sends the mean, p1 that less two deviations: the average is one deviation off.
    // (−.125, −.25, .125, −.25, −.25, −.25), halved, and half of p2's.
    let played = three([little(0), little(2)]).play()
    #expect(played.model(1) == [-0.15625, -0.03125, 0.046875, -0.109375, -0.125, -0.125])
  }

  @Test("An adversary that is alone, or attacks only later, sends what it trained")
  func alone() {
    #expect(three([little(3)]).play().model(1) == honest)
    #expect(three([little(3), little(3, from: ms(60_000))]).play().model(1) == honest)
    #expect(three([nil, little(3, from: ms(60_000)), nil]).play().model(1) == honest)
  }

  @Test("Nobody's events depend on it")
  func world() {
    let first = three([]).play().simulation
    let other = three([little(2), little(2)]).play().simulation
    #expect(other.eventDigest.value == first.eventDigest.value)
    #expect(other.books.ledgers.bytesUp == first.books.ledgers.bytesUp)
  }

  @Test("Transforms come after it: a bound holds for what they send")
  func clipped() {
    var scene = three([little(40), little(40)], payload: .delta)
    scene.inputs.server.transforms = [choice(ClipNorm.self) { $0.maximum = 0.125 }]
    let played = scene.play().model(1)
    // All are scaled to .125. Theirs, (−7.4375, −7.5625, −2.3125, −2.6875, −10, −10), is 18.03
    // long, p2's .2688, their product −.03516 and the cosine −.00725:
    // .125·√((1 − .00725)/2) = .08807. Of honest ones it would be .0554.
    let norm = played.reduce(0.0) { $0 + Double($1) * Double($1) }.squareRoot()
    #expect((norm - 0.088_07).magnitude < 1e-5)
  }

  /// Eight devices over some versions of five updates, half of them colluders.
  private func many(_ transforms: [Choice<any UpdateTransform>]) -> SimulationInputs {
    var buffer = BufferTrigger.Settings()
    buffer.size = 5
    var scene = Scene(
      .tiny(),
      fleet: [
        .group(count: 8, windows: [[0, 300_000, 305_000]]) {
          $0.compute.spread = 0.8
          $0.participation.repeats = true
          $0.adversary = little(1, share: 0.5)
        }
      ])
    scene.inputs.server.payload = .delta
    scene.inputs.server.trigger = [Choice(BufferTrigger.self, buffer) { $0 }]
    scene.inputs.server.aggregator = Choice(CoordinateMedian.self) { $0 }
    scene.inputs.server.duplicates = .overwrite
    scene.inputs.server.transforms = transforms
    scene.inputs.stop.after = .seconds(400)
    return scene.inputs
  }

  @Test("Lazily or eagerly, on any threads, saved on the way: the same run")
  func same() throws {
    for transforms in [
      [], [choice(AdaptiveClip.self), choice(StochasticQuantisation.self)],
      [choice(SignCompression.self) { $0.feedback = false }],
    ] {
      let inputs = many(transforms)
      let whole = try Stretches.expectSameAnyhow(inputs)
      #expect(whole.turns > 50)
      var without = inputs
      without.fleet[0].adversary = nil
      #expect(try Stretches(without, stops: []).found != whole.found)
    }
  }
}
