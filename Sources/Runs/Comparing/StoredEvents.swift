import Analysis
import FedSim
import Results

/// The events that a result holds, row by row.
struct StoredEvents {
  private let document: ResultDocument
  private let group: ResultDocument.Group
  private let kinds: [String]
  private let details: [String]
  /// How many rows there are.
  let count: Int

  /// nil: the result holds none.
  init?(_ document: ResultDocument) {
    guard let group = document["events"], let kinds = group[variable: "kind"],
      let details = group[variable: "detail"], let time = group[variable: "time"]
    else { return nil }
    self.document = document
    self.group = group
    self.kinds = kinds.flagMeanings
    self.details = details.flagMeanings
    count = time.values.count
  }

  /// Whether all that happened is there.
  var isWhole: Bool { group[attribute: "missed"] == .integer(0) }

  private func number(_ column: String, _ row: Int) -> Int {
    switch group[variable: column]?.values {
    case .int32(let x)?: Int(x[row])
    case .int8(let x)?: Int(x[row])
    case .int64(let x)?: Int(x[row])
    default: -1
    }
  }

  private func time(_ row: Int) -> Double {
    if case .double(let x)? = group[variable: "time"]?.values { return x[row] }
    return .nan
  }

  /// A row in words; nil: there is none.
  func side(_ row: Int) -> EventDifference.Side? {
    guard row < count else { return nil }
    func word(_ words: [String], _ code: Int) -> String {
      words.indices.contains(code) ? words[code] : "\(code)"
    }
    let round = number("round", row)
    return EventDifference.Side(
      time: time(row), actor: actor(number("device", row)), eventClass: nil, sequence: nil,
      event: EventLog.words(
        word(kinds, number("kind", row)), word(details, number("detail", row)),
        version: number("version", row), update: number("update", row),
        count: number("count", row)) + (round < 0 ? "" : ", round \(round)"),
      happened: [])
  }

  private func actor(_ device: Int) -> String {
    guard device >= 0 else { return "server" }
    guard let devices = document["devices"], let groups = devices[variable: "group"],
      case .int64(let ordinals)? = devices[variable: "ordinal"]?.values,
      ordinals.indices.contains(device), case .int8(let codes) = groups.values,
      groups.flagMeanings.indices.contains(Int(codes[device]))
    else { return "device \(device)" }
    return "\(groups.flagMeanings[Int(codes[device])])/\(ordinals[device])"
  }

  /// The first row at which two logs part; nil: they do not, as far as both go.
  static func difference(_ a: StoredEvents, _ b: StoredEvents) -> EventDifference? {
    guard let row = DocumentComparison.firstEvent(a.document, b.document) else { return nil }
    let sides = (a.side(row), b.side(row))
    // A log that was full ends before its run.
    if sides.0 == nil, !a.isWhole { return nil }
    if sides.1 == nil, !b.isWhole { return nil }
    var kind = EventDifference.Kind.event
    if let x = sides.0, let y = sides.1 {
      if x.time == y.time, a.holds(y, after: row), b.holds(x, after: row) { kind = .order }
    } else {
      kind = .end
    }
    return EventDifference(
      index: row, kind: kind, numbersFrom: nil, a: sides.0, b: sides.1)
  }

  /// Whether a row comes later at the same time.
  private func holds(_ side: EventDifference.Side, after row: Int) -> Bool {
    var next = row + 1
    while next < count, time(next) == side.time {
      if self.side(next) == side { return true }
      next += 1
    }
    return false
  }
}
