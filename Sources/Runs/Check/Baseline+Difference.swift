import Analysis
import Scenarios
import Schema

/// Where a run is another than the recorded one.
public struct BaselineFinding: Codable, Equatable, Sendable {
  /// What differs: `event`, `hour`, `round`, `version`, `central`, `count`.
  public var kind: String
  /// The first that differs, in words.
  public var text: String
}

extension Baseline {
  /// Where another run differs from this recorded one, the first place in each table; `eventWords`
  /// tells the events of the other one in words, by their place.
  func findings(
    against found: Baseline, _ eventWords: (Int) -> String?
  ) -> [BaselineFinding] {
    var findings: [BaselineFinding] = []
    if tolerance("events") == nil { findings += eventFindings(found, eventWords) }
    for (name, kind, time) in [
      ("rounds", "round", "closedAt"), ("versions", "version", "publishedAt"),
      ("central", "central", "publishedAt"),
    ] {
      if let text = difference(in: name, kind, time, found) {
        findings.append(BaselineFinding(kind: kind, text: text))
      }
    }
    findings += countFindings(found)
    return findings
  }

  // MARK: Events

  private func eventFindings(
    _ found: Baseline, _ eventWords: (Int) -> String?
  ) -> [BaselineFinding] {
    guard value("eventDigest") != found.value("eventDigest") else { return [] }
    var findings: [BaselineFinding] = []
    switch events {
    case .lines(let recorded):
      if let finding = lineFinding(recorded, eventWords) { findings.append(finding) }
    case .blocks(let recorded):
      if let finding = blockFinding(recorded, eventWords) { findings.append(finding) }
    case .hours:
      break
    }
    let hours = table("hours")?.rows ?? []
    let others = found.table("hours")?.rows ?? []
    if let first = Self.firstDifference(hours, others) {
      let (old, new) = (hours.at(first), others.at(first))
      let hour = [old, new].compactMap { $0.flatMap { Int($0[0]) } }.min() ?? 0
      func count(_ row: [String]?) -> String {
        row.flatMap { $0[0] == "\(hour)" ? $0[1] : nil } ?? "0"
      }
      let (before, after) = (count(old), count(new))
      findings.append(
        BaselineFinding(
          kind: "hour",
          text: "hour \(hour) of the run is the first whose events differ: "
            + (before == after
              ? "\(after) events, as many as recorded" : "\(after) events, recorded \(before)")))
    }
    if findings.isEmpty {
      let (old, new) = (value("eventDigest") ?? "nothing", found.value("eventDigest") ?? "nothing")
      findings.append(
        BaselineFinding(kind: "event", text: "the digest of all events is \(new), recorded \(old)"))
    }
    return findings
  }

  private func lineFinding(
    _ recorded: [String], _ eventWords: (Int) -> String?
  ) -> BaselineFinding? {
    var index = 0
    while let line = recorded.at(index), eventWords(index) == line { index += 1 }
    let (old, new) = (recorded.at(index), eventWords(index))
    if old == nil, new == nil { return nil }
    var text = "event \(index + 1) is the first that differs: found "
    text += "\(new.map { "`\($0.unmarked)`" } ?? "the end of the run"), recorded "
    text += old.map { "`\($0.unmarked)`" } ?? "the end of the run"
    if let old, let new, old.unmarked == new.unmarked {
      text += "; its number differs, so its actor scheduled more or fewer events before"
    }
    return BaselineFinding(kind: "event", text: text)
  }

  private func blockFinding(
    _ recorded: [Block], _ eventWords: (Int) -> String?
  ) -> BaselineFinding? {
    var index = 0
    for block in recorded {
      // Words end with four digits of the fingerprint; a mark is the last two of them.
      let marks = Array(block.marks)
      for place in stride(from: 0, to: marks.count - 1, by: 2) {
        let mark = String(marks[place...(place + 1)])
        guard let words = eventWords(index), words.hasSuffix(mark) else {
          return eventFinding(index, block, eventWords(index))
        }
        index += 1
      }
    }
    guard let words = eventWords(index) else { return nil }
    return BaselineFinding(
      kind: "event",
      text: "event \(index + 1) is the first that differs: found `\(words.unmarked)`, recorded the"
        + " end of the run")
  }

  private func eventFinding(_ index: Int, _ block: Block, _ words: String?) -> BaselineFinding {
    BaselineFinding(
      kind: "event",
      text: "event \(index + 1) is the first that differs: found "
        + "\(words.map { "`\($0.unmarked)`" } ?? "the end of the run"), recorded another event "
        + "(by its"
        + " mark, among the events from \(block.time) s on; `fedsim check --record --events` stores"
        + " them in words)")
  }

  // MARK: Tables

  private static func firstDifference(_ old: [[String]], _ new: [[String]]) -> Int? {
    (0..<max(old.count, new.count)).first { old.at($0) != new.at($0) }
  }

  /// The first row of a table that differs beyond what is tolerated, in words; nil: none.
  private func difference(
    in name: String, _ noun: String, _ time: String, _ found: Baseline
  ) -> String? {
    let (old, new) = (table(name), found.table(name))
    let (before, after) = (old?.rows ?? [], new?.rows ?? [])
    let columns = (old ?? new)?.columns ?? []
    let others = new?.columns ?? columns
    var first: (index: Int, text: String)?
    var count = 0
    for index in 0..<max(before.count, after.count) {
      let text: String?
      switch (before.at(index), after.at(index)) {
      case (let row?, let other?): text = cells(name, columns, row, others, other)
      case (nil, let other?): text = "the recorded run has none" + Self.short(columns, other)
      case (let row?, nil): text = "this run has none; recorded" + Self.short(columns, row)
      case (nil, nil): text = nil
      }
      guard let text else { continue }
      count += 1
      if first == nil { first = (index, text) }
    }
    guard let first else { return nil }
    let row = after.at(first.index) ?? before[first.index]
    let at = columns.firstIndex(of: time).flatMap { row.at($0) }.map { " (\($0) s)" } ?? ""
    let total = max(before.count, after.count)
    return "\(noun) \(row[0])\(at) is the first that differs: \(first.text)"
      + (count > 1 ? "; \(count) of \(total) differ" : "")
  }

  /// What differs between two rows, in words; nil: nothing that is not tolerated.
  private func cells(
    _ table: String, _ columns: [String], _ row: [String], _ others: [String], _ other: [String]
  ) -> String? {
    var parts: [String] = []
    for (index, column) in columns.enumerated() {
      guard let place = others.firstIndex(of: column) else {
        parts.append("there is no longer a column \(column)")
        continue
      }
      if !isTolerated("\(table).\(column)", row[index], other[place]) {
        parts.append("\(column) \(other[place]), recorded \(row[index])")
      }
    }
    guard !parts.isEmpty else { return nil }
    // The model's digest says nothing besides anything that it follows from.
    if parts.count > 1, parts.last?.hasPrefix("model ") == true { parts.removeLast() }
    let more = parts.count - 6
    return parts.prefix(6).joined(separator: "; ") + (more > 0 ? "; and \(more) more columns" : "")
  }

  private func isTolerated(_ column: String, _ old: String, _ new: String) -> Bool {
    if old == new { return true }
    guard let tolerance = tolerance(column) else { return false }
    guard let most = tolerance.value else { return true }
    guard let old = Double(old), let new = Double(new) else { return false }
    return abs(old - new) <= most
  }

  private static func short(_ columns: [String], _ row: [String]) -> String {
    let shown = zip(columns, row).dropFirst().prefix(4).map { "\($0) \($1)" }
    return " (" + shown.joined(separator: ", ") + ")"
  }

  // MARK: Counts

  private func countFindings(_ found: Baseline) -> [BaselineFinding] {
    let (old, new) = (table("counts")?.rows ?? [], found.table("counts")?.rows ?? [])
    func count(_ name: String, _ rows: [[String]]) -> String {
      rows.first { $0[0] == name }?[1] ?? "0"
    }
    var names = old.map { $0[0] }
    for row in new where !names.contains(row[0]) { names.append(row[0]) }
    let parts = names.compactMap { name -> String? in
      let (before, after) = (count(name, old), count(name, new))
      return isTolerated("counts.\(name)", before, after)
        ? nil : "\(name) \(after), recorded \(before)"
    }
    guard !parts.isEmpty else { return [] }
    let more = parts.count - 8
    return [
      BaselineFinding(
        kind: "count",
        text: parts.prefix(8).joined(separator: "; ")
          + (more > 0 ? "; and \(more) more counts" : ""))
    ]
  }

  /// What is not the run's doing, where it is not as it was recorded.
  func notes(against found: Baseline) -> [String] {
    [
      ("engine", "recorded by FedSim %, this is %"),
      ("settings", "the settings differ from the recorded ones (their digest was %, is %)"),
      ("data", "the data differ from the recorded ones (their digest was %, is %)"),
    ].compactMap { key, words in
      guard let old = value(key), let new = found.value(key), old != new else { return nil }
      if key == "settings", let named = namedSettings(against: found) { return named }
      let pieces = words.split(separator: "%", omittingEmptySubsequences: false)
      return "\(pieces[0])\(old)\(pieces[1])\(new)\(pieces[2])"
    }
  }

  /// How many differing settings a note names.
  private static let mostNamed = 8

  /// The settings that differ, with both values; nil for a recording that does not hold them.
  private func namedSettings(against found: Baseline) -> String? {
    func node(_ text: String?) -> Node? {
      text.flatMap { try? YAMLReader.read($0, file: "settings") }
    }
    guard let old = node(settings), let new = node(found.settings) else { return nil }
    let differences = SettingDifferences.between(old, new)
    guard !differences.isEmpty else { return nil }
    let named = differences.prefix(Self.mostNamed).map { difference in
      "\(difference.place) is \(difference.b ?? "absent"), recorded \(difference.a ?? "absent")"
    }
    let more = differences.count - named.count
    return "the settings differ from the recorded ones: " + named.joined(separator: "; ")
      + (more > 0 ? "; and \(more) more" : "")
  }
}

extension Array {
  /// The element at a place, nil beyond the end.
  fileprivate func at(_ index: Int) -> Element? { indices.contains(index) ? self[index] : nil }
}

extension String {
  /// The words of an event without its mark.
  fileprivate var unmarked: String {
    guard let mark = lastIndex(of: "~") else { return self }
    return String(self[..<mark].dropLast())
  }
}
