import Results

extension Report {
  /// The title, what it is of, and the headline figures.
  var header: String {
    let first = groups[0].runs[0]
    var facts = [
      "FedSim \(first.document.table("")?.text("engineVersion") ?? "")",
      groups.count == 1 && runs.count == 1 ? "seed \(first.seed)" : "\(runs.count) results",
      duration(of: first),
    ]
    if let devices = first.document.table("devices")?.length(of: "device") {
      facts.append("\(Markup.grouped(Double(devices))) devices")
    }
    var text = "<header><p class=\"kind\">Federated learning, simulated</p>"
    text += "<h1>\(Markup.escaped(title))</h1><p class=\"facts\">"
    text += facts.map { "<span>\(Markup.escaped($0))</span>" }.joined() + "</p></header>\n"
    let tiles = headline
    if !tiles.isEmpty {
      text += "<dl class=\"tiles\">"
      for (value, name) in tiles {
        text += "<div><dd>\(Markup.escaped(value))</dd><dt>\(Markup.escaped(name))</dt></div>"
      }
      text += "</dl>\n"
    }
    return text
  }

  private func duration(of run: ReportRun) -> String { Self.duration(run.length) + " simulated" }

  /// The figures of one result; of several, their table says it.
  private var headline: [(String, String)] {
    guard runs.count == 1 else { return [] }
    let run = runs[0]
    var tiles: [(String, String)] = []
    if let curve = VersionCurve(run.document), !curve.finalAccuracy.isNaN {
      tiles.append((Self.percent(curve.finalAccuracy), "accuracy of the last version"))
      tiles.append((Self.percent(curve.bestAccuracy), "best accuracy"))
    }
    if let count = run.versions?.length(of: "version"), count > 0 {
      tiles.append((Markup.grouped(Double(count - 1)), "versions published"))
    }
    if let updates = run.ledger("updates", "aggregated") {
      tiles.append((Markup.grouped(updates), "updates aggregated"))
    }
    if let fairness = run.document.table("fairness"),
      let participants = fairness.number("participants"),
      let devices = run.document.table("devices")?.length(of: "device"), devices > 0
    {
      tiles.append((Self.percent(participants / Double(devices)), "of devices contributed"))
      if let gini = fairness.number("giniParticipation"), gini.isFinite {
        tiles.append((Markup.fixed(gini, decimals: 2), "Gini of participation"))
      }
    }
    if let wasted = run.wastedShare {
      tiles.append((Self.percent(wasted), "of training time wasted"))
    }
    if let ledger = run.document.table("ledger"), let up = ledger.number("bytesUp"),
      let down = ledger.number("bytesDown")
    {
      tiles.append((Self.bytes(up + down), "sent and received"))
    }
    return tiles
  }

  /// A share in percent, with one decimal.
  static func percent(_ share: Double) -> String {
    share.isFinite ? Markup.fixed(share * 100, decimals: 1) + "%" : "–"
  }

  /// A row for each group: what its seeds came to.
  func resultTable() -> String {
    var rows: [[String]] = []
    let target = commonTarget
    for group in groups { rows.append(row(group.name, group.runs, target)) }
    for reference in references { rows.append(row(reference.name, [reference.run], target)) }
    var head = ["", "seeds", "last accuracy", "best accuracy"]
    if let target { head.append("time to \(Self.percent(target))") }
    head += ["versions", "updates aggregated", "training wasted", "bytes"]
    let note =
      runs.count > groups.count
      ? "<p class=\"note\">Medians over seeds, with the least and the most in brackets. Times to a "
        + "target are shown where all seeds reached it.</p>" : ""
    return Self.table(head, rows) + note
  }

  /// The highest whole percentage that every result reaches; nil: there is none.
  private var commonTarget: Double? {
    let bests = runs.compactMap { VersionCurve($0.document)?.bestAccuracy }.filter { !$0.isNaN }
    guard let least = bests.min(), bests.count == runs.count else { return nil }
    let target = (least * 100).rounded(.down) / 100
    return target > 0 ? target : nil
  }

  private func row(_ name: String, _ runs: [ReportRun], _ target: Double?) -> [String] {
    let curves = runs.compactMap { VersionCurve($0.document) }
    func over(_ values: [Double?], _ words: (Double) -> String) -> String {
      let known = Statistics.sorted(values.compactMap { $0 })
      guard let low = known.first, let high = known.last, known.count == values.count else {
        return "–"
      }
      let median = words(Statistics.quantile(0.5, ofSorted: known))
      return known.count == 1 || words(low) == words(high)
        ? median : "\(median) (\(words(low))–\(words(high)))"
    }
    var cells = [name, "\(runs.count)"]
    cells.append(over(curves.map(\.finalAccuracy), Self.percent))
    cells.append(over(curves.map(\.bestAccuracy), Self.percent))
    if let target {
      cells.append(
        over(
          runs.map { run in
            run.curve("centralAccuracy", over: .time).first { $0.y >= target }?.x
          }, Self.duration))
    }
    cells.append(
      over(runs.map { $0.versions?.length(of: "version").map { Double($0 - 1) } }, Markup.grouped))
    cells.append(over(runs.map { $0.ledger("updates", "aggregated") }, Markup.grouped))
    cells.append(over(runs.map(\.wastedShare), Self.percent))
    cells.append(
      over(
        runs.map { run in
          let ledger = run.document.table("ledger")
          return ledger?.number("bytesUp").flatMap { up in
            ledger?.number("bytesDown").map { up + $0 }
          }
        }, Self.bytes))
    return cells
  }

  /// A table; cells after the first are numbers.
  static func table(_ head: [String], _ rows: [[String]], style: String = "numbers") -> String {
    func cells(_ cells: [String], _ tag: String) -> String {
      cells.map { "<\(tag)>\(Markup.escaped($0))</\(tag)>" }.joined()
    }
    return "<div class=\"scroll\" tabindex=\"0\"><table class=\"\(style)\"><thead><tr>"
      + cells(head, "th") + "</tr></thead><tbody>"
      + rows.map { "<tr>\(cells($0, "td"))</tr>" }.joined() + "</tbody></table></div>"
  }

  /// The assumptions that the result holds.
  func assumptions(_ run: ReportRun) -> String {
    let lines = run.document.table("")?.text("assumptions")?.split(separator: "\n") ?? []
    let rows = lines.map { $0.split(separator: "\t", omittingEmptySubsequences: false) }
      .filter { $0.count >= 4 }.map { $0.prefix(4).map(String.init) }
    guard !rows.isEmpty else {
      return "<p class=\"note\">The result names none.</p>"
    }
    return Self.table(["key", "value", "from", "what it is"], rows, style: "words")
  }

  /// Which command makes the results again, and by which digests to tell them.
  func reproduction() -> String {
    let rows = runs.prefix(60).map { run in
      let root = run.document.table("")
      return [
        run.path, "\(run.seed)", root?.text("engineVersion") ?? "",
        root?.text("contentDigest") ?? "", root?.text("eventDigest") ?? "",
      ]
    }
    let path = runs[0].path
    return
      "<p>Each result holds its scenario. <code>fedsim replay \(Markup.escaped(path))</code> plays "
      + "it again and says whether every byte comes out the same.</p>"
      + Self.table(
        ["result", "seed", "FedSim", "content digest", "event digest"], rows, style: "words")
  }
}
