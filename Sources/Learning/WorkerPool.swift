import Foundation

/// What computes: a fixed number of threads of this process, and the other ranks of the run where
/// there are any. It is a value to be passed in and never global.
///
/// The thread that waits computes too, so a pool of n starts n − 1 threads, and a pool of 1 does
/// all work where somebody waits for it. Results never depend on the number. Work still queued when
/// the pool goes away is dropped.
public final class WorkerPool: Sendable {
  /// The threads that compute, the waiting one included.
  public let threads: Int
  /// The processes that play the run together; nil: this one plays it alone.
  public let ranks: (any Ranks)?
  private let queue = WorkQueue()

  /// A piece of submitted work.
  public final class Ticket: Sendable {
    let job: WorkQueue.Job
    init(_ job: WorkQueue.Job) { self.job = job }
  }

  /// Starts a pool that computes on `threads` threads, the waiting one included. Each rank has a
  /// pool.
  public init(threads: Int, ranks: (any Ranks)? = nil) {
    precondition(threads >= 1, "a pool has a thread at least")
    self.threads = threads
    self.ranks = ranks
    queue.start(workers: threads - 1)
  }

  deinit { queue.stop() }

  /// Queues a piece of work; it runs once, some time before `wait` returns, first come, first
  /// served.
  ///
  /// Work may submit work and wait for it, as long as no two wait for one another.
  public func submit(_ work: @escaping @Sendable (Scratch) -> Void) -> Ticket {
    let job = WorkQueue.Job(work)
    queue.add(job)
    return Ticket(job)
  }

  /// Returns once the work has run; meanwhile this thread computes, that very work first if nobody
  /// has begun it.
  public func wait(_ ticket: Ticket) { queue.wait(for: ticket.job) }

  /// Whether the work has run.
  public func isDone(_ ticket: Ticket) -> Bool { queue.isDone(ticket.job) }

  /// Takes work out of the queue if nobody has begun it; returns whether that was so. It then never
  /// runs.
  @discardableResult
  public func cancel(_ ticket: Ticket) -> Bool { queue.remove(ticket.job) }

  /// Calls `body` once with each index below `count`, on all threads at once, and returns when all
  /// calls have.
  public func forEach(_ count: Int, _ body: @Sendable (Int, Scratch) -> Void) {
    guard count > 0 else { return }
    withoutActuallyEscaping(body) { body in
      let indices = WorkQueue.Indices(count)
      let work: @Sendable (Scratch) -> Void = { scratch in
        while let index = indices.next() { body(index, scratch) }
      }
      let others = (0..<min(threads, count) - 1).map { _ in submit(work) }
      queue.runHere(work)
      // An index may still be running elsewhere. What was not begun has nothing left to do.
      for ticket in others where !cancel(ticket) { wait(ticket) }
    }
  }

  /// What `body` makes of each index below `count`, in order of the indices.
  public func map<Value: Sendable>(
    _ count: Int, _ body: @Sendable (Int, Scratch) -> Value
  ) -> [Value] {
    var values = [Value?](repeating: nil, count: count)
    values.withUnsafeMutableBufferPointer { buffer in
      nonisolated(unsafe) let buffer = buffer  // Each index is written by one thread.
      forEach(count) { index, scratch in buffer[index] = body(index, scratch) }
    }
    return values.compactMap { $0 }
  }

  /// The same with the indices divided among the ranks, each of which learns all values. Every rank
  /// calls it, for the same count.
  public func spread<Value: BitwiseCopyable & Sendable>(
    _ count: Int, _ body: @Sendable (Int, Scratch) -> Value
  ) -> [Value] {
    guard let ranks, count > 0 else { return map(count, body) }
    let shares = (0..<ranks.count).map { ranks.share(of: $0, count) }
    let first = shares[ranks.rank].lowerBound
    let own = map(shares[ranks.rank].count) { index, scratch in body(first + index, scratch) }
    return [Value](unsafeUninitializedCapacity: count) { all, initialized in
      for (index, value) in own.enumerated() { all.initializeElement(at: first + index, to: value) }
      ranks.gather(UnsafeMutableBufferPointer(rebasing: all[..<count]), ranges: shares)
      initialized = count
    }
  }
}
