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
  private var jobs: [Job] = []
  private var first = 0
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
    jobs.removeAll()
    first = 0
    condition.broadcast()
    let own = computing.contains(ObjectIdentifier(Thread.current)) ? 1 : 0
    while living > own { condition.wait() }
    condition.unlock()
  }

  func add(_ job: Job) {
    condition.withLock {
      precondition(job.state == .created, "a job is queued once")
      job.state = .queued
      jobs.append(job)
      condition.broadcast()
    }
  }

  func isDone(_ job: Job) -> Bool { condition.withLock { job.state == .done } }

  func remove(_ job: Job) -> Bool {
    condition.withLock {
      guard job.state == .queued else { return false }
      take(job)
      job.state = .cancelled
      job.work = nil
      return true
    }
  }

  /// Returns when the job is done. A thread that is itself inside a job helps with nothing but the
  /// job waited for: other work might wait for what lies beneath it on this very thread.
  func wait(for job: Job) {
    condition.lock()
    let isInsideJob = computing.contains(ObjectIdentifier(Thread.current))
    while job.state != .done {
      precondition(job.state != .cancelled, "nobody waits for cancelled work")
      if job.state == .queued {
        take(job)
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
    while !stopping {
      if let job = takeFirst() { run(job) } else { condition.wait() }
    }
    living -= 1
    condition.broadcast()
    condition.unlock()
  }

  /// Runs a job that nobody else can take. The lock is held before and after, not during.
  private func run(_ job: Job) {
    let scratch = scratches.popLast() ?? Scratch()
    var work = job.work
    job.state = .running
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

  private func takeFirst() -> Job? {
    guard first < jobs.count else { return nil }
    let job = jobs[first]
    take(job)
    return job
  }

  /// Takes a queued job out of the queue.
  private func take(_ job: Job) {
    guard let place = jobs[first...].firstIndex(where: { $0 === job }) else {
      preconditionFailure("a queued job is in the queue")
    }
    if place == first { first += 1 } else { jobs.remove(at: place) }
    if first > 64, first * 2 > jobs.count {
      jobs.removeSubrange(..<first)
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
