import Results
import Schema

extension RunFigures {
  /// The stages of the funnel: their columns in `hours`, and their words.
  private static let stages = [
    ("eligible", "eligible"), ("checkedIn", "checked in"), ("accepted", "accepted"),
    ("started", "training started"), ("trained", "trained"), ("delivered", "delivered"),
    ("admitted", "admitted"), ("aggregated", "aggregated"),
  ]

  /// How far participations came; between two stages, what was lost, by its reason.
  var funnel: BarFigure {
    let table = run.document.table("hours")
    let sums = Self.stages.map { table?.numbers($0.0)?.reduce(0, +) ?? 0 }
    let most = sums.max() ?? 0
    var bars: [BarFigure.Bar] = []
    for (place, stage) in Self.stages.enumerated() {
      if place > 0 { bars += losses(before: stage.0, of: sums[place - 1] - sums[place]) }
      let share = most > 0 ? Markup.fixed(sums[place] / most * 100, decimals: 1) : "0"
      bars.append(.init(stage.1, sums[place], "\(Markup.grouped(sums[place])) · \(share)%"))
    }
    return BarFigure(
      "Funnel of participation", "participations; −: those that were lost before the next stage",
      bars)
  }

  /// What was lost before a stage, the largest first; what no reason is known for comes last.
  private func losses(before stage: String, of lost: Double) -> [BarFigure.Bar] {
    var rows: [(reason: String, count: Double)] = []
    if let table = run.document.table("losses"), let stages = table.words("stage"),
      let reasons = table.words("reason"), let counts = table.numbers("participations")
    {
      for place in counts.indices where stages[place] == stage && counts[place] > 0 {
        rows.append((reasons[place], counts[place]))
      }
    }
    // Of equal losses the one that the file lists first.
    var bars = rows.enumerated().sorted { a, b in
      a.element.count != b.element.count
        ? a.element.count > b.element.count : a.offset < b.offset
    }.map { _, row in
      BarFigure.Bar(
        Self.words(row.reason, before: stage), row.count, "−" + Markup.grouped(row.count),
        look: ReportRun.Fate(row.reason).look)
    }
    let rest = lost - rows.reduce(0) { $0 + $1.count }
    if rest > 0 {
      bars.append(.init("reason not recorded", rest, "−" + Markup.grouped(rest), look: 7))
    }
    return bars
  }

  /// Why participations did not reach a stage.
  private static func words(_ reason: String, before stage: String) -> String {
    let isOfUpdate = ["delivered", "admitted", "aggregated"].contains(stage)
    return switch reason {
    case "unfinishedAtEnd": "in progress at the end"
    case "checkpointed": "cut off, checkpoint kept"
    case "askedAgain": "asked again"
    case "completed": "had no work to do"
    case "expired":
      stage == "trained" ? "cut off, work discarded" : "task expired"
    case "killed": "app killed"
    case "unreachable": "no link or no answer"
    case "rejected": "turned away"
    case "nothingNew": "no new model"
    case "threw": "training failed"
    case "locked": "device locked"
    case "left", "deviceLeft": "device left the fleet"
    case "wrongURL": "no server address"
    case "outdated" where isOfUpdate: "waited for too long"
    case "evicted" where isOfUpdate: "outbox was full"
    case "dropped" where isOfUpdate: "not sent, not kept"
    default: Markup.words(reason)
    }
  }

  /// Trainings that were cut off, saved and resumed, and updates that had to wait, by hour of
  /// day: the counts of an average day.
  var interruptions: Figure {
    // A single line has no legend.
    var counted = "number"
    var series: [Figure.Series] = []
    if let table = run.document.table("fleetHours"), let offsets = table.numbers("utcOffset") {
      let days = max(1, run.length / 86_400)
      for (place, interruption) in ReportRun.interruptions.enumerated() {
        guard let rows = table.rows(interruption.column) else { continue }
        let sums = byHourOfDay(rows, offsets: offsets)
        guard sums.contains(where: { $0 > 0 }) else { continue }
        counted = series.isEmpty ? interruption.several : "number"
        series.append(
          .init(interruption.series, Self.byHour(sums.map { $0 / days }), look: place))
      }
    }
    let y = Figure.Axis(
      counted + (run.length < 86_400 ? " in the run" : " a day"), .number, includesZero: true)
    return Figure("Interruptions by hour of day", x: hourAxis, y: y, series)
  }
}

extension ReportRun {
  /// What the page says of interruptions: columns of `ledger` and of `fleetHours`, and their words.
  static let interruptions: [(column: String, series: String, one: String, several: String)] = [
    ("expiredTrainings", "expired", "training expired", "trainings expired"),
    ("checkpoints", "checkpointed", "training checkpointed", "trainings checkpointed"),
    ("resumed", "resumed", "training resumed", "trainings resumed"),
    ("waitedOffline", "waited offline", "update waited offline", "updates waited offline"),
  ]

  /// Whether an interruption can occur in this run: it did, or the settings allow it.
  ///
  /// A training expires where a task or a window ends; it is saved and resumed where a group keeps
  /// checkpoints; an update waits where a group has an outbox and a link that changes.
  func canOccur(_ column: String) -> Bool {
    if (document.table("ledger")?.number(column) ?? 0) > 0 { return true }
    guard case .sequence(let groups)? = fleet?.content else { return false }
    func part(_ node: Node?, _ key: String) -> Node? {
      guard let part = node?[key], !part.isNull else { return nil }
      return part
    }
    func word(_ node: Node?, _ key: String) -> String? {
      if case .scalar(let text, _)? = node?[key]?.content { text } else { nil }
    }
    func changes(_ node: Node?) -> Bool {
      guard let node else { return false }
      guard let fixed = part(node, "fixed") else { return true }
      guard case .sequence(let intervals)? = fixed["intervals"]?.content else { return false }
      return !intervals.isEmpty
    }
    return groups.contains { group in
      let background = group["background"]
      return switch column {
      case "expiredTrainings":
        part(background, "processing") != nil || part(background, "continued") != nil
          || changes(part(background, "windows"))
      case "checkpoints", "resumed":
        word(group["interruption"], "onExpiry") == "checkpoint"
          || word(group["interruption"], "onConditionsLost") == "suspend"
      default:
        word(group["outbox"], "capacity") != "0" && changes(part(group, "link"))
      }
    }
  }
}

extension Node {
  /// Whether nothing was written.
  fileprivate var isNull: Bool { if case .null = content { true } else { false } }
}
