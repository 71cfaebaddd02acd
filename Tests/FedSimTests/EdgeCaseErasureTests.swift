import FedSim
import Learning
import Schema
import Testing

@Suite("Edge cases of erasure, of numbers that are none, and of layouts")
struct EdgeCaseErasureTests {
  /// A phone that uploads from 8.340 to 9.640; a second one's update arrives at 109.650.
  private func scene(
    threshold: Int, _ change: (inout FleetGroupSettings) -> Void = { _ in }
  ) -> Scene {
    var scene = Scene(fleet: [
      .group("a", windows: [[0, 60_000, 65_000]], change),
      .group("b", windows: [[100_000, 160_000, 165_000]]) { $0.firstClient = 1 },
    ])
    scene.threshold(threshold)
    return scene
  }

  @Test("E42: Erased while it is sent: it never arrives")
  func whileSent() {
    var scene = scene(threshold: 1)
    scene.inject(.erase, "a/0", at: 9_000)
    let played = scene.play()
    #expect(
      played.story(of: 0, only: "erases", "fails", "arrives", "ends") == [
        "9000 erases files", "9000 fails 0 cancelled", "9000 ends completed",
      ])
    #expect(played.version(1).publishedAt == ms(109_650))
    #expect(played.simulation.books.ledgers.updates[.erased] == 1)
    #expect(played.simulation.serverRecord.exchangeTallies?.erasures == 1)
  }

  @Test("E42: Erased while it is on its way: it arrives, and 5 ms later it is gone there too")
  func onItsWay() {
    // All is sent at 9.640; it arrives at 9.650 and the erasure, of 9.645, at 9.655.
    var scene = scene(threshold: 2)
    scene.inject(.erase, "a/0", at: 9_645)
    let played = scene.play()
    #expect(
      played.story(of: 0, only: "erases", "fails", "arrives") == [
        "9645 erases files", "9645 fails 0 unacknowledged", "9650 arrives 0",
      ])
    // The second phone's update is alone.
    #expect(played.simulation.version == 0)
    #expect(played.simulation.serverRecord.pendingCount == 1)
    #expect(played.simulation.books.ledgers.updates[.erased] == 1)
  }

  @Test("E42: An erasure that overtakes the upload: what comes later stays gone")
  func overtaken() {
    // Over the cellular link, 500 bytes a second and 20 ms each way: 2 s for a message, 2.6 s for
    // a model. Accepted 4.040, the download asked for 6.040, the model there 8.680, trained
    // 12.680, sent 15.280, at the server 15.300. Over Wi-Fi the erasure of 15.285 is there at
    // 15.295.
    var scene = scene(threshold: 1) {
      $0.link = .states("cellular", in: [0...15_283], otherwise: "wifi")
      $0.network.handover = .survives
    }
    scene.inject(.erase, "a/0", at: 15_285)
    let played = scene.play()
    #expect(
      played.story(of: 0, only: "erases", "fails", "arrives") == [
        "15285 erases files", "15285 fails 0 unacknowledged", "15300 arrives 0",
      ])
    #expect(played.simulation.books.ledgers.updates[.erased] == 1)
    #expect(played.version(1).publishedAt == ms(109_650))
  }

  @Test("E42: Erased without a link: continued the device now, at the server when the link is back")
  func offline() {
    // It arrives at 9.650, the link is gone from 9.645 to 29.645, the server hears at 29.655.
    var scene = scene(threshold: 2)
    scene.inject(.dropLink, "a/0", at: 9_645, lasting: .seconds(20))
    scene.inject(.erase, "a/0", at: 9_700)
    let tape = Waiting()
    var simulation = Simulation(scene.inputs)
    simulation.run(observers: [tape])
    #expect(tape.changes == ["9650 1", "29655 0", "109650 1"])
    let played = scene.play()
    #expect(
      played.story(of: 0, only: "arrives", "erases", "uploads", "ends") == [
        "8340 uploads 0", "9650 arrives 0", "9700 erases files", "9700 ends completed",
      ])
    #expect(played.simulation.books.ledgers.updates[.erased] == 1)
  }

  /// Writes down how many updates wait, when that changes.
  private final class Waiting: Observer {
    var changes: [String] = []
    private var last = 0
    var wantsEveryEvent: Bool { true }
    func handled(_ event: Event, at time: SimTime, _ simulation: borrowing Simulation) {
      guard simulation.serverRecord.pendingCount != last else { return }
      last = simulation.serverRecord.pendingCount
      changes.append("\(milliseconds(time)) \(last)")
    }
  }

  @Test("E42: All erased in a training: the training goes too")
  func all() {
    // Batch 1 ended at 5.340.
    var scene = scene(threshold: 1)
    scene.inject(.erase, "a/0", at: 6_000)
    scene.inputs.injections[0].scope = .all
    let played = scene.play()
    #expect(
      played.story(of: 0, only: "erases", "attempt", "ends") == [
        "6000 erases all", "6000 attempt erased 1", "6000 ends erased",
      ])
    #expect(played.simulation.books.ledgers.attempts[.erased] == 1)
  }

  @Test("E42: Metadata erased: the server no longer knows that the device was in the cycle")
  func metadata() {
    func version(erases: Bool) -> Int {
      var scene = Scene(fleet: [
        .group("a", windows: [[0, 60_000, 65_000], [100_000, 160_000, 165_000]])
      ])
      var cycle = CycleSettings()
      cycle.mode = .asDocumented
      cycle.length = nil
      cycle.maximumDiffs = 2
      scene.inputs.server.selector = Choice(CycleSelector.self, cycle) { $0 }
      scene.inputs.server.trigger = [Choice(CycleEndTrigger.self) { $0 }]
      scene.inputs.server.duplicates = .overwrite
      if erases {
        scene.inject(.erase, "a/0", at: 20_000)
        scene.inputs.injections[0].scope = .metadata
      }
      return scene.play().simulation.version
    }
    #expect(version(erases: false) == 0)
    #expect(version(erases: true) == 1)
  }

  @Test("E43: Weights that are no numbers: not sent by who looks, not taken by the server")
  func e43() {
    func played(_ checks: Bool, rate: Double = 0.5, poisons: Bool = true) -> Played {
      var scene = Scene(
        .tiny(rate: rate),
        fleet: [
          .group("a", windows: [[0, 60_000, 65_000]]) {
            $0.protocol = ProtocolSettings()
            $0.protocol?.checksFinite = checks
          }
        ])
      scene.threshold(1)
      if poisons { scene.inject(.poison, "a/0", at: 5_000) }
      return scene.play()
    }
    let checked = played(true)
    #expect(
      checked.story(of: 0, only: "attempt", "makes", "uploads", "ends") == [
        "8340 attempt finished 4", "8340 makes 0 of v0 4b 4s", "8340 ends completed",
      ])
    #expect(checked.simulation.books.ledgers.updates[.rejectedLocally] == 1)
    let sent = played(false)
    #expect(sent.story(of: 0, only: "arrives", "receipt").first == "9650 arrives 0")
    #expect(sent.simulation.books.ledgers.updates[.rejectedNotFinite] == 1)
    #expect(sent.tape.rounds.first?.outcome == .failed)
    for run in [checked, sent] {
      #expect(run.simulation.version == 0)
      #expect(run.simulation.model.values == [0, 0, 0, 0, 0, 0])
    }
    // A rate beyond the numbers does the same without a script; sound ones are sent.
    #expect(
      played(true, rate: 1e40, poisons: false).simulation.books.ledgers.updates[.rejectedLocally]
        == 1)
    #expect(played(true, poisons: false).simulation.version == 1)
  }

  @Test("E43: One update of two is no number: the other one is the version")
  func oneOfTwo() {
    var scene = Scene(fleet: [
      .group("a", windows: [[0, 60_000, 65_000]]),
      .group("b", windows: [[0, 60_000, 65_000]]) { $0.firstClient = 1 },
    ])
    scene.threshold(2)
    scene.inject(.poison, "a/0", at: 5_000)
    let played = scene.play()
    let zeros: [Float] = [0, 0, 0, 0, 0, 0]
    #expect(
      played.model(1) == directTraining(.tiny(), 0..<4, from: zeros, group: "b", client: 1))
    #expect(played.simulation.books.ledgers.updates[.rejectedNotFinite] == 1)
  }

  @Test("E44: A layer that the app does not know: nothing is applied, or in silence the rest")
  func e44() {
    // 7 parameters: a model takes 1.350 s, so every session is 50 ms longer at the model, and at
    // the update. "new" makes v1 at 9.750; "old" trains on it from 20 s on, and its update makes v2
    // at 29.750, whose second layer, 3 to 6, begins again. At 100 s "old" asks for v2.
    let start: [Float] = [0.5, 0.25, 0.1, 0.3, -0.2, 0.05, -0.05]
    let tiny = LearningTask.tiny()
    let task = LearningTask(
      network: .multilayerPerceptron(inputCount: 2, hidden: [1], classCount: 2),
      initial: ParameterBuffer(start), train: tiny.train, test: tiny.test,
      partition: tiny.partition, plan: tiny.plan)
    func played(skips: Bool) -> Played {
      var scene = Scene(
        task,
        fleet: [
          .group("new", windows: [[0, 15_000, 16_000]]),
          .group("old", windows: [[20_000, 60_000, 65_000], [100_000, 160_000, 165_000]]) {
            $0.firstClient = 1
            $0.protocol = ProtocolSettings()
            $0.protocol?.knowsNewLayout = false
            $0.protocol?.skipsUnknownLayers = skips
          },
        ])
      scene.threshold(1)
      scene.inputs.server.layoutChange = LayoutChange()
      scene.inputs.server.layoutChange!.version = 2
      scene.inputs.server.layoutChange!.layer = "dense2"
      return scene.play()
    }
    let first = directTraining(task, 0..<4, from: start, group: "new", client: 0)
    let trained = directTraining(task, 0..<4, from: first, group: "old", client: 1)
    let second = Array(trained[..<3] + start[3...])

    let strict = played(skips: false)
    #expect(
      strict.story(of: 1, only: "downloaded", "ends") == [
        "24390 downloaded v1", "30760 ends completed", "104390 ends undecodable",
      ])
    #expect(strict.simulation.deviceRecords[1].heldVersion == 1)
    #expect(strict.model(1) == first)
    #expect(strict.model(2) == second)
    #expect(strict.simulation.version == 2)
    #expect(strict.simulation.serverRecord.exchangeTallies?.layoutMismatches == 1)

    // It trains on the first layer of v2 and its own second layer, that of v1.
    let skipping = played(skips: true)
    let mixture = Array(second[..<3] + first[3...])
    #expect(skipping.version(3).publishedAt == ms(109_750))
    #expect(
      skipping.model(3)
        == directTraining(task, 0..<4, from: mixture, group: "old", client: 1, firstEpoch: 1))
  }

  @Test("E44: An update of the layout before a change is refused after it")
  func oldLayout() {
    // Both train on v0; b's arrives 0.5 s after a's has made v1.
    var scene = Scene(fleet: [
      .group("a", windows: [[0, 60_000, 65_000]]),
      .group("b", windows: [[500, 60_000, 65_000]]) { $0.firstClient = 1 },
    ])
    scene.threshold(1)
    scene.inputs.server.layoutChange = LayoutChange()
    scene.inputs.server.layoutChange!.layer = "dense1"
    let played = scene.play()
    #expect(played.simulation.version == 1)
    // The only layer is the new one.
    #expect(played.model(1) == [0, 0, 0, 0, 0, 0])
    #expect(played.simulation.books.ledgers.updates[.rejectedStale] == 1)
  }
}
