import Foundation
import Synchronization
import Testing

import FedSim
import Learning
import Runs
import Scenarios
import Schema

/// The last that a selector was shown.
private final class Log: Sendable {
  let facts = Mutex<[DeviceFacts]>([])
}

/// Lets everybody in, and writes down what is known of all.
private struct Watcher: AdmittingSelector {
  static let name = "watcher"
  static let summary = "Lets everybody in, and writes down what is known of all"
  typealias Settings = NoSettings

  var log = Log()
  var wantsSquares = true
  init(_ settings: NoSettings) {}

  var needs: SelectorNeeds { [.facts, wantsSquares ? .lossSquares : .losses] }

  func admit(
    _ checkIn: CheckIn, _ server: ServerView, _ memory: inout NoMemory
  ) -> Admission {
    log.facts.withLock { $0 = server.known }
    return .accept
  }
}

/// The losses that selectors look at, in whole runs.
@Suite("Losses for selection in runs")
struct SelectionLossScenarioTests {
  private struct Stop: Error {}

  private final class Trail: Observer {
    var models: [ParameterBuffer] = []
    var rounds: [[Int]] = []
    var wantsEveryEvent: Bool { true }

    func published(_ record: VersionRecord, _ simulation: borrowing Simulation) {
      models.append(simulation.model)
    }

    func happened(_ event: ObservedEvent) {
      switch event.kind {
      case .cohortFormed: rounds.append([])
      case .accepted where !rounds.isEmpty: rounds[rounds.count - 1].append(event.device)
      default: break
      }
    }
  }

  /// What is known at the end of a night with checkpoints, and the versions of it; saved and
  /// restored after this many stretches.
  private func night(
    asks: Bool, stops: Int = 0, _ overrides: String...
  ) throws -> (facts: [DeviceFacts], models: [[UInt32]]) {
    let log = Log()
    let scenario = try Scenario(text: Night.text, file: "night.yaml", overrides: overrides)
    var inputs = try scenario.makeSimulation().inputs
    inputs.server.selector = Choice(Watcher.self) {
      var watcher = $0
      (watcher.log, watcher.wantsSquares) = (log, asks)
      return watcher
    }
    let trail = Trail()
    var simulation = Simulation(inputs)
    for stop in 0...stops {
      var bytes: [UInt8] = []
      do {
        try simulation.run(observers: [trail], every: 50) { run in
          guard stop < stops else { return }
          bytes = try run.archive()
          throw Stop()
        }
      } catch is Stop {
        simulation = try Simulation(inputs, archive: bytes)
      }
    }
    #expect(simulation.audit() == [])
    return (
      log.facts.withLock { $0 }, trail.models.map { $0.values.map(\.bitPattern) }
    )
  }

  @Test(
    "squares are known where a selector asks, also of trainings with checkpoints and of saved runs")
  func squares() throws {
    let (asked, models) = try night(asks: true)
    let reported = asked.filter { $0.loss != nil }
    #expect(reported.count > 6)
    for facts in reported {
      let (root, mean) = (try #require(facts.rootMeanSquareLoss), facts.loss ?? .nan)
      #expect(root >= mean * (1 - 1e-12) && root < 10 * mean, "\(root), \(mean)")
    }
    #expect(reported.contains { $0.rootMeanSquareLoss! > 1.01 * $0.loss! })
    // Nobody asks: all else is the same, to the bit.
    let plain = try night(asks: false)
    #expect(plain.models == models && models.count > 5)
    #expect(plain.facts.allSatisfy { $0.rootMeanSquareLoss == nil })
    #expect(plain.facts.map(\.loss) == asked.map(\.loss))
    let saved = try night(asks: true, stops: 6)
    #expect(saved.facts == asked && saved.models == models)
    // One batch of one sample a training: the root is the loss.
    let single = try night(
      asks: true, "task.training={epochs: 1, batchSize: 1, optimizer: {sgd: 0.1}}",
      "task.data.source={blobs: {classes: 3, features: 5, train: 12, test: 60, spread: 1}}",
      "task.data.validationFraction=0")
    let known = single.facts.filter { $0.loss != nil }
    #expect(known.contains { $0.samples == 1 })
    for facts in known where facts.samples == 1 {
      #expect(abs(facts.rootMeanSquareLoss! - facts.loss!) < 1e-12)
    }
  }

  private static let world = """
    name: current-losses
    seed: 5
    stop: {versions: 3, after: 1 h}
    task:
      data:
        source: {blobs: {classes: 3, features: 4, train: 144, test: 30}}
        partition: {labels-per-client: {clients: 12, labels: 2}}
      model: softmax
      training: {epochs: 1, batchSize: 5, optimizer: {sgd: 0.2}}
    fleet:
      - name: phones
        count: 12
        link: {fixed: wifi}
        background: {windows: {fixed: open}}
        participation: {repeats: true, pause: 1 s}
    server:
      policy: power-of-choice
      selector: {power-of-choice: {cohort: 3, candidates: 12, losses: current}}

    """

  /// The mean cross-entropy of a model on some samples, in `Double` from its logits.
  private func loss(
    _ parameters: ParameterBuffer, _ task: LearningTask, _ samples: [Int32]
  ) -> Double {
    let logits = task.network.outputs(
      inputs: task.train.gather(samples, kernels: .best), parameters: parameters, kernels: .best
    ).map { Double($0) }
    let classes = logits.count / samples.count
    var sum = 0.0
    for (row, sample) in samples.enumerated() {
      let own = logits[row * classes..<(row + 1) * classes]
      let label = Int(task.train.labels[Int(sample)])
      sum += log(own.reduce(0) { $0 + exp($1) }) - own[own.startIndex + label]
    }
    return sum / Double(samples.count)
  }

  @Test(
    "power of choice takes those on whose samples the model of now loses most", arguments: [1, 3])
  func current(threads: Int) throws {
    let scenario = try Scenario(text: Self.world, file: "current.yaml")
    var options = RunOptions()
    options.threads = threads
    let trail = Trail()
    var simulation = try scenario.makeSimulation(options)
    simulation.run(observers: [trail])
    #expect(simulation.audit() == [])
    #expect(simulation.version == 3)
    let task = simulation.inputs.task
    for round in 0..<3 {
      let losses = (0..<12).map { loss(trail.models[round], task, task.partition.shards[$0]) }
      let highest = losses.indices.sorted { losses[$0] > losses[$1] }.prefix(3)
      #expect(
        trail.rounds[round].sorted() == highest.sorted(), "round \(round + 1): \(losses)")
    }
    // By what is reported the first cohort is chance's, and later ones are others.
    let reported = Trail()
    var other = try Scenario(
      text: Self.world, file: "reported.yaml",
      overrides: ["server.selector={power-of-choice: {losses: reported}}"]
    ).makeSimulation(options)
    other.run(observers: [reported])
    #expect(reported.rounds.prefix(3) != trail.rounds.prefix(3))
  }
}
