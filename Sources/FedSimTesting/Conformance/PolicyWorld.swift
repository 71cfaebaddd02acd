import FedSim
import Learning
import Schema

/// A small world in which a policy is played: 16 devices that ask again and again for 12 hours,
/// some of them cut off and offline now and then; more of both where the policy needs them
/// (`Size`).
enum PolicyWorld {
  /// Softmax regression on 2 features and 2 classes; features are eighths between −1 and 1, a line
  /// parts the classes, and the test samples are the training samples.
  private static func task(clients: Int) -> LearningTask {
    let sizes = (0..<clients).map { 1 + $0 * 5 % 7 }
    let count = sizes.reduce(0, +)
    let features = (0..<2 * count).map { Float($0 * 5 % 17 - 8) / 8 }
    let data = Dataset(
      features: .floats(features), sampleShape: [2],
      labels: (0..<count).map { features[2 * $0] + features[2 * $0 + 1] / 2 > 0 ? 1 : 0 },
      classCount: 2)
    var next: Int32 = 0
    let shards = sizes.map { size in
      defer { next += Int32(size) }
      return (0..<Int32(size)).map { next + $0 }
    }
    return LearningTask(
      network: .softmaxRegression(inputCount: 2, classCount: 2),
      initial: ParameterBuffer([0.25, -0.5, 0.125, 0.75, 0, -0.125]), train: data, test: data,
      partition: Partition(shards: shards),
      plan: TrainingPlan(epochs: 2, batchSize: 2, learningRate: 0.25))
  }

  static func inputs(_ server: ServerSettings) -> SimulationInputs {
    let size = Size(server)
    var inputs = SimulationInputs(task: task(clients: size.devices))
    inputs.server = played(server)
    inputs.stop.after = size.length
    inputs.record.evaluateEvery.versions = nil
    inputs.fleet = [group("steady", size.steady, size), group("cut", size.cut, size)]
    inputs.fleet[1].firstClient = size.steady
    inputs.fleet[1].interruption.onExpiry = .checkpoint
    // Open for 10 minutes of every 20, and offline in the second quarter of each hour.
    inputs.fleet[1].background.windows = .stretches(
      (0..<Int64(3 * size.hours)).map { (.seconds(1200 * $0), .seconds(1200 * $0 + 600), nil) })
    inputs.fleet[1].link = .stretches(
      (0..<Int64(size.hours)).map {
        (.seconds(3600 * $0 + 900), .seconds(3600 * $0 + 1800), "offline")
      },
      otherwise: "wifi")
    if server.selector.value.needs.contains(.beliefs) {
      for group in inputs.fleet.indices { inputs.fleet[group].heartbeats = HeartbeatSettings() }
    }
    return inputs
  }

  private static func group(_ name: String, _ count: Int, _ size: Size) -> FleetGroupSettings {
    var group = FleetGroupSettings()
    group.name = name
    group.count = count
    group.firstClient = 0
    group.background.windows = .always("open")
    group.participation.repeats = true
    group.participation.pause = .minutes(5)
    group.compute.perBatch = size.perBatch
    group.compute.spread = 0.5
    if size.streams {
      var held = ProtocolSettings()
      held.stream = true
      group.protocol = held
    }
    return group
  }
}

extension Choice where Value == any TimelineSource {
  /// Intervals since the start, each in a state, and what is between them.
  static func stretches(
    _ stretches: [(from: SimDuration, to: SimDuration?, state: String?)], otherwise: String? = nil
  ) -> Choice {
    var settings = FixedSource.Settings()
    settings.intervals = stretches.map {
      var stretch = FixedSource.Stretch()
      stretch.from = .start + $0.from
      stretch.to = $0.to.map { .start + $0 }
      stretch.state = $0.state.map { StateName($0) }
      return stretch
    }
    settings.otherwise = otherwise.map { StateName($0) }
    precondition(settings.contradictions().isEmpty, "intervals end after they begin")
    return Choice(FixedSource.self, settings) { $0 }
  }
}
