/// A comma-separated table with a header line, read row by row.
///
/// Strict: each declared column that is required is there, no other column is, every row has as many
/// cells as the header. Allowed: columns in any order, spaces around cells, cells in double quotes
/// (a quote inside doubled; no line breaks inside), empty lines, lines that begin with `#`, a
/// byte-order mark, either kind of line ending, gzip.
///
/// ```swift
/// var table = try DelimitedTable(contentsOf: path, columns: [.required("device"), .optional("rate")])
/// while try table.nextRow() { use(try table.integer(0)) }
/// ```
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

  private struct Cell {
    var bytes: Range<Int>
    var hasDoubledQuotes = false
  }

  /// The file's path, for faults.
  public let file: String
  /// The number of the current row's line, counted from 1.
  public private(set) var line = 0

  private static let longestLine = 1 << 20
  private let columns: [Column]
  private var positions: [Int] = []
  private var width = 0
  private let stream: ByteStream?
  private var buffer: [UInt8] = []
  private var unread = 0
  private var lineBytes = 0..<0
  private var cells: [Cell] = []

  /// Opens a file and reads its header. Columns are asked for by their place in `columns`.
  ///
  /// Throws: `truncated` without a header, `missingName`, `unknownName` with the nearest known name,
  /// `duplicate`, and what `ByteStream` throws.
  public init(contentsOf path: String, columns: [Column]) throws(DataFault) {
    file = path
    self.columns = columns
    stream = try ByteStream(path: path, limit: 1 << 40)
    try readHeader()
  }

  /// A table already in memory; `file` stands in faults.
  public init(text: String, file: String, columns: [Column]) throws(DataFault) {
    self.file = file
    self.columns = columns
    stream = nil
    buffer = Array(text.utf8)
    try readHeader()
  }

  /// Steps to the next row; false at the end.
  ///
  /// Throws: `countMismatch` for a row with other than the header's number of cells, `malformed` for
  /// quotes that do not match and bytes that are no text.
  public mutating func nextRow() throws(DataFault) -> Bool {
    guard try nextCells() else { return false }
    guard cells.count == width else {
      throw fault(
        .countMismatch, at: lineBytes.upperBound, found: "\(cells.count) cells",
        expected: "\(width), as in the header")
    }
    return true
  }

  /// Whether the header has this column.
  public func has(_ column: Int) -> Bool { positions[column] >= 0 }

  /// Whether the column is missing or this row's cell is empty.
  public func isEmpty(_ column: Int) -> Bool {
    positions[column] < 0 || cells[positions[column]].bytes.isEmpty
  }

  /// The cell as text; empty where the column is missing.
  public func text(_ column: Int) -> String {
    guard positions[column] >= 0 else { return "" }
    let cell = cells[positions[column]]
    return text(of: cell)
  }

  /// The bytes of the cell, quotes taken off; doubled quotes inside stay doubled.
  func bytes(_ column: Int) -> ArraySlice<UInt8> {
    positions[column] < 0 ? [] : buffer[cells[positions[column]].bytes]
  }

  /// A fault at this row's cell of a column, for readers that find a value out of place.
  public func fault(
    _ kind: DataFault.Kind, column: Int, found: String? = nil, expected: String,
    advice: String? = nil
  ) -> DataFault {
    let position = positions[column]
    let start = position < 0 ? lineBytes.lowerBound : cells[position].bytes.lowerBound
    return fault(
      kind, at: start, found: found ?? (isEmpty(column) ? "nothing" : "`\(text(column))`"),
      expected: "\(expected) in column '\(columns[column].name)'", advice: advice)
  }

  private func text(of cell: Cell) -> String {
    let text = String(decoding: buffer[cell.bytes], as: UTF8.self)
    guard cell.hasDoubledQuotes else { return text }
    var kept: [UInt8] = []
    var isSecond = false
    for byte in buffer[cell.bytes] {
      if byte == UInt8(ascii: "\"") && isSecond {
        isSecond = false
        continue
      }
      isSecond = byte == UInt8(ascii: "\"")
      kept.append(byte)
    }
    return String(decoding: kept, as: UTF8.self)
  }

  private func fault(
    _ kind: DataFault.Kind, at byte: Int, found: String, expected: String, advice: String? = nil
  ) -> DataFault {
    let before = buffer[lineBytes.lowerBound..<max(byte, lineBytes.lowerBound)]
    let column = before.reduce(1) { $0 + ($1 & 0xc0 == 0x80 ? 0 : 1) }
    return DataFault(
      kind, in: file, at: .text(line: max(line, 1), column: column), found: found,
      expected: expected, advice: advice)
  }

  private mutating func readHeader() throws(DataFault) {
    let known = columns.map(\.name)
    positions = Array(repeating: -1, count: known.count)
    guard try nextCells() else {
      throw fault(
        .truncated, at: 0, found: "an empty table",
        expected: "a header line with \(known.joined(separator: ", "))")
    }
    for (position, cell) in cells.enumerated() {
      let name = text(of: cell)
      guard let column = known.firstIndex(of: name) else {
        throw fault(
          .unknownName, at: cell.bytes.lowerBound, found: "column '\(name)'",
          expected: "one of \(known.joined(separator: ", "))",
          advice: nearest(to: name, among: known).map { "did you mean '\($0)'?" })
      }
      guard positions[column] < 0 else {
        throw fault(
          .duplicate, at: cell.bytes.lowerBound, found: "column '\(name)' again",
          expected: "each column once")
      }
      positions[column] = position
    }
    for column in columns.indices where columns[column].isRequired && positions[column] < 0 {
      throw fault(
        .missingName, at: lineBytes.lowerBound, found: "no column '\(known[column])'",
        expected: "one in the header line")
    }
    width = cells.count
  }

  private mutating func nextCells() throws(DataFault) -> Bool {
    while try nextLine() {
      if lineBytes.isEmpty || buffer[lineBytes.lowerBound] == UInt8(ascii: "#") { continue }
      try splitLine()
      if cells.count == 1 && cells[0].bytes.isEmpty { continue }
      return true
    }
    return false
  }

  private mutating func nextLine() throws(DataFault) -> Bool {
    var searched = unread
    while true {
      if let end = buffer[searched...].firstIndex(of: 0x0a) {
        take(until: end)
        return true
      }
      guard buffer.count - unread <= Self.longestLine else {
        lineBytes = unread..<unread
        line += 1
        throw fault(
          .malformed, at: unread, found: "a line of more than \(Self.longestLine) bytes",
          expected: "a table of text")
      }
      searched = buffer.count - unread
      buffer.removeSubrange(..<unread)
      unread = 0
      guard let stream, try stream.read(1 << 16, appendingTo: &buffer) > 0 else { break }
    }
    guard unread < buffer.count else {
      lineBytes = buffer.count..<buffer.count
      return false
    }
    take(until: buffer.count)
    return true
  }

  private mutating func take(until end: Int) {
    line += 1
    var start = unread
    if line == 1 && buffer[start..<end].starts(with: [0xef, 0xbb, 0xbf]) { start += 3 }
    let isCarriageReturn = end > start && buffer[end - 1] == 0x0d
    lineBytes = start..<(isCarriageReturn ? end - 1 : end)
    unread = min(end + 1, buffer.count)
  }

  private mutating func splitLine() throws(DataFault) {
    cells.removeAll(keepingCapacity: true)
    var at = lineBytes.lowerBound
    let end = lineBytes.upperBound
    while true {
      while at < end && isSpace(buffer[at]) { at += 1 }
      if at < end && buffer[at] == UInt8(ascii: "\"") {
        at = try takeQuoted(from: at, to: end)
      } else {
        at = try takePlain(from: at, to: end)
      }
      if at == end { return }
      at += 1
    }
  }

  private mutating func takePlain(from start: Int, to end: Int) throws(DataFault) -> Int {
    var at = start
    var last = start
    while at < end && buffer[at] != UInt8(ascii: ",") {
      let byte = buffer[at]
      guard byte != 0, byte != UInt8(ascii: "\"") else {
        throw fault(
          .malformed, at: at, found: byte == 0 ? "a zero byte" : "a quote inside a cell",
          expected: byte == 0 ? "text" : "quotes around the whole cell")
      }
      at += 1
      if !isSpace(byte) { last = at }
    }
    cells.append(Cell(bytes: start..<last))
    return at
  }

  private mutating func takeQuoted(from start: Int, to end: Int) throws(DataFault) -> Int {
    var at = start + 1
    var cell = Cell(bytes: at..<at)
    while true {
      guard at < end else {
        throw fault(
          .malformed, at: start, found: "a quote that is not closed on its line",
          expected: "a closing quote")
      }
      if buffer[at] == UInt8(ascii: "\"") {
        guard at + 1 < end, buffer[at + 1] == UInt8(ascii: "\"") else { break }
        cell.hasDoubledQuotes = true
        at += 1
      }
      at += 1
    }
    cell.bytes = start + 1..<at
    cells.append(cell)
    at += 1
    while at < end && isSpace(buffer[at]) { at += 1 }
    guard at == end || buffer[at] == UInt8(ascii: ",") else {
      throw fault(
        .malformed, at: at, found: "text after a closing quote", expected: "a comma")
    }
    return at
  }

  private func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}
