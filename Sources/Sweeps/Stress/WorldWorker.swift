import DataSets
import Foundation
import Runs
import Scenarios

/// The process that plays worlds for a `ProcessPlayer`: orders come on standard input, a line of
/// JSON each, and answers go to standard output. When standard input ends, it ends at once.
public enum WorldWorker {
  /// Serves until there are no more orders; what is printed goes to a file.
  public static func serve(
    log: String, options: RunOptions, registry: Registry
  ) throws(RunFailure) -> Int32 {
    // The terminal's Ctrl-C and its end go to every process; the driver decides what they mean.
    signal(SIGINT, SIG_IGN)
    signal(SIGHUP, SIG_IGN)
    signal(SIGPIPE, SIG_IGN)
    let answers = fcntl(1, F_DUPFD_CLOEXEC, 3)
    let descriptor = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o666)
    guard answers >= 0, descriptor >= 0 else {
      throw .failed("\(log): \(String(cString: strerror(errno)))")
    }
    dup2(descriptor, 2)
    dup2(descriptor, 1)
    close(descriptor)
    var options = options
    options.dataCache = DataCache()
    let orders = OrderQueue()
    let reader = Thread { orders.read() }
    reader.start()
    while true {
      guard let order = MessageLine.value(WorldOrder.self, orders.next()) else { continue }
      ftruncate(2, 0)
      MessageLine.send(MessageLine.bytes(order.play(registry, options)), to: answers)
    }
  }
}

/// Lines of standard input, read by one thread and taken by another.
private final class OrderQueue: @unchecked Sendable {
  private let lock = NSLock()
  private let arrived = DispatchSemaphore(value: 0)
  private var lines: [[UInt8]] = []

  /// Reads until the input ends, and then ends the process: the driver is done, or dead.
  func read() {
    MessageLine.readInput { line in
      lock.withLock { lines.append(line) }
      arrived.signal()
    }
    _exit(0)
  }

  /// Waits for the next line.
  func next() -> [UInt8] {
    arrived.wait()
    return lock.withLock { lines.removeFirst() }
  }
}
