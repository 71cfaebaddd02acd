import FedSim
import Learning
import Numerics
import Schema
import Testing

/// Phones a/0 and b/0 on streams that evaluate after each round; see `Scene`.
///
/// Version 1 is published at 9.650. Both wait on their streams and are asked at once: the head is
/// there at 9.660, instruction and model of 1,300 bytes at 10.960. As coded an epoch of 4 batches
/// ends at 14.960, and the report, of 1,000 bytes, is at the server at 15.970. Without a step a
/// batch takes a third of a second, rounded up to 333,334 µs: the report is there at 13.303336.
func evaluating(
  _ windows: [[[Int64]]] = [[[0, 600_000, 605_000]], [[0, 600_000, 605_000]]],
  task: LearningTask = .tiny(), as evaluation: ProtocolSettings.Evaluation? = .asCoded,
  settings: (inout ClientEvaluationSettings) -> Void = { _ in },
  group change: (inout FleetGroupSettings) -> Void = { _ in }
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
        $0.protocol!.evaluation = evaluation
        change(&$0)
      }
    })
  var asked = ClientEvaluationSettings()
  settings(&asked)
  scene.inputs.server.evaluation = asked
  scene.inputs.server.selector = Choice(FractionSelector.self) { $0 }
  scene.inputs.server.trigger = [Choice(CohortAnsweredTrigger.self) { $0 }]
  scene.inputs.stop.rounds = 1
  return scene
}

/// Loss sum and right answers of a client's four samples under some parameters.
private func found(_ task: LearningTask, _ parameters: [Float], client: Int) -> Evaluation {
  Evaluation(
    of: task.network, parameters: ParameterBuffer(parameters), dataset: task.train,
    samples: task.partition.shards[client], kernels: .best, scratch: Scratch())
}

@Suite("Evaluation on clients, asked for by the server")
struct ClientEvaluationTests {
  private let start: [Float] = [0.25, -0.125, 0.5, 0.75, 0.0625, -0.5]

  @Test("As documented devices report loss and accuracy of the new version on their own samples")
  func asDocumented() throws {
    let task = LearningTask.tiny(samples: [4, 4], initial: start)
    let played = evaluating(task: task, as: nil).play()
    #expect(
      played.story(of: 0, only: "does", "downloaded").suffix(3) == [
        "10960 does evaluationAsked", "10960 downloaded v1", "12293.336 does evaluated",
      ])
    let record = try #require(played.simulation.serverRecord.evaluations.first)
    #expect(record.version == 1)
    #expect(record.round == 1)
    #expect(record.begunAt == ms(9_650))
    #expect(record.endedAt == SimTime(microseconds: 13_303_336))
    #expect((record.members, record.results, record.failures) == (2, 2, 0))
    #expect(record.examples == 8)
    let each = [0, 1].map { found(task, played.model(1), client: $0) }
    let loss = (each[0].lossSum / 4 * 4 + each[1].lossSum / 4 * 4) / 8
    #expect(record.loss == loss)
    #expect(record.accuracy == Double(each[0].correct + each[1].correct) / 8)
    // The run ends with the evaluation of its last round.
    #expect(played.simulation.now == record.endedAt)
  }

  @Test("As coded an epoch is trained on the samples, its loss reported, its weights forgotten")
  func asCoded() throws {
    let task = LearningTask.tiny(samples: [4, 4], initial: start)
    var scene = evaluating(task: task)
    scene.inputs.stop.rounds = 2
    let played = scene.play()
    #expect(played.simulation.serverRecord.evaluations.count == 2)
    let record = played.simulation.serverRecord.evaluations[0]
    #expect(record.endedAt == ms(15_970))
    let losses = ["a", "b"].enumerated().map { client, group in
      let key = StreamKey(seed: 1, purpose: "evaluation-batches", group: group, ordinal: 0)
      let training = LocalTraining(
        network: task.network, dataset: task.train, shard: task.partition.shards[client],
        plan: task.plan, order: .keyed(key, firstSlot: 1))
      let outcome = training.run(
        0..<4, from: DeviceMemory(parameters: ParameterBuffer(played.model(1))), kernels: .best,
        scratch: Scratch())
      return outcome.lossSum / 4
    }
    #expect(record.loss == (4 * losses[0] + 4 * losses[1]) / 8)
    #expect(record.accuracy == (4 * (1 - losses[0]) + 4 * (1 - losses[1])) / 8)
    // With the last report round 2's cohort is formed; it begins with version 1.
    #expect(played.story(of: -1, only: "cohort").last == "15970 cohort r2 2")
    let second = ["a", "b"].enumerated().map { client, group in
      directTraining(
        task, 0..<4, from: played.model(1), group: group, client: client, firstEpoch: 1)
    }
    let mean = second[0].indices.map {
      Float(0.5 * Double(second[0][$0]) + 0.5 * Double(second[1][$0]))
    }
    #expect(played.model(2) == mean)
  }

  @Test("A member that is gone has failed: the others' results count, or none does")
  func failures() {
    // a's process ends at 13 s; b's report is there at 15.970.
    func record(_ acceptFailures: Bool) -> EvaluationRecord? {
      var scene = evaluating(settings: { $0.acceptFailures = acceptFailures })
      scene.inject(.kill, "a/0", at: 13_000)
      let played = scene.play()
      #expect(played.simulation.serverRecord.instructionTallies?.disconnects == [1, 0, 0, 0])
      return played.simulation.serverRecord.evaluations.first
    }
    let accepted = record(true)
    #expect(accepted?.failures == 1)
    #expect(accepted?.results == 1)
    #expect(accepted?.examples == 4)
    #expect(accepted?.loss.isFinite == true)
    #expect(accepted?.endedAt == ms(15_970))
    #expect(record(false)?.loss.isNaN == true)
  }

  @Test("An evaluation that throws is a result of no samples, where the library sends one")
  func threw() {
    func record(_ onFailure: ProtocolSettings.OnFailure) -> EvaluationRecord? {
      var scene = evaluating(group: { $0.protocol!.onFailure = onFailure })
      scene.inject(.throw, "a/0", at: 13_000)
      return scene.play().simulation.serverRecord.evaluations.first
    }
    let reported = record(.report)
    #expect((reported?.results, reported?.failures, reported?.examples) == (2, 0, 4))
    let ended = record(.end)
    #expect((ended?.results, ended?.failures, ended?.examples) == (1, 1, 4))
  }

  @Test("After the timeout who has not answered has failed, and comes too late")
  func timeout() {
    // Asked at 9.650, over at 14.650; the reports are there at 15.970.
    var scene = evaluating(settings: { $0.timeout = .seconds(5) })
    scene.inputs.stop.rounds = nil
    scene.inputs.stop.after = .seconds(22)
    let played = scene.play()
    let record = played.simulation.serverRecord.evaluations.first
    #expect(record?.endedAt == ms(14_650))
    #expect((record?.results, record?.failures) == (0, 2))
    #expect(record?.loss.isNaN == true)
    #expect(played.simulation.serverRecord.instructionTallies?.lateEvaluations == 2)
  }

  @Test("With too few devices the server waits, then continues without an evaluation")
  func tooFew() {
    // b, of batches of half a second, has sent its result by 7.650, and its session ends at 9 s; a
    // waits alone. The next round is for both: b is back at 200 s.
    var scene = evaluating(
      [[[0, 600_000, 605_000]], [[0, 9_000, 9_500], [200_000, 600_000, 605_000]]],
      settings: { $0.waitLimit = .seconds(100) },
      group: { if $0.name == "b" { $0.compute.perBatch = .milliseconds(500) } })
    scene.inputs.stop.rounds = 2
    scene.inputs.stop.after = .seconds(400)
    let played = scene.play()
    let record = played.simulation.serverRecord.evaluations.first
    #expect(record?.endedAt == ms(109_650))
    #expect((record?.members, record?.examples) == (0, 0))
    #expect(record?.loss.isNaN == true)
    #expect(played.story(of: -1, only: "cohort").last == "201010 cohort r2 2")
  }

  @Test("A share of those who wait is asked, by the stated draw; the others wait for the next fit")
  func share() {
    var scene = evaluating(settings: {
      $0.fraction = 0.5
      $0.minimum = 1
    })
    scene.inputs.stop.rounds = 2
    let played = scene.play()
    var stream = StreamKey(seed: 1, purpose: "evaluation").stream(slot: 1)
    let member = Int(stream.sample(1, below: 2)[0])
    #expect(played.story(of: member, only: "does").prefix(1) == ["10960 does evaluationAsked"])
    #expect(played.simulation.serverRecord.evaluations.first?.members == 1)
    #expect(played.story(of: -1, only: "cohort").last == "15970 cohort r2 2")
  }

  @Test("An evaluation takes energy and is cut off as a training is; a soft expiry ends it")
  func cutOff() {
    let windows: [[[Int64]]] = [[[0, 13_000, 15_000]], [[0, 600_000, 605_000]]]
    let played = evaluating(windows).play()
    #expect(played.story(of: 0, only: "ends") == ["13000 ends expired"])
    #expect(played.simulation.serverRecord.evaluations.first?.failures == 1)
    #expect(played.simulation.books.ledgers.attempts.opened == 2)
  }
}
