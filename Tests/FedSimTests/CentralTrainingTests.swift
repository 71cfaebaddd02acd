import FedSim
import Learning
import Numerics
import Schema
import Testing

@Suite("Training at the server on what devices have sent")
struct CentralTrainingTests {
  private let zeros: [Float] = [0, 0, 0, 0, 0, 0]
  private let task = LearningTask.tiny()

  /// Client 2's file is in the store at 2.010, those of clients 0 and 1 at 7.010.
  private func scene(
    _ task: LearningTask = .tiny(), _ change: (inout CollectionSettings) -> Void = { _ in }
  ) -> Scene {
    Scene(
      task,
      fleet: [
        .collectors("a", client: 0, windows: [[5_000, 60_000, 65_000]], change),
        .collectors("b", client: 1, windows: [[5_000, 60_000, 65_000]], change),
        .collectors("c", client: 2, windows: [[0, 60_000, 65_000]], change),
      ])
  }

  /// The samples of clients of `tiny`: four each.
  private func samples(_ clients: Int32...) -> [Int32] {
    clients.flatMap { client in (0..<4).map { 4 * client + $0 } }
  }

  @Test("three devices' files: the model is that of a training on their samples, bit by bit")
  func bits() {
    var scene = self.scene()
    scene.central(every: 20_000)
    scene.inputs.stop.after = .seconds(50)
    let played = scene.play()
    // By arrival: c, then a before b. 12 samples at 4 a second: 3 s.
    #expect(
      played.story(of: -1, only: "trains", "publishes") == [
        "20000 trains m0 12s", "23000 publishes m0 v1", "40000 trains m0 12s",
        "43000 publishes m0 v2",
      ])
    let first = directCentral(task, samples(2, 0, 1), from: zeros)
    let second = directCentral(task, samples(2, 0, 1), from: first, epoch: 1)
    #expect(played.simulation.collection.parameters(of: 0).values == second)
    #expect(second != first && first != zeros)
    let version = played.simulation.collection.versions[0]
    #expect([version.files, version.samples, version.newSamples, version.users] == [3, 12, 12, 3])
    #expect(version.samplesProcessed == 12)
    #expect(played.simulation.collection.versions[1].newSamples == 0)
    #expect(played.fileEnds == ["trained 3"])
    // No round was ever trained for.
    #expect(played.simulation.version == 0)
    #expect(played.simulation.books.ledgers.attempts.opened == 0)
  }

  @Test("the accuracy is that of the version on the test samples")
  func accuracy() {
    var scene = self.scene()
    scene.central(every: 20_000)
    scene.inputs.stop.after = .seconds(30)
    let played = scene.play()
    let parameters = directCentral(task, samples(2, 0, 1), from: zeros)
    // The larger of two logits, x·W + b, by hand: [in][out], the weights before the biases.
    var correct = 0
    guard case .floats(let features) = task.test.features else {
      Issue.record("features are floats")
      return
    }
    for (place, label) in task.test.labels.enumerated() {
      let (x, y) = (features[2 * place], features[2 * place + 1])
      let logits = (0..<2).map { x * parameters[$0] + y * parameters[2 + $0] + parameters[4 + $0] }
      if (logits[1] > logits[0] ? 1 : 0) == label { correct += 1 }
    }
    #expect(played.simulation.collection.versions[0].evaluation?.correct == correct)
    #expect(correct > 16)
  }

  @Test("only new files: what was read once is not read again, and a training of nothing is none")
  func new() {
    var scene = self.scene()
    // At 5.000 only c's file is there; at 10.000 the two others are.
    scene.central(every: 5_000) { $0.data = .new }
    scene.inputs.stop.after = .seconds(29)
    let played = scene.play()
    #expect(
      played.story(of: -1, only: "trains", "publishes") == [
        "5000 trains m0 4s", "6000 publishes m0 v1", "10000 trains m0 8s", "12000 publishes m0 v2",
      ])
    let first = directCentral(task, samples(2), from: zeros)
    #expect(
      played.simulation.collection.parameters(of: 0).values
        == directCentral(task, samples(0, 1), from: first, epoch: 1))
    // 15, 20, 25.
    #expect(played.simulation.collection.tallies.emptyTrainings == 3)
  }

  @Test("from the initial weights: a training begins as if there had been none")
  func fromInitial() {
    var scene = self.scene()
    scene.central(every: 20_000) { $0.from = .initial }
    scene.inputs.stop.after = .seconds(50)
    #expect(
      scene.play().simulation.collection.parameters(of: 0).values
        == directCentral(task, samples(2, 0, 1), from: zeros, epoch: 1))
  }

  @Test("by the number of new samples: the training begins as the last of them comes")
  func bySamples() {
    var scene = self.scene()
    scene.central(every: nil) { $0.samples = 8 }
    let played = scene.play()
    // a's file makes eight; b's, in the same microsecond, comes too late, and is four.
    #expect(
      played.story(of: -1, only: "trains", "publishes") == [
        "7010 trains m0 8s", "9010 publishes m0 v1",
      ])
    #expect(
      played.simulation.collection.parameters(of: 0).values
        == directCentral(task, samples(2, 0), from: zeros))
    #expect(played.fileEnds == ["trained 2", "unread 1"])
  }

  @Test("samples that came during a training begin the next one as it ends")
  func backToBack() {
    var scene = self.scene()
    scene.central(every: nil) {
      $0.samples = 4
      $0.samplesPerSecond = 0.5
    }
    // c's four take 8 s from 2.010 on; a and b came at 7.010: 12 samples, 24 s.
    #expect(
      scene.play().story(of: -1, only: "trains", "publishes") == [
        "2010 trains m0 4s", "10010 publishes m0 v1", "10010 trains m0 12s",
        "34010 publishes m0 v2",
      ])
  }

  @Test("a training that is due while one runs is left out")
  func overrun() {
    var scene = self.scene()
    scene.central(every: 10_000) { $0.overhead = .seconds(12) }
    scene.inputs.stop.after = .seconds(39)
    let played = scene.play()
    // 12 s and 3 s for 12 samples.
    #expect(
      played.story(of: -1, only: "trains", "publishes") == [
        "10000 trains m0 12s", "25000 publishes m0 v1", "30000 trains m0 12s",
      ])
    #expect(played.simulation.collection.tallies.overruns == 1)
  }

  @Test("users' own models: each is trained on its user's samples alone")
  func users() {
    var scene = self.scene()
    scene.central(every: 20_000) {
      var model = CentralSettings.Model()
      model.name = "model"
      model.scope = .user
      $0.models = [model]
    }
    scene.inputs.stop.after = .seconds(50)
    let played = scene.play()
    for (device, (group, client)) in zip(["a", "b", "c"], Int32(0)...2).enumerated() {
      let first = directCentral(task, samples(client), from: zeros, group: group)
      let second = directCentral(task, samples(client), from: first, epoch: 1, group: group)
      #expect(
        played.simulation.collection.ownParameters(0, of: device)?.values == second, "\(group)")
    }
    #expect(played.simulation.collection.parameters(of: 0).values == zeros)
    let version = played.simulation.collection.versions[0]
    #expect([version.users, version.samplesProcessed] == [3, 12])
    #expect(version.evaluation == nil)
    #expect((0...1).contains(version.userAccuracy))
  }

  @Test("two models and one data object: a file is for both; with one each it is for its own")
  func twoModels() {
    for isShared in [true, false] {
      var scene = self.scene(task.with(models: "first", "second")) {
        $0.objects = isShared ? .shared : .perModel
        if !isShared { $0.models = ["second"] }
      }
      scene.central(every: 20_000)
      scene.inputs.stop.after = .seconds(30)
      let played = scene.play()
      let found = played.story(of: -1, only: "publishes")
      #expect(
        found == (isShared ? ["23000 publishes m0 v1"] : []) + ["23000 publishes m1 v1"])
      #expect(
        played.simulation.collection.parameters(of: 1).values
          == directCentral(task, samples(2, 0, 1), from: zeros, name: "second"))
      // A file that two models read ends once.
      #expect(played.fileEnds == ["trained 3"])
    }
  }

  @Test("files without metadata are left out where metadata are required")
  func metadata() {
    var scene = self.scene()
    scene.inputs.fleet[0].collection!.metadata = MetadataSettings()
    scene.inputs.fleet[0].collection!.metadata!.bytes = 0
    // a's file is stored at 7.010, its item at 9.030; b and c send none.
    scene.central(every: 8_000) { $0.requiresMetadata = true }
    scene.inputs.stop.after = .seconds(20)
    let played = scene.play()
    #expect(
      played.story(of: 0, only: "item", "ends") == ["9030 item f1", "10040 ends completed"])
    #expect(
      played.story(of: -1, only: "trains", "publishes") == [
        "16000 trains m0 4s", "17000 publishes m0 v1",
      ])
    #expect(
      played.simulation.collection.parameters(of: 0).values
        == directCentral(task, samples(0), from: zeros))
    // Three files at 8.000, two at 16.000.
    #expect(played.simulation.collection.tallies.withoutMetadata == 5)
    #expect(played.fileEnds == ["trained 1", "unread 2"])
  }

  @Test("what arrives over time is sent once, in the order in which it comes")
  func arrival() {
    // Two of four at the start, four from 20 s on.
    var scene = Scene(
      task,
      fleet: [
        .collectors("a", client: 0, windows: [[0, 9_000, 9_500], [30_000, 39_000, 39_500]])
      ])
    var arrival = ArrivalSettings()
    arrival.initial = 0.5
    var step = ArrivalSettings.Step()
    step.at = ms(20_000)
    arrival.schedule = [step]
    scene.inputs.fleet[0].arrival = arrival
    scene.central(every: 40_000)
    scene.inputs.stop.after = .seconds(50)
    let played = scene.play()
    #expect(
      played.story(of: 0, only: "formats", "stored") == [
        "0 formats f0 2s 500B", "1510 stored f0", "30000 formats f1 2s 500B", "31510 stored f1",
      ])
    let key = StreamKey(seed: 1, purpose: "arrival-order", group: "a", ordinal: 0)
    var order = (0..<Int32(4)).map { $0 }
    var stream = key.stream(slot: 0)
    stream.shuffle(&order)
    #expect(
      played.simulation.collection.parameters(of: 0).values
        == directCentral(task, order, from: zeros))
  }
}
