import Foundation
import Processes
import Runs

/// Plays worlds in worker processes, so that one that crashes is found and ends nothing else.
package final class ProcessPlayer: WorldPlayer {
  /// How workers are started.
  package struct Options: Sendable {
    /// How many there are at once.
    package var jobs = 1
    /// How long one world may take, in seconds; nil: as long as it takes.
    package var timeout: Double?
    /// The program that they run.
    package var program = ThisProgram.path
    /// Its arguments; the path of a file for what it prints follows.
    package var arguments: [String] = []
    /// A descriptor that can be read from once the search is to stop; nil: none.
    package var interruption: CInt?

    /// One worker.
    package init() {}
  }

  /// How many are played at once.
  package var width: Int { max(1, options.jobs) }
  /// Whether it was ordered to stop.
  package private(set) var isInterrupted = false

  private struct Worker {
    let process: WorkerProcess
    let log: String
    /// The order that it is at.
    var order: Int?
  }

  private let options: Options
  private let folder: String
  private var workers: [Worker] = []
  private var started = 0
  private var silentEnds = 0

  /// A player whose workers are started as they are needed.
  package init(_ options: Options) {
    self.options = options
    folder = NSTemporaryDirectory() + "fedsim-stress-\(UUID().uuidString)"
    try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    // A crash is reported in one line, and not looked into for seconds.
    setenv("SWIFT_BACKTRACE", "enable=no", 0)
    signal(SIGPIPE, SIG_IGN)
  }

  deinit {
    for worker in workers { worker.process.dismiss() }
    for worker in workers { worker.process.reapSoon() }
    try? FileManager.default.removeItem(atPath: folder)
  }

  /// Plays worlds; what a crash interrupts is played once more, and fails if it crashes again.
  package func play(
    _ orders: [WorldOrder], until deadline: ContinuousClock.Instant?
  ) throws(RunFailure) -> [WorldAnswer?] {
    var answers = [WorldAnswer?](repeating: nil, count: orders.count)
    var queue = Array(orders.indices)
    var crashes = [Int](repeating: 0, count: orders.count)
    while !isInterrupted, !queue.isEmpty || workers.contains(where: { $0.order != nil }) {
      if let deadline, deadline <= .now { break }
      while !queue.isEmpty, let place = try idleWorker() {
        let number = queue.removeFirst()
        var order = orders[number]
        order.number = number
        workers[place].order = number
        workers[place].process.deadline = options.timeout.map { .now + .seconds($0) }
        workers[place].process.send(line: MessageLine.bytes(order))
      }
      for place in try ready(until: deadline).reversed() {
        let worker = workers[place]
        if let found = try worker.process.receive(WorldAnswer.self) {
          for answer in found {
            guard answer.number == worker.order else { continue }
            answers[answer.number] = answer
            workers[place].order = nil
            workers[place].process.deadline = nil
            silentEnds = 0
          }
          continue
        }
        workers.remove(at: place)
        let isTooLong = worker.process.killedFor != nil
        let crash = Self.crash(worker.process.reap(), worker.log)
        guard let number = worker.order else { continue }
        if isTooLong {
          answers[number] = WorldAnswer(number: number, isTooLong: true)
        } else if worker.process.exitCode != nil, try isSilent(crash) {
          queue.insert(number, at: 0)
        } else {
          crashes[number] += 1
          if crashes[number] > 1 { answers[number] = WorldAnswer(number: number, crash: crash) }
          if crashes[number] == 1 { queue.insert(number, at: 0) }
        }
      }
    }
    abandon()
    return answers
  }

  /// Whether a worker that ended by itself may have had no chance to do anything.
  private func isSilent(_ reason: String) throws(RunFailure) -> Bool {
    silentEnds += 1
    if silentEnds > 3 { throw .failed("workers end before they start to work: \(reason)") }
    return true
  }

  /// A worker that has nothing to do; nil where all that there may be have.
  private func idleWorker() throws(RunFailure) -> Int? {
    // One that was killed may have answered just before.
    let idle = workers.firstIndex { $0.order == nil && $0.process.killedFor == nil }
    if let idle { return idle }
    guard workers.count < width else { return nil }
    started += 1
    let log = "\(folder)/\(started).log"
    let process = try WorkerProcess(
      program: options.program, arguments: options.arguments + [log])
    workers.append(Worker(process: process, log: log))
    return workers.count - 1
  }

  /// Waits for workers that have answered or ended; kills those that take too long.
  private func ready(until deadline: ContinuousClock.Instant?) throws(RunFailure) -> [Int] {
    var descriptors = workers.map {
      pollfd(fd: $0.process.answers, events: Int16(POLLIN), revents: 0)
    }
    if let interruption = options.interruption {
      descriptors.append(pollfd(fd: interruption, events: Int16(POLLIN), revents: 0))
    }
    let times = workers.compactMap(\.process.deadline) + (deadline.map { [$0] } ?? [])
    let left = times.min().map { max(0, ($0 - .now).seconds) } ?? 60
    let count = poll(&descriptors, nfds_t(descriptors.count), Int32(min(left, 60) * 1000) + 1)
    guard count >= 0 || errno == EINTR else {
      throw .failed("workers cannot be waited for: \(String(cString: strerror(errno)))")
    }
    if options.interruption != nil, count > 0, descriptors.last?.revents != 0 {
      isInterrupted = true
      return []
    }
    for worker in workers {
      guard let deadline = worker.process.deadline, deadline <= .now,
        worker.process.killedFor == nil
      else { continue }
      worker.process.kill(for: "the time limit was exceeded")
    }
    return count > 0 ? workers.indices.filter { descriptors[$0].revents != 0 } : []
  }

  /// Ends workers whose orders nobody waits for any more.
  private func abandon() {
    for worker in workers where worker.order != nil {
      worker.process.kill(for: "the result is no longer needed")
      _ = worker.process.reap()
    }
    workers.removeAll { $0.order != nil }
  }

  /// How a process ended, in words that are the same for the same defect.
  private static func crash(_ reason: String, _ log: String) -> String {
    let text = FileManager.default.contents(atPath: log).map { String(decoding: $0, as: UTF8.self) }
    let lines = (text ?? "").split(separator: "\n")
    guard let fatal = lines.last(where: { $0.contains("Fatal error") }) else { return reason }
    return "\(reason): \(fatal)"
  }
}
