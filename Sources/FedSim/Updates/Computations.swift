import Learning

/// Decides when described trainings are computed; what they give never depends on it.
struct Computations {
  private let pool: WorkerPool
  private let kernels: Kernels
  private let mode: ComputeMode
  private let isOff: Bool
  /// How many described trainings that live may hold on to what they start from.
  private let limit: Int
  /// Described trainings that no update has, oldest first; those of which nothing is left are swept
  /// out.
  private var described: [Weak] = []
  /// How many live at most: those that lived at the last sweep, and all described since.
  private var living = 0
  /// How many may be described before it is found out how many live.
  private var nextSweep: Int
  private var tickets: [WorkerPool.Ticket] = []
  private let wanted = WantedTrainings()
  private var predictions: PredictedTrainings
  /// How trainings are divided among ranks; nil: this process computes all.
  private var division: Division?

  private struct Weak {
    weak var training: DeferredTraining?
  }

  init(_ inputs: SimulationInputs) {
    pool = inputs.pool
    kernels = inputs.kernels
    mode = inputs.compute
    isOff = inputs.omitsArithmetic
    limit = max(1, inputs.retainedBytes / max(1, inputs.task.network.layout.byteCount))
    nextSweep = min(limit, 4096)
    predictions = PredictedTrainings(
      isOn: pool.threads > 1 && mode == .lazy && !inputs.omitsArithmetic && pool.ranks == nil,
      byteCount: inputs.task.network.layout.byteCount)
    division = pool.ranks.map { Division($0) }
  }

  /// A training was described; whether it is found through its update as long as it lives. If so it
  /// need not be known here, which costs more than all else that is done for it.
  ///
  /// Returns whether it is time for a `sweep`. Complexity: O(1).
  mutating func described(_ training: DeferredTraining, isOfUpdate: Bool) -> Bool {
    if isOff { return false }
    division?.deal(training)
    if mode == .eager {
      submit(training)
      return false
    }
    if !isOfUpdate { described.append(Weak(training: training)) }
    living += 1
    return living > nextSweep
  }

  /// Whether a training's value is there; of several ranks, whether all have it, for what one of
  /// them has computed beforehand depends on its threads.
  func isKnown(_ training: DeferredTraining) -> Bool {
    division == nil ? training.isComputed : training.trainer == .all
  }

  /// Finds out which trainings live, those of updates given in the order of their making. Beyond
  /// the limit the oldest are computed, which lets go of what they start from.
  ///
  /// Complexity: O(those that live, and those described since the last time), which is O(1) for
  /// each that was described: a sweep makes room for a quarter of the limit at least.
  mutating func sweep(_ ofUpdates: [DeferredTraining]) {
    described.removeAll { $0.training?.isComputed ?? true }
    var all = described.compactMap(\.training)
    // After a run was taken up again, an update's training may be in both.
    let known = Set(all.map(ObjectIdentifier.init))
    for training in ofUpdates where !training.isComputed {
      if !known.contains(ObjectIdentifier(training)) { all.append(training) }
    }
    let most = limit - limit / 4
    if all.count > most {
      // What another rank computes is described here until then.
      let oldest = all[..<(all.count - most)].filter { division?.isOwn($0) ?? true }
      pool.forEach(oldest.count) { index, scratch in _ = oldest[index].value(scratch) }
    }
    living = min(all.count, most)
    nextSweep = min(limit, max(4096, 2 * living))
  }

  /// Takes in the trainings of a run that was saved. Nothing is begun: what they give does not
  /// depend on when.
  mutating func take(described trainings: [DeferredTraining]) {
    for training in trainings { division?.deal(training) }
    described = trainings.map { Weak(training: $0) }
    living = described.count
    nextSweep = min(limit, max(4096, 2 * described.count))
  }

  /// A training's value will be needed: a thread that is idle may begin with it.
  mutating func prefetch(_ training: DeferredTraining) {
    division?.deal(training)
    guard !isOff, division?.isOwn(training) ?? true,
      let ticket = wanted.add(training, pool: pool)
    else { return }
    forgetDone()
    tickets.append(ticket)
  }

  /// How many trainings are worth predicting.
  var predictionRoom: Int { predictions.room }

  /// Whether that training was predicted already.
  func isPredicted(by device: Int, from base: ParameterBuffer, epoch: UInt64) -> Bool {
    predictions.has(device, from: base, epoch: epoch)
  }

  /// A training will most likely be described: a thread that is idle may begin with it.
  mutating func predict(
    _ training: DeferredTraining, by device: Int, from base: ParameterBuffer, epoch: UInt64,
    isBeforehand: Bool
  ) {
    predictions.add(training, by: device, from: base, epoch: epoch, isBeforehand: isBeforehand)
    prefetch(training)
  }

  /// How many trainings came as predicted.
  var predictionCounts: PredictionCounts { predictions.taken }

  /// The training that was predicted, if it is this one.
  mutating func predicted(
    by device: Int, from base: ParameterBuffer, epoch: UInt64
  ) -> DeferredTraining? {
    predictions.take(by: device, from: base, epoch: epoch)
  }

  /// Hands a training to the pool.
  private mutating func submit(_ training: DeferredTraining) {
    guard division?.isOwn(training) ?? true else { return }
    forgetDone()
    tickets.append(pool.submit { scratch in training.computeUnlessBusy(scratch) })
  }

  /// Waits for the older ones of many tickets.
  private mutating func forgetDone() {
    guard tickets.count >= 256 else { return }
    for ticket in tickets[..<128] { pool.wait(ticket) }
    tickets.removeFirst(128)
  }

  /// Lets go of what was predicted and did not come.
  mutating func forgetPredicted() { predictions.forget() }

  /// The values, in the order asked for; all threads take part, and all ranks.
  mutating func values(of trainings: [DeferredTraining]) -> [DeferredTraining.Value] {
    wanted.forget()
    division?.gather(trainings, pool: pool)
    // Nobody waits for a training that another thread is at while there are others to do.
    pool.forEach(trainings.count) { index, scratch in trainings[index].computeUnlessBusy(scratch) }
    let scratch = Scratch()
    return trainings.map { $0.value(scratch) }
  }

  /// The weighted sum of what the trainings give, computed on the way; nil if some of it is not
  /// finite.
  mutating func sum(
    _ terms: [StreamedSum.Term], first: Aggregation.Term?, count: Int
  ) -> StreamedSum? {
    wanted.forget()
    predictions.forget()
    if let trainers = division?.trainers(of: terms.map(\.training)), let ranks = pool.ranks {
      return StreamedSum(
        terms, by: trainers, first: first, count: count, kernels: kernels, pool: pool, ranks: ranks)
    }
    return StreamedSum(terms, first: first, count: count, kernels: kernels, pool: pool)
  }

  /// Waits for what was handed to the pool.
  mutating func settle() {
    wanted.forget()
    predictions.forget()
    for ticket in tickets { pool.wait(ticket) }
    tickets = []
  }
}
