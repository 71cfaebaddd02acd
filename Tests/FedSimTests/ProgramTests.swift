import FedSim
import Learning
import Schema
import Synchronization
import Testing

/// A program that is a list: what it wants each time that it is called, and what it heard.
private final class Script: ServerProgram {
  private let left: Mutex<[[ProgramCommand]]>
  private let told = Mutex<[ProgramMoment]>([])

  init(_ commands: [[ProgramCommand]]) { left = Mutex(commands) }

  func begin(clients: [Int32]) {}

  func proceed(_ moment: ProgramMoment) -> [ProgramCommand] {
    told.withLock { $0.append(moment) }
    return left.withLock { $0.isEmpty ? [.end] : $0.removeFirst() }
  }

  /// Each call: when in ms, who is online, and which messages have ended, failed ones below 0.
  var calls: [String] {
    told.withLock {
      $0.map { call in
        let ended = call.ended.map { $0.isReply ? $0.message : -$0.message }
        return "\(call.now.microseconds / 1000) \(call.online) \(ended)"
      }
    }
  }
}

private let far = SimTime(microseconds: 400_000_000)

private func train(_ message: Int, _ device: Int) -> ProgramCommand {
  .send(message: message, device: device, .train, expires: far)
}

private func evaluate(_ message: Int, _ device: Int) -> ProgramCommand {
  .send(message: message, device: device, .evaluate, expires: far)
}

/// Phones a/0 and b/0 on streams, which wait for work from 1.010 s on; see `OpenStreamTests`.
///
/// From a program's message at 2 s to its reply are 8.640 s, as from 1.010 s to 9.650 s. From then
/// on the model comes with the instruction: 6.620 s. Where b is slow, its four batches take 8 s
/// longer.
private func scene(
  _ script: Script, slow: Bool = false, windows: [[Int64]] = [[0, 600_000, 605_000]]
) -> Scene {
  var scene = Scene(
    .tiny(),
    fleet: ["a", "b"].enumerated().map { place, name in
      .group(name, windows: place == 1 ? windows : [[0, 600_000, 605_000]]) {
        $0.firstClient = place
        $0.outbox.capacity = 0
        $0.participation.repeats = true
        $0.participation.pause = .seconds(1)
        $0.protocol = ProtocolSettings()
        $0.protocol!.stream = true
        $0.protocol!.overwritesModel = true
        $0.protocol!.keepalive = .seconds(10)
        if slow, name == "b" { $0.compute.perBatch = .seconds(3) }
      }
    })
  scene.inputs.server.selector = Choice(ProgramSelector.self) { $0 }
  scene.inputs.server.trigger = [Choice(ProgramTrigger.self) { $0 }]
  scene.inputs.stop.after = .seconds(500)
  scene.inputs.program = script
  return scene
}

@Suite("A program in place of a policy")
struct ProgramTests {
  @Test("It looks again once somebody is there, and its rounds make versions")
  func rounds() {
    // Phones are there at 1.010; it looks at whole seconds: at 2 s.
    let script = Script([
      [.poll(.seconds(1))],
      [train(1, 0), train(2, 1), .wait(messages: [1, 2], until: nil)],
      [.closeRound, train(3, 0), train(4, 1), .wait(messages: [3, 4], until: nil)],
    ])
    let played = scene(script).play()
    #expect(
      script.calls == ["0 [] []", "2000 [0, 1] []", "10640 [0, 1] [1, 2]", "17260 [0, 1] [3, 4]"])
    #expect(
      played.story(of: -1, only: "cohort", "published") == [
        "0 published v0 0", "2000 cohort r1 2", "10640 published v1 2", "10640 cohort r2 2",
        "17260 published v2 2",
      ])
  }

  @Test("After a timeout the reply of a straggler is late, and its next message waits for it")
  func straggler() {
    // b's reply to the first round comes at 18.640, that to the second 6.620 + 8 s later.
    let script = Script([
      [.wait(messages: [], until: .start + .seconds(2))],
      [
        train(1, 0), train(2, 1), .wait(messages: [1, 2], until: .start + .seconds(12)),
      ],
      [.closeRound, train(3, 0), train(4, 1), .wait(messages: [3, 4], until: nil)],
    ])
    let played = scene(script, slow: true).play()
    #expect(
      script.calls == [
        "0 [] []", "2000 [0, 1] []", "12000 [0, 1] [1]", "33260 [0, 1] [3, 2, 4]",
      ])
    #expect(
      played.story(of: -1, only: "published").suffix(2) == [
        "12000 published v1 1", "33260 published v2 2",
      ])
    #expect(played.simulation.books.ledgers.updates[.rejectedLate] == 1)
  }

  @Test("A stream that breaks is a failure once the server knows, and what waits for it fails too")
  func broken() {
    // b's link is gone at 5 s: known at 15 s.
    let script = Script([
      [.wait(messages: [], until: .start + .seconds(2))],
      [
        train(1, 0), train(2, 1), evaluate(3, 1), .wait(messages: [1, 2, 3], until: nil),
      ],
    ])
    var scene = scene(script)
    scene.inject(.dropLink, "b/0", at: 5_000, lasting: .seconds(300))
    let played = scene.play()
    #expect(script.calls.last == "15000 [0] [1, -2, -3]")
    #expect(played.story(of: -1, only: "published").last == "15000 published v1 1")
  }

  @Test("An evaluation ends when the program says so, with what it makes of the replies")
  func evaluation() throws {
    let script = Script([
      [.wait(messages: [], until: .start + .seconds(2))],
      [evaluate(1, 0), evaluate(2, 1), .wait(messages: [1, 2], until: nil)],
      [.closeEvaluation(examples: 7, loss: 0.5, accuracy: 0.25)],
    ])
    let played = scene(script).play()
    let records = played.simulation.serverRecord.evaluations
    #expect(records.count == 1)
    let record = try #require(records.first)
    #expect((record.members, record.results, record.failures) == (2, 2, 0))
    #expect((record.examples, record.loss, record.accuracy) == (7, 0.5, 0.25))
  }

  @Test("A message that has expired is not received")
  func expired() {
    let script = Script([
      [
        .send(message: 1, device: 0, .train, expires: .start + .seconds(1)),
        .wait(messages: [1], until: .start + .seconds(30)),
      ]
    ])
    let played = scene(script).play()
    #expect(script.calls == ["0 [] []", "30000 [0, 1] []"])
    #expect(played.simulation.books.ledgers.attempts.opened == 0)
  }
}
