import FedSim
import Learning
import Schema
import Testing

/// One phone a/0 on a stream, alone in each cohort, whose session continues; see `Scene`.
private func alone(
  _ task: LearningTask = .tiny(), rounds: Int = 2,
  group change: (inout FleetGroupSettings) -> Void = { _ in },
  server: (inout ServerSettings) -> Void = { _ in }
) -> Scene {
  var scene = Scene(
    task,
    fleet: [
      .group("a", windows: [[0, 600_000, 605_000]]) {
        $0.outbox.capacity = 0
        $0.participation.repeats = true
        $0.participation.pause = .seconds(1)
        $0.protocol = ProtocolSettings()
        $0.protocol!.stream = true
        $0.protocol!.overwritesModel = true
        change(&$0)
      }
    ])
  var settings = FractionSelector.Settings()
  (settings.minimum, settings.minimumAvailable) = (1, 1)
  scene.inputs.server.selector = Choice(FractionSelector.self, settings) { $0 }
  scene.inputs.server.trigger = [Choice(CohortAnsweredTrigger.self) { $0 }]
  scene.inputs.stop.rounds = rounds
  server(&scene.inputs.server)
  return scene
}

@Suite("Models of a device's own")
struct OwnModelTests {
  private let start: [Float] = [0.25, -0.125, 0.5, 0.75, 0.0625, -0.5]

  @Test("A fit overwrites the device's model: each round's model is sent, also one it had")
  func overwritten() {
    // Round 1 is skipped, for its only member throws: version 0 is sent again.
    func downloads(_ overwrites: Bool) -> [String] {
      var scene = alone(group: {
        $0.protocol!.overwritesModel = overwrites
        $0.protocol!.onFailure = .report
      })
      scene.inject(.throw, "a/0", at: 5_000)
      return scene.play().story(of: 0, only: "downloaded")
    }
    // The answer of no samples is at the server at 6.310, where round 2's cohort is formed with the
    // failure of round 1; instruction and model, of 1,300 bytes, are there at 7.620.
    #expect(downloads(true) == ["4340 downloaded v0", "7620 downloaded v0"])
    #expect(downloads(false) == ["4340 downloaded v0"])
  }

  @Test("What is on its disk is the model that it trained last, and says so")
  func onDisk() throws {
    let task = LearningTask.tiny(initial: start)
    let played = alone(task, rounds: 1).play()
    #expect(played.simulation.deviceRecords[0].ownBase == 0)
    #expect(played.simulation.deviceRecords[0].ownBase == 0)
    let trained = directTraining(task, 0..<4, from: start, group: "a", client: 0)
    let expected = Evaluation(
      of: task.network, parameters: ParameterBuffer(trained), dataset: task.train,
      samples: task.partition.shards[0], kernels: .best, scratch: Scratch())
    #expect(try #require(played.simulation.deviceRecords.ownAccuracies()) == [expected.accuracy])
    // A device that trains nothing has the one that its app came with.
    var scene = alone(task)
    scene.inputs.fleet[0].background.windows = .always("closed")
    let idle = scene.play()
    #expect(idle.simulation.deviceRecords[0].ownBase == -1)
    #expect(idle.simulation.deviceRecords.ownAccuracies()?.first?.isNaN == true)
    // Where no app does so, nobody asks.
    let other = alone(task, group: { $0.protocol!.overwritesModel = nil }).play()
    #expect(other.simulation.deviceRecords[0].ownBase == nil)
  }

  @Test("Weights travel alone; biases are trained, stay, and are what the next fit begins with")
  func weightsOnly() {
    // Parameters 0 to 3 are weights, 4 and 5 biases.
    let task = LearningTask.tiny(initial: start)
    let played = alone(task, server: { $0.exchange = .weightsOnly }).play()
    let first = directTraining(task, 0..<4, from: start, group: "a", client: 0)
    #expect(first[4...] != start[4...])
    #expect(played.model(1) == Array(first[..<4]) + Array(start[4...]))
    let second = directTraining(
      task, 0..<4, from: Array(first[..<4]) + Array(first[4...]), group: "a", client: 0,
      firstEpoch: 1)
    #expect(played.model(2) == Array(second[..<4]) + Array(start[4...]))
    // Where fits overwrite nothing, each begins with the biases that the app came with.
    let fresh = alone(
      task, group: { $0.protocol!.overwritesModel = nil },
      server: { $0.exchange = .weightsOnly }
    ).play()
    let third = directTraining(
      task, 0..<4, from: played.model(1), group: "a", client: 0, firstEpoch: 1)
    #expect(fresh.model(2) == Array(third[..<4]) + Array(start[4...]))
    // 4 of 6 parameters of 50 bytes: 100 bytes less each way, 0.1 s earlier twice.
    #expect(played.version(1).publishedAt == ms(9_450))
  }

  @Test("What is done to updates on their way is done to what travels: a bound counts no bias")
  func bounded() {
    let task = LearningTask.tiny(initial: start)
    var clip = ClipNorm.Settings()
    clip.maximum = 0.125
    let played = alone(
      task, rounds: 1,
      server: {
        $0.exchange = .weightsOnly
        $0.payload = .delta
        $0.transforms = [Choice(ClipNorm.self, clip) { $0 }]
      }
    ).play()
    // The difference of the four weights is longer than 0.125, and as long as that afterwards.
    let moved = played.model(1).indices.map { Double(played.model(1)[$0]) - Double(start[$0]) }
    #expect(abs(moved.reduce(0) { $0 + $1 * $1 }.squareRoot() - 0.125) < 1e-6)
    #expect(Array(played.model(1)[4...]) == Array(start[4...]))
  }

  @Test("A fit that is cut off overwrites nothing")
  func cutOff() {
    // Version 1 is published at 9.650; the second fit, from 10.960 on, is killed at 13 s.
    var scene = alone()
    scene.inject(.kill, "a/0", at: 13_000)
    scene.inputs.stop.after = .seconds(100)
    #expect(scene.play().simulation.deviceRecords[0].ownBase == 0)
  }

  @Test("Biases of trainings that nobody waited for continue, in any mode of computing")
  func lostTrainings() {
    // Each result is lost on its way in the first 95 rounds: only biases continue from fit to fit.
    func final(_ mode: ComputeMode) -> [Float] {
      var scene = alone(
        .tiny(initial: start), rounds: 100, server: { $0.exchange = .weightsOnly })
      scene.inputs.compute = mode
      scene.inputs.fleet[0].protocol!.keepalive = .seconds(1)
      scene.inputs.fleet[0].participation.repeats = false
      var windows: [(from: Int64, soft: Int64?, to: Int64, state: String?)] = []
      for round in 0..<100 {
        let from = Int64(20_000 * round)
        windows.append((from: from, soft: from + 19_000, to: from + 19_500, state: nil))
        if round < 95 {
          scene.inject(.dropLink, "a/0", at: from + 8_800, lasting: .seconds(10))
        }
      }
      scene.inputs.fleet[0].background.windows = .fixed(windows)
      scene.inputs.stop.after = .seconds(2_000)
      let played = scene.play()
      #expect(played.simulation.version == 5)
      return played.simulation.model.values
    }
    // Computed by hand: 95 epochs whose biases alone continue, then five whose weights do too.
    let task = LearningTask.tiny(initial: start)
    var (weights, biases) = (Array(start[..<4]), Array(start[4...]))
    for epoch in 0..<100 {
      let trained = directTraining(
        task, 0..<4, from: weights + biases, group: "a", client: 0, firstEpoch: UInt64(epoch))
      biases = Array(trained[4...])
      if epoch >= 95 { weights = Array(trained[..<4]) }
    }
    #expect(final(.lazy) == weights + Array(start[4...]))
    #expect(final(.eager) == weights + Array(start[4...]))
  }

  @Test("Flower's iOS model: 585,384 of 585,958 parameters travel, as NumPy files 2,342,048 bytes")
  func published() throws {
    let network = try Network(
      sampleShape: [28, 28, 1],
      layers: [
        .convolution(.init(filters: 32, size: 3, activation: .relu)),
        .maxPooling(size: 2, stride: 2),
        .convolution(.init(filters: 32, size: 2, activation: .relu)),
        .maxPooling(size: 2, stride: 2), .flatten, .dense(outputs: 500, activation: .relu),
        .dense(outputs: 10, activation: .identity),
      ])
    #expect(network.layout.count == 585_958)
    let data = Dataset(
      features: .floats(Array(repeating: 0, count: 784)), sampleShape: [28, 28, 1], labels: [0],
      classCount: 10)
    let task = LearningTask(
      network: network, initial: ParameterBuffer(Array(repeating: 0, count: 585_958)),
      train: data, test: data, partition: Partition(shards: [[0]]),
      plan: TrainingPlan(epochs: 1, batchSize: 1, learningRate: 0.1))
    func bytes(_ exchange: ExchangedTensors) -> Int64 {
      var scene = alone(
        task, rounds: 1,
        group: {
          $0.network.wifi = .link(bytesPerSecond: 1_000_000, roundTrip: .milliseconds(20))
        },
        server: {
          $0.bytesPerParameter = 4
          $0.payloadFormat = PayloadFormatSettings()
          $0.payloadFormat!.upload = .npy
          $0.exchange = exchange
        })
      scene.inputs.omitsArithmetic = true
      // Check, request for the model, result: 1,000 bytes each, besides the parameters.
      return scene.play().simulation.books.ledgers.bytesUp - 3_000
    }
    // 4 tensors of weights, and 4 of biases: 128 bytes each.
    #expect(bytes(.weightsOnly) == 4 * 585_384 + 4 * 128)
    #expect(bytes(.all) == 4 * 585_958 + 8 * 128)
  }
}
