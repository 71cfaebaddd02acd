import Foundation
import Processes
import Runs
import Scenarios

/// Plays the cells of a sweep in worker processes, rung by rung; continues where another stopped.
public final class SweepDriver {
  /// How cells are played. Nothing here can change a table.
  public struct Options: Sendable {
    /// How many workers there are at once.
    public var jobs = 1
    /// Which part of the cells is played; nil: all of them.
    public var shard: Shard?
    /// How long one attempt may take, in seconds; nil: as long as it takes.
    public var timeout: Double?
    /// How often a cell that failed is tried again.
    public var retries = 2
    /// Whether cells that were given up are played again; of a shard its own.
    public var forgetsFailures = false
    /// Whether results are only looked for, and nothing is played.
    public var onlyLooks = false
    /// The program that workers run, and its arguments.
    public var program = ThisProgram.path
    /// The arguments that make the program a worker of the folder.
    public var arguments: [String] = []
    /// A descriptor that can be read from once the driver is to stop; nil: none.
    public var interruption: CInt?

    /// One worker, all cells.
    public init() {}
  }

  /// How it ended.
  public enum End: Equatable, Sendable {
    /// Every cell that is needed is finished or given up.
    case complete
    /// This many cells are left to other shards.
    case waiting(cells: Int)
    /// It was ordered to stop.
    case interrupted
  }

  /// The outcome of a cell.
  public struct News: Sendable {
    /// The cell.
    public let cell: SweepManifest.Cell
    /// Whether it was played now, was there, or failed.
    public let kind: Kind
    /// Why it failed, or why a cell that had a result was played again.
    public let reason: String?
    /// How long it took, in seconds by the wall clock.
    public let seconds: Double
    /// The accuracy of its last version.
    public let accuracy: Double?
    /// Its RMSE, where targets are numbers.
    public let rmse: Double?
    /// Cells that are over, and all that may have to be.
    public let done: Int
    /// All cells that will be needed, as far as can be said.
    public let total: Int
    /// Cells that were given up.
    public let failed: Int
    /// Cells that are being played.
    public let running: Int

    /// Whether a cell was played, had a result already, is tried again, or was given up.
    public enum Kind: Sendable { case played, there, triedAgain, failed }
  }

  /// What is played.
  public let manifest: SweepManifest
  private let folder: SweepFolder
  private let options: Options
  /// What is known of finished cells.
  private(set) var rows: [String: CellRow] = [:]
  /// Why cells were given up.
  private(set) var failures: [String: CellFailure] = [:]
  /// The variants that each rung played, for the tables.
  private(set) var played: [[Int]] = []
  /// The cells of the last rung that are left to others.
  private(set) var missing: [SweepManifest.Cell] = []

  private var workers: [WorkerProcess] = []
  private var queue: [(order: WorkerOrder, cell: SweepManifest.Cell, attempt: Int)] = []
  private var handed: [pid_t: (order: WorkerOrder, cell: SweepManifest.Cell, attempt: Int)] = [:]
  /// Why cells are to be given up, while a worker looks whether the last attempt left a result.
  private var lastWords: [String: (reason: String, seconds: Double)] = [:]
  private var isInterrupted = false
  private var silentEnds = 0
  private var news: (News) -> Void = { _ in }

  /// A driver of a sweep whose manifest is written.
  public init(_ folder: SweepFolder, _ options: Options) throws(RunFailure) {
    self.folder = folder
    self.options = options
    manifest = try folder.manifest()
  }

  /// Plays what is left, and tells of each cell.
  ///
  /// Throws: `RunFailure.input` where another driver is at work, `.failed` where workers cannot be.
  public func run(_ news: @escaping (News) -> Void = { _ in }) throws(RunFailure) -> End {
    self.news = news
    let lock = options.onlyLooks ? nil : try SweepLock(folder, options.shard)
    defer { _ = lock }
    let forgets = options.forgetsFailures && !options.onlyLooks
    if forgets, options.shard == nil { folder.forgetFailures(of: manifest) }
    try folder.makeFolders(manifest.store)
    defer { endWorkers() }
    var alive = Array(manifest.variants.indices)
    played = []
    for rung in 0..<manifest.rungs {
      missing = try play(alive, rung)
      if isInterrupted { return .interrupted }
      if !missing.isEmpty { return .waiting(cells: missing.count) }
      played.append(alive)
      guard let halving = manifest.halving, rung < manifest.rungs - 1 else { break }
      alive = Halving.survivors(
        of: alive, keep: KeptShare(halving.keep[0], halving.keep[1]),
        prefersLower: halving.prefersLower
      ) { variant in
        Halving.mean(
          (0..<manifest.replicas).map { replica in
            rows[manifest.cell(rung: rung, variant: variant, replica: replica).id]?
              .score(halving.metric)
          })
      }
    }
    return .complete
  }

  /// Plays some cells of any rung, and those only.
  ///
  /// Nobody is kept out: two processes that play the same cell place the same result.
  public func run(
    part cells: [SweepManifest.Cell], _ news: @escaping (News) -> Void = { _ in }
  ) throws(RunFailure) -> End {
    self.news = news
    expected = cells.count
    let lock = SweepLock(sharing: folder)
    defer { _ = lock }
    try folder.makeFolders(manifest.store)
    defer { endWorkers() }
    queue = cells.filter { folder.failure($0.id) == nil }.map { (.play($0.id), $0, 1) }
    try workOff()
    return isInterrupted ? .interrupted : .complete
  }

  /// Cells that were given up.
  public var failedCount: Int { failures.count }

  /// Plays the cells of a rung; those that are left to others.
  private func play(
    _ variants: [Int], _ rung: Int
  ) throws(RunFailure) -> [SweepManifest.Cell] {
    var cells: [SweepManifest.Cell] = []
    var seen = Set<String>()
    for variant in variants {
      for replica in 0..<manifest.replicas {
        let cell = manifest.cell(rung: rung, variant: variant, replica: replica)
        if rows[cell.id] == nil, seen.insert(cell.id).inserted { cells.append(cell) }
      }
    }
    var others: [SweepManifest.Cell] = []
    for (index, cell) in cells.enumerated() {
      let isMine = !options.onlyLooks && (options.shard?.has(index) ?? true)
      // Which cells are a shard's own is decided when it reaches them.
      if isMine, options.forgetsFailures, failures[cell.id] == nil {
        folder.forgetFailure(cell.id)
      }
      if isMine, folder.failure(cell.id) == nil {
        queue.append((.play(cell.id), cell, 1))
      } else {
        others.append(cell)
      }
    }
    try workOff()
    guard !isInterrupted else { return [] }
    queue = others.map { (.look($0.id), $0, 1) }
    try workOff()
    var missing: [SweepManifest.Cell] = []
    for cell in others where rows[cell.id] == nil {
      if let failure = folder.failure(cell.id) {
        failures[cell.id] = failure
      } else {
        missing.append(cell)
      }
    }
    return missing
  }

  // MARK: Workers

  /// Hands out the queue until all of it is answered, or it is ordered to stop.
  private func workOff() throws(RunFailure) {
    while !isInterrupted, !(queue.isEmpty && handed.isEmpty) {
      while !queue.isEmpty {
        if let idle = workers.first(where: {
          handed[$0.process] == nil && $0.killedFor == nil
        }) {
          hand(queue.removeFirst(), to: idle)
        } else if workers.count < max(1, options.jobs) {
          workers.append(
            try WorkerProcess(program: options.program, arguments: options.arguments))
        } else {
          break
        }
      }
      try wait()
    }
  }

  private func hand(
    _ task: (order: WorkerOrder, cell: SweepManifest.Cell, attempt: Int), to worker: WorkerProcess
  ) {
    handed[worker.process] = task
    worker.began = .now
    worker.deadline = nil
    if case .play = task.order, let timeout = options.timeout {
      worker.deadline = .now + .seconds(timeout)
    }
    worker.send(task.order)
  }

  /// Waits for an answer, an end, a deadline or an interruption, and takes it in.
  private func wait() throws(RunFailure) {
    var descriptors = workers.map { pollfd(fd: $0.answers, events: Int16(POLLIN), revents: 0) }
    if let interruption = options.interruption {
      descriptors.append(pollfd(fd: interruption, events: Int16(POLLIN), revents: 0))
    }
    let deadline = workers.compactMap(\.deadline).min()
    let left = deadline.map { max(0, ($0 - .now).seconds) } ?? 60
    let count = poll(&descriptors, nfds_t(descriptors.count), Int32(min(left, 60) * 1000) + 1)
    guard count >= 0 || errno == EINTR else {
      throw .failed("workers cannot be waited for: \(String(cString: strerror(errno)))")
    }
    if options.interruption != nil, descriptors.last?.revents != 0, count > 0 {
      isInterrupted = true
      return
    }
    for (worker, descriptor) in zip(workers, descriptors) where descriptor.revents != 0 {
      if let answers = try worker.receive(WorkerAnswer.self) {
        for answer in answers { try take(answer, from: worker) }
      } else {
        try bury(worker)
      }
    }
    for worker in workers {
      guard let deadline = worker.deadline, deadline <= .now, worker.killedFor == nil else {
        continue
      }
      worker.kill(for: "the time limit of \(Self.brief(options.timeout ?? 0)) s was exceeded")
    }
  }

  private func take(_ answer: WorkerAnswer, from worker: WorkerProcess) throws(RunFailure) {
    silentEnds = 0
    worker.hasAnswered = true
    guard let task = handed[worker.process], task.cell.id == answer.id else { return }
    handed[worker.process] = nil
    worker.deadline = nil
    let seconds = (ContinuousClock.now - worker.began).seconds
    switch answer.kind {
    case .played, .there:
      rows[answer.id] = answer.row
      folder.forgetFailure(answer.id)
      // An attempt that was cut off after its result was nevertheless a run.
      let last = lastWords.removeValue(forKey: answer.id)
      let isPlayed = answer.kind == .played || last != nil
      tell(task.cell, isPlayed ? .played : .there, answer.reason, last?.seconds ?? seconds)
    case .missing:
      if let last = lastWords.removeValue(forKey: answer.id) {
        try giveUp(task, last.reason, last.seconds)
      }
    case .failed:
      try fail(task, answer.reason ?? "", isFinal: false, seconds)
    case .refused:
      try fail(task, answer.reason ?? "", isFinal: true, seconds)
    }
  }

  /// A worker that is no more: what it was doing is done again, as often as is allowed.
  private func bury(_ worker: WorkerProcess) throws(RunFailure) {
    workers.removeAll { $0.process == worker.process }
    let reason = worker.reap()
    guard let task = handed.removeValue(forKey: worker.process) else { return }
    let store = CellStore(manifest.store)
    store.removePartials(of: task.cell.id, process: worker.process)
    if !worker.hasAnswered, worker.exitCode != nil {
      silentEnds += 1
      // A worker that ends before its first answer has found no sweep, or no program.
      if silentEnds > 3 { throw .failed("workers end before they start to work: \(reason)") }
    }
    if case .look = task.order {
      if let last = lastWords.removeValue(forKey: task.cell.id) {
        try giveUp(task, last.reason, last.seconds)
      } else if task.attempt <= options.retries {
        queue.append((task.order, task.cell, task.attempt + 1))
      } else {
        let path = store.path(task.cell.id)
        throw .failed(
          "\(path): \(reason) while it was read; remove the file, and the cell is played again")
      }
      return
    }
    append(reason, toLogOf: task.cell.id)
    try fail(task, reason, isFinal: false, (ContinuousClock.now - worker.began).seconds)
  }

  private func fail(
    _ task: (order: WorkerOrder, cell: SweepManifest.Cell, attempt: Int), _ reason: String,
    isFinal: Bool, _ seconds: Double
  ) throws(RunFailure) {
    if !isFinal, task.attempt <= options.retries {
      queue.append((task.order, task.cell, task.attempt + 1))
      tell(task.cell, .triedAgain, reason, seconds)
      return
    }
    guard isFinal else {
      // Its result may have been placed in the moment in which the worker was killed: a cell is
      // never both finished and given up.
      lastWords[task.cell.id] = (reason, seconds)
      queue.append((.look(task.cell.id), task.cell, task.attempt))
      return
    }
    try giveUp(task, reason, seconds)
  }

  private func giveUp(
    _ task: (order: WorkerOrder, cell: SweepManifest.Cell, attempt: Int), _ reason: String,
    _ seconds: Double
  ) throws(RunFailure) {
    let failure = CellFailure(attempts: task.attempt, reason: reason)
    failures[task.cell.id] = failure
    do throws(RunFailure) {
      try folder.keep(failure, of: task.cell.id)
    } catch {
      // Cells were played: this is no bad input.
      throw .failed("\(error.description); the cell failed: \(reason); the same command continues")
    }
    tell(task.cell, .failed, reason, seconds)
  }

  private func append(_ reason: String, toLogOf id: String) {
    guard let file = fopen(folder.logPath(id), "a") else { return }
    fputs(reason + "\n", file)
    fclose(file)
  }

  private func tell(
    _ cell: SweepManifest.Cell, _ kind: News.Kind, _ reason: String?, _ seconds: Double
  ) {
    news(
      News(
        cell: cell, kind: kind, reason: reason, seconds: seconds,
        accuracy: rows[cell.id]?.metric("finalAccuracy"),
        rmse: rows[cell.id]?.metric("finalRMSE"), done: rows.count + failures.count,
        total: expected, failed: failures.count, running: handed.count))
  }

  /// How many cells will be needed.
  private lazy var expected: Int = {
    manifest.halving == nil
      ? Set(manifest.cells.map(\.id)).count : manifest.neededCells.reduce(0, +)
  }()

  /// Ends all workers: at once where they are idle, else at a moment that leaves no half file.
  private func endWorkers() {
    for worker in workers { worker.dismiss() }
    for worker in workers { worker.reapSoon() }
    workers.removeAll()
    handed.removeAll()
    queue.removeAll()
  }

  private static func brief(_ seconds: Double) -> String {
    seconds == seconds.rounded() ? String(Int(seconds)) : String(seconds)
  }
}

extension Duration {
  /// The duration in seconds.
  var seconds: Double {
    Double(components.seconds) + Double(components.attoseconds) * 1e-18
  }
}
