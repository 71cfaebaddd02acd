import Foundation
import Runs

/// What a person sees on standard error during a run: on a terminal one line that is drawn
/// again and again, elsewhere the first twenty versions, then the latest one every few seconds, and
/// the last.
final class Progress {
  private let isTerminal: Bool
  private let began = ContinuousClock.now
  private var accuracy: Double?
  private var error: Double?
  private var isDrawn = false
  /// Between two lines for a file or a program.
  private static let interval = Duration.seconds(5)
  private var written: ContinuousClock.Instant?
  /// How many versions have their line at once.
  private static let mostAtOnce = 20
  /// The latest version, where it has no line yet, and how many versions before it have none.
  private var waiting: (line: String, before: Int)?

  init(isTerminal: Bool) { self.isTerminal = isTerminal }

  /// The observer that keeps this up to date.
  var ticker: RunTicker {
    guard isTerminal else { return RunTicker { [self] in line($0) } }
    return RunTicker { [self] in
      draw($0)
    } news: { [self] in
      if $0.model == nil {
        accuracy = $0.accuracy ?? accuracy
        error = $0.rmse ?? error
      }
    }
  }

  /// Takes the line away; elsewhere the last version gets its line.
  func clear() {
    if isDrawn { write("\r\u{1B}[K") }
    isDrawn = false
    writeWaiting()
  }

  private func writeWaiting() {
    guard let (line, before) = waiting else { return }
    waiting = nil
    written = .now
    if before > 0 { write("  (\(Format.count(before, "version")) between)\n") }
    write(line + "\n")
  }

  private func line(_ news: VersionNews) {
    let model = news.model.map { "\($0) " } ?? ""
    var text = "\(Format.time(news.time.seconds))  \(model)version \(news.version)"
    if let accuracy = news.accuracy { text += "  accuracy \(Format.fixed(accuracy, 4))" }
    if let error = news.rmse { text += "  RMSE \(Format.significant(error, 4))" }
    if news.version > 0 {
      text += "  \(news.model == nil ? "updates" : "files") \(news.updates)"
      if !news.loss.isNaN { text += "  loss \(Format.fixed(news.loss, 4))" }
    }
    waiting = (text, waiting.map { $0.before + 1 } ?? 0)
    let isSoon = written.map { ContinuousClock.now - $0 < Self.interval } ?? false
    if news.version <= Self.mostAtOnce || !isSoon { writeWaiting() }
  }

  private func draw(_ status: RunStatus) {
    let elapsed = ContinuousClock.now - began
    let seconds =
      Double(elapsed.components.seconds) + Double(elapsed.components.attoseconds) * 1e-18
    let done = Int((status.share * 12).rounded(.down))
    let bar = String(repeating: "█", count: done) + String(repeating: "░", count: 12 - done)
    var fields = ["\(bar) \(Format.days(status.time.seconds))", "version \(status.version)"]
    if let accuracy { fields.append("accuracy \(Format.fixed(accuracy, 3))") }
    if let error { fields.append("RMSE \(Format.significant(error, 4))") }
    if status.share > 0.01 {
      fields.append("\(Format.clock(seconds / status.share * (1 - status.share))) left")
    }
    if let online = status.online { fields.append("online \(online)") }
    if let training = status.training { fields.append("training \(training)") }
    var text = fields.joined(separator: "  ")
    // What does not fit goes whole, the last first.
    while text.count >= width, fields.count > 1 {
      fields.removeLast()
      text = fields.joined(separator: "  ")
    }
    write("\r" + String(text.prefix(width - 1)) + "\u{1B}[K")
    isDrawn = true
  }

  /// Columns of the terminal.
  private var width: Int {
    var size = winsize()
    return ioctl(2, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : 80
  }

  private func write(_ text: String) { Output.progress(text) }
}

/// Numbers for people.
enum Format {
  /// A number with this many decimals.
  static func fixed(_ number: Double, _ decimals: Int) -> String {
    String(format: "%.\(decimals)f", number)
  }

  /// A number with this many digits in all.
  static func significant(_ number: Double, _ digits: Int) -> String {
    String(format: "%.\(digits)g", number)
  }

  /// This many of a thing, such as `1 round`.
  static func count(_ number: Int, _ noun: String) -> String {
    "\(count(number)) \(noun)\(number == 1 ? "" : "s")"
  }

  /// A number in groups of three digits.
  static func count(_ number: Int) -> String {
    var text = ""
    let digits = String(abs(number))
    for (index, digit) in digits.enumerated() {
      if index > 0, (digits.count - index) % 3 == 0 { text += "," }
      text.append(digit)
    }
    return (number < 0 ? "-" : "") + text
  }

  /// Seconds as days, hours and minutes.
  static func days(_ seconds: Double) -> String {
    let minutes = Int(seconds / 60)
    return "\(minutes / 1440) d "
      + String(format: "%02d:%02d", minutes / 60 % 24, minutes % 60)
  }

  /// Seconds as days, hours, minutes and whole seconds.
  static func time(_ seconds: Double) -> String {
    days(seconds) + String(format: ":%02d", Int(seconds) % 60)
  }

  /// Seconds as minutes and seconds.
  static func clock(_ seconds: Double) -> String {
    let whole = Int(min(seconds, 3.5e6).rounded(.up))
    return whole < 3600
      ? String(format: "%d:%02d", whole / 60, whole % 60)
      : String(format: "%d:%02d:%02d", whole / 3600, whole / 60 % 60, whole % 60)
  }
}
