import FedSim
import Learning
import Schema

extension PolicyScript {
  /// What the run depends on.
  ///
  /// Each device is a separate group. Links carry anything in a microsecond, with one more each
  /// way. A training is one batch, whose outcome is what the script says.
  var inputs: SimulationInputs {
    var inputs = SimulationInputs(task: task)
    inputs.server = server
    inputs.seeds = seeds
    inputs.record.evaluateEvery.versions = nil
    inputs.fleet = devices.enumerated().map { group($1, client: $0) }
    let last = devices.flatMap(\.visits).map { $0.arrives ?? $0.asks }.max() ?? .zero
    let longest = devices.map(\.takes).max() ?? .zero
    inputs.stop.after = end ?? last + longest + .days(1)
    return inputs
  }

  /// A network with as many parameters as the model, of one class, so that any parameters will do.
  private var task: LearningTask {
    let count = devices.reduce(0) { $0 + $1.samples }
    let inputCount = model.count - 1
    let data = Dataset(
      features: .bytes([UInt8](repeating: 0, count: count * inputCount)),
      sampleShape: [inputCount], labels: [Int32](repeating: 0, count: count), classCount: 1)
    var first: Int32 = 0
    let shards = devices.map { device in
      defer { first += Int32(device.samples) }
      return (0..<Int32(device.samples)).map { first + $0 }
    }
    return LearningTask(
      network: .softmaxRegression(inputCount: inputCount, classCount: 1),
      initial: ParameterBuffer(model), train: data, test: data,
      partition: Partition(shards: shards),
      plan: TrainingPlan(
        epochs: 1, batchSize: devices.map(\.samples).max() ?? 1, learningRate: 1),
      algorithm: ScriptedTraining(
        sends: devices.map(\.sends),
        owners: shards.enumerated().flatMap { place, shard in
          shard.map { _ in place }
        }))
  }

  private func group(_ device: ScriptedDevice, client: Int) -> FleetGroupSettings {
    var group = FleetGroupSettings()
    group.name = device.name
    group.count = 1
    group.firstClient = client
    var link = LinkSettings()
    link.down = BitRate(bitsPerSecond: 8_000_000_000_000_000)
    link.up = link.down
    link.roundTrip = SimDuration(microseconds: 2)
    group.network.wifi = link
    group.compute.perBatch = device.takes
    let visits = device.visits
    group.background.windows = .stretches(
      visits.indices.map { place in
        // A window ends before the next begins.
        let end = place + 1 < visits.count ? visits[place + 1].asks - .milliseconds(10) : nil
        return (visits[place].asks, end, nil)
      })
    group.background.windowGrace = .milliseconds(10)
    let absences = visits.compactMap { visit -> (SimDuration, SimDuration?, String?)? in
      guard let arrives = visit.arrives else { return nil }
      return (visit.asks + .milliseconds(1), arrives, "offline")
    }
    if !absences.isEmpty { group.link = .stretches(absences, otherwise: "wifi") }
    return group
  }
}

/// Trains to what a script says.
private struct ScriptedTraining: LocalAlgorithm {
  static let name = "scripted"
  static let summary = "Produces given parameters"
  typealias Settings = NoSettings

  /// What each device's trainings send. Shapes: [device][training].
  private let sends: [[Sent]]
  /// Whose each sample is.
  private let owners: [Int]

  init(_ settings: NoSettings) { self.init(sends: [], owners: []) }

  init(sends: [[Sent]], owners: [Int]) {
    self.sends = sends
    self.owners = owners
  }

  /// The n-th training of a device has its n-th data epoch, for it has one epoch.
  func run(
    _ training: LocalTraining, _ batches: Range<Int>, from memory: DeviceMemory, lossSum: Double,
    kernels: Kernels, scratch: Scratch
  ) -> TrainingOutcome {
    guard !batches.isEmpty, let noise = training.noise else {
      return TrainingOutcome(memory: memory, lossSum: lossSum, samplesProcessed: 0)
    }
    let mine = sends[owners[Int(training.shard[0])]]
    let sent = mine[min(Int(noise.firstSlot), mine.count - 1)]
    return TrainingOutcome(
      memory: DeviceMemory(parameters: sent.parameters(from: memory.parameters)),
      lossSum: lossSum, samplesProcessed: training.shard.count)
  }
}
