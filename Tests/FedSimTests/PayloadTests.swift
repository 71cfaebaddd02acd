import FedSim
import Learning
import Schema
import Testing

@Suite("Sizes on the wire")
struct PayloadTests {
  @Test(
    "Eleven parameters in two tensors have the size of their format",
    arguments: [
      // 4 B each.
      (PayloadFormat.raw, 44),
      // Two headers of 128 B more.
      (.npy, 300),
      // 44 B are 14 times 3 and 2 over: 15 groups of four characters.
      (.base64, 60),
      // 21 B each; `"conv":[],` is 10 B, `"b":[],` is 7.
      (.json, 11 * 21 + 17),
    ] as [(PayloadFormat, Int64)])
  func formats(format: PayloadFormat, bytes: Int64) {
    let layout = ParameterLayout(packing: [("conv", [3, 3]), ("b", [2])])
    #expect(format.bytes(of: layout) == bytes)
  }

  @Test("A number in JSON has 21 B on average: a 32-bit float written as a double, and its comma")
  func numbers() {
    // Floats between -0.1 and 0.1, most of whose doubles need 16 or 17 digits, as a trained
    // model's do; half of them have a sign.
    let values = (0..<20_000).map { Float(Double($0 * 7919 % 20_011) - 10_005) / 100_057 }
    let characters = values.reduce(0) { $0 + "\(Double($1)),".utf8.count }
    let layout = ParameterLayout(packing: [("w", [values.count])])
    let bytes = PayloadFormat.json.bytes(of: layout)
    #expect(abs(Double(characters) / Double(bytes) - 1) < 0.02)
  }

  @Test("Tensors that are frozen are not exchanged, headers included")
  func frozen() {
    let layout = ParameterLayout([
      TensorSpec(name: "a", shape: [5], offset: 0, isUpdatable: false),
      TensorSpec(name: "b", shape: [3], offset: 5),
    ])
    #expect(PayloadFormat.npy.bytes(of: layout) == 128 + 12)
    #expect(PayloadFormat.json.bytes(of: layout, perNumber: 20) == 60 + 7)
  }

  @Test("Updates in JSON, models in NumPy files, and each message with a separate size")
  func oneSession() {
    // Six parameters, `dense1.weight` and `dense1.bias`; 1,000 B/s, 10 ms each way.
    // Check: 200 B sent 0.200, answered 0.220, its 300 B read 0.520. Fetch: 250 B sent 0.770,
    // answered 0.790; 24 + 256 + 120 B read 1.190. Four batches: 5.190. The update:
    // 6 · 21 + (13 + 6) + (11 + 6) + 400 = 562 B, sent 5.752; answered 5.772; 150 B: 5.922.
    var scene = Scene(fleet: [.group(windows: [[0, 100_000, 105_000]])])
    scene.inputs.server.payloadFormat = PayloadFormatSettings()
    scene.inputs.server.payloadFormat!.upload = .json
    scene.inputs.server.payloadFormat!.download = .npy
    var messages = MessageSettings()
    (messages.check, messages.checkAnswer, messages.fetch) = (200, 300, 250)
    (messages.modelHead, messages.submission, messages.receipt) = (120, 400, 150)
    scene.inputs.server.messages = messages
    let played = scene.play()
    #expect(
      played.story(of: 0) == [
        "0 begins window", "520 accepted r1", "1190 downloaded v0", "1190 trains v0 0/4",
        "5190 attempt finished 4", "5190 makes 0 of v0 4b 4s", "5190 uploads 0", "5762 arrives 0",
        "5922 receipt 0 pending v0 n1", "5922 ends completed",
      ])
    #expect(played.simulation.books.ledgers.bytesUp == 200 + 250 + 562)
    #expect(played.simulation.books.ledgers.bytesDown == 300 + 400 + 150)
  }

  @Test("Heartbeats and requests for tokens have the sizes that are named for them")
  func identity() {
    // Opened at 1 s: a bootstrap (100 B, 300 B back), a check (1,000 B both ways), the model
    // (1,000 B, 1,300 B back). Open until 400 s: one heartbeat, at 301 s.
    var scene = Scene(
      fleet: [
        .group {
          $0.authentication = AuthenticationSettings()
          $0.heartbeats = HeartbeatSettings()
          $0.usage = .states("active", in: [1_000...400_000], otherwise: "locked")
          $0.participation.pollOnActivation = 1
        }
      ])
    var messages = MessageSettings()
    (messages.identityRequest, messages.identityAnswer) = (100, 300)
    (messages.heartbeat, messages.heartbeatAnswer) = (110, 210)
    scene.inputs.server.messages = messages
    let played = scene.play()
    let counts = played.simulation.deviceRecords.identityCounts!
    #expect(counts.bootstraps == 1)
    #expect(counts.heartbeats.accepted == 1)
    #expect(played.simulation.books.ledgers.bytesUp == 100 + 1000 + 1000 + 110)
    #expect(played.simulation.books.ledgers.bytesDown == 300 + 1000 + 1300 + 210)
  }

  @Test("A message too large to count stops nothing")
  func extreme() {
    var scene = Scene(fleet: [.group(windows: [[0, 100_000, 105_000]])])
    scene.inputs.server.messages = MessageSettings()
    scene.inputs.server.messages!.submission = .max
    let played = scene.play()
    #expect(played.story(of: 0, only: "uploads") == ["8340 uploads 0"])
    #expect(played.story(of: 0, only: "arrives") == [])
  }
}
