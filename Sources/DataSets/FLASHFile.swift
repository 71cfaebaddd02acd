import Schema

/// State traces of phones in FLASH's JSON: `{id: {guid, model, messages}}`, the messages being
/// lines of a time, a tab and a word.
///
/// ```json
/// {"7": {"guid": "7", "model": "M5", "messages": "2020-01-29 23:41:07\tbattery_charged_on\n"}}
/// ```
///
/// Strict: each id once, messages in order of time, words that are known, levels from 0 to 100 %.
/// Allowed: other members of a trace, empty lines, words in capitals, gzip.
public struct FLASHFile {
  /// One message.
  public struct Message: Equatable, Sendable {
    /// Seconds since 1970-01-01 00:00:00 by the clock on the phone's wall.
    public let second: Int64
    /// The word's place in the vocabulary; its end for a level of the battery.
    public let word: Int
  }

  /// The trace of one phone.
  public struct Trace: Sendable {
    /// Its key in the file.
    public var id = ""
    /// The messages, in order of time; at least one.
    public var messages: [Message] = []
    /// Where its key is.
    public var place = DataFault.Place.file
    /// Where the time of its last message is.
    public var lastPlace = DataFault.Place.file
  }

  private let words: [[UInt8]]
  private let names: [String]
  private var trace = Trace()
  /// The date read last, for most messages have that of the one before: its text and its midnight.
  private var date: (text: [UInt8], midnight: Int64) = ([], 0)

  /// Reads a file and passes each trace on, in order; no more than one is held.
  ///
  /// The vocabulary is in small letters. Throws: what `JSONText` throws; `missingName`,
  /// `unknownName` with the nearest word, `duplicate`, `malformed` and `outOfRange`, each at its
  /// line and column.
  public static func read(
    contentsOf path: String, words: [String],
    _ body: (borrowing Trace) throws(DataFault) -> Void
  ) throws(DataFault) {
    var text = try JSONText(path: path)
    var reader = FLASHFile(words)
    var known: Set<String> = []
    try text.take("{", "an object of traces by id")
    guard try !text.takeIfPresent("}") else { return try text.end() }
    repeat {
      reader.trace.id = try text.string("the id of a trace")
      reader.trace.place = text.place
      guard known.insert(reader.trace.id).inserted else {
        throw text.fault(
          .duplicate, found: "the trace `\(reader.trace.id)` again", expected: "each id once")
      }
      try text.take(":", "`:` and a trace")
      try reader.readTrace(&text)
      try body(reader.trace)
    } while try text.takeIfPresent(",")
    try text.take("}", "`,` and another trace, or `}`")
    try text.end()
  }

  private init(_ words: [String]) {
    names = words
    self.words = words.map { Array($0.utf8) }
  }

  private mutating func readTrace(_ text: inout JSONText) throws(DataFault) {
    trace.messages.removeAll(keepingCapacity: true)
    var hasMessages = false
    try text.take("{", "an object with `messages`")
    if try !text.takeIfPresent("}") {
      repeat {
        let name = try text.string("the name of a member")
        let isSecond = name == "messages" && hasMessages
        guard !isSecond else {
          throw text.fault(
            .duplicate, found: "`messages` again", expected: "each member of a trace once")
        }
        try text.take(":", "`:` and a value")
        if name == "messages" {
          hasMessages = true
          let file = text.file
          try text.lines("a text of messages") { line throws(DataFault) in
            try take(line, file)
          }
        } else {
          try text.skipValue()
        }
      } while try text.takeIfPresent(",")
      try text.take("}", "`,` and another member, or `}`")
    }
    guard hasMessages else {
      throw DataFault(
        .missingName, in: text.file, at: trace.place, found: "no `messages` in `\(trace.id)`",
        expected: "a text of messages")
    }
    guard !trace.messages.isEmpty else {
      throw DataFault(
        .countMismatch, in: text.file, at: trace.place, found: "no message in `\(trace.id)`",
        expected: "at least one")
    }
  }

  /// Takes one line of messages.
  private mutating func take(
    _ line: borrowing TextLine, _ file: String
  ) throws(DataFault) {
    let all = line.trimmed(0..<line.bytes.count)
    if all.isEmpty { return }
    func fault(
      _ kind: DataFault.Kind, _ range: Range<Int>, _ expected: String, advice: String? = nil
    ) -> DataFault {
      DataFault(
        kind, in: file, at: line.places[range.lowerBound],
        found: range.isEmpty ? "nothing" : "`\(line.text(range))`", expected: expected,
        advice: advice)
    }
    let tab = line.bytes[all].firstIndex(of: 0x09)
    guard let tab else {
      throw fault(
        .malformed, all, "a time, a tab and a word, such as `2020-01-29 23:41:07`\\t`wifi`")
    }
    let (when, what) = (line.trimmed(all.lowerBound..<tab), line.trimmed(tab + 1..<all.upperBound))
    guard let second = second(line.bytes[when]) else {
      throw fault(.malformed, when, "a time as YYYY-MM-DD HH:MM:SS")
    }
    if let last = trace.messages.last, second < last.second {
      throw fault(
        .outOfRange, when,
        "a time not before the previous message's, \(Self.text(last.second))")
    }
    trace.lastPlace = line.places[when.lowerBound]
    if let word = word(line.bytes[what]) {
      trace.messages.append(Message(second: second, word: word))
    } else if line.bytes[what].last == UInt8(ascii: "%") {
      let digits = line.trimmed(what.lowerBound..<what.upperBound - 1)
      guard !line.bytes[what].contains(0x09), DecimalNumber.isNumber(line.bytes[digits]),
        let level = Double(String(decoding: line.bytes[digits], as: UTF8.self)),
        (0...100).contains(level)
      else { throw fault(.outOfRange, what, "a level of the battery from 0 to 100 %") }
      trace.messages.append(Message(second: second, word: words.count))
    } else {
      let written = line.text(what)
      throw fault(
        .unknownName, what, "one of \(names.joined(separator: ", ")), or a level such as `55.0%`",
        advice: Spelling.nearest(to: written, among: names).map { "did you mean `\($0)`?" })
    }
  }

  /// A word's place, in whatever letters it is written.
  private func word(_ bytes: ArraySlice<UInt8>) -> Int? {
    words.firstIndex { word in
      word.count == bytes.count
        && zip(word, bytes).allSatisfy { $0 == (0x41...0x5a ~= $1 ? $1 + 0x20 : $1) }
    }
  }

  /// Seconds since 1970 of `YYYY-MM-DD HH:MM:SS`; nil for anything else.
  private mutating func second(_ bytes: ArraySlice<UInt8>) -> Int64? {
    guard bytes.count == 19 else { return nil }
    let at = bytes.startIndex
    let day = bytes[at..<at + 10]
    if !day.elementsEqual(date.text) {
      guard let civil = CivilTime(String(decoding: day, as: UTF8.self)) else { return nil }
      date = (Array(day), civil.secondsSince1970)
    }
    guard bytes[at + 10] == 0x20, bytes[at + 13] == 0x3a, bytes[at + 16] == 0x3a else {
      return nil
    }
    func two(_ place: Int) -> Int64? {
      let (tens, ones) = (bytes[at + place], bytes[at + place + 1])
      guard 0x30...0x39 ~= tens, 0x30...0x39 ~= ones else { return nil }
      return Int64(tens - 0x30) * 10 + Int64(ones - 0x30)
    }
    guard let hour = two(11), let minute = two(14), let second = two(17), hour < 24, minute < 60,
      second < 60
    else { return nil }
    return date.midnight + hour * 3_600 + minute * 60 + second
  }

  /// `YYYY-MM-DD HH:MM:SS` of seconds since 1970.
  package static func text(_ second: Int64) -> String {
    String(CivilTime(secondsSince1970: second).text.replacing("T", with: " ").dropLast())
  }
}
