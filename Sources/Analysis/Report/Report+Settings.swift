import Schema

extension Report {
  /// The settings in which the results differ, a column for each line of the figures; or that they
  /// are equal. Always the seeds.
  var settings: String {
    let columns =
      groups.map { (name: $0.name, runs: $0.runs) }
      + references.map { (name: $0.name, runs: [$0.run]) }
    let rows = SettingDifferences.among(columns.map { $0.runs[0].policy })
    let seeds = [columns.map { Self.seeds($0.runs) }]
    guard columns.count > 1 else {
      return "<p>All results have the same settings, with the seeds "
        + "\(Markup.escaped(seeds[0][0])).</p>"
    }
    let note =
      rows.isEmpty
      ? "<p>All results have the same settings.</p>" : ""
    return note
      + ReportPage.table(
        ["setting"] + columns.map(\.name),
        rows.map { [$0.path.isEmpty ? "(all)" : $0.path] + $0.values.map(Self.cell) }
          + seeds.map { ["seed"] + $0 }, style: "words")
  }

  /// The seeds of a policy's results, ascending; each `seeds` that a result has besides.
  private static func seeds(_ runs: [ReportRun]) -> String {
    let most = 30
    let words = runs.prefix(most).map { run in
      run.otherSeeds.map { "\(run.seed) with \($0)" } ?? "\(run.seed)"
    }
    return words.joined(separator: ", ")
      + (runs.count > most ? " and \(runs.count - most) others" : "")
  }

  /// A value, cut where it is long.
  private static func cell(_ value: String?) -> String {
    guard let value else { return "(absent)" }
    let most = 160
    return value.count <= most ? value : value.prefix(most) + "… (\(value.count) characters)"
  }
}
