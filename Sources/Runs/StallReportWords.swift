import FedSim

extension Conditions {
  private var held: [String] { inReports.map(\.words.held) }

  /// These, such as `charging and idle at once`.
  var atOnce: String {
    let words = held
    // As people say it: charging before idle.
    let ordered =
      words.contains("charging") ? ["charging"] + words.filter { $0 != "charging" } : words
    return words.count < 2
      ? words.joined() : Words.list(ordered) + " at once"
  }

  /// These, such as `idle while charging`.
  var whileClause: String {
    let words = held
    guard let first = words.first, words.count > 1 else { return words.first ?? "" }
    return first + " while " + Words.list(Array(words.dropFirst()))
  }
}

extension StallReport.Obstacle {
  /// What was missing, in some words.
  var text: String {
    switch self {
    case .nothingRuns: "nothing lets the app run (fleet[].background)"
    case .neverAsked: "its user started no training in the app (background.continued)"
    case .noData: "no training data"
    case .absent: "never in the fleet (fleet[].presence)"
    case .unfit: "the device cannot train this model (fleet[].hardware)"
    case .never(let conditions): "never " + conditions.atOnce
    case .neverStarted: "power, link and use allowed it, and the system never started a task"
    case .serverUnreachable: "the server was never reachable"
    case .noModel: "the server believed itself offline and sent no model"
    case .notChosen: "never in a cohort"
    case .sentAway: "the server gave a time to return, and the device did not train (server.retry)"
    case .neverTrained: "the app ran and began no training"
    case .lacking(let condition, let ran):
      (ran ? "the app ran and began no training" : "the system never started a task")
        + "; at the end: " + condition.words.lacking
    case .neverFinished: "no training produced an update"
    case .neverAggregated: "updates were made, and none became part of a version"
    case .collects: "collects for central training"
    case .neverFormatted: "the app ran and had nothing to format (fleet[].collection)"
    case .neverStored: "files were formatted, and none came into the store"
    case .neverRead: "files were stored, and no training of them was done (server.central)"
    }
  }

  /// The same without blanks, for a file.
  var word: String {
    var word = ""
    for character in text {
      if character.isLetter || character.isNumber || character == "-" {
        word.append(character)
      } else if word.last != "_" {
        word.append("_")
      }
    }
    while word.last == "_" { word.removeLast() }
    return word
  }
}

extension StallReport.Wait {
  /// What the server waited for, in a sentence without its end.
  var text: String {
    switch self {
    case .reachable: "the server was never reachable (server.reachable)"
    case .connection:
      "the server believed itself offline at the end, and aggregated nothing (server.internet)"
    case .cohort(let needed, let waited):
      "no cohort was formed for the open round:"
        + (needed.map { " \(Words.count($0, "device")) must wait at once, and" } ?? "")
        + " at most \(waited) did (server.selector)"
    case .members(let round, let goal, let arrived):
      "round \(round) can never be complete: its cohort was to send \(Words.count(goal, "update")),"
        + " \(arrived) came, and the other members have left; a `deadline` trigger would end it"
    case .rounds(let closed):
      "\(Words.count(closed, "round")) \(closed == 1 ? "was" : "were") closed without a version"
        + " (see `rounds/outcome`)"
    case .updates(let needed, let waited, let isPossible):
      "the server waits for \(Words.count(needed, "update")), but at most \(waited) waited at once"
        + (isPossible
          ? "" : ": this fleet is too small (server.trigger)")
    }
  }
}

extension StallReport {
  /// The report, a line each: by group and obstacle, then what the server waited for.
  public func lines(_ inputs: SimulationInputs) -> [String] {
    var lines = counts.map { count in
      let group = inputs.fleet[count.group]
      return "\(count.obstacle.text): \(count.devices) of \(group.count) \(group.name)"
    }
    lines += waits.map(\.text)
    if let stoppedAt {
      lines.append(
        "no device could ever contribute, so the run stopped early, at \(stoppedAt.words)"
      )
    }
    return lines
  }
}
