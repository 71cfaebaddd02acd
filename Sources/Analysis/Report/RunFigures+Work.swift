import Results

extension RunFigures {
  /// Device-time of trainings by its outcome.
  var effort: BarFigure {
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
          ? Markup.duration(row.seconds) : Markup.amount(row.seconds / 3600) + " h"
        return .init(
          Markup.words(row.outcome), row.seconds, "\(time) · \(Markup.percent(row.seconds / all))",
          look: ReportRun.Fate(row.outcome).look)
      })
  }

  /// Bytes by link, and by whether their transmission was delivered.
  var bytes: BarFigure {
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
          if delivered > 0 {
            bars.append(.init(words, delivered, Markup.bytes(delivered), look: 0))
          }
          if lost > 0 { bars.append(.init(words + ", lost", lost, Markup.bytes(lost), look: 1)) }
        }
      }
    }
    return BarFigure("Bytes sent and received", "bytes, lost where the transmission failed", bars)
  }

  private static func link(_ name: String) -> String { name == "wifi" ? "Wi-Fi" : name }

  /// How files for the server's store ended.
  var files: BarFigure {
    ended(run.central?.words("fileOutcome"), run.central?.numbers("filesEnded"), "Files")
  }

  /// What came of uploads of files and metadata, and of fetching models.
  var uploads: BarFigure {
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
  func ledger(_ name: String, _ title: String) -> BarFigure {
    let table = run.document.table("ledger")
    return ended(table?.words(String(name.dropLast()) + "Outcome"), table?.numbers(name), title)
  }

  private func ended(_ words: [String]?, _ counts: [Double]?, _ title: String) -> BarFigure {
    guard let words, let counts else { return BarFigure(title, "", []) }
    let rows = zip(words, counts).filter { $1 > 0 }.sorted { $0.1 > $1.1 }
    return BarFigure(
      title, "\(Markup.grouped(counts.reduce(0, +))) in all, by outcome",
      rows.map {
        .init(Markup.words($0), $1, Markup.grouped($1), look: ReportRun.Fate($0).look)
      })
  }
}
