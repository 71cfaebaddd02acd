/// The lines of a comma-separated text, each split into cells.
struct DelimitedLines: ~Copyable {
  struct Cell {
    var bytes: Range<Int>
    var hasDoubledQuotes = false
  }

  let file: String
  private(set) var line = 0
  private(set) var cells: [Cell] = []
  private(set) var buffer: [UInt8]
  private(set) var lineBytes = 0..<0

  private static let longestLine = 1 << 20
  private let stream: ByteStream?
  private var unread = 0

  init(stream: ByteStream?, buffer: [UInt8], file: String) {
    self.stream = stream
    self.buffer = buffer
    self.file = file
  }

  func text(_ position: Int) -> String {
    let cell = cells[position]
    guard cell.hasDoubledQuotes else {
      return String(decoding: buffer[cell.bytes], as: UTF8.self)
    }
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

  /// A fault at a byte of the current line; columns count characters.
  func fault(
    _ kind: DataFault.Kind, at byte: Int, found: String, expected: String, advice: String? = nil
  ) -> DataFault {
    let before = buffer[lineBytes.lowerBound..<max(byte, lineBytes.lowerBound)]
    let column = before.reduce(1) { $0 + ($1 & 0xc0 == 0x80 ? 0 : 1) }
    return DataFault(
      kind, in: file, at: .text(line: max(line, 1), column: column), found: found,
      expected: expected, advice: advice)
  }

  /// Steps to the next line with cells; false at the end.
  mutating func next() throws(DataFault) -> Bool {
    while try nextLine() {
      if lineBytes.isEmpty || buffer[lineBytes.lowerBound] == UInt8(ascii: "#") { continue }
      try splitLine()
      try checkText()
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

  /// Of texts in another encoding letters would be lost, so that two names may become one.
  private func checkText() throws(DataFault) {
    guard buffer[lineBytes].contains(where: { $0 >= 0x80 }) else { return }
    for cell in cells where String(validating: buffer[cell.bytes], as: UTF8.self) == nil {
      throw fault(
        .malformed, at: cell.bytes.lowerBound, found: "a cell that is not UTF-8",
        expected: "a table in UTF-8")
    }
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
      try checkByte(at: at)
      guard byte != UInt8(ascii: "\"") else {
        throw fault(
          .malformed, at: at, found: "a quote inside a cell",
          expected: "quotes around the whole cell")
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
      try checkByte(at: at)
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

  private func checkByte(at place: Int) throws(DataFault) {
    guard buffer[place] != 0 else {
      throw fault(.malformed, at: place, found: "a zero byte", expected: "text")
    }
  }

  private func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}
