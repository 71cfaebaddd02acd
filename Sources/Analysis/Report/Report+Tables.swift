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
      facts.append("\(Markup.grouped(Double(devices))) \(devices == 1 ? "device" : "devices")")
    }
    let kind =
      runs.contains(where: \.isFederated) ? "Federated learning" : "Training on collected data"
    var text = "<header><p class=\"kind\">\(kind), simulated</p>"
    text += "<h1>\(Markup.escaped(title))</h1><p class=\"facts\">"
    text += facts.map { "<span>\(Markup.escaped($0))</span>" }.joined() + "</p></header>\n"
    for run in runs + references.map(\.run) where !run.isWhole {
      text +=
        "<p class=\"warning\">\(Markup.escaped(run.path)) is incomplete: its run is still "
        + "running, or was "
      text +=
        "interrupted. Versions and rounds are those until \(Markup.duration(run.length)); the rest "
      text += "is as of an earlier time, or missing.</p>\n"
    }
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

  private func duration(of run: ReportRun) -> String { Markup.duration(run.length) + " simulated" }

  /// The figures of one result; of several, their table says it.
  private var headline: [(String, String)] {
    guard runs.count == 1 else { return [] }
    let run = runs[0]
    let own = lines.filter { !$0.isReference }
    var tiles: [(String, String)] = []
    for line in own.prefix(3) {
      let curve = line.curve(run, .accuracy, .time)
      let errors = line.curve(run, .named("centralRMSE"), .time).map(\.y)
      if let last = errors.last, let best = errors.min() {
        tiles.append((Markup.significant(last, 4), "RMSE of the last version"))
        tiles.append((Markup.significant(best, 4), "lowest RMSE"))
      }
      guard let last = curve.last, let best = curve.map(\.y).max() else { continue }
      let of = own.count > 1 ? line.model.map { " of \($0)" } ?? ", federated" : ""
      if line.versions(run) == 0 {
        tiles.append((Markup.percent(last.y), "accuracy of the initial model"))
        continue
      }
      tiles.append((Markup.percent(last.y), "accuracy of the last version\(of)"))
      tiles.append((Markup.percent(best), "best accuracy\(of)"))
    }
    func add(_ count: Double?, _ one: String, _ several: String, _ rest: String) {
      guard let count else { return }
      let words = [count == 1 ? one : several, rest].filter { !$0.isEmpty }
      tiles.append((Markup.grouped(count), words.joined(separator: " ")))
    }
    if run.isFederated {
      add(
        run.versions?.length(of: "version").map { Double($0 - 1) }, "version", "versions",
        "published")
      add(run.ledger("updates", "aggregated"), "update", "updates", "aggregated")
    }
    if run.central != nil {
      let files = run.central?.words("fileOutcome")?.firstIndex(of: "trained")
      let versions = own.reduce(0.0) { $0 + ($1.model == nil ? 0 : $1.versions(run) ?? 0) }
      add(versions, "version", "versions", "published by training at the server")
      add(
        files.flatMap { run.central?.numbers("filesEnded")?[$0] }, "file", "files",
        "used in training")
    }
    tiles += participation(run)
    for interruption in ReportRun.interruptions where run.canOccur(interruption.column) {
      add(
        run.document.table("ledger")?.number(interruption.column), interruption.one,
        interruption.several, "")
    }
    if let wasted = run.wastedShare {
      tiles.append((Markup.percent(wasted), "of training time wasted"))
    }
    if let open = run.openShare, open > 0 {
      tiles.append((Markup.percent(open), "of training time in progress at the end"))
    }
    if let ledger = run.document.table("ledger"), let up = ledger.number("bytesUp"),
      let down = ledger.number("bytesDown")
    {
      tiles.append((Markup.bytes(up + down), "sent and received"))
    }
    return tiles
  }

  /// How many devices had a part in what was learned, and how evenly.
  private func participation(_ run: ReportRun) -> [(String, String)] {
    guard let devices = run.document.table("devices")?.length(of: "device"), devices > 0 else {
      return []
    }
    var tiles: [(String, String)] = []
    if run.isFederated, let fairness = run.document.table("fairness"),
      let participants = fairness.number("participants")
    {
      tiles.append((Markup.percent(participants / Double(devices)), "of devices contributed"))
      if let gini = fairness.number("giniParticipation"), gini.isFinite {
        tiles.append((Markup.fixed(gini, decimals: 2), "Gini of participation"))
      }
    }
    if !run.isFederated, let trained = run.document.table("collection")?.numbers("trained") {
      let some = Double(trained.count { $0 > 0 })
      tiles.append(
        (Markup.percent(some / Double(devices)), "of devices had files used in training"))
    }
    return tiles
  }

  /// A row for each line: the results of its seeds.
  func resultTable() -> String {
    let target = commonTarget
    let isOfErrors = runs.allSatisfy { $0.has("versions/centralRMSE") }
    var head =
      ["", "seeds"]
      + (isOfErrors ? ["last RMSE", "lowest RMSE"] : ["last accuracy", "best accuracy"])
    if let target { head.append("time to \(Markup.significant(target * 100, 3))%") }
    head += [
      "versions", "updates aggregated", "wasted training", "in progress at end", "bytes",
    ]
    var note =
      "Wasted training: share of training time whose work was lost, of the training time whose "
      + "outcome is "
    note +=
      "known; work in progress at the end is listed separately, as a share of all training time."
    if runs.count > groups.count {
      note += " Medians over seeds, with the minimum and the maximum in brackets."
    }
    if target != nil {
      note += " The target is the highest whole percentage that all results reached; its time is "
      note += "that of the first evaluated version at the target."
    }
    return ReportPage.table(head, lines.map { row($0, target) })
      + "<p class=\"note left\">\(Markup.prose(note))</p>"
  }

  /// The highest whole percentage that every result reaches; nil: there is none.
  private var commonTarget: Double? {
    var least = Double.infinity
    for line in lines {
      for run in line.runs {
        let best = line.curve(run, .accuracy, .time).map(\.y).max()
        // Models of one user each have no accuracy on the test samples.
        if best == nil, line.model != nil { continue }
        guard let best else { return nil }
        least = min(least, best)
      }
    }
    guard least.isFinite else { return nil }
    let target = (least * 100 + 1e-9).rounded(.down) / 100
    return target > 0 ? target : nil
  }

  private func row(_ line: ReportLine, _ target: Double?) -> [String] {
    let runs = line.runs
    // Cells break before their brackets only.
    func over(_ values: [Double?], _ text: (Double) -> String) -> String {
      func words(_ value: Double) -> String { text(value).replacing(" ", with: "\u{A0}") }
      let known = Statistics.sorted(values.compactMap { $0 })
      guard let low = known.first, let high = known.last, known.count == values.count else {
        return "–"
      }
      let median = words(Statistics.quantile(0.5, ofSorted: known))
      return known.count == 1 || words(low) == words(high)
        ? median : "\(median) (\(words(low))\u{A0}to\u{A0}\(words(high)))"
    }
    /// What only trainings on devices have.
    func ofDevices(_ value: (ReportRun) -> Double?, _ words: (Double) -> String) -> String {
      line.model == nil ? over(runs.map(value), words) : "–"
    }
    let curves = runs.map { line.curve($0, .accuracy, .time) }
    var cells = [line.name, "\(runs.count)"]
    if self.runs.allSatisfy({ $0.has("versions/centralRMSE") }) {
      let errors = runs.map { line.curve($0, .named("centralRMSE"), .time).map(\.y) }
      cells.append(over(errors.map(\.last)) { Markup.significant($0, 4) })
      cells.append(over(errors.map { $0.min() }) { Markup.significant($0, 4) })
    } else {
      cells.append(over(curves.map { $0.last?.y }, Markup.percent))
      cells.append(over(curves.map { $0.map(\.y).max() }, Markup.percent))
    }
    if let target {
      cells.append(over(curves.map { $0.first { $0.y >= target }?.x }, Markup.duration))
    }
    cells.append(over(runs.map(line.versions), Markup.grouped))
    cells.append(ofDevices({ $0.ledger("updates", "aggregated") }, Markup.grouped))
    cells.append(ofDevices({ $0.wastedShare }, Markup.percent))
    cells.append(ofDevices({ $0.openShare }, Markup.percent))
    cells.append(
      over(
        runs.map { run in
          let ledger = run.document.table("ledger")
          return ledger?.number("bytesUp").flatMap { up in
            ledger?.number("bytesDown").map { up + $0 }
          }
        }, Markup.bytes))
    return cells
  }

  /// Which command makes the results again, and by which digests to tell them.
  func reproduction() -> String {
    let all = runs + references.map(\.run)
    let most = 60
    let rows = all.prefix(most).map { run in
      let root = run.document.table("")
      return [
        run.path, "\(run.seed)", root?.text("engineVersion") ?? "",
        root?.text("contentDigest") ?? "", root?.text("eventDigest") ?? "",
      ]
    }
    let path = runs[0].path
    guard runs[0].isWhole else {
      return
        "<p>An incomplete result cannot be replayed: <code>fedsim resume</code> continues "
        + "its run.</p>"
    }
    return
      "<p>Each result contains its scenario. <code>fedsim replay \(Markup.escaped(path))</code> "
      + "replays the run and checks that every byte is reproduced.</p>"
      + ReportPage.table(
        ["result", "seed", "FedSim", "content digest", "event digest"], rows, style: "words")
      + (all.count > most ? "<p class=\"note\">And \(all.count - most) more.</p>" : "")
  }
}
