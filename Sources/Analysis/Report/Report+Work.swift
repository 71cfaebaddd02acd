import Results

extension Report {
  /// The words of a name in camel case: `rejectedLate` is "rejected late".
  static func words(_ name: String) -> String {
    var text = ""
    for character in name {
      if character.isUppercase {
        text += " " + character.lowercased()
      } else {
        text.append(character)
      }
    }
    return text
  }

  /// Device-time of trainings by its outcome.
  func effort(_ run: ReportRun) -> BarFigure {
    let all = run.effort.reduce(0) { $0 + $1.seconds }
    let rows = run.effort.sorted {
      let (a, b) = ($0.outcome == "aggregated", $1.outcome == "aggregated")
      return a != b ? a : $0.seconds > $1.seconds
    }
    return BarFigure(
      "Outcome of training", "time of devices, by outcome",
      rows.map { row in
        let time =
          row.seconds < 3600
          ? Self.duration(row.seconds) : Self.amount(row.seconds / 3600) + " h"
        return .init(
          Self.words(row.outcome), row.seconds, "\(time) · \(Self.percent(row.seconds / all))",
          look: ReportRun.Fate(row.outcome).look)
      })
  }

  /// Bytes by link, and by whether their transmission was delivered.
  func bytes(_ run: ReportRun) -> BarFigure {
    var bars: [BarFigure.Bar] = []
    if let effort = run.document.table("effort"), let links = effort.words("link"),
      let outcomes = effort.words("transmissionOutcome")
    {
      for (name, words) in [("bytesUp", "sent"), ("bytesDown", "received")] {
        guard let rows = effort.rows(name) else { continue }
        for (link, row) in zip(links, rows) {
          var (delivered, lost) = (0.0, 0.0)
          for (outcome, count) in zip(outcomes, row) {
            if outcome == "delivered" { delivered += count } else { lost += count }
          }
          let words = "\(words) over \(Self.link(link))"
          if delivered > 0 { bars.append(.init(words, delivered, Self.bytes(delivered), look: 0)) }
          if lost > 0 { bars.append(.init(words + ", lost", lost, Self.bytes(lost), look: 1)) }
        }
      }
    }
    return BarFigure("Bytes sent and received", "bytes, lost where the transmission failed", bars)
  }

  private static func link(_ name: String) -> String { name == "wifi" ? "Wi-Fi" : name }

  /// How files for the server's store ended.
  func files(_ run: ReportRun) -> BarFigure {
    ended(run.central?.words("fileOutcome"), run.central?.numbers("filesEnded"), "Files")
  }

  /// What came of uploads of files and metadata, and of fetching models.
  func uploads(_ run: ReportRun) -> BarFigure {
    let stored = run.document.table("collection")?.numbers("stored")?.reduce(0, +) ?? 0
    let rows: [(String, Double, Int)] = [
      ("files stored", stored, 2),
      ("failed uploads", run.central?.number("failedUploads") ?? 0, 1),
      ("repeated files", run.central?.number("repeatedFiles") ?? 0, 1),
      ("metadata stored", run.central?.number("items") ?? 0, 2),
      ("failed metadata", run.central?.number("failedItems") ?? 0, 1),
      ("models fetched", run.central?.number("fetches") ?? 0, 2),
      ("failed fetches", run.central?.number("failedFetches") ?? 0, 1),
    ]
    return BarFigure(
      "Uploads and fetches", "how often",
      rows.filter { $0.1 > 0 }.map { .init($0.0, $0.1, Markup.grouped($0.1), look: $0.2) })
  }

  /// How the entries of a ledger ended.
  func ledger(_ run: ReportRun, _ name: String, _ title: String) -> BarFigure {
    let table = run.document.table("ledger")
    return ended(table?.words(String(name.dropLast()) + "Outcome"), table?.numbers(name), title)
  }

  private func ended(_ words: [String]?, _ counts: [Double]?, _ title: String) -> BarFigure {
    guard let words, let counts else { return BarFigure(title, "", []) }
    let rows = zip(words, counts).filter { $1 > 0 }.sorted { $0.1 > $1.1 }
    return BarFigure(
      title, "\(Markup.grouped(counts.reduce(0, +))) in all, by outcome",
      rows.map {
        .init(Self.words($0), $1, Markup.grouped($1), look: ReportRun.Fate($0).look)
      })
  }

  /// An amount with about three digits.
  static func amount(_ value: Double) -> String {
    value >= 1000 ? Markup.grouped(value) : Markup.significant(value, 3)
  }

  /// An amount of bytes in words.
  static func bytes(_ value: Double) -> String {
    for (prefix, factor) in [("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)] where value >= factor
    {
      return Markup.significant(value / factor, 3) + " \(prefix)B"
    }
    return Markup.fixed(value, decimals: 0) + " B"
  }

  /// A duration in words: days and hours, hours and minutes, or seconds.
  package static func duration(_ seconds: Double) -> String {
    guard seconds.isFinite else { return "–" }
    let whole = Int(seconds.rounded())
    let (days, hours) = (whole / 86_400, whole / 3600 % 24)
    let (minutes, rest) = (whole / 60 % 60, whole % 60)
    if days > 0 { return hours > 0 ? "\(days) d \(hours) h" : "\(days) d" }
    if hours > 0 { return minutes > 0 ? "\(hours) h \(minutes) min" : "\(hours) h" }
    if minutes > 0 { return rest > 0 ? "\(minutes) min \(rest) s" : "\(minutes) min" }
    return Markup.significant(seconds, 3) + " s"
  }
}
