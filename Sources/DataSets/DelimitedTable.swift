import Schema

/// A comma-separated table with a header line, read row by row.
///
/// Strict: each declared column that is required is there, no other column is, every row has as
/// many cells as the header. Allowed: columns in any order, spaces around cells, cells in double
/// quotes (a quote inside doubled; no line breaks inside), empty lines, lines that begin with `#`,
/// a byte-order mark, either kind of line ending, gzip.
///
/// ```swift
/// var table = try DelimitedTable(contentsOf: path, columns: [.required("device"),
/// .optional("rate")]) while try table.nextRow() { use(try table.integer(0)) } ```
public struct DelimitedTable: ~Copyable {
  /// A column that the reader knows.
  public struct Column: Sendable, Equatable {
    /// Its name in the header line.
    public var name: String
    /// Whether a table without it is at fault.
    public var isRequired: Bool

    /// A column that has to be there.
    public static func required(_ name: String) -> Column { Column(name: name, isRequired: true) }
    /// A column that may be missing.
    public static func optional(_ name: String) -> Column { Column(name: name, isRequired: false) }
  }

  private let columns: [Column]
  private let positions: [Int]
  private let width: Int
  private var lines: DelimitedLines

  /// The file's path, for faults.
  public var file: String { lines.file }
  /// The number of the current row's line, counted from 1.
  public var line: Int { lines.line }

  /// Opens a file and reads its header. Columns are asked for by their place in `columns`.
  ///
  /// Throws: `truncated` without a header, `missingName`, `unknownName` with the nearest known
  /// name, `duplicate`, and what `ByteStream` throws.
  public init(contentsOf path: String, columns: [Column]) throws(DataFault) {
    let stream = try ByteStream(path: path, limit: 1 << 40)
    var lines = DelimitedLines(stream: stream, buffer: [], file: path)
    positions = try Self.header(of: &lines, columns: columns)
    width = lines.cells.count
    self.columns = columns
    self.lines = lines
  }

  /// A table already in memory; `file` is named in faults.
  public init(text: String, file: String, columns: [Column]) throws(DataFault) {
    var lines = DelimitedLines(stream: nil, buffer: Array(text.utf8), file: file)
    positions = try Self.header(of: &lines, columns: columns)
    width = lines.cells.count
    self.columns = columns
    self.lines = lines
  }

  /// Steps to the next row; false at the end.
  ///
  /// Throws: `countMismatch` for a row with other than the header's number of cells, `malformed`
  /// for quotes that do not match and bytes that are no text.
  public mutating func nextRow() throws(DataFault) -> Bool {
    guard try lines.next() else { return false }
    guard lines.cells.count == width else {
      throw lines.fault(
        .countMismatch, at: lines.lineBytes.upperBound, found: "\(lines.cells.count) cells",
        expected: "\(width), as in the header")
    }
    return true
  }

  /// Whether the header has this column.
  public func has(_ column: Int) -> Bool { positions[column] >= 0 }

  /// Whether the column is missing or this row's cell is empty.
  public func isEmpty(_ column: Int) -> Bool { bytes(column).isEmpty }

  /// The cell as text; empty where the column is missing.
  public func text(_ column: Int) -> String {
    positions[column] < 0 ? "" : lines.text(positions[column])
  }

  /// The bytes of the cell, quotes taken off; doubled quotes inside stay doubled.
  func bytes(_ column: Int) -> ArraySlice<UInt8> {
    positions[column] < 0 ? [] : lines.buffer[lines.cells[positions[column]].bytes]
  }

  /// A fault at this row's cell of a column, for readers that find a value out of place.
  public func fault(
    _ kind: DataFault.Kind, column: Int, found: String? = nil, expected: String,
    advice: String? = nil
  ) -> DataFault {
    let position = positions[column]
    let start = position < 0 ? lines.lineBytes.lowerBound : lines.cells[position].bytes.lowerBound
    return lines.fault(
      kind, at: start, found: found ?? (isEmpty(column) ? "nothing" : "`\(text(column))`"),
      expected: "\(expected) in column '\(columns[column].name)'", advice: advice)
  }

  private static func header(
    of lines: inout DelimitedLines, columns: [Column]
  ) throws(DataFault) -> [Int] {
    let known = columns.map(\.name)
    var positions = Array(repeating: -1, count: known.count)
    guard try lines.next() else {
      throw lines.fault(
        .truncated, at: 0, found: "an empty table",
        expected: "a header line with \(known.joined(separator: ", "))")
    }
    for (position, cell) in lines.cells.enumerated() {
      let name = lines.text(position)
      guard let column = known.firstIndex(of: name) else {
        throw lines.fault(
          .unknownName, at: cell.bytes.lowerBound, found: "column '\(name)'",
          expected: "one of \(known.joined(separator: ", "))",
          advice: Spelling.nearest(to: name, among: known).map { "did you mean '\($0)'?" })
      }
      guard positions[column] < 0 else {
        throw lines.fault(
          .duplicate, at: cell.bytes.lowerBound, found: "column '\(name)' again",
          expected: "each column once")
      }
      positions[column] = position
    }
    for column in columns.indices where columns[column].isRequired && positions[column] < 0 {
      throw lines.fault(
        .missingName, at: lines.lineBytes.lowerBound, found: "no column '\(known[column])'",
        expected: "one in the header line")
    }
    return positions
  }
}
