import Foundation
import Runs
import Scenarios
import Synchronization

/// The process that plays cells for a driver: orders come on standard input, answers go to standard
/// output, and what is written to standard error goes to the cell's log.
///
/// When standard input ends, the process ends at once, at a moment at which no file is half
/// written: the driver is done, or dead.
public final class CellWorker: Sendable {
  private struct State {
    var orders: [WorkerOrder] = []
    var gate: RunGate?
    /// Whether a cell is played, and whether no more orders come.
    var (isPlaying, isOver) = (false, false)
  }

  private let state = Mutex(State())
  private let arrived = DispatchSemaphore(value: 0)
  private let answers: CInt

  private let ranks: MPIRanks?

  private init(answers: CInt, ranks: MPIRanks?) { (self.answers, self.ranks) = (answers, ranks) }

  /// Serves until there are no more orders; the exit code.
  ///
  /// Throws: `RunFailure.input` for a folder that holds no sweep.
  public static func serve(
    _ folder: SweepFolder, threads: Int, ranks: MPIRanks? = nil, registry: Registry
  ) throws(RunFailure) -> Int32 {
    // The terminal's Ctrl-C and its end go to every process; the driver decides what they mean.
    signal(SIGINT, SIG_IGN)
    signal(SIGHUP, SIG_IGN)
    signal(SIGPIPE, SIG_IGN)
    // Answers have the pipe to themselves: what anything prints goes where errors go.
    let worker = CellWorker(answers: fcntl(1, F_DUPFD_CLOEXEC, 3), ranks: ranks)
    dup2(2, 1)
    let player = try CellPlayer(folder, threads: threads, ranks: ranks, registry: registry)
    if let ranks, ranks.rank > 0 {
      player.follow(ranks)
      ranks.end()
      return 0
    }
    let reader = Thread {
      MessageLine.readInput(worker.take)
      worker.end()
    }
    reader.start()
    worker.loop(player)
  }

  private func take(_ line: [UInt8]) {
    guard let order = WorkerOrder(String(decoding: line, as: UTF8.self)) else { return }
    state.withLock { $0.orders.append(order) }
    arrived.signal()
  }

  /// There are no more orders: the process ends at once; other ranks learn of it where they wait
  /// for a cell.
  private func end() {
    let (gate, isPlaying) = state.withLock { state in
      state.isOver = true
      return (state.gate, state.isPlaying)
    }
    if ranks != nil, !isPlaying {
      arrived.signal()
      return
    }
    _ = gate?.close()
    _exit(0)
  }

  private func loop(_ player: CellPlayer) -> Never {
    while true {
      arrived.wait()
      let gate = RunGate()
      let next = state.withLock { state -> WorkerOrder? in
        state.gate = gate
        state.isPlaying = !state.isOver
        return state.isOver ? nil : state.orders.removeFirst()
      }
      guard let order = next else {
        player.dismissRanks()
        ranks?.end()
        _exit(0)
      }
      defer { state.withLock { $0.isPlaying = false } }
      switch order {
      case .look(let id):
        let row = player.row(id)
        send(WorkerAnswer(id, row == nil ? .missing : .there, row: row))
      case .play(let id):
        let log = player.folder.logPath(id)
        let descriptor = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o666)
        if descriptor >= 0 {
          dup2(descriptor, 2)
          dup2(descriptor, 1)
          close(descriptor)
        }
        let answer = player.play(id, gate: gate)
        if let reason = answer.reason, answer.kind != .played {
          // The log may be on a full disk; the driver learns the reason nevertheless.
          try? FileHandle.standardError.write(contentsOf: Data((reason + "\n").utf8))
        }
        var status = stat()
        if stat(log, &status) == 0, status.st_size == 0 { unlink(log) }
        send(answer)
      }
    }
  }

  /// Where nobody listens any more the reader of orders ends the process.
  private func send(_ answer: WorkerAnswer) {
    MessageLine.send(MessageLine.bytes(answer), to: answers)
  }
}
