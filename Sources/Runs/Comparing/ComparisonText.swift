import Analysis
import FedSim

/// The parts of a comparison in lines for a person.
struct ComparisonText {
  /// What the two sides are called.
  let sides: (a: String, b: String)
  /// The lines so far.
  private(set) var lines: [String] = []

  init(_ a: String, _ b: String) { sides = (a, b) }

  /// A line.
  mutating func add(_ line: String) { lines.append(line) }

  /// Differences under a heading, each with both values; nothing where there are none.
  mutating func add(_ heading: String, _ differences: [DocumentComparison.Difference]) {
    guard !differences.isEmpty else { return }
    add(heading)
    for difference in differences { add("  " + Self.line(difference)) }
  }

  /// `place: a | b`, each value cut to what fits on a line.
  static func line(_ difference: DocumentComparison.Difference) -> String {
    let place = difference.place.isEmpty ? "rows" : difference.place
    return "\(place): \(short(difference.a)) | \(short(difference.b))"
  }

  /// A value, cut where it is long.
  private static func short(_ text: String?) -> String {
    guard let text else { return "(absent)" }
    let most = 160
    return text.count <= most ? text : text.prefix(most) + "… (\(text.count) characters)"
  }

  /// A row of a table.
  mutating func add(_ noun: String, _ row: DocumentComparison.Row?) {
    guard let row else { return }
    add("first differing \(noun): \(row.number)", row.columns)
  }

  /// An hour whose events differ, or only their numbers.
  mutating func add(hour: DocumentComparison.Row?, isOfNumbers: Bool) {
    guard let hour, isOfNumbers else { return add("hour", hour) }
    add(
      "first hour with different numbers of events: \(hour.number) (its digest includes these; the "
        + "events themselves diverge later or not at all)")
  }

  /// The event at which two runs diverge.
  mutating func add(_ event: EventDifference, isStored: Bool) {
    let noun = isStored ? "stored event" : "event"
    let words: String =
      switch event.kind {
      case .order: "both runs have these events in a different order: a tie was decided differently"
      case .outcome: "the event is the same, but its effects differ"
      case .number:
        "all events are equal except for their numbers: one run had scheduled more before"
      case .event: "the events differ"
      case .end: "one run has no further event"
      }
    add(
      "first differing \(noun): number \(event.index + 1), after "
        + "\(Words.count(event.index, "equal one")); \(words)")
    if let from = event.numbersFrom {
      add(
        "  (from number \(from + 1) on some events have other numbers, since one run had scheduled "
          + "more)")
    }
    for (name, side) in [(sides.a, event.a), (sides.b, event.b)] {
      guard let side else {
        add("  \(name): no further event")
        continue
      }
      var line = "  \(name): \(Self.time(side.time)) \(side.actor): \(side.event)"
      if let eventClass = side.eventClass, let sequence = side.sequence {
        line += " (\(eventClass), number \(sequence) of \(side.actor))"
      }
      add(line)
      for outcome in side.happened.prefix(Self.mostOutcomes) { add("    → \(outcome)") }
      if side.happened.count > Self.mostOutcomes {
        add("    → and \(side.happened.count - Self.mostOutcomes) more")
      }
    }
  }

  private static let mostOutcomes = 8
  private static let mostCells = 20

  /// A time in seconds as days, hours, minutes and seconds, to the microsecond.
  private static func time(_ seconds: Double) -> String {
    SimTime(microseconds: Int64((seconds * 1e6).rounded())).description
  }

  /// Cells of what was not reported before, and what only one side has.
  mutating func add(
    _ cells: [DocumentComparison.Difference], _ missing: [DocumentComparison.Missing]
  ) {
    let told = ["scenario line ", "hours/", "rounds/", "versions/", "events/"]
    let others = cells.filter { cell in !told.contains { cell.place.hasPrefix($0) } }
    let more = others.count - Self.mostCells
    add(
      "other variables and texts that differ, each with its first cell: \(others.count)"
        + (more > 0 ? "; the first \(Self.mostCells)" : ""),
      Array(others.prefix(Self.mostCells)))
    for (name, isInA) in [(sides.a, true), (sides.b, false)] {
      let paths = missing.filter { $0.isInA == isInA }.map(\.path)
      if !paths.isEmpty { add("only in \(name): " + paths.joined(separator: ", ")) }
    }
  }
}

extension Comparison {
  /// The outcome, a line per item.
  public var text: String {
    var text = ComparisonText(a, b)
    for warning in warnings { text.add("warning: \(warning)") }
    switch verdict {
    case .sameBytes: text.add("same bytes: \(a) and \(b)")
    case .sameContent:
      text.add(
        "same content: \(a) and \(b); their bytes differ: other library versions, or another "
          + "program, wrote one of them")
    case .different:
      text.add("different: \(a) | \(b)")
      text.add("outcomes", outcomes)
      if settings.isEmpty {
        text.add("settings that differ: none")
      } else {
        text.add("settings that differ: \(settings.count)", settings)
      }
      if let noteOnSeeds { text.add(noteOnSeeds) }
      text.add("metadata", attributes)
      text.add(hour: hour, isOfNumbers: isHourOfNumbers)
      addEvent(to: &text)
      text.add("round", round)
      text.add("version", version)
      text.add(cells, missing)
    }
    return text.lines.joined(separator: "\n")
  }

  /// Whether the first hour differs by no more than its events' numbers: it comes before the event
  /// at which the runs diverge, or they do not.
  private var isHourOfNumbers: Bool {
    guard let hour, let event, search == .played else { return false }
    if event.kind == .number { return true }
    let times = [event.a?.time, event.b?.time].compactMap { $0 }
    guard event.numbersFrom != nil, let time = times.min() else { return false }
    return Double(hour.number + 1) * 3600 <= time
  }

  private func addEvent(to text: inout ComparisonText) {
    if let event {
      text.add(event, isStored: search == .stored)
      return
    }
    switch search {
    case .notNeeded, .stored: text.add("events: all equal")
    case .played:
      text.add(
        warnings.isEmpty
          ? "events: all equal in the replays"
          : "events: all equal in the replayed runs")
    case .notAsked: text.add("first differing event: not searched (--no-replay)")
    case .notPossible:
      text.add("first differing event: not found, because a run cannot be replayed: ")
      text.add("  " + (obstacle ?? ""))
    }
  }
}

extension Replay {
  /// The outcome, a line per item.
  public var text: String {
    var text = ComparisonText("the file", "replayed")
    for warning in warnings { text.add("warning: \(warning)") }
    switch verdict {
    case .sameBytes: text.add("same bytes: \(result)")
    case .sameContent:
      text.add(
        "same content: \(result); its bytes differ because of another HDF5 or zlib")
    case .sameAsHeld:
      text.add(
        "same as far as comparable: everything in \(result) is reproduced; its schema is "
          + "older, and lacks later additions")
    case .different:
      text.add("different: \(result) (the file | replayed)")
      text.add("metadata", attributes)
      if let event {
        text.add(event, isStored: true)
      } else {
        text.add(
          hasSameEvents
            ? "events: all equal"
            : "events: different; `record: {events: true}` would show the first one")
      }
      text.add("hour", hour)
      text.add("round", round)
      text.add("version", version)
      text.add(cells, missing)
    }
    return text.lines.joined(separator: "\n")
  }
}
