import CKernels
import Foundation
import Synchronization

/// The state that a pool's threads share: jobs in order of submission, and free scratches. One lock
/// guards it all.
final class WorkQueue: @unchecked Sendable {
  /// A piece of work, taken by one thread.
  final class Job: @unchecked Sendable {
    enum State { case created, queued, running, done, cancelled }

    fileprivate var state = State.created
    fileprivate var work: (@Sendable (Scratch) -> Void)?

    init(_ work: @escaping @Sendable (Scratch) -> Void) { self.work = work }
  }

  /// Indices handed out once each.
  final class Indices: Sendable {
    private let count: Int
    private let taken = Atomic<Int>(0)

    init(_ count: Int) { self.count = count }

    func next() -> Int? {
      let index = taken.wrappingAdd(1, ordering: .relaxed).oldValue
      return index < count ? index : nil
    }
  }

  private let condition = NSCondition()
  private let additions = Atomic<Int>(0)
  private static let looks = 200
  private var jobs: [Job] = []
  private var first = 0
  private var queued = 0
  private var scratches: [Scratch] = []
  private var computing: [ObjectIdentifier] = []
  private var living = 0
  private var stopping = false

  func start(workers: Int) {
    living = workers
    for number in 0..<workers {
      let thread = Thread { [self] in work() }
      thread.name = "worker \(number + 1)"
      thread.stackSize = 4 << 20
      thread.start()
    }
  }

  /// Ends the workers, and returns when they have ended, unless it is a worker that asks.
  func stop() {
    condition.lock()
    stopping = true
    let dropped = jobs
    jobs = []
    (first, queued) = (0, 0)
    condition.broadcast()
    let own = computing.contains(ObjectIdentifier(Thread.current)) ? 1 : 0
    while living > own { condition.wait() }
    condition.unlock()
    withExtendedLifetime(dropped) {}  // What the dropped work held goes without the lock.
  }

  func add(_ job: Job) {
    condition.withLock {
      precondition(job.state == .created, "a job is queued once")
      job.state = .queued
      queued += 1
      jobs.append(job)
      additions.wrappingAdd(1, ordering: .relaxed)
      condition.broadcast()
    }
  }

  func isDone(_ job: Job) -> Bool { condition.withLock { job.state == .done } }

  func remove(_ job: Job) -> Bool {
    condition.withLock {
      guard job.state == .queued else { return false }
      take(job, as: .cancelled)
      job.work = nil
      return true
    }
  }

  /// Returns when the job is done. A thread that is itself inside a job helps with nothing but the
  /// job waited for: other work might wait for a job further down the stack of this very thread.
  func wait(for job: Job) {
    condition.lock()
    let isInsideJob = computing.contains(ObjectIdentifier(Thread.current))
    while job.state != .done {
      precondition(job.state != .cancelled, "cancelled work has no waiter")
      if job.state == .queued {
        take(job, as: .running)
        run(job)
      } else if !isInsideJob, let other = takeFirst() {
        run(other)
      } else {
        condition.wait()
      }
    }
    condition.unlock()
  }

  /// Runs work on this thread at once, as a job.
  func runHere(_ work: @escaping @Sendable (Scratch) -> Void) {
    condition.lock()
    run(Job(work))
    condition.unlock()
  }

  private func work() {
    condition.lock()
    var hasLooked = false
    while !stopping {
      if let job = takeFirst() {
        run(job)
        hasLooked = false
      } else if !hasLooked {
        lookForWork()
        hasLooked = true
      } else {
        condition.wait()
        hasLooked = false
      }
    }
    living -= 1
    condition.broadcast()
    condition.unlock()
  }

  /// Looks for work for a moment, without the lock: going to sleep and waking up takes longer than
  /// the pauses of a loop that has work for its threads again and again.
  private func lookForWork() {
    let before = additions.load(ordering: .relaxed)
    condition.unlock()
    for _ in 0..<Self.looks where additions.load(ordering: .relaxed) == before {
      for _ in 0..<32 { fs_pause() }
    }
    condition.lock()
  }

  /// Runs a job that nobody else can take. The lock is held before and after, not during.
  private func run(_ job: Job) {
    let scratch = scratches.popLast() ?? Scratch()
    var work = job.work
    job.work = nil
    computing.append(ObjectIdentifier(Thread.current))
    condition.unlock()
    autoreleased { work?(scratch) }
    work = nil  // Nobody holds the closure any more when the job counts as done.
    condition.lock()
    if let place = computing.lastIndex(of: ObjectIdentifier(Thread.current)) {
      computing.remove(at: place)
    }
    scratches.append(scratch)
    job.state = .done
    condition.broadcast()
  }

  /// Takes the job that has been queued longest, if there is one.
  private func takeFirst() -> Job? {
    while first < jobs.count {
      let job = jobs[first]
      first += 1
      if job.state == .queued {
        take(job, as: .running)
        return job
      }
    }
    return nil
  }

  /// Takes a queued job. It stays in the list, as one no longer queued, until half of the list is
  /// such.
  private func take(_ job: Job, as state: Job.State) {
    job.state = state
    queued -= 1
    if jobs.count > 64 + 2 * queued {
      jobs.removeSubrange(..<first)
      jobs.removeAll { $0.state != .queued }
      first = 0
    }
  }
}

/// Runs work so that what Foundation lends meanwhile is given back at its end.
private func autoreleased(_ work: () -> Void) {
  #if canImport(ObjectiveC)
    autoreleasepool(invoking: work)
  #else
    work()
  #endif
}
