import Foundation

/// Messages to and from the process that started this one, where it is a program that plays along.
public final class ParentPipe: Sendable {
  private let requests: CInt
  private let answers: CInt

  /// The environment's variable with the two descriptors: where to write, and where to read.
  public static let variable = "FEDSIM_PROGRAM"

  private init(_ requests: CInt, _ answers: CInt) {
    (self.requests, self.answers) = (requests, answers)
  }

  /// The pipe that the environment names; nil: there is none.
  public static let shared: ParentPipe? = {
    let text = ProcessInfo.processInfo.environment[variable] ?? ""
    let numbers = text.split(separator: ",").compactMap { CInt($0) }
    guard numbers.count == 2, numbers.allSatisfy({ fcntl($0, F_GETFD) >= 0 }) else { return nil }
    signal(SIGPIPE, SIG_IGN)
    // No other program that this one starts has them.
    for number in numbers { _ = fcntl(number, F_SETFD, FD_CLOEXEC) }
    return ParentPipe(numbers[0], numbers[1])
  }()

  /// Sends a message and waits for the answer; nil: the other side is gone.
  public func ask(_ message: [UInt8]) -> [UInt8]? {
    guard MessagePipe.send(message, to: requests) else { return nil }
    return MessagePipe.receive(from: answers)
  }
}
