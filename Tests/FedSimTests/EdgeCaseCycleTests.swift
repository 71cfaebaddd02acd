import FedSim
import Learning
import Schema
import Testing

/// Phones a/0, b/0, … with these windows and a PyGrid server; see `Scene` for the times. A device
/// that is let in always asks for the model, with its key.
private func pygrid(
  _ windows: [[[Int64]]], task: LearningTask = .tiny(),
  cycle: (inout CycleSettings) -> Void,
  group change: (inout FleetGroupSettings) -> Void = { _ in }
) -> Scene {
  var scene = Scene(
    task,
    fleet: zip(["a", "b", "c"], windows).enumerated().map { place, group in
      .group(group.0, windows: group.1) {
        $0.firstClient = place
        $0.protocol = ProtocolSettings()
        change(&$0)
      }
    })
  var settings = CycleSettings()
  cycle(&settings)
  scene.inputs.server.payload = .delta
  scene.inputs.server.duplicates = .overwrite
  scene.inputs.server.selector = Choice(CycleSelector.self, settings) { $0 }
  scene.inputs.server.trigger = [Choice(CycleEndTrigger.self) { $0 }]
  scene.inputs.server.aggregator = Choice(UniformMean.self) { $0 }
  return scene
}

@Suite("Edge cases of PyGrid's cycles")
struct EdgeCaseCycleTests {
  private let once: [[Int64]] = [[0, 60_000, 65_000]]

  @Test("A cycle's model is params - mean(diff), where diff = params - trained")
  func meanOfDiffs() {
    // Reports of 4 and of 8 samples count the same. a's arrives at 9.650, b's, of 8 batches, 4 s
    // later.
    let params: [Float] = [0.25, -0.125, 0.5, 0.75, 0.0625, -0.5]
    let task = LearningTask.tiny(samples: [4, 8], initial: params)
    let played = pygrid([once, once], task: task) { $0.maximumDiffs = 2 }.play()
    #expect(played.version(1).publishedAt == ms(13_650))
    #expect(played.version(1).updates == 2)
    let trained = [
      directTraining(task, 0..<4, from: params, group: "a", client: 0),
      directTraining(task, 0..<8, from: params, group: "b", client: 1),
    ]
    let expected = params.indices.map { place in
      let diffs = trained.map { Double(params[place]) - Double($0[place]) }
      return Float(Double(params[place]) - Double(Float(diffs[0] * 0.5 + diffs[1] * 0.5)))
    }
    #expect(played.model(1) == expected)
  }

  @Test("E21: A report to a closed cycle is acknowledged, and is not averaged")
  func e21() {
    // a's report, at 9.650, closes cycle 1; b's, half a second later, is late.
    let task = LearningTask.tiny()
    let played = pygrid([once, [[500, 60_000, 65_000]]], task: task) { $0.maximumDiffs = 1 }.play()
    #expect(
      played.story(of: 1, only: "accepted", "arrives", "receipt", "ends") == [
        "2520 accepted r1", "10150 arrives 1", "11160 receipt 1 pending v1 n0",
        "11160 ends completed",
      ])
    #expect(played.story(of: -1, only: "published") == ["0 published v0 0", "9650 published v1 1"])
    let zeros: [Float] = [0, 0, 0, 0, 0, 0]
    #expect(played.model(1) == directTraining(task, 0..<4, from: zeros, group: "a", client: 0))
    #expect(played.simulation.books.ledgers.updates[.rejectedLate] == 1)
    #expect(played.simulation.serverRecord.exchangeTallies?.lateReports == 1)
  }

  @Test("E22: No timer ends a cycle as coded, the next report does; as documented a timer does")
  func e22() {
    // a reports at 9.650: enough reports, too early. b begins at 200 s and reports at 209.650.
    func published(_ mode: CycleSettings.Mode, minimum: Int) -> [String] {
      pygrid([once, [[200_000, 260_000, 265_000]]]) {
        $0.mode = mode
        $0.length = .seconds(100)
        $0.minimumDiffs = minimum
      }.play().story(of: -1, only: "published")
    }
    #expect(
      published(.asCoded, minimum: 1) == ["0 published v0 0", "209650 published v1 2"])
    // The second cycle, from 100 s to 200 s, has no report at its end and is closed by b's.
    #expect(
      published(.asDocumented, minimum: 1) == [
        "0 published v0 0", "100000 published v1 1", "209650 published v2 1",
      ])
    // With too few reports at the end a cycle stays open, with a timer or without.
    for mode in CycleSettings.Mode.allCases {
      #expect(published(mode, minimum: 2) == ["0 published v0 0", "209650 published v1 2"])
      #expect(published(mode, minimum: 3) == ["0 published v0 0"])
    }
  }

  @Test("E23: A model asked for with the key of a closed cycle: invalid, the round is over")
  func e23() {
    // b, from 7 s on, is let in at 8.010, before a's report closes the cycle at 9.650, and asks for
    // the model at 10.030. The error begins at 10.040 and is 1,000 bytes long.
    let played = pygrid([once, [[7_000, 60_000, 65_000]]]) { $0.maximumDiffs = 1 }.play()
    #expect(
      played.story(of: 1, only: "accepted", "downloaded", "trains", "ends") == [
        "9020 accepted r1", "11040 ends expiredRound",
      ])
    #expect(played.simulation.serverRecord.exchangeTallies?.invalidKeys == 1)
    #expect(played.simulation.deviceRecords[1].heldVersion == -1)
  }

  @Test(
    "E24: A timeout as text is an unknown error for who wants an integer; else asked again then")
  func e24() {
    // The only worker's report is averaged at 100 s. b, from 5 s on, asks at 6.010: 93.990 s are
    // left, which it reads at 7.020.
    func story(_ timeouts: ProtocolSettings.Timeouts) -> [String] {
      pygrid([once, [[5_000, 130_000, 135_000]]]) {
        $0.mode = .asDocumented
        $0.length = .seconds(100)
        $0.maximumWorkers = 1
      } group: {
        $0.protocol?.timeouts = timeouts
      }.play().story(of: 1, only: "rejected", "accepted", "arrives", "ends")
    }
    #expect(story(.strictInteger) == ["7020 rejected 93990", "7020 ends unknownError"])
    // 7.020 + 93.990 = 101.010: accepted 2.020 s later, the report 9.650 s later.
    #expect(
      story(.honoured) == [
        "7020 rejected 93990", "103030 accepted r2", "110660 arrives 1", "111670 ends completed",
      ])
    #expect(story(.ignored) == ["7020 rejected 93990", "7020 ends rejected"])
  }

  @Test("E25: A timeout below zero: asked again at once, but once a minute; none: not again")
  func e25() {
    // b's link has 8,000 bit/s, too few. The cycle's time was over at 100 s; b asks at 201.010.
    var scene = pygrid([[], [[200_000, 400_000, 405_000]]]) {
      $0.length = .seconds(100)
      $0.minimumUpload = BitRate(bitsPerSecond: 8_001)
    }
    let story = scene.play().story(of: 1, only: "rejected", "ends")
    #expect(
      story == [
        "202020 rejected -101010", "262020 rejected -161010", "322020 rejected -221010",
        "382020 rejected -281010", "400000 ends expired",
      ])
    // As coded the open cycle is counted: of one cycle, none lets anyone in, and says no time.
    func only(_ mode: CycleSettings.Mode) -> [String] {
      scene = pygrid([once]) {
        $0.mode = mode
        $0.cycles = 1
      } group: {
        $0.participation.repeats = true
        $0.participation.pause = .seconds(1)
      }
      return scene.play().story(of: 0, only: "rejected", "accepted", "ends").prefix(2).map { $0 }
    }
    #expect(only(.asCoded) == ["2020 rejected for good", "2020 ends rejected"])
    #expect(only(.asDocumented).first == "2020 accepted r1")
  }

  @Test("Cycles without an end: as coded a rejection is an error of the server, else for good")
  func endless() {
    // b's link has 8,000 bit/s, too few.
    func story(_ mode: CycleSettings.Mode) -> [String] {
      pygrid([[], once]) {
        $0.mode = mode
        $0.length = nil
        $0.maximumDiffs = 1
        $0.minimumUpload = BitRate(bitsPerSecond: 8_001)
      }.play().story(of: 1, only: "rejected", "ends")
    }
    #expect(story(.asCoded) == ["2020 ends unknownError"])
    #expect(story(.asDocumented) == ["2020 rejected for good", "2020 ends rejected"])
  }

  @Test("E26: Bounds of workers and their reuse have an effect as documented only")
  func e26() {
    let sessions: [[Int64]] = [0, 100_000, 200_000].map { [$0, $0 + 60_000, $0 + 65_000] }
    func published(
      _ windows: [[[Int64]]], _ mode: CycleSettings.Mode,
      _ change: (inout CycleSettings) -> Void
    ) -> [String] {
      pygrid(windows) {
        $0.mode = mode
        $0.length = .seconds(9_000)
        change(&$0)
      } group: {
        $0.protocol?.timeouts = .strictInteger
      }.play().story(of: -1, only: "published").dropFirst().map { $0 }
    }
    // max_workers: of two that ask at 1.010, in the order of the fleet, one is let in.
    let most: (inout CycleSettings) -> Void = {
      $0.maximumDiffs = 2
      $0.maximumWorkers = 1
    }
    #expect(published([once, once], .asCoded, most) == ["9650 published v1 2"])
    #expect(published([once, once], .asDocumented, most) == ["9000000 published v1 1"])
    // min_workers: one worker's report is enough, or it is not.
    let least: (inout CycleSettings) -> Void = {
      $0.maximumDiffs = 1
      $0.minimumWorkers = 2
    }
    #expect(published([once], .asCoded, least) == ["9650 published v1 1"])
    #expect(published([once], .asDocumented, least) == [])
    // do_not_reuse_workers_until_cycle: a worker of cycle 1 is let in again in cycle 3.
    let reuse: (inout CycleSettings) -> Void = {
      $0.maximumDiffs = 1
      $0.reuseAfter = 2
    }
    #expect(
      published([sessions], .asCoded, reuse) == [
        "9650 published v1 1", "109650 published v2 1", "209650 published v3 1",
      ])
    #expect(published([sessions], .asDocumented, reuse) == ["9650 published v1 1"])
    // One device twice in a cycle is two workers, or one that is assigned already.
    let two: (inout CycleSettings) -> Void = { $0.maximumDiffs = 2 }
    #expect(published([sessions], .asCoded, two) == ["109650 published v1 2"])
    #expect(published([sessions], .asDocumented, two) == ["9000000 published v1 1"])
    // num_cycles: as coded one less.
    let cycles: (inout CycleSettings) -> Void = {
      $0.maximumDiffs = 1
      $0.cycles = 2
    }
    #expect(published([sessions], .asCoded, cycles) == ["9650 published v1 1"])
    #expect(
      published([sessions], .asDocumented, cycles) == [
        "9650 published v1 1", "109650 published v2 1",
      ])
  }

  @Test("A wrong address ends a session as it begins, and an exception in the middle of training")
  func failures() {
    var scene = pygrid([[10_000, 100_000].map { [$0, $0 + 60_000, $0 + 65_000] }]) {
      $0.maximumDiffs = 1
    }
    scene.inject(.wrongURL, "a/0", at: 5_000, lasting: .seconds(50))
    // Batch 1 ends at 105.340.
    scene.inject(.throw, "a/0", at: 106_000)
    let played = scene.play()
    #expect(
      played.story(of: 0, only: "begins", "ends", "attempt", "uploads") == [
        "10000 begins window", "10000 ends wrongURL", "100000 begins window",
        "106000 attempt threw 1", "106000 ends threw",
      ])
    #expect(played.simulation.serverRecord.exchangeTallies?.unconnectedSessions == 1)
    #expect(played.simulation.version == 0)
  }
}
