import Analysis
import Runs

extension PublishedExperiment {
  /// What is stored: a line for each row and seed.
  public var oursCSV: String {
    rows.reduce("row,metric,value\n") { text, row in
      row.ours.reduce(text) { $0 + "\"\(row.name)\",\(row.metric),\($1)\n" }
    }
  }

  /// The table in Markdown: published, ours, verdict.
  public var table: String {
    var text = "| row | metric | published | ours | seeds | verdict |\n|---|---|---|---|---|---|\n"
    for row in rows {
      let published = row.published.map { Row.text($0) } ?? ""
      let spread = row.deviation.map { " ± \(Row.text($0))" } ?? ""
      let ours = row.summary.map { "\(Row.text($0.mean)) ± \(Row.text($0.deviation))" } ?? ""
      text +=
        "| \(row.name) | \(row.metric) | \(published)\(spread) | \(ours) | "
        + "\(row.ours.count) | \(row.verdict) |\n"
    }
    return text
  }

  /// Bars, published and ours under one another.
  public var figure: String {
    var bars: [BarFigure.Bar] = []
    for row in rows {
      if let published = row.published {
        bars.append(.init("\(row.name): published", published, Row.text(published), look: 1))
      }
      if let ours = row.summary {
        bars.append(.init("\(row.name): ours", ours.mean, Row.text(ours.mean), look: 0))
      }
    }
    return BarFigure(name, rows.first?.metric ?? "", bars).svg
  }

  /// Stores ours in the experiment's folder, with the figure.
  public func store() throws(RunFailure) {
    try SweepFolder.place(Array(oursCSV.utf8), at: "\(path)/ours.csv")
    try SweepFolder.place(Array(figure.utf8), at: "\(path)/figure.svg")
  }

  /// Writes the table and the figure into a sweep's folder.
  public func write(to folder: SweepFolder) throws(RunFailure) {
    try SweepFolder.place(Array(table.utf8), at: "\(folder.path)/published.md")
    try SweepFolder.place(Array(figure.utf8), at: "\(folder.path)/published.svg")
  }
}
