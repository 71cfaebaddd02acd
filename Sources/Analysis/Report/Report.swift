import Results

/// One page on one or several results, in one file: no script, font or picture from elsewhere.
///
/// The page is a function of the results: the same bytes every time.
public struct Report: Sendable {
  /// The results.
  public let runs: [ReportRun]
  /// Results that are drawn next to the others as separate lines, by name.
  let references: [(name: String, run: ReportRun)]
  let groups: [ReportGroup]
  /// The lines of figures that show all results, and the rows of their table.
  let lines: [ReportLine]
  /// The columns of `versions` with their own figures.
  let columns: [String]

  /// The most groups whose devices and work are shown one by one.
  static let mostDetailed = 3

  /// A report on some results, next to others that are references.
  ///
  /// No two of the former are of one run (`isOfOneRun`). `columns` are those of `versions` that are
  /// drawn in their own figures, where results have them.
  public init(
    _ runs: [ReportRun], references: [(name: String, run: ReportRun)] = [],
    columns: [String] = []
  ) {
    self.columns = columns
    self.runs = runs
    self.references = references
    let groups = ReportGroup.groups(runs)
    self.groups = groups
    let isAlone = groups.count == 1 && references.isEmpty
    var lines =
      groups.flatMap { ReportLine.lines($0.name, $0.runs, isAlone: isAlone) }
      + references.flatMap { name, run in
        ReportLine.lines(name, [run], isAlone: false).map { line in
          var line = line
          line.isReference = true
          return line
        }
      }
    let own = lines.count { !$0.isReference }
    for place in lines.indices {
      lines[place].look = place < own ? place : Palette.count - 1 - (place - own) % Palette.count
    }
    self.lines = lines
  }

  /// The page.
  public var html: String {
    var body = header
    body += ReportPage.section(
      "learning", "Learning", learningNote, grid(learning, runs[0], columnPanels))
    if runs.count > 1 || !references.isEmpty {
      body += ReportPage.section("results", "Results", nil, resultTable())
      body += ReportPage.section("settings", "Settings that differ", settingsNote, settings)
    }
    for group in groups.prefix(Self.mostDetailed) {
      let suffix = groups.count > 1 ? ": \(group.name)" : ""
      let id = groups.count > 1 ? "-\(group.look)" : ""
      body += details(group.runs[0], group.runs.count, suffix: suffix, id: id)
    }
    if groups.count > Self.mostDetailed {
      let rest = groups.dropFirst(Self.mostDetailed).map(\.name).joined(separator: ", ")
      body += ReportPage.section(
        "others", "Others", "Devices and work are not shown here for: \(rest).", "")
    }
    body += ReportPage.section("reproduce", "How to reproduce it", nil, reproduction())
    return ReportPage.html(title: title, body: body)
  }

  /// The title of the page.
  var title: String {
    groups.map(\.name).prefix(3).joined(separator: ", ")
      + (groups.count > 3 ? " and \(groups.count - 3) more" : "")
  }

  private func details(_ run: ReportRun, _ seeds: Int, suffix: String, id: String) -> String {
    let which = seeds > 1 ? "Of seed \(run.seed), the first of \(seeds)." : nil
    var text = ReportPage.section(
      "fleet\(id)", "Fleet and participation\(suffix)", which,
      grid(
        [
          .fleet, .participation, .interruptions, .updates, .funnel, .staleness, .evenness, .labels,
        ], run))
    let figures = figures(run)
    let shown = figures.gantts
    if shown.isEmpty {
      text += ReportPage.section(
        "devices\(id)", "Devices over time\(suffix)",
        "No device's states are stored. `record: {timelineOf: [GROUP/NUMBER]}` in the scenario, or "
          + "`--set 'record.timelineOf=[GROUP/NUMBER]'`, stores those of the devices that it "
          + "names.",
        "")
    } else {
      text += ReportPage.section(
        "devices\(id)", "Devices over time\(suffix)",
        figures.timelineNote(shown[0].range),
        "<div class=\"grid\">"
          + shown.map { "<figure>\($0.part)</figure>" }.joined(separator: "\n") + "</div>")
    }
    text += ReportPage.section(
      "work\(id)", "Where the work went\(suffix)", workNote(run),
      grid([.effort, .bytes, .attempts, .updateEnds, .transmissions, .files, .uploads], run))
    if let assumptions = Assumption.table(run) {
      text += ReportPage.section(
        "assumptions\(id)", "Assumptions\(suffix)", assumptionNote, assumptions)
    }
    return text
      + ReportPage.section(
        "scenario\(id)", "The scenario\(suffix)", nil,
        "<details><summary>All resolved values</summary><pre>"
          + Markup.escaped(run.document.scenarioText ?? "") + "</pre></details>")
  }

  private var learningNote: String {
    var text = "The accuracy at a time is that of the last version published at or before it."
    if groups.contains(where: { $0.runs.count > 1 }) {
      text += " Several seeds: their median, and a band from the 5 % to the 95 % quantile, until "
      text += "the end of the shortest run."
    }
    if lines.contains(where: { $0.model != nil }) {
      text += " The server trains on the files that devices send: one line per model."
    }
    return text
  }

  /// The figures on accuracy and loss.
  private var learning: [Plot] {
    let all: [Plot] = [
      .accuracy, .accuracyByVersion, .accuracyByBytes, .accuracyByEnergy, .loss, .lossByVersion,
      .held, .ownModels,
    ]
    return groups.count == 1 && references.isEmpty ? all + [.spread, .trainingLoss] : all
  }

  /// What grey bars are, where there are any.
  private func workNote(_ run: ReportRun) -> String? {
    let figures = figures(run)
    let ledgers = ["attempts", "updates", "transmissions"].map { figures.ledger($0, "") }
    let bars = ([figures.effort, figures.files] + ledgers).flatMap(\.bars)
    return bars.contains { $0.look == ReportRun.Fate.underWay.look }
      ? "Grey: in progress at the end of the run, or waiting to be used; neither used nor wasted."
      : nil
  }

  private var settingsNote: String? {
    groups.count + references.count > 1
      ? "Absent: the setting is not in force. What is recorded, and names, are not compared." : nil
  }

  private var assumptionNote: String {
    "Values of the scenario that are assumptions about the world, not measurements."
  }
}
