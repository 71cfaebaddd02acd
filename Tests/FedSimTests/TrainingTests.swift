import FedSim
import Learning
import Schema
import Testing

private let window: [[Int64]] = [[0, 100_000, 105_000]]

@Suite("What a training is made of")
struct TrainingTests {
  @Test("A ragged last batch is shorter, and a cut in the second epoch counts each sample once")
  func raggedEpochs() {
    // 5 samples in batches of 2, 2, 1; a batch takes 1 s and ½ s a sample: 2, 2 and 1.5 s.
    // From 4.340 batches end at 6.340, 8.340, 9.840; 11.840, 13.840, 15.340. The soft expiry at
    // 10 s finds batch 4 running.
    let task = LearningTask.tiny(samples: [5], batchSize: 2, epochs: 2)
    var scene = Scene(
      task,
      fleet: [
        .group(windows: [[0, 10_000, 30_000]]) {
          $0.compute.perSample = .milliseconds(500)
          $0.interruption.onExpiry = .submitPartial
        }
      ])
    scene.threshold(1)
    let played = scene.play()
    #expect(
      played.story(of: 0, only: "cut", "makes")
        == ["11840 cut 4/6", "11840 makes 0 of v0 4b 5s"])
    #expect(played.version(1).samples == 5)
    #expect(played.version(1).samplesProcessed == 7)
    #expect(
      played.model(1)
        == directTraining(task, 0..<4, from: [0, 0, 0, 0, 0, 0], group: "phones", client: 0))
    // Undisturbed it ends at 15.340.
    var whole = scene
    whole.inputs.fleet[0].background.windows = .always("open")
    #expect(whole.play().story(of: 0, only: "makes") == ["15340 makes 0 of v0 6b 5s"])
  }

  @Test("Each training of a device takes the next data epochs")
  func nextEpochs() {
    let task = LearningTask.tiny(samples: [6], epochs: 2)
    var scene = Scene(
      task, fleet: [.group(windows: [[0, 50_000, 55_000], [100_000, 150_000, 155_000]])])
    scene.threshold(1)
    let played = scene.play()
    let first = directTraining(task, 0..<12, from: [0, 0, 0, 0, 0, 0], group: "phones", client: 0)
    #expect(played.model(1) == first)
    #expect(
      played.model(2)
        == directTraining(task, 0..<12, from: first, group: "phones", client: 0, firstEpoch: 2))
  }

  @Test("Batch orders from a file are taken epoch by epoch, and begin again after the last")
  func givenOrders() {
    let plain = LearningTask.tiny(samples: [3])
    let orders: [[Int32]] = [[2, 0, 1], [1, 2, 0]]
    let task = LearningTask(
      network: plain.network, initial: plain.initial, train: plain.train, test: plain.test,
      partition: plain.partition, plan: plain.plan, orders: [orders])
    var scene = Scene(
      task,
      fleet: [
        .group(
          windows: (0..<3).map { [100_000 * $0, 100_000 * $0 + 50_000, 100_000 * $0 + 55_000] })
      ])
    scene.threshold(1)
    let played = scene.play()
    var expected: [Float] = [0, 0, 0, 0, 0, 0]
    for (turn, order) in [orders[0], orders[1], orders[0]].enumerated() {
      expected =
        LocalTraining(
          network: task.network, dataset: task.train, shard: task.partition.shards[0],
          plan: task.plan, order: .explicit([order])
        ).run(
          0..<3, from: DeviceMemory(parameters: ParameterBuffer(expected)), kernels: .best,
          scratch: Scratch()
        ).parameters.values
      #expect(played.model(turn + 1) == expected)
    }
  }

  @Test("Devices of G groups take clients in turn; a group may name its first")
  func clients() {
    var named = FleetGroupSettings.group("c", count: 2)
    named.firstClient = 6
    let scene = Scene(fleet: [.group("a", count: 3), .group("b", count: 2), named])
    let devices = Simulation(scene.inputs).deviceRecords
    // n·3 + g, modulo 8 clients; then 6 and 7.
    #expect(devices.map(\.client) == [0, 3, 6, 1, 4, 6, 7])
  }

  @Test("A version's record sums up its trainings")
  func record() {
    // One batch of all 4 samples from zero weights: every sample's loss is ln 2.
    let task = LearningTask.tiny(samples: [4, 4], batchSize: 4, validation: 3)
    var scene = Scene(task, fleet: [.group(count: 2, windows: window)])
    scene.threshold(2)
    let played = scene.play()
    let record = played.version(1)
    #expect(abs(record.trainingLoss - 0.693_147_180_559_945) < 1e-6)
    #expect((record.round, record.samples, record.samplesProcessed) == (1, 8, 8))
    let correct = (0..<2).reduce(0) { sum, client in
      let trained = directTraining(
        task, 0..<1, from: [0, 0, 0, 0, 0, 0], group: "phones", client: client,
        ordinal: UInt32(client))
      return sum
        + Evaluation(
          of: task.network, parameters: ParameterBuffer(trained), dataset: task.train,
          samples: task.partition.validation[client], kernels: .best, scratch: Scratch()
        ).correct
    }
    #expect(record.validationAccuracy == Double(correct) / 6)
    #expect(played.version(0).trainingLoss.isNaN)
    // Version 0 is always evaluated; all logits are equal, and class 0 wins.
    let zeros = task.test.labels.count { $0 == 0 }
    #expect(played.version(0).evaluation?.test.correct == zeros)
    #expect(played.version(0).evaluation?.validation?.count == 6)
  }

  @Test("An observer that wants no events still sees versions, rounds and the end")
  func quietObserver() {
    final class Quiet: Observer {
      var seen: [String] = []
      func began(_ simulation: borrowing Simulation) { seen.append("began") }
      func handled(_ event: Event, at time: SimTime, _ simulation: borrowing Simulation) {
        seen.append("event")
      }
      func happened(_ event: ObservedEvent) { seen.append("happening") }
      func published(_ record: VersionRecord, _ simulation: borrowing Simulation) {
        seen.append("published \(record.version) at version \(simulation.version)")
      }
      func closed(_ record: RoundRecord, _ simulation: borrowing Simulation) {
        seen.append("closed \(record.round)")
      }
      func ended(_ simulation: borrowing Simulation) { seen.append("ended") }
    }
    var scene = Scene(fleet: [.group(windows: window)])
    scene.threshold(1)
    let quiet = Quiet()
    var simulation = Simulation(scene.inputs)
    simulation.run(observers: [quiet])
    #expect(
      quiet.seen == [
        "began", "published 0 at version 0", "published 1 at version 1", "closed 1", "closed 2",
        "ended",
      ])
  }
}

@Suite("A poll by an app that is opened")
struct ActivationTests {
  @Test("It sends what waits, fetches a newer version, and ends when the phone is locked")
  func poll() {
    // Phone 0 makes its update offline at 8.340; version 1 comes from phone 1 at 9.650. At 50 s the
    // link is back and phone 0 is taken up: it uploads (51.310, read 52.320), checks (54.340) and
    // loads version 2, which its own update made: 56.660.
    var scene = Scene(
      fleet: [
        .group("a", windows: [[0, 10_000, 15_000]]) {
          $0.link = .states("offline", in: [8_000...40_000], otherwise: "wifi")
          $0.usage = .states("active", in: [50_000...200_000], otherwise: "locked")
          $0.participation.pollOnActivation = 1
        },
        .group("b", windows: [[0, 10_000, 15_000]]),
      ])
    scene.threshold(1)
    let played = scene.play()
    #expect(
      Array(played.story(of: 0).suffix(7)) == [
        "10000 ends expired", "50000 begins activation", "50000 uploads 0", "51310 arrives 0",
        "52320 receipt 0 aggregated v2 n0", "56660 downloaded v2", "56660 ends completed",
      ])
    // A poll takes no part.
    #expect(played.simulation.participations.hours[0][.eligible] == 2)
  }

  @Test("Locked in the middle it ends; a window takes its place")
  func interrupted() {
    let scene = Scene(
      fleet: [
        .group(windows: [[103_000, 150_000, 155_000]]) {
          $0.usage = .states(
            "active", in: [50_000...51_500, 102_000...200_000], otherwise: "locked")
          $0.participation.pollOnActivation = 1
        }
      ])
    #expect(
      Array(scene.play().story(of: 0, only: "begins", "ends").prefix(5)) == [
        "50000 begins activation", "51500 ends locked", "102000 begins activation",
        "103000 ends completed", "103000 begins window",
      ])
  }

  @Test("The share of activations on which it polls")
  func share() {
    var scene = Scene(
      fleet: [
        .group(count: 50) {
          $0.usage = .states(
            "active", in: (1...20).map { 60_000 * $0...60_000 * $0 + 20_000 }, otherwise: "locked")
          $0.participation.pollOnActivation = 0.25
        }
      ])
    scene.inputs.stop.after = .hours(1)
    // 1,000 activations, 250 ± 4.5 deviations of 13.7.
    #expect(abs(scene.play().simulation.books.tallies.sessions - 250) < 62)
  }
}
