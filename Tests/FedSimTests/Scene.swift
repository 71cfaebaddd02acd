import FedSim
import Learning
import Schema
import Testing

/// A small run written by hand: what it depends on, and how it is played.
///
/// The numbers are chosen for arithmetic in the head. A message is 1,000 bytes, a model or an
/// update 300 more; Wi-Fi carries 1,000 bytes a second with 10 ms each way, a cellular network 500
/// bytes a second with 20 ms each way; a batch takes 1 s. A session that begins at s and has no
/// model:
///
///     s + 1.000  the check is sent          s + 4.340  the model is there, batch 1 begins
///     s + 1.010  it is at the server        s + 4.340 + n  batch n ends: the upload begins
///     s + 1.020  its answer begins          … + 1.300  the update is sent
///     s + 2.020  the device is accepted     … + 1.310  it is at the server
///     s + 3.020  the download is asked for  … + 1.320  the receipt begins
///     s + 3.030  … at the server            … + 2.320  the receipt is there
///     s + 3.040  the model begins
///
/// With 4 batches the upload begins at s + 8.340, arrives at s + 9.650, is acknowledged at
/// s + 10.660. A device that holds the latest version begins batch 1 at s + 2.020.
struct Scene {
  var inputs: SimulationInputs

  init(_ task: LearningTask = .tiny(), fleet: [FleetGroupSettings] = []) {
    inputs = SimulationInputs(task: task)
    inputs.fleet = fleet
    inputs.server.messageBytes = 1000
    inputs.server.bytesPerParameter = 50
    inputs.stop.after = .seconds(10_000)
    inputs.record.evaluateEvery.versions = nil
  }

  /// The server aggregates as soon as this many updates wait.
  mutating func threshold(_ updates: Int) {
    var settings = ThresholdTrigger.Settings()
    settings.updates = updates
    inputs.server.trigger = [Choice(ThresholdTrigger.self, settings) { $0 }]
  }

  /// Scripts one event.
  mutating func inject(
    _ action: InjectionSettings.Verb, _ device: String, at milliseconds: Int64,
    hard: SimDuration = .minutes(5), lasting: SimDuration = .minutes(1)
  ) {
    var injection = InjectionSettings()
    injection.action = action
    injection.device = DevicePath(device)
    injection.at = ms(milliseconds)
    injection.hard = hard
    injection.lasting = lasting
    inputs.injections.append(injection)
  }

  /// Plays it with a tape running, and expects every audit to find nothing.
  func play(_ location: SourceLocation = #_sourceLocation) -> Played {
    let tape = Tape()
    var simulation = Simulation(inputs)
    simulation.run(observers: [tape])
    #expect(tape.faults == [], sourceLocation: location)
    return Played(simulation: simulation, tape: tape)
  }
}

/// A run that is over, and what its tape holds.
struct Played {
  let simulation: Simulation
  let tape: Tape

  /// What happened to a device (−1: the server), a line each: milliseconds and what. `only` keeps
  /// lines whose words begin with one of these.
  func story(of device: Int, only words: String...) -> [String] {
    tape.observed.filter { $0.device == device }
      .filter { event in
        words.isEmpty
          ? !event.kind.isAside : words.contains { event.kind.line.hasPrefix($0) }
      }
      .map { milliseconds($0.time) + " " + $0.kind.line }
  }

  /// The record of a version; that of version 0 where it was never published.
  func version(_ version: Int) -> VersionRecord {
    version < tape.versions.count ? tape.versions[version] : tape.versions[0]
  }

  /// The parameters of a published version; none where it was never published.
  func model(_ version: Int) -> [Float] {
    version < tape.models.count ? tape.models[version] : []
  }
}

/// Writes down everything and, unless set otherwise, audits after every event.
final class Tape: Observer {
  var observed: [ObservedEvent] = []
  var events: [(time: SimTime, event: Event)] = []
  var versions: [VersionRecord] = []
  var models: [[Float]] = []
  var rounds: [RoundRecord] = []
  var faults: [String] = []
  private var latest = SimTime.start
  private let audits: Bool

  init(audits: Bool = true) { self.audits = audits }

  var wantsEveryEvent: Bool { true }
  func handled(_ event: Event, at time: SimTime, _ simulation: borrowing Simulation) {
    events.append((time, event))
    if time < latest { faults.append("time went back to \(time)") }
    latest = time
    guard audits, faults.count < 20 else { return }
    for fault in simulation.audit() {
      faults.append("\(time) after \(event): \(fault)")
    }
  }
  func happened(_ event: ObservedEvent) { observed.append(event) }
  func published(_ record: VersionRecord, _ simulation: borrowing Simulation) {
    versions.append(record)
    models.append(simulation.model.values)
  }
  func closed(_ record: RoundRecord, _ simulation: borrowing Simulation) { rounds.append(record) }
  func ended(_ simulation: borrowing Simulation) {
    faults += simulation.audit().map { "at the end: \($0)" }
    if simulation.books.ledgers.attempts.stillOpen + simulation.books.ledgers.updates.stillOpen
      + simulation.books.ledgers.transmissions.stillOpen != 0
    {
      faults.append("a ledger is open at the end")
    }
  }
}

extension LearningTask {
  /// Softmax regression on 2 features and 2 classes, from zero weights unless set otherwise.
  ///
  /// Client c has its own `samples[c]` samples. Features are eighths between −1 and 1, a
  /// line parts the classes; the test samples are the training samples.
  static func tiny(
    samples: [Int] = [4, 4, 4, 4, 4, 4, 4, 4], batchSize: Int = 1, epochs: Int = 1,
    rate: Double = 0.5, initial: [Float] = [0, 0, 0, 0, 0, 0], validation: Int = 0
  ) -> LearningTask {
    let count = samples.reduce(0, +) + validation * samples.count
    let features = (0..<2 * count).map { i -> Float in
      let eighths = i * 5 % 17 - 8
      return Float(eighths) / 8
    }
    let data = Dataset(
      features: .floats(features), sampleShape: [2],
      labels: (0..<count).map { i -> Int32 in features[2 * i] + features[2 * i + 1] / 2 > 0 ? 1 : 0
      },
      classCount: 2)
    var next: Int32 = 0
    func take(_ count: Int) -> [Int32] {
      defer { next += Int32(count) }
      return (0..<Int32(count)).map { next + $0 }
    }
    let shards = samples.map(take)
    return LearningTask(
      network: .softmaxRegression(inputCount: 2, classCount: 2),
      initial: ParameterBuffer(initial), train: data, test: data,
      partition: Partition(shards: shards, validation: samples.map { _ in take(validation) }),
      plan: TrainingPlan(epochs: epochs, batchSize: batchSize, learningRate: rate))
  }
}

extension FleetGroupSettings {
  /// Devices that are plugged in and on Wi-Fi and run in these windows: [start, soft, hard] in
  /// milliseconds. No connection waits for a link that is gone.
  static func group(
    _ name: String = "phones", count: Int = 1, windows: [[Int64]] = [],
    _ change: (inout FleetGroupSettings) -> Void = { _ in }
  ) -> FleetGroupSettings {
    var group = FleetGroupSettings()
    group.name = name
    group.count = count
    group.network.wifi = .link(bytesPerSecond: 1000, roundTrip: .milliseconds(20))
    group.network.cellular = .link(bytesPerSecond: 500, roundTrip: .milliseconds(40))
    group.network.patience = .zero
    group.compute.perBatch = .seconds(1)
    if !windows.isEmpty {
      group.background.windows = .fixed(
        windows.map { (from: $0[0], soft: Optional($0[1]), to: $0[2], state: nil) })
    }
    change(&group)
    return group
  }
}

extension LinkSettings {
  static func link(bytesPerSecond: Int64, roundTrip: SimDuration) -> LinkSettings {
    var link = LinkSettings()
    link.down = BitRate(bitsPerSecond: 8 * bytesPerSecond)
    link.up = BitRate(bitsPerSecond: 8 * bytesPerSecond)
    link.roundTrip = roundTrip
    return link
  }
}

extension Choice where Value == any TimelineSource {
  /// Intervals in milliseconds, and what is between them.
  static func fixed(
    _ stretches: [(from: Int64, soft: Int64?, to: Int64, state: String?)],
    otherwise: String? = nil
  ) -> Choice {
    var settings = FixedSource.Settings()
    settings.intervals = stretches.map {
      var stretch = FixedSource.Stretch()
      stretch.from = ms($0.from)
      stretch.soft = $0.soft.map(ms)
      stretch.to = ms($0.to)
      stretch.state = $0.state.map { StateName($0) }
      return stretch
    }
    settings.otherwise = otherwise.map { StateName($0) }
    precondition(settings.contradictions().isEmpty, "a hand-written series is sound")
    return Choice(FixedSource.self, settings) { $0 }
  }

  /// A state in some intervals of milliseconds, and another one between them.
  static func states(
    _ state: String, in intervals: [ClosedRange<Int64>], otherwise: String
  ) -> Choice {
    fixed(
      intervals.map { (from: $0.lowerBound, soft: nil, to: $0.upperBound, state: state) },
      otherwise: otherwise)
  }
}

/// A time in milliseconds since the start.
func ms(_ milliseconds: Int64) -> SimTime { SimTime(microseconds: 1000 * milliseconds) }

/// A time in milliseconds, with a fraction where there is one.
func milliseconds(_ time: SimTime) -> String {
  let (whole, rest) = time.microseconds.quotientAndRemainder(dividingBy: 1000)
  return rest == 0 ? "\(whole)" : "\(whole).\(String(1000 + rest).dropFirst())"
}

extension ObservedEvent.Kind {
  /// Whether it only says more of what other lines tell.
  var isAside: Bool {
    switch self {
    case .softExpiry, .waited, .requestFailed, .rested, .serverOffline, .updateEnded, .forceQuit,
      .processorExceeded, .exchange:
      true
    default: false
    }
  }

  /// A few words, the same for the same values.
  var line: String {
    switch self {
    case .sessionBegan(let kind): "begins \(kind)"
    case .sessionEnded(let end): "ends \(end)"
    case .accepted(let round): "accepted r\(round)"
    case .downloaded(let version): "downloaded v\(version)"
    case .trainingBegan(let base, let first, let batches): "trains v\(base) \(first)/\(batches)"
    case .trainingCut(let batches, let all): "cut \(batches)/\(all)"
    case .checkpointed(let batches, let all): "checkpoint \(batches)/\(all)"
    case .attemptEnded(let outcome, let batches): "attempt \(outcome) \(batches)"
    case .updateCreated(let update, let base, let batches, let samples):
      "makes \(update) of v\(base) \(batches)b \(samples)s"
    case .uploadBegan(let update): "uploads \(update)"
    case .uploadFailed(let update, let outcome): "fails \(update) \(outcome)"
    case .arrived(let update): "arrives \(update)"
    case .receipt(let update, let receipt):
      "receipt \(update) \(receipt.status) v\(receipt.newVersion) n\(receipt.pendingCount)"
    case .killed: "killed"
    case .condition(let condition): "is \(condition)"
    case .submitted(let task, let error):
      "submits \(task)" + (error.map { ": \($0.rawValue)" } ?? "")
    case .identity(let step): "identity " + step.line
    case .connectivity(let isOnline): isOnline ? "online" : "offline"
    case .cohortFormed(let round, let members): "cohort r\(round) \(members)"
    case .published(let version, let updates): "published v\(version) \(updates)"
    case .roundSkipped(let round): "skipped r\(round)"
    case .softExpiry: "expires"
    case .waited(let round): "waits r\(round)"
    case .requestFailed(let kind, let outcome): "\(kind) fails \(outcome)"
    case .rested(let end): "rests \(end)"
    case .serverOffline: "hears offline"
    case .updateEnded(let update, let outcome): "ended \(update) \(outcome)"
    case .forceQuit: "swiped"
    case .processorExceeded: "too busy"
    case .rejected(let retry):
      "rejected "
        + (retry.map { milliseconds(.start + $0.duration) } ?? "for good")
    case .disconnected(let reason): "disconnects \(reason)"
    case .erased(let scope): "erases \(scope)"
    case .exchange(let step): "does \(step)"
    case .serverProcess(let isRunning): isRunning ? "starts" : "stops"
    case .central(let step): step.line
    }
  }
}

extension CentralStep {
  /// A few words, the same for the same values.
  var line: String {
    switch self {
    case .formatted(let file, let samples, let bytes): "formats f\(file) \(samples)s \(bytes)B"
    case .uploadBegan(let file): "sends f\(file)"
    case .uploadFailed(let file, let outcome):
      "misses f\(file) " + (outcome.map { "\($0)" } ?? "offline")
    case .stored(let file): "stored f\(file)"
    case .itemStored(let file): "item f\(file)"
    case .itemFailed(let file): "no item f\(file)"
    case .ended(let file, let outcome): "file f\(file) \(outcome)"
    case .retried(let files): "retries \(files)"
    case .dataCleared(let samples): "clears data \(samples)"
    case .logCleared(let files): "clears log \(files)"
    case .fetchFailed(let model): "no model m\(model)"
    case .inUse(let model, let version): "uses m\(model) v\(version)"
    case .trainingBegan(let model, let samples): "trains m\(model) \(samples)s"
    case .published(let model, let version): "publishes m\(model) v\(version)"
    }
  }
}

extension IdentityStep {
  /// A few words, the same for the same values.
  var line: String {
    switch self {
    case .registered(let id): "registered \(id)"
    case .bootstrapped: "bootstrapped"
    case .refreshed: "refreshed"
    case .failed(let request, let outcome): "failed \(request) \(outcome)"
    case .revoked: "revoked"
    case .refused(let refusal): "refused \(refusal.rawValue)"
    case .keychainLocked: "locked"
    case .keychainUnlocked: "unlocked"
    case .reinstalled: "reinstalled"
    case .withheld(let reason): "withheld \(reason)"
    }
  }
}
