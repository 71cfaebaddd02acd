import Foundation
import Runs

/// A small comma-separated table with a header line, as sweeps write it, held in memory.
struct CSVLines {
  /// A line's number in the file, and its cells.
  struct Line {
    let number: Int
    let cells: [String]
  }

  let file: String
  let header: [String]
  let lines: [Line]

  /// Reads a file. Throws: `input` where it is missing, or a line has another number of cells.
  init(_ file: String) throws(RunFailure) {
    guard let text = try? String(contentsOfFile: file, encoding: .utf8) else {
      throw SweepFolder.refusal(file, "found no such file, expected a table")
    }
    self.file = file
    var rows: [Line] = []
    for (place, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
    where !line.isEmpty {
      rows.append(Line(number: place + 1, cells: Self.cells(line)))
    }
    header = rows.first?.cells ?? []
    lines = Array(rows.dropFirst())
    for line in lines where line.cells.count != header.count {
      throw SweepFolder.refusal(
        file, "line \(line.number): found \(line.cells.count) cells, expected \(header.count)")
    }
  }

  /// The cell of a column. Throws: `input` without such a column.
  func cell(_ column: String, _ line: Line) throws(RunFailure) -> String {
    guard let place = header.firstIndex(of: column) else {
      let nearest = SpellingSuggestion.word(to: column, among: header)
      throw SweepFolder.refusal(
        file,
        "found no column `\(column)`, "
          + (nearest.map { "did you mean `\($0)`?" } ?? "expected it in the header"))
    }
    return line.cells[place]
  }

  /// The number of a column; nil where the cell is empty. Throws: `input` where it is none.
  func number(_ column: String, _ line: Line) throws(RunFailure) -> Double? {
    let text = try cell(column, line)
    if text.isEmpty { return nil }
    guard let value = Double(text), value.isFinite else {
      throw SweepFolder.refusal(
        file, "line \(line.number): found `\(text)` in `\(column)`, expected a number")
    }
    return value
  }

  /// The cells of a line; quotes around a cell are taken off.
  private static func cells(_ line: Substring) -> [String] {
    var cells = [""]
    var isQuoted = false
    for character in line where character != "\r" {
      if character == "\"" {
        isQuoted.toggle()
      } else if character == ",", !isQuoted {
        cells.append("")
      } else {
        cells[cells.count - 1].append(character)
      }
    }
    return cells
  }
}
