import FedSim
import Learning
import Numerics
import Schema
import Testing

/// Phones a/0 and b/0 on streams, whose sessions continue after a second's pause; see `Scene`. Both
/// wait for a cohort from 1.010 on.
private func streams(
  _ windows: [[[Int64]]] = [[[0, 600_000, 605_000]], [[0, 600_000, 605_000]]],
  task: LearningTask = .tiny(),
  selector change: (inout FractionSelector.Settings) -> Void = { _ in },
  trigger: (inout CohortAnsweredTrigger.Settings) -> Void = { _ in },
  group: (inout FleetGroupSettings) -> Void = { _ in }
) -> Scene {
  var scene = Scene(
    task,
    fleet: zip(["a", "b"], windows).enumerated().map { place, given in
      .group(given.0, windows: given.1) {
        $0.firstClient = place
        $0.outbox.capacity = 0
        $0.participation.repeats = true
        $0.participation.pause = .seconds(1)
        $0.protocol = ProtocolSettings()
        $0.protocol!.stream = true
        group(&$0)
      }
    })
  var settings = FractionSelector.Settings()
  change(&settings)
  var answered = CohortAnsweredTrigger.Settings()
  trigger(&answered)
  scene.inputs.server.selector = Choice(FractionSelector.self, settings) { $0 }
  scene.inputs.server.trigger = [Choice(CohortAnsweredTrigger.self, answered) { $0 }]
  scene.inputs.stop.rounds = 1
  return scene
}

/// The weights that the app of a group's first device comes with, by the stated key.
private func ownWeights(_ task: LearningTask, _ group: String) -> [Float] {
  let key = StreamKey(seed: 1, purpose: "own-weights", group: group, ordinal: 0)
  return task.network.initialParameters(key.stream(slot: 0)).values
}

@Suite("The initial model of one client")
struct InitialModelTests {
  /// Which of two devices the n-th draw asks, by the stated key.
  private func asked(_ draw: UInt64) -> Int {
    var stream = StreamKey(seed: 1, purpose: "initial-model").stream(slot: draw)
    return Int(stream.sample(1, below: 2)[0])
  }

  @Test("One of those that wait is asked; its own weights are version 0 when they have come")
  func fromClient() {
    // Asked at 1.010, read at 2.020, 1,300 bytes sent by 3.320: version 0 at 3.330. Both wait then.
    // The sender has instruction and model at 4.640, and its result arrives at 9.950. The
    // other's check is answered by 4.340; it fetches the model by 6.660; its result is there at
    // 11.970.
    let task = LearningTask.tiny()
    var scene = streams(task: task)
    scene.inputs.server.initialModel = .client
    let played = scene.play()
    let first = asked(0)
    #expect(played.story(of: first, only: "does") == ["2020 does modelAsked"])
    #expect(played.story(of: 1 - first, only: "does").isEmpty)
    #expect(
      played.story(of: -1, only: "published") == ["3330 published v0 0", "11970 published v1 2"])
    #expect(played.model(0) == ownWeights(task, first == 0 ? "a" : "b"))
    #expect(ownWeights(task, "a") != ownWeights(task, "b"))
    #expect(played.version(0).publishedAt == ms(3_330))
    #expect(played.tape.rounds[0].openedAt == ms(3_330))
    #expect(played.simulation.serverRecord.instructionTallies?.modelsAsked == 1)
  }

  @Test("A device that is gone is not waited for: another one is asked")
  func gone() {
    // The first is killed while it sends; its stream is closed at 2.510. The other one is asked:
    // read at 3.520, sent by 4.820.
    let task = LearningTask.tiny()
    let first = asked(0)
    var scene = streams(task: task)
    scene.inputs.server.initialModel = .client
    scene.inject(.kill, first == 0 ? "a/0" : "b/0", at: 2_500)
    scene.inputs.stop.after = .seconds(100)
    let played = scene.play()
    #expect(played.story(of: 1 - first, only: "does") == ["3520 does modelAsked"])
    #expect(played.story(of: -1, only: "published") == ["4830 published v0 0"])
    #expect(played.model(0) == ownWeights(task, first == 0 ? "b" : "a"))
    #expect(played.simulation.serverRecord.instructionTallies?.modelsAsked == 2)
    #expect(played.simulation.serverRecord.exchangeTallies?.brokenStreams == 1)
  }

  @Test("Weights that the scenario gives are every app's")
  func given() {
    let start: [Float] = [0.25, -0.125, 0.5, 0.75, 0.0625, -0.5]
    let plain = LearningTask.tiny(initial: start)
    let task = LearningTask(
      network: plain.network, initial: plain.initial, train: plain.train, test: plain.test,
      partition: plain.partition, plan: plain.plan, isInitialGiven: true)
    var scene = streams(task: task)
    scene.inputs.server.initialModel = .client
    #expect(scene.play().model(0) == start)
  }

  @Test("Nobody ever connects: the run has a version 0 nevertheless, at its end")
  func nobody() {
    var scene = streams([[], []])
    scene.inputs.server.initialModel = .client
    scene.inputs.stop.after = .seconds(100)
    let played = scene.play()
    #expect(played.tape.versions.count == 1)
    #expect(played.version(0).publishedAt == ms(100_000))
  }
}

@Suite("What Flower's server asks for and waits for")
struct InstructionTests {
  @Test("Each connection is asked for its properties once; the SDK knows of none")
  func properties() {
    // Asked at 2.020, answered by 3.020; at the server, and in the cohort, at 3.030. Instruction
    // and model are there at 3.040 + 1.300.
    func played(_ answers: Bool?) -> Played {
      var scene = streams(group: { $0.protocol!.properties = answers })
      scene.inputs.server.asksProperties = true
      return scene.play()
    }
    let sdk = played(nil)
    #expect(
      sdk.story(of: 0, only: "does", "accepted") == [
        "2020 does propertiesAsked", "4340 accepted r1",
      ])
    #expect(sdk.simulation.serverRecord.instructionTallies?.propertiesNotImplemented == 2)
    #expect(sdk.simulation.serverRecord.instructionTallies?.propertiesAnswered == 0)
    #expect(played(true).simulation.serverRecord.instructionTallies?.propertiesAnswered == 2)
  }

  @Test("A round for which too few come in time is skipped, and the next one waits as long")
  func waitLimit() {
    // b comes at 250 s.
    var scene = streams(
      [[[0, 600_000, 605_000]], [[250_000, 600_000, 605_000]]],
      selector: { $0.waitLimit = .seconds(100) })
    scene.inputs.stop.rounds = 3
    let played = scene.play()
    // Both wait at 251.010; results 8.640 s later.
    #expect(
      played.story(of: -1, only: "skipped", "cohort", "published") == [
        "0 published v0 0", "100000 skipped r1", "200000 skipped r2", "251010 cohort r3 2",
        "259650 published v1 2",
      ])
  }

  @Test("A member that has not answered in time has failed: the others count, or none does")
  func roundTimeout() {
    // The cohort is formed at 1.010. a's result comes at 9.650, b's, with batches of 2 s, would at
    // 13.650; the timeout is at 10.010.
    func played(_ acceptFailures: Bool) -> Played {
      var scene = streams(
        trigger: {
          $0.timeout = .seconds(9)
          $0.acceptFailures = acceptFailures
        }, group: { if $0.name == "b" { $0.compute.perBatch = .seconds(2) } })
      scene.inputs.stop.rounds = nil
      scene.inputs.stop.after = .seconds(15)
      return scene.play()
    }
    let accepted = played(true)
    #expect(accepted.story(of: -1, only: "published").last == "10010 published v1 1")
    #expect(accepted.simulation.books.ledgers.updates[.rejectedLate] == 1)
    #expect(played(false).story(of: -1, only: "skipped") == ["10010 skipped r1"])
  }

  @Test("A stream that ends says why: power, Wi-Fi, the server's wish, or nothing")
  func reasons() {
    func counts(
      _ change: (inout FleetGroupSettings) -> Void, _ script: (inout Scene) -> Void = { _ in }
    ) -> [Int] {
      var scene = streams(group: { group in
        group.interruption.onConditionsLost = .abort
        // Whatever belongs to the new counts, so that they are kept.
        group.protocol!.properties = true
        if group.name == "a" { change(&group) }
      })
      script(&scene)
      let played = scene.play()
      // The fit has failed at 6 s, and the server knows it a moment later.
      #expect(played.simulation.serverRecord.exchangeTallies?.brokenStreams == 1)
      return played.simulation.serverRecord.instructionTallies?.disconnects ?? []
    }
    // Unknown, reconnect, power, Wi-Fi.
    #expect(
      counts {
        $0.participation.externalPower = true
        $0.power = .states("plugged", in: [0...6_000], otherwise: "unplugged")
      } == [0, 0, 1, 0])
    #expect(
      counts {
        $0.participation.network = .wifi
        $0.link = .states("wifi", in: [0...6_000], otherwise: "cellular")
      } == [0, 0, 0, 1])
    #expect(counts({ _ in }, { $0.inject(.reconnect, "a/0", at: 6_000) }) == [0, 1, 0, 0])
    #expect(counts({ _ in }, { $0.inject(.kill, "a/0", at: 6_000) }) == [1, 0, 0, 0])
  }
}
