import FedSim
import Foundation
import Learning
import Numerics
import Processes
import Scenarios
import Schema
import Synchronization

/// Worker processes that compute the trainings of a run on this machine.
///
/// A worker keeps nothing from one training to the next but the data and the last buffers that it
/// was sent, so one that died is replaced, and its training is computed again.
public final class TrainingWorkers: TrainingExecutor {
  /// The word by which this program is started as a worker.
  public static let command = "training-worker"

  /// How many workers may die of one training, or before they are ready.
  static let mostDeaths = 3

  /// Whether this program serves as a worker where it is started with the word.
  private static let isOffered = Atomic(false)

  /// Says that this program, started with `command`, calls `TrainingWorker.serve`.
  public static func offer() { isOffered.store(true, ordering: .relaxed) }

  private let idle: Mutex<[WorkerChannel]>
  private let free: DispatchSemaphore
  /// Until the run is over.
  private let confined = ConfinedThreads()
  /// What is done where a training cannot be computed at all.
  let lastResort = LastResort()
  /// The processes, for tests that end some.
  package var processes: [pid_t] { idle.withLock { $0.map(\.process) } }

  /// Starts workers for a run.
  ///
  /// Throws: `RunFailure.failed` where one cannot be started, or does not read the same data.
  init(
    _ count: Int, _ scenario: Scenario, _ options: RunOptions, _ inputs: SimulationInputs
  ) throws(RunFailure) {
    guard Self.isOffered.load(ordering: .relaxed) else {
      throw .failed("this program does not serve as a worker process (TrainingWorkers.offer)")
    }
    // A worker that dies is noticed, and ends nothing else.
    signal(SIGPIPE, SIG_IGN)
    let setup = WorkerSetup(
      scenario: scenario.resolvedText, scenarioFile: scenario.file,
      kernels: inputs.kernels.body.rawValue, dataFolders: options.dataFolders,
      searchesInstalledData: options.searchesInstalledData)
    let data = inputs.task.digest.hexDigits
    // A worker sleeps between two trainings. Where each can have a processor, it keeps that: the
    // system would move them onto one another, and let a processor wait.
    let allowed = Processors.allowed
    let processors = allowed.count == count ? allowed : []
    var channels: [WorkerChannel] = []
    for number in 0..<count {
      channels.append(
        try WorkerChannel(
          setup, data: data, catalog: inputs.trainings(), areaSize: Self.areaSize(inputs.task),
          processor: processors.isEmpty ? nil : processors[number]))
    }
    for channel in channels { try channel.awaitReady() }
    idle = Mutex(channels)
    free = DispatchSemaphore(value: count)
  }

  /// What the buffers of a training take, in bytes: all that it begins with, or leaves.
  private static func areaSize(_ task: LearningTask) -> Int {
    let slots = task.plan.optimizer.slotCount
    let buffers = 1 + slots + task.algorithm.needs.workingBuffers(optimizerSlots: slots)
    return buffers * (task.network.layout.byteCount + 64)
  }

  /// Computes a training in a worker that has nothing to do, or waits for one.
  public func answer(_ request: TrainingRequest) -> TrainingAnswer {
    free.wait()
    let thread = pthread_self()
    let channel = idle.withLock { channels in
      channels.remove(at: channels.lastIndex { $0.user == thread } ?? channels.endIndex - 1)
    }
    if channel.user == nil, let processor = channel.processor {
      // The thread sleeps while its worker computes, and the other way round.
      confined.confineCaller(to: processor)
    }
    channel.user = thread
    defer {
      idle.withLock { $0.append(channel) }
      free.signal()
    }
    var deaths = 0
    while true {
      do throws(WorkerChannel.Lost) {
        return try channel.answer(request)
      } catch {
        deaths += 1
        let isOver = error.isFinal || deaths == Self.mostDeaths
        guard !isOver, channel.restart() else {
          lastResort.end("a training cannot be computed: \(error.reason)")
        }
      }
    }
  }
}
