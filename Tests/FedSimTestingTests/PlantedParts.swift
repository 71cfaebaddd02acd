import FedSim
import Learning
import Numerics
import Schema
import Synchronization

/// Parts that break one promise each.
enum Planted {
  /// The mean of what updates carry, added in `Float` in the order given.
  static func floatMean(_ updates: [AggregatedUpdate], _ batch: AggregationBatch) -> ParameterBuffer
  {
    ParameterBuffer(count: batch.current.count) { target in
      for update in updates {
        for i in 0..<target.count {
          let value =
            batch.payload == .weights
            ? update.parameters[i] : update.parameters[i] - update.base[i]
          target[i] += value / Float(updates.count)
        }
      }
    }
  }

  struct FloatSum: Aggregator {
    static let name = "float-sum"
    static let summary = "Adds in Float"
    typealias Settings = NoSettings
    init(_ settings: NoSettings) {}
    func combine(_ batch: AggregationBatch, _ memory: inout NoMemory) -> ParameterBuffer {
      floatMean(batch.updates, batch)
    }
  }

  struct AddressOrder: Aggregator {
    static let name = "address-order"
    static let summary = "Adds in Float, in the order in which updates came to lie in memory"
    typealias Settings = NoSettings
    init(_ settings: NoSettings) {}
    func combine(_ batch: AggregationBatch, _ memory: inout NoMemory) -> ParameterBuffer {
      floatMean(
        batch.updates.sorted {
          UInt(bitPattern: ObjectIdentifier($0.parameters).hashValue)
            < UInt(bitPattern: ObjectIdentifier($1.parameters).hashValue)
        }, batch)
    }
  }

  struct OnlyStale: Aggregator {
    static let name = "only-stale"
    static let summary = "Weighs by staleness, whose sum may be zero"
    typealias Settings = NoSettings
    init(_ settings: NoSettings) {}
    func combine(_ batch: AggregationBatch, _ memory: inout NoMemory) -> ParameterBuffer {
      let total = batch.updates.reduce(0) { $0 + $1.staleness }
      return batch.weightedSum(batch.updates.map { Double($0.staleness) / Double(total) })
    }
  }

  struct InverseSamples: Aggregator {
    static let name = "inverse-samples"
    static let summary = "Weighs by one over samples, said beforehand"
    typealias Settings = NoSettings
    init(_ settings: NoSettings) {}
    func weights(of updates: [UpdateFacts]) -> [Double]? {
      let weights = updates.map { 1 / Double($0.samples) }
      return weights.map { $0 / weights.reduce(0, +) }
    }
    func combine(_ batch: AggregationBatch, _ memory: inout NoMemory) -> ParameterBuffer {
      batch.weightedSum(weights(of: batch.facts)!)
    }
  }

  /// Something that a part keeps for itself.
  final class Notes: @unchecked Sendable {
    var buffer: ParameterBuffer?
    var count = 0
    private let calls = Mutex(0)

    /// Counts a call, from any thread; which one it is.
    func countCall() -> Int {
      calls.withLock { calls in
        calls += 1
        return calls
      }
    }
  }

  struct HiddenState: Aggregator {
    static let name = "hidden-state"
    static let summary = "Adds half of the last result, which no memory holds"
    typealias Settings = NoSettings
    private let notes = Notes()
    init(_ settings: NoSettings) {}
    func combine(_ batch: AggregationBatch, _ memory: inout NoMemory) -> ParameterBuffer {
      let mean = batch.weightedSum(
        batch.updates.map { _ in 1 / Double(batch.updates.count) })
      let last = notes.buffer
      let result = ParameterBuffer(count: mean.count) { target in
        for i in 0..<target.count { target[i] = mean[i] + 0.5 * (last?[i] ?? 0) }
      }
      notes.buffer = result
      return result
    }
  }

  struct CountsTwice: Aggregator {
    static let name = "counts-twice"
    static let summary = "Counts the first update twice"
    typealias Settings = NoSettings
    init(_ settings: NoSettings) {}
    func combine(_ batch: AggregationBatch, _ memory: inout NoMemory) -> ParameterBuffer {
      let share = 1 / Double(batch.updates.count + 1)
      return batch.weightedSum(batch.updates.indices.map { $0 == 0 ? 2 * share : share })
    }
  }

  struct ShortWeights: Aggregator {
    static let name = "short-weights"
    static let summary = "Forgets the last update"
    typealias Settings = NoSettings
    init(_ settings: NoSettings) {}
    func weights(of updates: [UpdateFacts]) -> [Double]? {
      updates.dropLast().map { _ in 1 / Double(updates.count) }
    }
    func combine(_ batch: AggregationBatch, _ memory: inout NoMemory) -> ParameterBuffer {
      batch.weightedSum(weights(of: batch.facts)!)
    }
  }

  struct OtherWeights: Aggregator {
    static let name = "other-weights"
    static let summary = "Says weights by samples and uses equal ones"
    typealias Settings = NoSettings
    init(_ settings: NoSettings) {}
    func weights(of updates: [UpdateFacts]) -> [Double]? {
      let total = updates.reduce(0) { $0 + $1.samples }
      return updates.map { Double($0.samples) / Double(total) }
    }
    func combine(_ batch: AggregationBatch, _ memory: inout NoMemory) -> ParameterBuffer {
      batch.weightedSum(batch.updates.map { _ in 1 / Double(batch.updates.count) })
    }
  }

  struct NormStep: ServerOptimizer {
    static let name = "norm-step"
    static let summary = "Steps by a direction of length 1"
    typealias Settings = NoSettings
    init(_ settings: NoSettings) {}
    func step(
      from current: ParameterBuffer, by combined: CombinedUpdate, _ memory: inout NoMemory
    ) -> ParameterBuffer {
      let combined = combined.parameters
      let norm = combined.values.reduce(0.0) { $0 + Double($1) * Double($1) }.squareRoot()
      return ParameterBuffer(count: current.count) { target in
        for i in 0..<target.count {
          target[i] = current[i] + Float(0.01 * Double(combined[i]) / norm)
        }
      }
    }
  }

  struct CountingNoise: UpdateTransform {
    static let name = "counting-noise"
    static let summary = "Adds what depends on how many updates came before"
    typealias Settings = NoSettings
    private let notes = Notes()
    init(_ settings: NoSettings) {}
    func apply(_ update: inout OutgoingUpdate) {
      let (shift, parameters) = (Float(notes.countCall()), update.parameters)
      update.parameters = ParameterBuffer(count: parameters.count) { target in
        for i in 0..<target.count { target[i] = parameters[i] + shift }
      }
    }
  }
}

extension Planted {
  struct NeverEnds: AggregationTrigger {
    static let name = "never-ends"
    static let summary = "Waits for more updates than there are devices"
    typealias Settings = NoSettings
    init(_ settings: NoSettings) {}
    func decide(
      _ moment: TriggerMoment, _ server: ServerView, _ memory: inout NoMemory
    ) -> TriggerDecision {
      server.pending >= 1000 ? .aggregate : .wait
    }
  }

  struct AlwaysSkips: AggregationTrigger {
    static let name = "always-skips"
    static let summary = "Gives each round up"
    typealias Settings = NoSettings
    init(_ settings: NoSettings) {}
    func decide(
      _ moment: TriggerMoment, _ server: ServerView, _ memory: inout NoMemory
    ) -> TriggerDecision { .skip }
  }

  struct StandsStill: AggregationTrigger {
    static let name = "stands-still"
    static let summary = "Rings at once, again and again"
    typealias Settings = NoSettings
    init(_ settings: NoSettings) {}
    var timer: TriggerTimer? { .every(.zero) }
    func decide(
      _ moment: TriggerMoment, _ server: ServerView, _ memory: inout NoMemory
    ) -> TriggerDecision { .aggregate }
  }

  struct RingsAllTheTime: AggregationTrigger {
    static let name = "rings-all-the-time"
    static let summary = "Rings every microsecond"
    typealias Settings = NoSettings
    init(_ settings: NoSettings) {}
    var timer: TriggerTimer? { .every(SimDuration(microseconds: 1)) }
    func decide(
      _ moment: TriggerMoment, _ server: ServerView, _ memory: inout NoMemory
    ) -> TriggerDecision { .wait }
  }

  /// Counts arrivals where no memory holds them.
  struct HiddenCount: AggregationTrigger {
    static let name = "hidden-count"
    static let summary = "Aggregates at every fourth arrival"
    typealias Settings = NoSettings
    private let notes = Notes()
    init(_ settings: NoSettings) {}
    func decide(
      _ moment: TriggerMoment, _ server: ServerView, _ memory: inout NoMemory
    ) -> TriggerDecision {
      notes.count += 1
      return notes.count % 4 == 0 ? .aggregate : .wait
    }
  }

  struct ChoosesTwice: CohortSelector {
    static let name = "chooses-twice"
    static let summary = "The first device that waits counts twice"
    typealias Settings = NoSettings
    init(_ settings: NoSettings) {}
    func chooseCohort(
      from waiting: [CheckIn], _ server: ServerView, _ stream: inout RandomStream,
      _ memory: inout NoMemory
    ) -> Cohort? { waiting.count < 3 ? nil : Cohort(members: [0, 0, 2], goal: 3) }
  }

  struct WantsTooMany: CohortSelector {
    static let name = "wants-too-many"
    static let summary = "More updates than members"
    typealias Settings = NoSettings
    init(_ settings: NoSettings) {}
    func chooseCohort(
      from waiting: [CheckIn], _ server: ServerView, _ stream: inout RandomStream,
      _ memory: inout NoMemory
    ) -> Cohort? { waiting.count < 3 ? nil : Cohort(members: [0, 1, 2], goal: 4) }
  }
}

// Selectors that are wrong about when they let nobody in.
extension Planted {
  /// Lets one device in each minute, and says that it is closed for a minute and a half.
  struct ClosedTooLong: AdmittingSelector {
    static let name = "closed-too-long"
    static let summary = "One device a minute"
    typealias Settings = NoSettings
    struct Memory: Codable { var last: SimTime? }
    init(_ settings: NoSettings) {}
    func makeMemory() -> Memory { Memory() }
    func admit(_ checkIn: CheckIn, _ server: ServerView, _ memory: inout Memory) -> Admission {
      if let last = memory.last, server.now < last + .minutes(1) { return .reject }
      memory.last = server.now
      return .accept
    }
    var saysWhenClosed: Bool { true }
    func closedUntil(_ now: SimTime, _ memory: Memory) -> SimTime? {
      memory.last.map { $0 + .seconds(90) }
    }
  }

  /// Lets each tenth request in, and says that others need not be played.
  struct CountsRequests: AdmittingSelector {
    static let name = "counts-requests"
    static let summary = "Each tenth request"
    typealias Settings = NoSettings
    struct Memory: Codable { var count = 0 }
    init(_ settings: NoSettings) {}
    func makeMemory() -> Memory { Memory() }
    func admit(_ checkIn: CheckIn, _ server: ServerView, _ memory: inout Memory) -> Admission {
      memory.count += 1
      return memory.count % 10 == 0 ? .accept : .reject
    }
    var saysWhenClosed: Bool { true }
    func closedUntil(_ now: SimTime, _ memory: Memory) -> SimTime? {
      memory.count % 10 == 9 ? nil : now + .seconds(1)
    }
  }
}

// Memories that are not what they should be.
extension Planted {
  /// Counts arrivals in a memory that is saved without them.
  struct LeakyMemory: AggregationTrigger {
    static let name = "leaky-memory"
    static let summary = "Aggregates at every fourth arrival"
    typealias Settings = NoSettings
    struct Memory: Codable {
      var round = 0
      var count = 0
      private enum CodingKeys: CodingKey { case round }
    }
    init(_ settings: NoSettings) {}
    func makeMemory() -> Memory { Memory() }
    func decide(
      _ moment: TriggerMoment, _ server: ServerView, _ memory: inout Memory
    ) -> TriggerDecision {
      memory.round = server.round
      memory.count += 1
      return memory.count % 4 == 0 ? .aggregate : .wait
    }
  }

  /// Counts arrivals in an object that copies of the memory share.
  struct SharedMemory: AggregationTrigger {
    static let name = "shared-memory"
    static let summary = "Aggregates at every fourth arrival"
    typealias Settings = NoSettings
    final class Tally: Codable, @unchecked Sendable { var count = 0 }
    struct Memory: Codable { var tally = Tally() }
    init(_ settings: NoSettings) {}
    func makeMemory() -> Memory { Memory() }
    func decide(
      _ moment: TriggerMoment, _ server: ServerView, _ memory: inout Memory
    ) -> TriggerDecision {
      memory.tally.count += 1
      return memory.tally.count % 4 == 0 ? .aggregate : .wait
    }
  }

  /// Is made of another trigger, which it does not say.
  struct LonelyWrapper: AggregationTrigger {
    static let name = "lonely-wrapper"
    static let summary = "A threshold of three"
    typealias Settings = NoSettings
    struct Memory: Codable { var inner: AnyMemory }
    private let inner = ThresholdTrigger(ThresholdTrigger.Settings())
    init(_ settings: NoSettings) {}
    func makeMemory() -> Memory { Memory(inner: inner.freshMemory()) }
    func decide(
      _ moment: TriggerMoment, _ server: ServerView, _ memory: inout Memory
    ) -> TriggerDecision { inner.decide(moment, server, with: &memory.inner) }
  }
}
