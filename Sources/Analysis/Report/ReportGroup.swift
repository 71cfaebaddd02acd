/// Results of one policy, a seed each.
struct ReportGroup {
  /// What it is called in legends and tables.
  var name: String
  /// The results, by seed.
  var runs: [ReportRun]
  /// Its look in figures.
  var look: Int

  /// The groups among some results, in the order in which they first come; none has a seed twice.
  static func groups(_ runs: [ReportRun]) -> [ReportGroup] {
    var groups: [ReportGroup] = []
    for run in runs {
      let place = groups.firstIndex { group in
        group.runs[0].policy.hasSameContent(as: run.policy)
          && !group.runs.contains { $0.seed == run.seed }
      }
      if let place {
        groups[place].runs.append(run)
      } else {
        groups.append(ReportGroup(name: run.title, runs: [run], look: groups.count))
      }
    }
    for place in groups.indices {
      groups[place].runs.sort { ($0.seed, $0.path) < ($1.seed, $1.path) }
    }
    for (place, name) in names(groups).enumerated() { groups[place].name = name }
    return groups
  }

  /// Names of groups: titles; where two have one, or none, the files' names; else their paths.
  ///
  /// Cells of a sweep have files that are named by hashes: there the settings in which they differ
  /// come first.
  private static func names(_ groups: [ReportGroup]) -> [String] {
    let firsts = groups.map { $0.runs[0] }
    let areCells = firsts.allSatisfy { run in
      run.stem.utf8.count == 32 && run.stem.allSatisfy(\.isHexDigit)
    }
    let choices: [() -> [String]] = [
      { firsts.map(\.title) }, { areCells ? settings(firsts) : [] }, { firsts.map(\.stem) },
    ]
    for choice in choices {
      let names = choice()
      if !names.isEmpty, Set(names).count == names.count, !names.contains("") { return names }
    }
    return firsts.map(\.path)
  }

  /// The settings in which results differ, such as `buffer 3, epochs 1`; none where these are
  /// many or long.
  private static func settings(_ runs: [ReportRun]) -> [String] {
    let rows = SettingDifferences.among(runs.map(\.policy))
    let keys = rows.map { $0.path.split(separator: ".").last.map(String.init) ?? $0.path }
    let most = 60
    let names = runs.indices.map { run in
      rows.indices.map { row in
        let isAlone = keys.count { $0 == keys[row] } == 1
        let value = rows[row].values[run].map { $0.filter { $0 != "\"" } } ?? "absent"
        return "\(isAlone ? keys[row] : rows[row].path) \(value)"
      }.joined(separator: ", ")
    }
    return names.allSatisfy { $0.count <= most } ? names : []
  }
}

/// A model over the seeds of a group, or in a reference: one line of a figure, one row of a table.
struct ReportLine {
  /// What it is called.
  var name: String
  /// The results.
  var runs: [ReportRun]
  /// The model that the server trained on devices' files; nil: the one that devices trained.
  var model: String?
  /// Whether it is next to the others by a name that it was given.
  var isReference = false
  /// Its look, the same on all figures: those of references count down from the last.
  var look = 0

  static func lines(_ name: String, _ runs: [ReportRun], isAlone: Bool) -> [ReportLine] {
    var models: [String] = []
    for model in runs.flatMap(\.centralModels) where !models.contains(model) {
      models.append(model)
    }
    var lines: [ReportLine] = []
    if models.isEmpty || runs.contains(where: \.isFederated) {
      let own = models.isEmpty ? name : isAlone ? "federated" : "\(name): federated"
      lines.append(ReportLine(name: own, runs: runs))
    }
    let isOnly = models.count == 1 && lines.isEmpty
    for model in models {
      let own = isAlone ? model : isOnly ? name : "\(name): \(model)"
      lines.append(ReportLine(name: own, runs: runs, model: model))
    }
    return lines
  }

  /// A column of `versions` over an axis, or its counterpart in `central`.
  func curve(
    _ run: ReportRun, _ column: ReportColumn, _ along: ReportRun.CurveAxis
  ) -> [Figure.Point] {
    guard let model else { return run.curve(column.versions, over: along) }
    guard along == .time, let name = column.central else { return [] }
    return run.centralCurve(name, of: model)
  }

  /// How many versions of it a run published; nil: the result does not say.
  func versions(_ run: ReportRun) -> Double? {
    guard let model else { return run.versions?.length(of: "version").map { Double($0 - 1) } }
    return run.central?.words("model").map { Double($0.count { $0 == model }) }
  }
}

/// What a curve shows of a version.
enum ReportColumn {
  case accuracy, loss, held, own
  /// A column of `versions` that has none of these meanings.
  case named(String)

  /// Whether models that are trained at the server have it too, on the same samples.
  var isOfTestSamples: Bool {
    switch self {
    case .accuracy, .loss: true
    case .held, .own, .named: false
    }
  }

  /// The column of `versions`.
  var versions: String {
    switch self {
    case .accuracy: "centralAccuracy"
    case .loss: "centralLoss"
    case .held: "heldAccuracy"
    case .own: ""
    case .named(let name): name
    }
  }

  /// The column of `central`.
  var central: String? {
    switch self {
    case .accuracy: "testAccuracy"
    case .loss: "testLoss"
    case .held: "heldAccuracy"
    case .own: "userAccuracy"
    case .named: nil
    }
  }
}
