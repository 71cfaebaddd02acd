import Learning

/// Decides when described trainings are computed; what they give never depends on it.
struct Computations {
  private let pool: WorkerPool
  private let mode: ComputeMode
  /// How many described and uncomputed trainings are kept.
  private let limit: Int
  private var described: [Weak] = []
  private var first = 0
  /// How long the list may become before what nobody needs any more is taken out of it.
  private var nextSweep = 4096
  private var tickets: [WorkerPool.Ticket] = []

  private struct Weak {
    weak var training: DeferredTraining?
  }

  init(_ inputs: SimulationInputs) {
    pool = inputs.pool
    mode = inputs.compute
    limit = max(1, inputs.retainedBytes / max(1, inputs.task.network.layout.byteCount))
  }

  /// A training was described. Beyond the limit the oldest ones are computed, which lets go of what
  /// they start from.
  mutating func described(_ training: DeferredTraining) {
    if mode == .eager { return prefetch(training) }
    described.append(Weak(training: training))
    if described.count >= nextSweep {
      described.removeSubrange(..<first)
      first = 0
      described.removeAll { $0.training == nil }
      nextSweep = max(4096, 2 * described.count)
    }
    while described.count - first > limit {
      if let oldest = described[first].training, !oldest.isComputed { prefetch(oldest) }
      described[first].training = nil
      first += 1
    }
  }

  /// Hands a training to the pool, because somebody will want its value.
  mutating func prefetch(_ training: DeferredTraining) {
    if tickets.count >= 256 {
      for ticket in tickets[..<128] { pool.wait(ticket) }
      tickets.removeFirst(128)
    }
    tickets.append(pool.submit { scratch in _ = training.value(scratch) })
  }

  /// The values, in the order asked for; all threads take part.
  mutating func values(of trainings: [DeferredTraining]) -> [DeferredTraining.Value] {
    pool.map(trainings.count) { index, scratch in trainings[index].value(scratch) }
  }

  /// Waits for what was handed to the pool.
  mutating func settle() {
    for ticket in tickets { pool.wait(ticket) }
    tickets = []
  }
}

extension ParameterBuffer {
  /// Whether no parameter is infinite or not a number.
  var isFinite: Bool {
    withUnsafeBufferPointer { $0.allSatisfy { $0.isFinite } }
  }
}
