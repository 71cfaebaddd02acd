import Foundation

/// What a driver asks of a worker, a line each on its standard input.
enum WorkerOrder: Equatable {
  /// Play a cell, unless its result is there.
  case play(String)
  /// Look whether the result of a cell is there.
  case look(String)

  init?(_ line: String) {
    let words = line.split(separator: " ").map(String.init)
    guard words.count == 2 else { return nil }
    switch words[0] {
    case "play": self = .play(words[1])
    case "look": self = .look(words[1])
    default: return nil
    }
  }

  var line: String {
    switch self {
    case .play(let id): "play \(id)\n"
    case .look(let id): "look \(id)\n"
    }
  }
}

/// What a worker answers, a line of JSON each.
package struct WorkerAnswer: Codable {
  package enum Kind: String, Codable {
    /// The cell was played, and its result is whole.
    case played
    /// Its result was there.
    case there
    /// Its result is not there, and was not asked for.
    case missing
    /// It failed, and may succeed another time.
    case failed
    /// It cannot be played as it is.
    case refused
  }

  var id: String
  package var kind: Kind
  package var reason: String?
  package var row: CellRow?

  init(_ id: String, _ kind: Kind, reason: String? = nil, row: CellRow? = nil) {
    self.id = id
    self.kind = kind
    self.reason = reason
    self.row = row
  }
}

/// A value as one line of JSON, and back, and lines on their way between two processes.
enum MessageLine {
  static func bytes(_ value: some Encodable) -> [UInt8] {
    guard let data = try? JSONEncoder().encode(value) else {
      preconditionFailure("a message contains only words and finite numbers")
    }
    return Array(data) + [10]
  }

  static func value<Value: Decodable>(_ type: Value.Type, _ line: some Sequence<UInt8>) -> Value? {
    try? JSONDecoder().decode(type, from: Data(line))
  }

  /// Writes all of a line; nothing is said where nobody listens any more.
  static func send(_ bytes: [UInt8], to descriptor: CInt) {
    var start = 0
    while start < bytes.count {
      let count = bytes.withUnsafeBytes {
        write(descriptor, $0.baseAddress! + start, bytes.count - start)
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return }
      start += count
    }
  }

  /// Reads standard input to its end; passes each line on without its end.
  static func readInput(_ take: ([UInt8]) -> Void) {
    var buffer = LineBuffer()
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = read(0, &piece, piece.count)
      if count < 0, errno == EINTR { continue }
      if count <= 0 { return }
      for line in buffer.add(piece[..<count]) { take(line) }
    }
  }
}

/// Lines out of bytes that come in pieces.
struct LineBuffer {
  private var bytes: [UInt8] = []

  /// Takes in a piece; the lines that are whole now, without their ends.
  mutating func add(_ piece: ArraySlice<UInt8>) -> [[UInt8]] {
    guard piece.contains(10) else {
      bytes += piece
      return []
    }
    var lines: [[UInt8]] = []
    for byte in piece {
      if byte == 10 {
        lines.append(bytes)
        bytes.removeAll(keepingCapacity: true)
      } else {
        bytes.append(byte)
      }
    }
    return lines
  }
}
