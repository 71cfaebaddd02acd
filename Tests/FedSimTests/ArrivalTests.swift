import FedSim
import Learning
import Numerics
import Schema
import Testing

@Suite("Data that arrives over time")
struct ArrivalTests {
  private func arrival(
    perDay: Double? = nil, initial: Double = 0, _ schedule: [(Int64, Double)]? = nil
  ) -> ArrivalSettings {
    var settings = ArrivalSettings()
    settings.initial = initial
    settings.perDay = perDay
    settings.schedule = schedule?.map { time, share in
      var step = ArrivalSettings.Step()
      step.at = ms(time)
      step.share = share
      return step
    }
    return settings
  }

  private func scene(
    _ arrival: ArrivalSettings?, windows: [[Int64]], task: LearningTask = .tiny(samples: [8])
  ) -> Scene {
    Scene(
      task,
      fleet: [
        .group(windows: windows) {
          $0.arrival = arrival
          $0.compute.perBatch = .seconds(1)
        }
      ])
  }

  @Test("a training takes what has arrived by its start; without any there is none")
  func rate() {
    // A sample each 10 s. The second window begins with two, its training at 30.340 with three; the
    // third trains at 102.020 on all eight.
    let played = scene(
      arrival(perDay: 8640),
      windows: [[0, 5000, 6000], [26_000, 40_000, 41_000], [100_000, 120_000, 121_000]]
    ).play()
    #expect(
      played.story(of: 0, only: "makes", "ends").prefix(4) == [
        "0 ends withoutData", "33340 makes 0 of v0 3b 3s", "35660 ends completed",
        "110020 makes 1 of v0 8b 8s",
      ])
    #expect(played.simulation.books.tallies.sessionsWithoutData == 1)
    #expect(played.simulation.deviceRecords[0].samples == 8)
    #expect(played.simulation.deviceRecords[0].arrived == 8)
  }

  @Test("a schedule gives shares, rounded down, from its steps on")
  func schedule() {
    // 3.2 of 8 at the start; from 20 s on half.
    let played = scene(
      arrival(initial: 0.4, [(20_000, 0.5), (1_000_000, 1)]),
      windows: [[0, 15_000, 16_000], [18_000, 38_000, 39_000]]
    ).play()
    // The second begins at 20.020.
    #expect(
      played.story(of: 0, only: "makes") == [
        "7340 makes 0 of v0 3b 3s", "24020 makes 1 of v0 4b 4s",
      ])
  }

  @Test("a checkpoint continues with the samples that it began with")
  func checkpoint() {
    var scene = scene(
      arrival(perDay: 8640, initial: 0.5), windows: [[0, 7000, 8000], [60_000, 90_000, 91_000]])
    scene.inputs.fleet[0].interruption.onExpiry = .checkpoint
    // Four samples at 4.340; batch 3 runs at 7.0 and ends at 7.340; the last from 62.020 on.
    #expect(
      scene.play().story(of: 0, only: "checkpoint", "trains", "makes").suffix(2) == [
        "62020 trains v0 3/4", "63020 makes 0 of v0 4b 4s",
      ])
  }

  @Test("all samples from the start give the bits of a fleet without arrival")
  func all() {
    func model(_ arrival: ArrivalSettings?) -> [Float] {
      var scene = scene(arrival, windows: [[0, 50_000, 51_000]])
      scene.threshold(1)
      return scene.play().model(1)
    }
    #expect(model(arrival(perDay: 1, initial: 1)) == model(nil))
  }

  @Test("which samples came first is drawn by the device's name, not by its shard's order")
  func which() {
    let task = LearningTask.tiny(samples: [8])
    var scene = scene(arrival(perDay: 1, initial: 0.5), windows: [[0, 50_000, 51_000]], task: task)
    scene.threshold(1)
    var positions = (0..<Int32(8)).map { $0 }
    var stream = StreamKey(seed: 1, purpose: "arrival-order", group: "phones", ordinal: 0)
      .stream(slot: 0)
    stream.shuffle(&positions)
    let shard = positions.prefix(4).sorted().map { task.partition.shards[0][Int($0)] }
    #expect(shard != Array(task.partition.shards[0].prefix(4)))
    let training = LocalTraining(
      network: task.network, dataset: task.train, shard: shard, plan: task.plan,
      order: .keyed(
        StreamKey(seed: 1, purpose: "batches", group: "phones", ordinal: 0), firstSlot: 0))
    let outcome = training.run(
      0..<4, from: DeviceMemory(parameters: task.initial), kernels: .best, scratch: Scratch())
    #expect(scene.play().model(1) == outcome.memory.parameters.values)
  }

  @Test("a file's batch order leaves out what is not there")
  func orders() {
    var task = LearningTask.tiny(samples: [8])
    task = LearningTask(
      network: task.network, initial: task.initial, train: task.train, test: task.test,
      partition: task.partition, plan: task.plan, orders: [[[7, 6, 5, 4, 3, 2, 1, 0]]])
    let scene = scene(arrival(perDay: 1, initial: 0.5), windows: [[0, 50_000, 51_000]], task: task)
    #expect(scene.play().story(of: 0, only: "makes") == ["8340 makes 0 of v0 4b 4s"])
  }
}
