import FedSim
import Learning
import Schema
import Testing

/// Phones a/0, b/0, … that enrol as workers of a PyGrid server, whose first report ends a cycle.
///
/// See `Scene` for the times. Enrolling takes 2.020 s: 1,000 bytes there, 1,000 back, 10 ms each
/// way. A training's report is at the server 9.650 s after the request for work begins.
func workers(
  _ windows: [[[Int64]]] = [[[0, 60_000, 65_000]]], task: LearningTask = .tiny(),
  cycle: (inout CycleSettings) -> Void = { _ in },
  worker: (inout WorkerSettings) -> Void = { _ in },
  group change: (inout FleetGroupSettings) -> Void = { _ in }
) -> Scene {
  var scene = Scene(
    task,
    fleet: zip(["a", "b"], windows).enumerated().map { place, group in
      .group(group.0, windows: group.1) {
        $0.firstClient = place
        $0.protocol = ProtocolSettings()
        $0.protocol!.worker = WorkerSettings()
        $0.protocol!.worker!.probeBytes = 2_000
        worker(&$0.protocol!.worker!)
        change(&$0)
      }
    })
  var settings = CycleSettings()
  settings.maximumDiffs = 1
  cycle(&settings)
  scene.inputs.server.payload = .delta
  scene.inputs.server.duplicates = .overwrite
  scene.inputs.server.selector = Choice(CycleSelector.self, settings) { $0 }
  scene.inputs.server.trigger = [Choice(CycleEndTrigger.self) { $0 }]
  scene.inputs.server.aggregator = Choice(UniformMean.self) { $0 }
  return scene
}

@Suite("Workers of PyGrid")
struct WorkerTests {
  @Test("A worker enrols before it asks; without a minimum there is no speed test")
  func enrolment() {
    let played = workers().play()
    // 2.020 + 2.020 and 2.020 + 9.650.
    #expect(
      played.story(of: 0, only: "does", "accepted", "arrives") == [
        "2020 does enrolled", "4040 accepted r1", "11670 arrives 0",
      ])
    #expect(played.simulation.serverRecord.instructionTallies?.workers == 1)
    #expect(played.simulation.serverRecord.instructionTallies?.speedTests == 0)
    // Requests: enrol, check, model, report; 1,000 bytes each, 300 more with the report.
    #expect(played.simulation.books.ledgers.bytesUp == 4_300)
  }

  @Test("A new worker for each request: who asks again enrols again")
  func newWorkers() {
    // Two sessions; in the second the model is sent again, for a key goes with it.
    let played = workers([[[0, 60_000, 65_000], [100_000, 160_000, 165_000]]]).play()
    #expect(
      played.story(of: 0, only: "does", "arrives") == [
        "2020 does enrolled", "11670 arrives 0", "102020 does enrolled", "111670 arrives 1",
      ])
    #expect(played.simulation.serverRecord.instructionTallies?.workers == 2)
  }

  @Test("A speed test costs its bytes and its time, and a link that is fast enough is let in")
  func speedTest() {
    // Up: 3,000 bytes until 5.020, the answer until 6.040. Down: asked until 7.040, 3,000 bytes
    // from 7.060 to 10.060. Both 8,000 bit/s. Asked for work at 10.060; report 9.650 s later.
    let played = workers { $0.minimumUpload = BitRate(bitsPerSecond: 8_000) }.play()
    #expect(
      played.story(of: 0, only: "does", "accepted", "arrives") == [
        "2020 does enrolled", "10060 does speedTested", "12080 accepted r1", "19710 arrives 0",
      ])
    #expect(played.simulation.books.ledgers.bytesUp == 4_300 + 3_000 + 1_000)
    #expect(played.simulation.serverRecord.instructionTallies?.speedTests == 1)
    let slower = workers {
      $0.minimumDownload = BitRate(bitsPerSecond: 8_001)
      $0.length = .seconds(100)
    }.play()
    #expect(
      slower.story(of: 0, only: "accepted", "rejected").first == "12080 rejected 88930")
  }

  @Test("What counts is what the test found, not what the link carries when work is asked for")
  func measuredRate() {
    // At half its rate until 6 s: enrolled at 4.020. Of the probe's 3,000 bytes 990 are through at
    // 6 s, all at 8.010: 24,000 bits in 3.990 s are 6,015.04 bit/s.
    func accepted(_ least: Int64) -> Bool {
      let played = workers {
        $0.minimumUpload = BitRate(bitsPerSecond: least)
      } group: {
        $0.network.share = .states("50", in: [0...6_000], otherwise: "100")
      }.play()
      return !played.story(of: 0, only: "accepted").isEmpty
    }
    #expect(accepted(6_015))
    #expect(!accepted(6_016))
  }

  @Test("A probe that takes too long fails, and with it the session; its bytes were sent")
  func probeTimeout() {
    // The probe begins at 2.020 and has 2 s of the 3 that it needs.
    let played = workers {
      $0.minimumUpload = BitRate(bitsPerSecond: 1)
    } worker: {
      $0.probeTimeout = .seconds(2)
    }.play()
    #expect(
      played.story(of: 0, only: "does", "check", "ends") == [
        "2020 does enrolled", "4020 check fails timedOut", "4020 ends unreachable",
      ])
    #expect(played.simulation.books.ledgers.bytesUp == 3_000)
    #expect(played.simulation.books.ledgers.transmissions[.timedOut] == 1)
  }

  @Test("Probes of any size end in a timeout and never in an overflow")
  func hugeProbe() {
    var scene = workers {
      $0.minimumUpload = BitRate(bitsPerSecond: 1)
      $0.planBytes = .max
    } worker: {
      $0.probeBytes = .max
    }
    scene.inputs.stop.after = .seconds(100)
    let played = scene.play()
    #expect(played.story(of: 0, only: "ends") == ["60000 ends expired"])
  }

  @Test("A plan is asked for with the key after the model, and is refused when the cycle is over")
  func plan() {
    // Without enrolling. Model at 4.340, the plan asked for until 5.340, its 1,500 bytes from 5.360
    // to 6.860: 2.520 s later than without. b, from 9 s on, asks for the model at 12.030, in time,
    // and for the plan at 14.350, when a's report has closed the cycle at 12.170.
    let played = workers([[[0, 60_000, 65_000]], [[9_000, 60_000, 65_000]]]) {
      $0.planBytes = 500
    } group: {
      $0.protocol!.worker = nil
    }.play()
    #expect(
      played.story(of: 0, only: "does", "arrives") == [
        "6860 does planDownloaded", "12170 arrives 0",
      ])
    #expect(
      played.story(of: 1, only: "downloaded", "does", "trains", "ends") == [
        "13340 downloaded v0", "15360 ends expiredRound",
      ])
    #expect(played.simulation.serverRecord.instructionTallies?.plans == 1)
    #expect(played.simulation.serverRecord.exchangeTallies?.invalidKeys == 1)
  }
}

@Suite("Hyper-parameters of the server")
struct ClientConfigTests {
  private let start: [Float] = [0, 0, 0, 0, 0, 0]
  private let sessions: [[Int64]] = [0, 100_000, 200_000].map { [$0, $0 + 60_000, $0 + 65_000] }

  private func played(
    _ configs: [(inout ClientConfig) -> Void], ignores: Bool? = nil
  ) -> Played {
    var scene = workers(
      [sessions],
      group: {
        $0.protocol!.worker = nil
        $0.protocol!.ignoresConfig = ignores
      })
    scene.inputs.server.clientConfig = configs.map {
      var config = ClientConfig()
      $0(&config)
      return config
    }
    return scene.play()
  }

  @Test("A limit of updates ends a training early; fewer batches than that are not made more")
  func maximumUpdates() {
    // 4 batches of 1 s without a limit: the report is at the server at 9.650.
    let two = played([{ $0.maximumUpdates = 2 }])
    #expect(two.story(of: 0, only: "arrives").first == "7650 arrives 0")
    #expect(two.model(1) == directTraining(.tiny(), 0..<2, from: start, group: "a", client: 0))
    #expect(two.simulation.serverRecord.instructionTallies?.configuredTrainings == 3)
    let many = played([{ $0.maximumUpdates = 100 }])
    #expect(many.story(of: 0, only: "arrives").first == "9650 arrives 0")
    // Two passes have 8 batches; 6 of them are a pass and a half.
    let passes = played([
      {
        $0.epochs = 2
        $0.maximumUpdates = 6
      }
    ])
    #expect(
      passes.model(1)
        == directTraining(.tiny(epochs: 2), 0..<6, from: start, group: "a", client: 0))
    #expect(passes.version(1).samplesProcessed == 6)
    #expect(passes.version(1).samples == 4)
  }

  @Test("Batch size and learning rate take the place of the device's own")
  func sizes() {
    let other = played([
      {
        $0.batchSize = 2
        $0.learningRate = 0.25
      }
    ])
    // Two batches of a second each.
    #expect(other.story(of: 0, only: "arrives").first == "7650 arrives 0")
    #expect(
      other.model(1)
        == directTraining(
          .tiny(batchSize: 2, rate: 0.25), 0..<2, from: start, group: "a", client: 0))
  }

  @Test("Each round has its own; before the first entry devices have theirs")
  func rounds() {
    let played = played([
      {
        $0.fromRound = 2
        $0.maximumUpdates = 1
      },
      {
        $0.fromRound = 3
        $0.maximumUpdates = 3
      },
    ])
    #expect(
      played.story(of: 0, only: "attempt") == [
        "8340 attempt finished 4", "105340 attempt finished 1", "207340 attempt finished 3",
      ])
    #expect(played.simulation.serverRecord.instructionTallies?.configuredTrainings == 2)
  }

  @Test("As coded, Flower's example ignores what the server sends")
  func ignored() {
    let played = played([{ $0.maximumUpdates = 2 }], ignores: true)
    #expect(played.story(of: 0, only: "attempt").first == "8340 attempt finished 4")
    #expect(played.simulation.serverRecord.instructionTallies?.configuredTrainings == 0)
  }
}
