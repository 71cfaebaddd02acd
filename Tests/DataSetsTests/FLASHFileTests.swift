import DataSets
import Foundation
import Testing

/// A text and what is wrong with it.
private struct Spoilt: CustomTestStringConvertible, Sendable {
  let testDescription: String
  let text: String
  let kind: DataFault.Kind
  let line: Int
  let column: Int
  let words: String

  init(
    _ description: String, _ text: String, _ kind: DataFault.Kind, _ line: Int, _ column: Int,
    _ words: String = ""
  ) {
    testDescription = description
    self.text = text
    self.kind = kind
    (self.line, self.column) = (line, column)
    self.words = words
  }

  /// A trace of these messages: the first one is in column 21.
  static func messages(
    _ description: String, _ messages: String, _ kind: DataFault.Kind, _ column: Int,
    _ words: String = ""
  ) -> Spoilt {
    Spoilt(
      description, "{\"7\": {\"messages\": \"\(messages)\"}}", kind, 1, column, words)
  }
}

@Suite("FLASH's files")
struct FLASHFileTests {
  private static let words = [
    "battery_charged_on", "battery_charged_off", "wifi", "4g", "unknown", "screen_lock",
    "screen_unlock",
  ]

  private static func read(_ text: String) throws -> [(id: String, messages: [FLASHFile.Message])] {
    let folder = try TemporaryFolder()
    return try read(path: folder.write(text, as: "traces.json"))
  }

  private static func read(
    path: String
  ) throws -> [(id: String, messages: [FLASHFile.Message])] {
    var found: [(id: String, messages: [FLASHFile.Message])] = []
    try FLASHFile.read(contentsOf: path, words: words) { trace throws(DataFault) in
      found.append((trace.id, trace.messages))
    }
    return found
  }

  @Test func `traces come in the file's order, with times as they stand and words by their place`()
    throws
  {
    let found = try Self.read(
      #"""
      {"b": {"guid": "b", "model": "M\t5", "other": [1, {"x": null}],
       "messages": "\n2020-02-29 23:59:59\tBattery_Charged_On\r\n  2020-03-01 00:00:00 \t 4G \n"},
       "a": {"messages": "1970-01-01 00:00:10\t55.5%"}}
      """#)
    #expect(found.map(\.id) == ["b", "a"])
    // 2020-02-29T23:59:59Z is 1,583,020,799 s after 1970 began.
    #expect(found[0].messages.map(\.second) == [1_583_020_799, 1_583_020_800])
    #expect(found[0].messages.map(\.word) == [0, 3])
    #expect(found[1].messages.map(\.second) == [10] && found[1].messages.map(\.word) == [7])
    #expect(try Self.read("{}").isEmpty)
  }

  @Test func `equal times and a state that is said again are no faults`() throws {
    let line = #"2020-01-29 23:41:07\twifi\n"#
    let found = try Self.read("{\"7\": {\"messages\": \"\(line)\(line)\"}}")
    #expect(found[0].messages.count == 2)
  }

  private static let good = #"2020-01-29 23:41:07\twifi\n"#

  private static let faults: [Spoilt] = [
    Spoilt("empty", "", .truncated, 1, 1),
    Spoilt("a list", "[]", .malformed, 1, 1, "an object of traces by id"),
    Spoilt("cut after the id", "{\"7\":", .truncated, 1, 6),
    Spoilt("cut within messages", "{\"7\": {\"messages\": \"2020-01-29 23:4", .truncated, 1, 20),
    Spoilt("cut behind a trace", "{\"7\": {\"messages\": \"\(good)\"}\n", .truncated, 2, 1),
    Spoilt("text behind the end", "{}\n {}", .trailingBytes, 2, 2),
    Spoilt("an id as number", "{7: {}}", .malformed, 1, 2),
    Spoilt(
      "an id twice", "{\"7\": {\"messages\": \"\(good)\"},\n \"7\": {}}", .duplicate, 2, 2,
      "`7` again"),
    Spoilt("no messages", "{\"7\": {\"guid\": \"7\"}}", .missingName, 1, 2),
    Spoilt(
      "messages twice", "{\"7\": {\"messages\": \"\(good)\",\n\"messages\": \"\"}}", .duplicate, 2,
      1),
    Spoilt("messages as list", "{\"7\": {\"messages\": []}}", .malformed, 1, 20),
    Spoilt("messages as number", "{\"7\": {\"messages\": 1e999}}", .malformed, 1, 20),
    Spoilt("empty messages", "{\"7\": {\"messages\": \"\\n\"}}", .countMismatch, 1, 2),
    Spoilt("a bare line end", "{\"7\": {\"messages\": \"\(good)\n\"}}", .malformed, 1, 48),
    .messages("an unknown word", #"2020-01-29 23:41:07\tbattery_charged"#, .unknownName, 42),
    .messages(
      "a word misspelt", #"2020-01-29 23:41:07\tscren_lock"#, .unknownName, 42,
      "did you mean `screen_lock`?"),
    .messages("no tab", "2020-01-29 23:41:07 wifi", .malformed, 21, "a tab"),
    .messages("no word", #"2020-01-29 23:41:07\t"#, .malformed, 21),
    .messages("no time", #"\twifi"#, .malformed, 23),
    .messages("a date only", #"2020-01-29\twifi"#, .malformed, 21, "YYYY-MM-DD HH:MM:SS"),
    .messages("a day that is none", #"2020-02-30 00:00:00\twifi"#, .malformed, 21),
    .messages("an hour that is none", #"2020-02-03 24:00:00\twifi"#, .malformed, 21),
    .messages("a zone", #"2020-01-29 23:41:07Z\twifi"#, .malformed, 21),
    .messages("a negative year", #"-020-01-29 23:41:07\twifi"#, .malformed, 21),
    .messages(
      "a time that goes back", good + #"2020-01-29 23:41:06\t4G"#, .outOfRange, 48,
      "not before the previous message's, 2020-01-29 23:41:07"),
    .messages("more than full", #"2020-01-29 23:41:07\t101%"#, .outOfRange, 42),
    .messages("less than empty", #"2020-01-29 23:41:07\t-1%"#, .outOfRange, 42),
    .messages("a level that is no number", #"2020-01-29 23:41:07\tnan%"#, .outOfRange, 42),
    .messages("a tab in a level", #"2020-01-29 23:41:07\t55\t%"#, .outOfRange, 42),
    .messages("a huge level", #"2020-01-29 23:41:07\t1e999%"#, .outOfRange, 42),
    .messages("an unknown escape", good + #"\x"#, .malformed, 20),
  ]

  @Test(arguments: faults)
  private func `damage is told with line and column`(fault: Spoilt) throws {
    let folder = try TemporaryFolder()
    let path = try folder.write(fault.text, as: "traces.json")
    do {
      _ = try Self.read(path: path)
      Issue.record("was read")
    } catch let found as DataFault {
      #expect(found.kind == fault.kind, "\(found)")
      #expect(found.place == .text(line: fault.line, column: fault.column), "\(found)")
      #expect(found.file == path, "\(found)")
      #expect(fault.words.isEmpty || found.description.contains(fault.words), "\(found)")
    }
  }

  @Test func `a line without end is refused before it is held`() throws {
    let text = "{\"7\": {\"messages\": \"" + String(repeating: "x", count: 100_000) + "\"}}"
    do {
      _ = try Self.read(text)
      Issue.record("was read")
    } catch let found as DataFault {
      #expect(found.kind == .tooLarge)
    }
  }
}
