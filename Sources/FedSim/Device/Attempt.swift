import Learning
import Numerics

/// Batches running now.
struct TrainingRun: Codable {
  let begunAt: SimTime
  /// Since when the run has the present speed.
  var since: SimTime
  /// Work done before, in hundredths of a microsecond at full speed.
  var work: Int64 = 0
  /// In percent of the full speed.
  var speed: Int64
  let firstBatch: Int
  var lastBatch: Int
  var generation: UInt32
  /// Whether they are those of an evaluation.
  var isEvaluation = false
  /// Until when their time is counted, and what the device's trainings had drawn then, in
  /// nanojoules.
  var bookedAt = SimTime.start
  var energyMark: Int64 = 0

  /// When so much work since the first batch began is done.
  func moment(of duration: SimDuration) -> SimTime {
    let (all, overflow) = duration.microseconds.multipliedReportingOverflow(by: 100)
    // Longer than any run.
    guard !overflow, all <= .max - 100 else { return .never }
    let rest = all - work
    return since + SimDuration(microseconds: (rest + speed - 1) / speed)
  }

  /// From now on the run has another speed.
  mutating func change(to speed: Int64, at now: SimTime) {
    work += self.speed * (now - since).microseconds
    since = now
    self.speed = speed
  }
}

/// A training from its first batch until it becomes an update or is given up; between windows it is
/// the device's checkpoint.
struct Attempt: Codable {
  var base: Int32
  /// The parameters of the base, where a move to another base or the server will ask for them.
  var baseParameters: ParameterBuffer?
  var start: DeferredTraining.Start
  /// Batches that `start` is after.
  var described = 0
  let firstEpoch: UInt64
  /// Labels that an adversary trains on instead of its data's own.
  var relabelling: [Int32]?
  var checkpointedAt: SimTime?
  /// The time and energy of its stretches so far.
  var effort = Effort()
}

/// How long batches take on one device.
struct Pace: Codable {
  let full: SimDuration
  let ragged: SimDuration
  let batchCount: Int
  @Packed private(set) var batchesPerEpoch: Int

  /// The time that the first `batches` take.
  func time(_ batches: Int) -> SimDuration {
    guard batchesPerEpoch > 0 else { return .zero }
    let epoch = full * Int64(batchesPerEpoch - 1) + ragged
    return epoch * Int64(batches / batchesPerEpoch) + full * Int64(batches % batchesPerEpoch)
  }

  /// When a run's batches up to `batches` are done.
  func end(of run: TrainingRun, batches: Int) -> SimTime {
    run.moment(of: time(batches) - time(run.firstBatch))
  }

  /// How many batches of a run are done, counted from the first of all: one that ends just now is
  /// not.
  func done(_ run: TrainingRun, at now: SimTime) -> Int {
    var low = run.firstBatch
    var high = batchCount
    while low < high {
      let middle = (low + high + 1) / 2
      if end(of: run, batches: middle) < now { low = middle } else { high = middle - 1 }
    }
    return low
  }
}

extension Pace {
  /// A pace by the seconds that a batch of this many samples takes.
  init(samples: Int, plan: TrainingPlan, seconds: (Int) -> Double) {
    func batch(_ samples: Int) -> SimDuration {
      max(SimDuration(microseconds: 1), SimDuration(roundingUp: seconds(samples)))
    }
    let batches = samples == 0 ? 0 : plan.batchesPerEpoch(shardCount: samples)
    let last = samples - max(0, batches - 1) * plan.batchSize
    self.init(
      full: batch(min(plan.batchSize, max(samples, 1))), ragged: batch(max(last, 1)),
      batchCount: plan.batchCount(shardCount: samples), batchesPerEpoch: batches)
  }
}

extension Pace {
  /// The pace of a device that is `factor` times slower than its group's settings.
  init(_ settings: ComputeSettings, samples: Int, plan: TrainingPlan, factor: Double) {
    let factor = factor / (settings.dutyCycle ?? 1)
    self.init(samples: samples, plan: plan) { count in
      (settings.perBatch.seconds + settings.perSample.seconds * Double(count)) * factor
    }
  }
}
