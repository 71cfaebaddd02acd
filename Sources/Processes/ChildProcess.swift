import Foundation

/// A process that is started, read to its end, and waited for.
enum ChildProcess {
  /// Runs a program whose standard output alone is of interest, until a moment.
  static func run(
    _ program: String, _ arguments: [String], deadline: ContinuousClock.Instant, mostBytes: Int
  ) -> LimitedProcess.End {
    let child: StartedProcess.Piped
    do throws(StartFault) {
      child = try StartedProcess.piped(program, arguments, reads: false, files: [.null])
    } catch {
      return .died("it could not be started: \(error)", at: "")
    }
    defer { close(child.output) }
    let (bytes, stopped) = read(child.output, until: deadline, mostBytes)
    if stopped != nil { kill(child.process, SIGKILL) }
    var status: CInt = 0
    while waitpid(child.process, &status, 0) < 0, errno == EINTR {}
    let (place, answer) = parts(of: bytes)
    let signal = status & 0x7F
    if let stopped { return .died(stopped, at: place) }
    if signal == SIGXCPU || signal == SIGKILL { return .died("it took too long", at: place) }
    if signal != 0 { return .died("signal \(signal)", at: place) }
    guard let answer else { return .died("exit code \((status >> 8) & 0xFF)", at: place) }
    return .answered(answer)
  }

  /// All that comes, and why no more was waited for; nil: it is all.
  private static func read(
    _ descriptor: CInt, until deadline: ContinuousClock.Instant, _ mostBytes: Int
  ) -> (bytes: [UInt8], stopped: String?) {
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let left = (deadline - .now) / .milliseconds(1)
      guard left > 0 else { return (bytes, "it took too long") }
      var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      guard poll(&ready, 1, CInt(min(left, 60_000)) + 1) > 0 else { continue }
      let count = Foundation.read(descriptor, &piece, piece.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return (bytes, nil) }
      bytes.append(contentsOf: piece[..<count])
      guard bytes.count <= mostBytes else { return (bytes, "its answer is too long") }
    }
  }

  /// The last place that was named, and the answer, if there is one.
  private static func parts(of bytes: [UInt8]) -> (place: String, answer: [UInt8]?) {
    var place = ""
    var rest = bytes[...]
    while let end = rest.firstIndex(of: 10) {
      let line = rest[..<end]
      rest = rest[(end + 1)...]
      if line.elementsEqual("answer".utf8) { return (place, Array(rest)) }
      place = String(decoding: line.dropFirst(3), as: UTF8.self)
    }
    return (place, nil)
  }
}
