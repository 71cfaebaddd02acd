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
    // A name that two have, or none, gives way to the file's; where two have that too, to its path.
    for name in [\ReportRun.title, \.stem, \.path] {
      for place in groups.indices { groups[place].name = groups[place].runs[0][keyPath: name] }
      let names = groups.map(\.name)
      if Set(names).count == names.count, !names.contains("") { break }
    }
    return groups
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
