import FedSim
import Learning
import Schema
import Testing

/// Three phones whose updates arrive at 9.650, 29.650 and 49.650 s, and a fourth whose window
/// begins at `last`; an aggregation takes 10 s and 1 s an update.
private func scene(
  blocks: Bool, last: Int64 = 50_000, _ change: (inout Scene) -> Void = { _ in }
) -> Scene {
  var scene = Scene(
    fleet: [0, 20_000, 40_000, last].enumerated().map { place, start in
      .group("p\(place)", windows: [[start, start + 1_000_000, start + 1_005_000]]) {
        $0.participation.retrain = .newVersions
      }
    })
  var time = AggregationTimeSettings()
  (time.base, time.perUpdate, time.blocks) = (.seconds(10), .seconds(1), blocks)
  scene.inputs.server.aggregationTime = time
  change(&scene)
  return scene
}

@Suite("Aggregations that take time")
struct AggregationTimeTests {
  @Test("In the background nobody waits: the third receives `pending`, others get the old version")
  func background() throws {
    // 10 s and 3 · 1 s after 49.650: 62.650. The fourth asks at 51.010 and has version 0 at 54.340.
    let played = scene(blocks: false).play()
    #expect(played.story(of: -1) == ["0 published v0 0", "62650 published v1 3"])
    #expect(played.story(of: 2, only: "receipt") == ["50660 receipt 2 pending v0 n0"])
    #expect(played.story(of: 3, only: "downloaded") == ["54340 downloaded v0"])
    let tallies = try #require(played.simulation.serverRecord.aggregationTallies)
    #expect((tallies.begun, tallies.held) == (1, 0))
    #expect(tallies.lasted == .seconds(13))
    // What came meanwhile, at 59.650, waits for the next one.
    #expect(played.story(of: 3, only: "receipt") == ["60660 receipt 3 pending v0 n1"])
  }

  @Test("Where it blocks, the third hears `aggregated` at its end, and who asks meanwhile waits")
  func blocking() throws {
    // The third's answer leaves at 62.650: 62.660 its head, 63.660 read. The fourth's check, there
    // at 51.010, is answered then too, 63.660; it asks for the model, 64.670, and has version 1
    // at 64.680 + 1.300.
    let played = scene(blocks: true).play()
    #expect(played.story(of: -1) == ["0 published v0 0", "62650 published v1 3"])
    #expect(played.story(of: 2, only: "receipt") == ["63660 receipt 2 aggregated v1 n0"])
    #expect(
      played.story(of: 3, only: "accepted", "downloaded") == [
        "63660 accepted r2", "65980 downloaded v1",
      ])
    let tallies = try #require(played.simulation.serverRecord.aggregationTallies)
    #expect((tallies.begun, tallies.held) == (1, 1))
    #expect(tallies.waited == .milliseconds(62_650 - 51_010))
  }

  @Test("With a service time what is served ends as the aggregation does")
  func service() throws {
    // A service takes 1 s. The fourth's check comes at 51.010 and is handled at 52.010, with the
    // third's update (51.650) behind it: handled 53.010, so the aggregation lasts until 66.010.
    // The fourth asks for the model at 53.020: 54.030 there, due 55.030, held until 66.010;
    // 66.020 the head, 67.320 read.
    let played = scene(blocks: true) {
      $0.inputs.server.service = ServiceSettings()
      $0.inputs.server.service!.time = .seconds(1)
    }.play()
    #expect(played.story(of: -1) == ["0 published v0 0", "66010 published v1 3"])
    #expect(played.story(of: 2, only: "receipt") == ["67020 receipt 2 aggregated v1 n0"])
    #expect(played.story(of: 3, only: "downloaded") == ["67320 downloaded v1"])
    let tallies = try #require(played.simulation.serverRecord.aggregationTallies)
    #expect(tallies.held == 1)
    #expect(tallies.waited == .milliseconds(66_010 - 55_030))
  }

  @Test("Updates that come meanwhile make the next version as soon as it is over")
  func next() {
    // Threshold 1: 9.650 to 20.650 the first; 29.650 to 40.650, 49.650 to 60.650. The fourth's,
    // at 54.340 + 4 + 1.310 = 59.650, begins the fourth as the third ends.
    let played = scene(blocks: false) { $0.threshold(1) }.play()
    #expect(
      played.story(of: -1, only: "published") == [
        "0 published v0 0", "20650 published v1 1", "40650 published v2 1",
        "60650 published v3 1", "71650 published v4 1",
      ])
  }

  @Test("A late member of a cohort finds its round closing")
  func late() {
    // The cohort of three has a goal of two (1.5 times over-selected); the third arrives in the
    // aggregation of the first two.
    var scene = Scene(
      fleet: [
        .group("fast", count: 2, windows: [[0, 900_000, 905_000]]) {
          $0.participation.retrain = .newVersions
        },
        .group("slow", windows: [[0, 900_000, 905_000]]) {
          $0.participation.retrain = .newVersions
          $0.compute.perBatch = .seconds(3)
        },
      ])
    var selector = UniformSelector.Settings()
    (selector.cohort, selector.overSelection) = (2, 1.5)
    scene.inputs.server.selector = Choice(UniformSelector.self, selector) { $0 }
    scene.inputs.server.trigger = [Choice(CohortCompleteTrigger.self) { $0 }]
    var time = AggregationTimeSettings()
    time.base = .seconds(20)
    scene.inputs.server.aggregationTime = time
    scene.inputs.stop.rounds = 1
    // The fast ones are at 8.340 with their batches, the slow one at 16.340: 17.650 there, while
    // the aggregation lasts from 9.650 to 29.650.
    let played = scene.play()
    #expect(
      played.story(of: -1, only: "published") == ["0 published v0 0", "29650 published v1 2"])
    #expect(played.story(of: 2, only: "receipt") == ["18660 receipt 2 rejected v0 n0"])
    #expect(played.simulation.books.ledgers.updates[.rejectedLate] == 1)
  }

  @Test("A run that ends in an aggregation leaves its updates unfinished")
  func end() {
    let played = scene(blocks: true) { $0.inputs.stop.after = .seconds(60) }.play()
    #expect(played.story(of: -1, only: "published") == ["0 published v0 0"])
    #expect(played.simulation.books.ledgers.updates[.unfinishedAtEnd] == 3)
  }

  @Test("The server goes down while it aggregates: its callers are cut off, the version is made")
  func outage() {
    let played = scene(blocks: true) {
      $0.inputs.server.reachable = .states("down", in: [55_000...60_000], otherwise: "up")
    }.play()
    #expect(
      played.story(of: 2, only: "arrives", "fails") == [
        "49650 arrives 2", "55000 fails 2 unacknowledged",
      ])
    #expect(
      played.story(of: -1, only: "published") == ["0 published v0 0", "62650 published v1 3"])
    #expect(played.simulation.books.ledgers.updates[.aggregated] == 3)
  }

  @Test("Aggregations as long as they can be said stop nothing")
  func extreme() {
    let played = scene(blocks: true) {
      $0.inputs.server.aggregationTime!.base = .forever
      $0.inputs.server.aggregationTime!.perUpdate = .forever
    }.play()
    #expect(played.story(of: -1, only: "published") == ["0 published v0 0"])
  }
}

@Suite("The model in use at the server")
struct ModelInUseTests {
  private func inUse(_ published: [Int64], load: Int64, end: Int64) -> ModelsInUse {
    ModelsInUse(
      published: published.map { ms($0 * 1000) }, loadTime: .seconds(load), end: ms(end * 1000))
  }

  @Test("One is loaded at a time, the latest there is as the loading begins")
  func latest() {
    // Version 1 loads from 100 to 110 s; 2 and 3 come meanwhile, so 3 from 110 to 120 and 2 never;
    // 4 from 200 to 210.
    let inUse = inUse([0, 100, 105, 107, 200], load: 10, end: 300)
    #expect(inUse.from == [ms(0), ms(110_000), nil, ms(120_000), ms(210_000)])
    #expect(inUse.spans == [110, 10, 0, 90, 90].map { SimDuration.seconds($0) })
    // From 100 to 120, and from 200 to 210.
    #expect(inUse.behind == .seconds(30))
  }

  @Test("A version that comes as a loading ends is the next; one is not loaded when the run ends")
  func ties() {
    let tie = inUse([0, 100, 110], load: 10, end: 300)
    #expect(tie.from == [ms(0), ms(110_000), ms(120_000)])
    #expect(tie.behind == .seconds(20))
    let end = inUse([0, 100], load: 10, end: 105)
    #expect(end.from == [ms(0), nil])
    #expect(end.spans == [.seconds(105), .zero])
    #expect(end.behind == .seconds(5))
  }

  @Test("Without a load time every version is in use at once, and nothing is ever behind")
  func instant() {
    let inUse = inUse([0, 100, 100, 250], load: 0, end: 300)
    #expect(inUse.from == [ms(0), nil, ms(100_000), ms(250_000)])
    #expect(inUse.behind == .zero)
  }
}

@Suite("Updates that come while the server believes itself offline")
struct WhileOfflineTests {
  /// The internet is gone from 100 to 400 s, found out at 120 and 420; the phone's update arrives
  /// at 121.650, its next window begins at 500 s.
  private func played(_ way: WhileOffline?) -> Played {
    var scene = Scene(
      fleet: [
        .group(windows: [[112_000, 200_000, 205_000], [500_000, 600_000, 605_000]]) {
          $0.participation.retrain = .newVersions
        }
      ])
    scene.inputs.server.internet = .states("down", in: [100_000...400_000], otherwise: "up")
    scene.inputs.server.whileOffline = way
    scene.threshold(1)
    return scene.play()
  }

  @Test("They wait and are aggregated when the connection returns")
  func queue() {
    for way in [nil, WhileOffline.queue] {
      let played = played(way)
      #expect(
        played.story(of: 0, only: "receipt").first == "122660 receipt 0 offline v0 n1")
      // The second window makes one of version 1.
      #expect(
        played.story(of: -1, only: "published") == [
          "0 published v0 0", "420000 published v1 1", "509650 published v2 1",
        ])
    }
  }

  @Test("They are answered and forgotten: the app takes the answer for a success")
  func drop() {
    let played = played(.drop)
    #expect(
      played.story(of: 0, only: "receipt", "ends") == [
        "122660 receipt 0 offline v0 n0", "122660 ends completed", "502020 ends nothingNew",
      ])
    #expect(played.story(of: -1, only: "published") == ["0 published v0 0"])
    #expect(played.simulation.books.ledgers.updates[.refusedOffline] == 1)
  }

  @Test("They are refused with 503, and the device sends them in its next session")
  func refuse() {
    // Sent 501.300, there 501.310, read 502.320; then it makes another one.
    let played = played(.refuse)
    #expect(
      played.story(of: 0, only: "uploads", "fails", "arrives", "receipt").prefix(5) == [
        "120340 uploads 0", "122660 fails 0 unavailable", "500000 uploads 0", "501310 arrives 0",
        "502320 receipt 0 aggregated v1 n0",
      ])
    #expect(played.simulation.books.ledgers.transmissions[.unavailable] == 1)
    #expect(played.simulation.books.ledgers.updates[.aggregated] == 2)
  }
}

@Suite("The average of the accuracies that come with updates")
struct AverageAccuracyTests {
  private func version(_ weights: AccuracyWeights?) -> VersionRecord {
    // A bias of 5 and a small rate: every sample is taken for class 0. The validation samples are
    // numbers 8, 9, 10 (labels 0, 0, 1) and 11, 12, 13 (labels 1, 0, 1).
    let task = LearningTask.tiny(
      samples: [2, 6], rate: 0.001, initial: [0, 0, 0, 0, 5, 0], validation: 3)
    var scene = Scene(task, fleet: [.group(count: 2, windows: [[0, 100_000, 105_000]])])
    scene.inputs.fleet[0].participation.retrain = .newVersions
    scene.threshold(2)
    scene.inputs.record.averageAccuracy = weights
    return scene.play().version(1)
  }

  @Test("Each update counts the same, or by its samples; without being asked for there is none")
  func weights() {
    #expect(version(nil).validationAccuracy == 0.5)
    #expect(version(nil).averageAccuracy == nil)
    // (2/3 + 1/3) / 2, and (2 · 2/3 + 6 · 1/3) / 8.
    #expect(version(.updates).averageAccuracy == 0.5)
    #expect(abs(version(.samples).averageAccuracy! - 5.0 / 12) < 1e-15)
  }
}
