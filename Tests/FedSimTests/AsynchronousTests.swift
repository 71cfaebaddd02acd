import FedSim
import Learning
import Schema
import Testing

private let start: [Float] = [0.25, -0.125, 0.5, 0.75, 0.0625, -0.5]

/// Phones with one batch each, whose updates arrive at 6.650 s after their sessions begin.
private func asynchronous(
  _ windows: [[[Int64]]], payload: Payload, _ change: (inout ServerSettings) -> Void = { _ in }
) -> Scene {
  var scene = Scene(
    .tiny(samples: windows.map { _ in 1 }, initial: start),
    fleet: windows.enumerated().map { place, windows in
      .group("p\(place)", windows: windows) { $0.firstClient = place }
    })
  scene.inputs.server.payload = payload
  scene.inputs.server.trigger = [Choice(EveryArrivalTrigger.self) { $0 }]
  scene.inputs.server.aggregator = Choice(UniformMean.self) { $0 }
  scene.inputs.stop.after = .seconds(500)
  change(&scene.inputs.server)
  return scene
}

private func trained(_ place: Int, from model: [Float], epoch: UInt64 = 0) -> [Float] {
  directTraining(
    .tiny(samples: [1, 1, 1], initial: start), 0..<1, from: model, group: "p\(place)",
    client: place, firstEpoch: epoch)
}

private func polynomial(_ exponent: Double = 0.5) -> Choice<any StalenessWeight> {
  var settings = PolynomialStaleness.Settings()
  settings.exponent = exponent
  return Choice(PolynomialStaleness.self, settings) { $0 }
}

@Suite("Asynchronous learning, by hand")
struct AsynchronousTests {
  /// Three phones begin at 0, 1 and 2 s with version 0; their updates arrive at 6.650, 7.650 and
  /// 8.650 and are 0, 1 and 2 versions old.
  private let windows: [[[Int64]]] = (0..<3).map { [[1_000 * $0, 60_000, 65_000]] }

  @Test("FedAsync mixes every update into the model at its arrival, α·s(τ) of it")
  func fedAsync() {
    var mixing = Mixing.Settings()
    mixing.alpha = 0.5
    let played = asynchronous(windows, payload: .weights) {
      $0.staleness = polynomial()
      $0.optimizer = Choice(Mixing.self, mixing) { $0 }
    }.play()
    #expect(
      played.story(of: -1) == [
        "0 published v0 0", "6650 published v1 1", "7650 published v2 1", "8650 published v3 1",
      ])
    #expect((1...3).map { played.version($0).maximumStaleness } == [0, 1, 2])
    var model = start
    for place in 0..<3 {
      let alpha = 0.5 / (1 + Double(place)).squareRoot()
      let new = trained(place, from: start)
      model = zip(model, new).map { Float((1 - alpha) * Double($0) + alpha * Double($1)) }
      let found = played.model(place + 1)
      // The combination is rounded to a float before it is mixed.
      #expect(zip(found, model).allSatisfy { ($0 - $1).magnitude < 2e-7 }, "v\(place + 1)")
    }
  }

  @Test("With α = 1 and weights that are constant the model is the last update, bit for bit")
  func last() {
    var mixing = Mixing.Settings()
    mixing.alpha = 1
    let played = asynchronous(windows, payload: .weights) {
      $0.staleness = Choice(ConstantStaleness.self) { $0 }
      $0.optimizer = Choice(Mixing.self, mixing) { $0 }
    }.play()
    for place in 0..<3 { #expect(played.model(place + 1) == trained(place, from: start)) }
  }

  @Test("FedBuff of 1 at staleness 0 is a step by that update, bit for bit")
  func fedBuffOfOne() {
    var buffer = BufferTrigger.Settings()
    buffer.size = 1
    let played = asynchronous([[[0, 60_000, 65_000]]], payload: .delta) {
      $0.trigger = [Choice(BufferTrigger.self, buffer) { $0 }]
      $0.staleness = polynomial()
    }.play()
    #expect(played.version(1).maximumStaleness == 0)
    let expected = zip(start, trained(0, from: start)).map { now, new -> Float in
      let step = Float(Double(new) - Double(now))
      return Float(Double(now) + Double(step))
    }
    #expect(played.model(1) == expected)
  }

  @Test("FedBuff divides by the buffer's size, and old updates only make the step shorter")
  func fedBuff() {
    // Version 1 is of the first two; the third is one version old, and comes with p0's second,
    // which begins at 20 s from version 1 and arrives at 26.650 (it asks and loads as ever).
    var buffer = BufferTrigger.Settings()
    buffer.size = 2
    let played = asynchronous(
      [[[0, 10_000, 12_000], [20_000, 60_000, 65_000]], windows[1], windows[2]], payload: .delta
    ) {
      $0.trigger = [Choice(BufferTrigger.self, buffer) { $0 }]
      $0.staleness = polynomial()
      $0.duplicates = .overwrite
    }.play()
    #expect(
      played.story(of: -1) == ["0 published v0 0", "7650 published v1 2", "26650 published v2 2"])
    #expect(played.version(2).meanStaleness == 0.5)
    let one = played.model(1)
    let (fresh, old) = (trained(0, from: one, epoch: 1), trained(2, from: start))
    let expected = (0..<6).map { i in
      let fresh = Double(fresh[i]) - Double(one[i])
      let old = Double(old[i]) - Double(start[i])
      return Double(one[i]) + 0.5 * fresh + 0.5 * old / 2.0.squareRoot()
    }
    for (found, expected) in zip(played.model(2), expected) {
      #expect((Double(found) - expected).magnitude < 1e-7)
    }
  }

  @Test("Updates that are all too old are rejected, and the run continues to its end")
  func tooOld() {
    let played = asynchronous(windows, payload: .delta) { $0.maximumStaleness = 0 }.play()
    #expect(played.story(of: -1) == ["0 published v0 0", "6650 published v1 1"])
    #expect(played.simulation.books.ledgers.updates[.rejectedStale] == 2)
    #expect(played.simulation.now == ms(500_000))
  }

  @Test(
    "Lazily or eagerly, on any threads, streamed or saved on the way: the same run",
    arguments: Payload.allCases)
  func same(payload: Payload) throws {
    var buffer = BufferTrigger.Settings()
    buffer.size = 3
    var scene = Scene(
      .tiny(),
      fleet: [
        .group(count: 8, windows: [[0, 300_000, 305_000]]) {
          $0.compute.spread = 0.8
          $0.participation.repeats = true
          $0.participation.pause = .seconds(30)
        }
      ])
    scene.inputs.server.payload = payload
    scene.inputs.server.trigger = [Choice(BufferTrigger.self, buffer) { $0 }]
    scene.inputs.server.staleness = polynomial(0.7)
    scene.inputs.server.optimizer = Choice(ServerYogi.self) { $0 }
    scene.inputs.server.selector = Choice(ConcurrentSelector.self) { $0 }
    let whole = try Stretches(scene.inputs, stops: [])
    #expect(whole.simulation.version >= 4)
    for threads in 1...3 {
      for compute in ComputeMode.allCases {
        var other = scene
        other.inputs.pool = WorkerPool(threads: threads)
        other.inputs.compute = compute
        let stops = threads == 2 ? [whole.turns / 3, whole.turns * 2 / 3] : []
        let parts = try Stretches(other.inputs, stops: stops) { _ in other.inputs }
        Stretches.expectSame(whole.found, parts.found, "\(threads), \(compute)")
      }
    }
  }
}

@Suite("How many train at once, and when the model goes out")
struct ConcurrencyTests {
  private func concurrent(
    _ limit: Int, lease: SimDuration = .hours(1), _ fleet: [FleetGroupSettings]
  ) -> Scene {
    var scene = Scene(.tiny(), fleet: fleet)
    var selector = ConcurrentSelector.Settings()
    (selector.limit, selector.lease) = (limit, lease)
    scene.inputs.server.selector = Choice(ConcurrentSelector.self, selector) { $0 }
    scene.inputs.server.trigger = [Choice(EveryArrivalTrigger.self) { $0 }]
    scene.inputs.stop.after = .seconds(300)
    return scene
  }

  @Test("A third device is turned away while two train, and let in when one has delivered")
  func limit() {
    // Two ask at 1.010 and deliver at 9.650; the third asks at 2.010 and 11.010.
    let played = concurrent(
      2,
      [
        .group("a", count: 2, windows: [[0, 60_000, 65_000]]),
        .group("b", windows: [[1_000, 9_000, 9_500], [10_000, 60_000, 65_000]]),
      ]
    ).play()
    #expect(played.story(of: 2, only: "accepted") == ["12020 accepted r3"])
    #expect(played.simulation.version == 3)
  }

  @Test("A device that is never heard of again makes room when its lease is over")
  func lease() {
    // a is cut off at 6 s and its update never made; b asks at 11.010, 21.010 and 31.010.
    func play(_ lease: SimDuration) -> Played {
      concurrent(
        1, lease: lease,
        [
          .group("a", windows: [[0, 6_000, 6_500]]),
          .group(
            "b",
            windows: [
              [10_000, 14_000, 15_000], [20_000, 24_000, 25_000], [30_000, 60_000, 65_000],
            ]
          ),
        ]
      ).play()
    }
    #expect(play(.milliseconds(9_999)).story(of: 1, only: "accepted").first == "12020 accepted r1")
    #expect(play(.seconds(20)).story(of: 1, only: "accepted").first == "22020 accepted r1")
    #expect(play(.seconds(25)).story(of: 1, only: "accepted") == ["32020 accepted r1"])
    #expect(play(.hours(1)).story(of: 1, only: "accepted") == [])
  }

  /// Two phones that train again and again, at a server that wants two updates; b is slower.
  private func waiting(_ broadcast: Broadcast?) -> Played {
    var scene = Scene(
      .tiny(),
      fleet: [
        .group("a", windows: [[0, 40_000, 45_000]]) {
          $0.participation.repeats = true
          $0.participation.pause = .seconds(1)
        },
        .group("b", windows: [[0, 40_000, 45_000]]) {
          $0.firstClient = 1
          $0.compute.perBatch = .seconds(5)
        },
      ])
    scene.threshold(2)
    scene.inputs.server.duplicates = .replace
    scene.inputs.server.broadcast = broadcast
    return scene.play()
  }

  @Test("A device whose update waits gets the next model when it is there, or trains again at once")
  func broadcast() {
    // a delivers at 9.650 and reads its receipt at 10.660; 1 s later it asks, at the server at
    // 12.670. b delivers at 4.340 + 20 + 1.310 = 25.650. Held, a is answered at 25.650, reads it at
    // 26.660, and loads version 1.
    let held = waiting(.afterAggregation)
    #expect(
      held.story(of: 0, only: "accepted", "downloaded", "trains") == [
        "2020 accepted r1", "4340 downloaded v0", "4340 trains v0 0/4",
        "26660 accepted r2", "28980 downloaded v1", "28980 trains v1 0/4",
      ])
    #expect(held.story(of: -1).prefix(2) == ["0 published v0 0", "25650 published v1 2"])
    #expect(held.simulation.books.ledgers.updates[.replaced] == 0)
    // On request it trains version 0 again, and its update takes the place of the one before.
    let asked = waiting(nil)
    #expect(
      asked.story(of: 0, only: "accepted").prefix(2) == ["2020 accepted r1", "13680 accepted r1"])
    #expect(asked.simulation.books.ledgers.updates[.replaced] > 0)
    #expect(waiting(.onRequest).story(of: 0) == asked.story(of: 0))
  }

  @Test("A device that is held leaves with its window, and a run that is cut there resumes")
  func heldAndGone() throws {
    var scene = Scene(
      .tiny(),
      fleet: [
        .group("a", windows: [[0, 20_000, 21_000], [30_000, 60_000, 65_000]]) {
          $0.participation.repeats = true
          $0.participation.pause = .seconds(1)
        },
        .group("b", windows: [[40_000, 80_000, 85_000]]) { $0.firstClient = 1 },
      ])
    scene.threshold(2)
    scene.inputs.server.broadcast = .afterAggregation
    scene.inputs.stop.after = .seconds(200)
    let played = scene.play()
    // a has delivered and asks at 12.670; its window ends before anything came of it, and in the
    // next one it asks at 31.010. b delivers at 40 + 9.650: a is answered then, and reads it 1.010
    // later.
    #expect(played.story(of: 0, only: "waits") == ["12670 waits r1", "31010 waits r1"])
    #expect(played.story(of: -1) == ["0 published v0 0", "49650 published v1 2"])
    #expect(
      played.story(of: 0, only: "accepted", "downloaded", "trains") == [
        "2020 accepted r1", "4340 downloaded v0", "4340 trains v0 0/4",
        "50660 accepted r2", "52980 downloaded v1", "52980 trains v1 0/4",
      ])
    let whole = try Stretches(scene.inputs, stops: [])
    let parts = try Stretches(scene.inputs) { stops, run in
      stops == 0 && run.now >= ms(31_010) && DeviceView(0, in: run).work == .waiting
    }
    #expect(parts.archives.count == 1)
    Stretches.expectSame(whole.found, parts.found)
  }
}
