/// A figure of a report, or why there is none.
struct Panel {
  /// What is drawn.
  enum Content {
    case curves(Figure)
    case bars(BarFigure)
    case stretches(GanttFigure)
  }

  /// Why nothing is drawn.
  enum Missing {
    /// The results do not hold what it is made of, and when they would.
    case absent(String)
    /// They do, and there is nothing to see.
    case empty(String)
  }

  let content: Content
  let missing: Missing?

  /// Whether there is nothing to see on what would be drawn.
  static func isEmpty(_ content: Content) -> Bool {
    switch content {
    case .curves(let figure): figure.isEmpty || figure.isOfOnePlace
    case .bars(let figure): figure.isEmpty
    case .stretches(let figure): figure.rows.isEmpty
    }
  }

  /// What is seen.
  var title: String {
    switch content {
    case .curves(let figure): figure.title
    case .bars(let figure): figure.title
    case .stretches(let figure): figure.title
    }
  }

  /// The figure as a separate file.
  var svg: String {
    switch content {
    case .curves(let figure): figure.svg
    case .bars(let figure): figure.svg
    case .stretches(let figure): figure.svg
    }
  }

  /// The figure as a part of the page; nothing where it would be empty.
  var part: String {
    guard missing == nil else { return "" }
    switch content {
    case .curves(let figure):
      let style = figure.series.count > 1 ? "read several" : "read"
      return "<figure>\(figure.part)<output class=\"\(style)\"></output></figure>"
    case .bars(let figure): return "<figure>\(figure.part)</figure>"
    case .stretches(let figure): return "<figure>\(figure.part)</figure>"
    }
  }
}

extension Report {
  /// A figure of one result, or of all where it shows all at once.
  func panel(_ plot: Plot, _ run: ReportRun) -> Panel {
    let content = content(plot, run)
    return Panel(
      content: content, missing: Panel.isEmpty(content) ? missing(plot, run) : nil)
  }

  /// The figures of one result, on the report's axis of time.
  func figures(_ run: ReportRun) -> RunFigures { RunFigures(run: run, timeAxis: timeAxis) }

  private func content(_ plot: Plot, _ run: ReportRun) -> Panel.Content {
    let figures = figures(run)
    return switch plot {
    case .accuracy: .curves(accuracy(.time))
    case .accuracyByVersion: .curves(accuracy(.versions))
    case .accuracyByBytes: .curves(accuracy(.bytes))
    case .accuracyByEnergy: .curves(accuracy(.joules))
    case .central: .curves(accuracy(.time, onlyCentral: true))
    case .loss: .curves(loss(.time))
    case .lossByVersion: .curves(loss(.versions))
    case .held: .curves(held)
    case .ownModels: .curves(ownModels)
    case .spread: .curves(figures.spread)
    case .trainingLoss: .curves(figures.trainingLoss)
    case .fleet: .curves(figures.byHourOfDay)
    case .participation: .curves(figures.participationsByHour)
    case .updates: .curves(figures.sessions)
    case .funnel: .bars(figures.funnel)
    case .interruptions: .curves(figures.interruptions)
    case .staleness: .curves(figures.staleness)
    case .evenness: .curves(figures.participations)
    case .labels: .curves(figures.labels)
    case .effort: .bars(figures.effort)
    case .bytes: .bars(figures.bytes)
    case .attempts: .bars(figures.ledger("attempts", "Training attempts"))
    case .updateEnds: .bars(figures.ledger("updates", "Updates"))
    case .transmissions: .bars(figures.ledger("transmissions", "Transmissions"))
    case .files: .bars(figures.files)
    case .uploads: .bars(figures.uploads)
    case .timeline: .stretches(figures.gantts.first ?? GanttFigure("", "", 0...1, []))
    }
  }

  /// Why a figure is empty.
  private func missing(_ plot: Plot, _ run: ReportRun) -> Panel.Missing {
    let runs = plot.isOfAll ? runs + references.map(\.run) : [run]
    let isThere = plot.sources.contains { source in runs.contains { $0.has(source) } }
    guard isThere else {
      let names = plot.sources.map { "`\($0)`" }.joined(separator: " nor ")
      return .absent(
        "\(runs.count == 1 ? "the result has" : "the results have") no \(names), "
          + "which \(plot.sources.count == 1 ? "is" : "are") available \(plot.condition)")
    }
    return .empty(plot.emptiness(run))
  }

  /// Figures of columns that no other figure draws, where there is anything to see.
  var columnPanels: [Panel] {
    columns.map { .curves(curve(of: $0)) }.filter { !Panel.isEmpty($0) }
      .map { Panel(content: $0, missing: nil) }
  }

  /// The figures of a part of the page, and which of them there are none of, and why; then others.
  func grid(_ plots: [Plot], _ run: ReportRun, _ others: [Panel] = []) -> String {
    let panels = plots.map { panel($0, run) } + others
    var left: [(reason: String, titles: [String])] = []
    for panel in panels {
      guard case .empty(let reason)? = panel.missing else { continue }
      if let place = left.firstIndex(where: { $0.reason == reason }) {
        left[place].titles.append(panel.title)
      } else {
        left.append((reason, [panel.title]))
      }
    }
    let shown = panels.map(\.part).filter { !$0.isEmpty }
    let grid = shown.isEmpty ? "" : "<div class=\"grid\">\(shown.joined(separator: "\n"))</div>"
    guard !left.isEmpty else {
      return grid.isEmpty
        ? "<p class=\"note\">The results contain nothing to show here.</p>" : grid
    }
    let words = left.map { "\($0.titles.joined(separator: ", ")): \($0.reason)" }
    return grid + "<p class=\"note left\">Not drawn. "
      + words.map { Markup.prose($0) + "." }.joined(separator: " ") + "</p>"
  }
}
