import Learning

/// Decides when described trainings are computed; what they give never depends on it.
struct Computations {
  private let pool: WorkerPool
  private let kernels: Kernels
  private let mode: ComputeMode
  /// How many described and uncomputed trainings are kept.
  private let limit: Int
  private var described: [Weak] = []
  private var first = 0
  /// How long the list may become before what nobody needs any more is taken out of it.
  private var nextSweep = 4096
  private var tickets: [WorkerPool.Ticket] = []
  private let wanted = WantedTrainings()

  private struct Weak {
    weak var training: DeferredTraining?
  }

  init(_ inputs: SimulationInputs) {
    pool = inputs.pool
    kernels = inputs.kernels
    mode = inputs.compute
    limit = max(1, inputs.retainedBytes / max(1, inputs.task.network.layout.byteCount))
  }

  /// A training was described. Beyond the limit the oldest ones are computed, which lets go of what
  /// they start from.
  mutating func described(_ training: DeferredTraining) {
    if mode == .eager { return submit(training) }
    described.append(Weak(training: training))
    if described.count >= nextSweep {
      described.removeSubrange(..<first)
      first = 0
      described.removeAll { $0.training == nil }
      nextSweep = max(4096, 2 * described.count)
    }
    while described.count - first > limit {
      if let oldest = described[first].training, !oldest.isComputed { submit(oldest) }
      described[first].training = nil
      first += 1
    }
  }

  /// A training's value will be needed: a thread that is idle may begin with it.
  mutating func prefetch(_ training: DeferredTraining) {
    guard let ticket = wanted.add(training, pool: pool) else { return }
    forgetDone()
    tickets.append(ticket)
  }

  /// Hands a training to the pool.
  private mutating func submit(_ training: DeferredTraining) {
    forgetDone()
    tickets.append(pool.submit { scratch in training.computeUnlessBusy(scratch) })
  }

  /// Waits for the older ones of many tickets.
  private mutating func forgetDone() {
    guard tickets.count >= 256 else { return }
    for ticket in tickets[..<128] { pool.wait(ticket) }
    tickets.removeFirst(128)
  }

  /// The values, in the order asked for; all threads take part.
  mutating func values(of trainings: [DeferredTraining]) -> [DeferredTraining.Value] {
    wanted.forget()
    // Nobody waits for a training that another thread is at while there are others to do.
    pool.forEach(trainings.count) { index, scratch in trainings[index].computeUnlessBusy(scratch) }
    let scratch = Scratch()
    return trainings.map { $0.value(scratch) }
  }

  /// The weighted sum of what the trainings give, computed on the way; nil if some of it is not
  /// finite.
  mutating func sum(_ terms: [StreamedSum.Term], count: Int) -> StreamedSum? {
    wanted.forget()
    return StreamedSum(terms, count: count, kernels: kernels, pool: pool)
  }

  /// Waits for what was handed to the pool.
  mutating func settle() {
    wanted.forget()
    for ticket in tickets { pool.wait(ticket) }
    tickets = []
  }
}
