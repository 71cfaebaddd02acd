import Synchronization

/// Trainings whose values somebody will need, for threads of the pool that have nothing else to do.
public final class WantedTrainings: Sendable {
  private struct State {
    var trainings: [DeferredTraining] = []
    var next = 0
    var takers = 0
  }

  private let state = Mutex(State())

  /// An empty list.
  public init() {}

  /// Adds a training; a ticket where a further thread was asked to come and take some.
  ///
  /// One thread is left for the caller that waits, so in a pool of one nothing is computed by this.
  public func add(_ training: DeferredTraining, pool: WorkerPool) -> WorkerPool.Ticket? {
    guard pool.threads > 1 else { return nil }
    let isTakerMissing = state.withLock { state in
      state.trainings.append(training)
      guard state.takers < pool.threads - 1 else { return false }
      state.takers += 1
      return true
    }
    guard isTakerMissing else { return nil }
    return pool.submit { [self] scratch in
      while let (training, following) = next() {
        training.computeUnlessBusy(scratch, before: following)
      }
    }
  }

  /// Forgets what no thread has begun.
  public func forget() {
    state.withLock { state in
      state.trainings = []
      state.next = 0
    }
  }

  /// The next training, and the one that the same thread will most likely compute after it.
  private func next() -> (DeferredTraining, DeferredTraining?)? {
    state.withLock { state in
      guard state.next < state.trainings.count else {
        state.takers -= 1
        state.trainings = []
        state.next = 0
        return nil
      }
      let (place, later) = (state.next, state.next + state.takers)
      let following = later < state.trainings.count ? state.trainings[later] : nil
      state.next += 1
      return (state.trainings[place], following)
    }
  }
}
