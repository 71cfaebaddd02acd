import FedSim
import Foundation
import Learning
import Scenarios
import Schema

/// How long a version of a scenario takes on several ranks: a formula (docs/scale-out.md) whose
/// figures are measured on this machine.
public struct RankPlan: Codable, Sendable {
  /// What a version needs, as it was measured on one thread.
  public struct Figures: Codable, Sendable {
    /// Parameters of the model.
    public var parameters = 0
    /// Updates in a version.
    public var updates = 0.0
    /// Batches in an update.
    public var batches = 0.0
    /// Seconds that an update's training takes.
    public var training = 0.0
    /// Seconds that adding an update takes.
    public var adding = 0.0
    /// Seconds that the evaluations take.
    public var evaluation = 0.0
    /// Into how many pieces evaluations can be divided.
    public var pieces = 0.0
    /// Seconds that events and the server's step take, which every rank plays.
    public var events = 0.0
    /// Whether ranks add slices of the parameters; otherwise each gathers all updates.
    public var sumsInSlices = true

    /// Figures that are still to be set.
    public init() {}
  }

  /// The seconds of a version, by what they are spent on.
  public struct Row: Codable, Sendable {
    /// How many ranks there are.
    public var ranks: Int
    /// Until the rank with the most trainings is done.
    public var training: Double
    /// Until all updates are added.
    public var adding: Double
    /// Until the evaluations are done.
    public var evaluation: Double
    /// Events and the server's step.
    public var events: Double
    /// Until all is exchanged.
    public var network: Double
    /// Bytes that a rank sends, and as many that it receives.
    public var bytes: Double
    /// All of it.
    public var seconds: Double { training + adding + evaluation + events + network }
  }

  /// The figures.
  public var figures = Figures()
  /// Threads of a rank.
  public var threads: Int
  /// Seconds until a message arrives.
  public var latency: Double
  /// Bytes a second in each direction.
  public var bandwidth: Double

  /// A plan for ranks of this many threads, on such a network.
  public init(figures: Figures, threads: Int, latency: Double, bandwidth: Double) {
    (self.figures, self.threads) = (figures, threads)
    (self.latency, self.bandwidth) = (latency, bandwidth)
  }

  /// A latency such as `50 us` in seconds; nil for anything else.
  public static func latency(_ text: String) -> Double? {
    let units: [(name: String, size: Int64)] = [("us", 1), ("ms", 1_000), ("s", 1_000_000)]
    guard let value = Text.quantity(text, units: units), value >= 0 else { return nil }
    return Double(value) * 1e-6
  }

  /// A bandwidth such as `10 Gbit/s` in bytes a second; nil for anything else.
  public static func bandwidth(_ text: String) -> Double? {
    let units: [(name: String, size: Int64)] = [
      ("kbit/s", 1_000), ("Mbit/s", 1_000_000), ("Gbit/s", 1_000_000_000),
    ]
    guard let value = Text.quantity(text, units: units), value > 0 else { return nil }
    return Double(value) / 8
  }

  /// The seconds of a version on this many ranks.
  public func row(ranks: Int) -> Row {
    let (n, t) = (Double(ranks), Double(threads))
    let own = (figures.updates / n).rounded(.up)
    let share = (n - 1) / n
    // Updates go to the ranks that add them, or to all; a sum goes to all.
    let sent = figures.updates * share * (figures.sumsInSlices ? 1 / n : 1)
    let sum = figures.sumsInSlices ? share : 0
    let bytes = 4 * Double(figures.parameters) * (sent + sum)
    // Each group of slices, the sum and the trainings' losses; or all values and their outlines.
    let group = StreamedSum.ownGroup(parameters: figures.parameters, threads: threads)
    let groups = (own / Double(group)).rounded(.up)
    let exchanges = ranks == 1 ? 0 : figures.sumsInSlices ? groups + 2 : 2
    let evaluations = figures.pieces > 0 && ranks > 1 ? 1.0 : 0
    return Row(
      ranks: ranks, training: (own / t).rounded(.up) * figures.training,
      adding: figures.updates * figures.adding / (figures.sumsInSlices ? n * t : t),
      evaluation: figures.pieces > 0
        ? (figures.pieces / n / t).rounded(.up) / figures.pieces * figures.evaluation : 0,
      events: figures.events, network: bytes / bandwidth + (exchanges + evaluations) * latency,
      bytes: bytes)
  }
}

extension RankPlan {
  /// The numbers of ranks that are shown.
  private static let shown = [1, 2, 4, 8, 16, 32, 64]

  /// For people: the figures, and a row for each number of ranks.
  public var text: String {
    func number(_ value: Double, _ digits: Int) -> String {
      String(format: "%.\(digits)f", value)
    }
    let how =
      figures.sumsInSlices
      ? "each rank adds a slice of the parameters" : "each rank gathers all updates"
    var lines = [
      "a version: \(number(figures.updates, 1)) updates of \(number(figures.batches, 1)) batches; "
        + "\(figures.parameters) parameters; \(how)",
      "measured here on one thread, milliseconds: training \(number(figures.training * 1e3, 3)) "
        + "an update, adding \(number(figures.adding * 1e3, 3)) an update, evaluation "
        + "\(number(figures.evaluation * 1e3, 3)) and events "
        + "\(number(figures.events * 1e3, 3)) a version",
      "",
      "ranks  ms a version  speed-up  efficiency   training   evaluation   events   network"
        + "   MB a rank",
    ]
    let one = row(ranks: 1).seconds
    for ranks in Self.shown {
      let row = row(ranks: ranks)
      let speed = one / row.seconds
      let cells: [(String, Int)] = [
        ("\(ranks)", 5), (number(row.seconds * 1e3, 2), 14), (number(speed, 2), 10),
        (number(100 * speed / Double(ranks), 0) + " %", 12),
        (number((row.training + row.adding) * 1e3, 2), 11), (number(row.evaluation * 1e3, 2), 13),
        (number(row.events * 1e3, 2), 9), (number(row.network * 1e3, 2), 10),
        (number(row.bytes / 1e6, 1), 12),
      ]
      lines.append(
        cells.map { String(repeating: " ", count: max(1, $1 - $0.count)) + $0 }.joined())
    }
    return lines.joined(separator: "\n")
  }

  /// For programs: the figures, and a row for each number of ranks.
  public var json: String {
    struct Whole: Encodable {
      var plan: RankPlan
      var rows: [Row]
    }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    let whole = Whole(plan: self, rows: Self.shown.map { row(ranks: $0) })
    return (try? encoder.encode(whole)).map { String(decoding: $0, as: UTF8.self) } ?? ""
  }
}

extension RankPlan.Figures {
  /// The seconds of a measurement at most.
  private static let enough = 2.0
  /// Versions that are played to count what is in them.
  private static let mostVersions = 200

  /// Measures a scenario: plays it without arithmetic, then trains, adds and evaluates some.
  ///
  /// Throws: `RunFailure.input` with every fault, `.failed` where no version comes about.
  public init(of scenario: Scenario, _ options: RunOptions) throws(RunFailure) {
    self.init()
    var options = options
    (options.threads, options.workers, options.ranks) = (1, 0, nil)
    let inputs: SimulationInputs
    do throws(Faults) { inputs = try scenario.inputs(options) } catch { throw .input(error.faults) }
    let task = inputs.task
    parameters = task.network.layout.count
    sumsInSlices = inputs.sumsAsTrained
    try play(inputs)
    let clients = Self.some(
      task.partition.shards.indices.filter { !task.partition.shards[$0].isEmpty }, 16)
    measureTraining(of: clients, inputs)
    measureAdding(inputs)
    measureEvaluation(inputs)
  }

  /// Plays the scenario without arithmetic, and counts.
  private mutating func play(_ inputs: SimulationInputs) throws(RunFailure) {
    var inputs = inputs
    inputs.omitsArithmetic = true
    inputs.record.evaluateEvery = .init()
    let count = VersionCount(batchSize: inputs.task.plan.batchSize)
    var simulation = Simulation(inputs)
    let began = ContinuousClock.now
    struct Enough: Error {}
    do throws(Enough) {
      try simulation.run(observers: [count], every: 64) { _ throws(Enough) in
        let isLong = Self.seconds(since: began) > Self.enough && count.versions > 0
        if count.versions >= Self.mostVersions || isLong { throw Enough() }
      }
    } catch {}
    guard count.versions > 0 else {
      throw .failed("no version is published, so there is nothing to plan")
    }
    events = Self.seconds(since: began) / Double(count.versions)
    updates = Double(count.updates) / Double(count.versions)
    batches = Double(count.batches) / Double(max(1, count.updates))
  }

  private mutating func measureTraining(of clients: [Int], _ inputs: SimulationInputs) {
    let (task, scratch) = (inputs.task, Scratch())
    var (done, spent) = (0, 0.0)
    for round in 0..<2 {
      // The first time memory is made and read.
      (done, spent) = (0, 0)
      for client in clients where spent < Self.enough / 2 || done == 0 {
        let training = LocalTraining(
          network: task.network, dataset: task.train, shard: task.partition.shards[client],
          plan: task.plan,
          order: .keyed(
            .init(seed: inputs.seeds.training, purpose: "plan"), firstSlot: UInt64(client + round)))
        let began = ContinuousClock.now
        _ = task.algorithm.run(
          training, 0..<training.batchCount,
          from: DeviceMemory(parameters: task.initial, origin: task.initial), lossSum: 0,
          kernels: inputs.kernels, scratch: scratch)
        spent += Self.seconds(since: began)
        done += training.batchCount
      }
    }
    training = spent / Double(max(1, done)) * batches
  }

  private mutating func measureAdding(_ inputs: SimulationInputs) {
    let count = min(8, max(1, Int(updates)))
    let buffers = (0..<count).map { _ in
      inputs.task.initial.replacing([0..<1], from: inputs.task.initial)
    }
    let terms = buffers.map { Aggregation.Term($0, weight: 1 / Double(count)) }
    var shortest = Double.infinity
    for _ in 0..<5 {
      let began = ContinuousClock.now
      _ = Aggregation.weights(terms, kernels: inputs.kernels, pool: inputs.pool)
      shortest = min(shortest, Self.seconds(since: began))
    }
    adding = shortest / Double(count)
  }

  private mutating func measureEvaluation(_ inputs: SimulationInputs) {
    guard let every = inputs.record.evaluateEvery.versions else { return }
    let samples = (0..<min(inputs.task.test.count, 2 * Evaluation.chunkSize)).map { Int32($0) }
    guard !samples.isEmpty else { return }
    let began = ContinuousClock.now
    _ = Evaluation(
      of: inputs.task.network, parameters: inputs.task.initial, dataset: inputs.task.test,
      indices: samples, kernels: inputs.kernels, pool: inputs.pool)
    let whole = Self.seconds(since: began) * Double(inputs.task.test.count) / Double(samples.count)
    evaluation = whole / Double(every)
    pieces = (Double(inputs.task.test.count) / Double(Evaluation.chunkSize)).rounded(.up)
  }

  private static func seconds(since began: ContinuousClock.Instant) -> Double {
    (ContinuousClock.now - began) / .seconds(1)
  }

  /// Some elements, evenly from all.
  private static func some(_ all: [Int], _ most: Int) -> [Int] {
    guard all.count > most else { return all }
    return (0..<most).map { all[$0 * all.count / most] }
  }
}

/// Counts what is in the versions of a run.
private final class VersionCount: Observer {
  private let batchSize: Int
  private(set) var (versions, updates, batches) = (0, 0, 0)

  init(batchSize: Int) { self.batchSize = batchSize }

  func published(_ record: VersionRecord, _ simulation: borrowing Simulation) {
    guard record.version > 0 else { return }
    versions += 1
    updates += record.updates
    batches += (record.samplesProcessed + batchSize - 1) / batchSize
  }
}
