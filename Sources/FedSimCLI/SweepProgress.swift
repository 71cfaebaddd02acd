import Foundation
import Sweeps

/// What a person sees while cells are played: on a terminal one line that is drawn again and again,
/// elsewhere a line per cell.
final class SweepProgress {
  private let isTerminal = isatty(2) == 1
  private let manifest: SweepManifest
  private let began = ContinuousClock.now
  private let jobs: Int
  /// Cells played by this command, and how long each took.
  private var played = 0
  private var seconds = 0.0
  private var isDrawn = false

  init(_ driver: SweepDriver, jobs: Int?) {
    manifest = driver.manifest
    self.jobs = jobs ?? ProcessInfo.processInfo.activeProcessorCount
  }

  func show(_ news: SweepDriver.News) {
    if news.kind == .played {
      played += 1
      seconds += news.seconds
    }
    if isTerminal {
      draw(news)
    } else if news.kind != .there {
      Output.progress(line(news) + "\n")
    }
  }

  /// Takes the line away.
  func clear() {
    if isDrawn { Output.progress("\r\u{1B}[K") }
    isDrawn = false
  }

  private func line(_ news: SweepDriver.News) -> String {
    let values = zip(manifest.axes, manifest.values(of: news.cell.variant)).map { axis, value in
      "\(axis.name)=\(value.text)"
    }
    var fields = ["\(news.done)/\(news.total)", String(news.cell.id.prefix(8))] + values
    if manifest.replicas > 1 { fields.append("replica \(news.cell.replica)") }
    if manifest.halving != nil { fields.append("rung \(news.cell.rung)") }
    let time = Format.fixed(news.seconds, 2)
    switch news.kind {
    case .played, .there:
      fields.append("played in \(time) s")
      if let accuracy = news.accuracy { fields.append("accuracy \(Format.fixed(accuracy, 4))") }
      if let error = news.rmse { fields.append("RMSE \(Format.significant(error, 4))") }
      if let reason = news.reason { fields.append(reason) }
    case .triedAgain: fields.append("failed after \(time) s, and is retried: \(brief(news))")
    case .failed: fields.append("failed after \(time) s: \(brief(news))")
    }
    return fields.joined(separator: "  ")
  }

  private func brief(_ news: SweepDriver.News) -> String {
    let lines = (news.reason ?? "").split(separator: "\n")
    return lines.first.map(String.init) ?? ""
  }

  private func draw(_ news: SweepDriver.News) {
    let share = Double(news.done) / Double(max(1, news.total))
    let done = Int((share * 12).rounded(.down))
    let bar = String(repeating: "█", count: done) + String(repeating: "░", count: 12 - done)
    var fields = ["\(bar) \(news.done) of \(news.total) cells", "\(news.running) running"]
    if news.failed > 0 { fields.append("\(news.failed) failed") }
    if played > 0 {
      let left = Double(news.total - news.done) * seconds / Double(played) / Double(jobs)
      fields.append("\(Format.clock(left)) left")
    }
    if let accuracy = news.accuracy { fields.append("accuracy \(Format.fixed(accuracy, 3))") }
    if let error = news.rmse { fields.append("RMSE \(Format.significant(error, 4))") }
    var text = fields.joined(separator: "  ")
    while text.count >= width, fields.count > 1 {
      fields.removeLast()
      text = fields.joined(separator: "  ")
    }
    Output.progress("\r" + String(text.prefix(width - 1)) + "\u{1B}[K")
    isDrawn = true
  }

  private var width: Int {
    var size = winsize()
    return ioctl(2, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : 80
  }
}

/// Makes Ctrl-C and the usual ends of batch systems something that a driver can wait for.
enum StopSignals {
  nonisolated(unsafe) private static var sources: [any DispatchSourceSignal] = []

  /// A descriptor that can be read from once the process was asked to stop.
  static func watch() -> CInt? {
    var ends: [CInt] = [0, 0]
    guard pipe(&ends) == 0 else { return nil }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    let writing = ends[1]
    // `nohup` has the end of the terminal ignored, which is 1.
    let before = signal(SIGHUP, SIG_IGN).map { unsafeBitCast($0, to: Int.self) }
    let numbers = [SIGINT, SIGTERM] + (before == 1 ? [] : [SIGHUP])
    sources = numbers.map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler {
        var byte: UInt8 = 1
        _ = write(writing, &byte, 1)
      }
      source.resume()
      return source
    }
    return ends[0]
  }
}
