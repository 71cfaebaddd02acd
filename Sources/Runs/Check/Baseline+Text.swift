import FedSim
import Schema

extension Baseline {
  private static let title =
    "# Recording of this scenario's run. `fedsim check` compares runs with it; `fedsim check "
    + "--record`\n"
    + "# writes it again and keeps the lines under [tolerances], which may be edited by hand.\n"

  /// The file's text.
  package var text: String {
    var text = Self.title
    for entry in header { text += entry.joined(separator: " ") + "\n" }
    text += "\n[tolerances]\n"
    for tolerance in tolerances {
      text += "\(tolerance.column) \(tolerance.value.map(Text.shortest) ?? "any")\n"
    }
    if let settings {
      text += "\n[settings]\n"
      for line in settings.split(separator: "\n", omittingEmptySubsequences: true) {
        text += "  \(line)\n"
      }
    }
    for table in tables {
      text += "\n[\(table.name)]\n" + table.columns.joined(separator: " ") + "\n"
      for row in table.rows { text += row.joined(separator: " ") + "\n" }
    }
    switch events {
    case .lines(let lines):
      text += "\n[events]\n"
      for line in lines { text += line + "\n" }
    case .blocks(let blocks):
      text += "\n[marks]\n"
      for block in blocks {
        text += "\(block.first) \(block.time) \(block.digest) \(block.marks)\n"
      }
    case .hours:
      break
    }
    return text
  }

  /// Reads a file.
  ///
  /// Throws: what is wrong with its first wrong line.
  package init(_ text: String, file: String) throws(Faults) {
    var reading = Reading(file: file)
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      reading.number += 1
      if line.hasPrefix("#") || line.allSatisfy({ $0 == " " }) { continue }
      try reading.take(String(line))
    }
    self = try reading.finish()
  }
}

/// A baseline that is being read.
private struct Reading {
  let file: String
  var number = 0
  private var header: [[String]] = []
  private var tolerances: [Baseline.Tolerance] = []
  private var tables: [Baseline.Table] = []
  private var lines: [String]?
  private var blocks: [Baseline.Block]?
  private var settings: String?
  private var section = ""
  /// The lines of keys, sections and tolerances, by what they say.
  private var places: [String: Int] = [:]
  /// The columns of the table whose rows are read; nil: they come next.
  private var columns: [String]?

  private static let known = [
    "tolerances", "settings", "counts", "rounds", "versions", "central", "hours", "events", "marks",
  ]

  init(file: String) { self.file = file }

  private func fault(_ message: String, column: Int = 1, at line: Int? = nil) -> Faults {
    Faults([Fault(at: Place(file: file, line: line ?? number, column: column), .syntax(message))])
  }

  mutating func take(_ line: String) throws(Faults) {
    if line.hasPrefix("["), line.hasSuffix("]") {
      section = String(line.dropFirst().dropLast())
      columns = nil
      guard Self.known.contains(section) else {
        let near = Spelling.nearest(to: section, among: Self.known)
        throw fault(
          "there is no section [\(section)]" + (near.map { "; did you mean [\($0)]?" } ?? ""))
      }
      guard places["[\(section)]"] == nil else {
        throw fault("the section [\(section)] appears twice")
      }
      places["[\(section)]"] = number
      if section == "settings" { settings = "" }
      if section == "events" { lines = [] }
      if section == "marks" { blocks = [] }
      return
    }
    let words = line.split(separator: " ").map(String.init)
    switch section {
    case "":
      guard let key = words.first else { throw fault("found nothing, expected `key value`") }
      header.append([key, words.dropFirst().joined(separator: " ")])
      places[key] = number
      if key == "format", words.last != Baseline.format {
        throw fault(
          "found format \(words.last ?? ""), expected \(Baseline.format): record it again with"
            + " `fedsim check --record`")
      }
    case "tolerances": try takeTolerance(words)
    case "settings": settings? += line.dropFirst(2) + "\n"
    case "events": lines?.append(line)
    case "marks": try takeBlock(words)
    default: try takeRow(words)
    }
  }

  private mutating func takeTolerance(_ words: [String]) throws(Faults) {
    let value = words.count == 2 ? words[1] : ""
    guard words.count == 2, value == "any" || (Text.number(value) ?? -1) >= 0 else {
      throw fault(
        "found `\(words.joined(separator: " "))`, expected a column and a number of at least 0, or"
          + " `any`: `versions.centralLoss 0.001`", column: min(2, words.count))
    }
    let place = "tolerance \(words[0])"
    guard places[place] == nil else {
      throw fault("`\(words[0])` is tolerated twice: write one line per column")
    }
    places[place] = number
    tolerances.append(.init(column: words[0], value: value == "any" ? nil : Text.number(value)))
  }

  private mutating func takeBlock(_ words: [String]) throws(Faults) {
    guard words.count == 4, let first = Int(words[0]) else {
      throw fault("found \(words.count) words, expected a number, a time, a digest and marks")
    }
    blocks?.append(.init(first: first, time: words[1], digest: words[2], marks: words[3]))
  }

  private mutating func takeRow(_ words: [String]) throws(Faults) {
    guard let columns else {
      self.columns = words
      tables.append(.init(name: section, columns: words, rows: []))
      return
    }
    guard words.count == columns.count else {
      throw fault("found \(words.count) words, expected \(columns.count), one per column")
    }
    tables[tables.count - 1].rows.append(words)
  }

  mutating func finish() throws(Faults) -> Baseline {
    guard header.first?[0] == "format" else {
      number = 1
      throw fault("this is not a recording: expected `format \(Baseline.format)` first")
    }
    for name in ["counts", "rounds", "versions", "hours"]
    where !tables.contains(where: { $0.name == name }) {
      throw fault("the section [\(name)] is missing: record it again with `fedsim check --record`")
    }
    try checkTolerances()
    var events = Baseline.Events.hours
    if let lines { events = .lines(lines) } else if let blocks { events = .blocks(blocks) }
    let baseline = Baseline(
      header: header, tolerances: tolerances, settings: settings, tables: tables, events: events)
    if let (place, message) = baseline.contradiction {
      throw fault(
        message + ": the file was changed by hand; restore it, or remove it and record again",
        at: places[place])
    }
    return baseline
  }

  /// What may be tolerated: columns of the tables of rounds, versions and central trainings,
  /// counts, and the events as a whole.
  private func checkTolerances() throws(Faults) {
    let compared = tables.filter { ["rounds", "versions", "central"].contains($0.name) }
    let columns = compared.flatMap { table in table.columns.map { "\(table.name).\($0)" } }
    let recorded = tables.first { $0.name == "counts" }?.rows.map { $0[0] } ?? []
    let counts =
      (recorded + RunFacts.countNames + FileOutcome.allCases.map { "file.\($0.rawValue)" })
      .map { "counts.\($0)" }
    let words = ["events", "rounds.outcome", "versions.model", "central.model"]
    let known = columns + counts + ["events"]
    for tolerance in tolerances {
      let line = places["tolerance \(tolerance.column)"]
      guard known.contains(tolerance.column) else {
        let near = Spelling.nearest(to: tolerance.column, among: known)
        throw fault(
          "there is no column `\(tolerance.column)` for this tolerance"
            + (near.map { "; did you mean `\($0)`?" } ?? ""), at: line)
      }
      if words.contains(tolerance.column), let value = tolerance.value {
        throw fault(
          "found `\(Text.shortest(value))`, expected `any`: `\(tolerance.column)` is not a number",
          column: tolerance.column.count + 2, at: line)
      }
    }
  }
}
