import DataSets
import Foundation
import Testing

/// Pieces of pickles, by hand from CPython's `pickletools.py`.
private enum Piece {
  /// A text of characters up to ÿ as bytes.
  static func bytes(_ text: String) -> [UInt8] { text.unicodeScalars.map { UInt8($0.value) } }

  static func little(_ number: Int, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
  }

  static func text(_ text: String) -> [UInt8] {
    bytes("X") + little(text.utf8.count, 4) + text.utf8
  }

  static func int(_ number: Int) -> [UInt8] { bytes("J") + little(number, 4) }

  static func list(_ numbers: [Int]) -> [UInt8] { bytes("](") + numbers.flatMap(int) + bytes("e") }

  static func entry(_ name: String, _ value: [UInt8]) -> [UInt8] { text(name) + value }

  /// A device that is active for a while.
  static func device(
    active: [UInt8] = list([5]), inactive: [UInt8] = list([9]), finish: [UInt8] = int(100),
    more: [UInt8] = []
  ) -> [UInt8] {
    bytes("}(") + entry("active", active) + entry("inactive", inactive)
      + entry("finish_time", finish) + more + bytes("u")
  }

  /// Protocol 2 and a dictionary begun.
  static let head = bytes("\u{80}\u{02}}(")
  static let end = bytes("u.")
}

/// Bytes that are read well up to a place, what is wrong there, and what would follow.
private struct Spoilt: CustomTestStringConvertible, Sendable {
  let testDescription: String
  let bytes: [UInt8]
  let place: Int
  let kind: DataFault.Kind
  let words: String
  var isCapacity = false

  init(
    _ description: String, _ before: [UInt8], _ bad: [UInt8], _ after: [UInt8],
    _ kind: DataFault.Kind, _ words: String = "", skip: Int = 0, isCapacity: Bool = false
  ) {
    testDescription = description
    bytes = before + bad + after
    place = before.count + skip
    self.kind = kind
    self.words = words
    self.isCapacity = isCapacity
  }

  init(
    _ description: String, _ before: [UInt8], _ bad: [UInt8], _ kind: DataFault.Kind,
    _ words: String = "", skip: Int = 0, isCapacity: Bool = false
  ) {
    self.init(
      description, before, bad, Piece.end, kind, words, skip: skip, isCapacity: isCapacity)
  }
}

@Suite("FedScale's pickles")
struct PickleTests {
  private static func b(_ text: String) -> [UInt8] { Piece.bytes(text) }

  private static func availability(_ bytes: [UInt8]) throws -> [FedScaleFiles.Availability] {
    let folder = try TemporaryFolder()
    var found: [FedScaleFiles.Availability] = []
    try FedScaleFiles.readAvailability(contentsOf: folder.write(bytes, as: "a.pickle")) {
      device throws(DataFault) in
      found.append(device)
    }
    return found
  }

  private static func capacity(_ bytes: [UInt8]) throws -> [FedScaleFiles.Capacity] {
    let folder = try TemporaryFolder()
    var found: [FedScaleFiles.Capacity] = []
    try FedScaleFiles.readCapacity(contentsOf: folder.write(bytes, as: "c.pickle")) {
      device throws(DataFault) in
      found.append(device)
    }
    return found
  }

  @Test func `devices come in the order of the dictionary`() throws {
    let found = try Self.availability(
      Piece.head + Piece.int(3834) + Piece.device() + Piece.text("x")
        + Piece.device(active: Piece.list([]), inactive: Self.b("]")) + Piece.end)
    #expect(found.map(\.id) == ["3834", "x"] && found.map(\.finishTime) == [100, 100])
    #expect(found[0].intervals.map(\.from) == [5] && found[0].intervals.map(\.to) == [9])
    #expect(found[1].intervals.isEmpty)
    #expect(try Self.availability(Self.b("}.")).isEmpty)
    #expect(try Self.availability(Self.b("(d.")).isEmpty)
  }

  @Test func `numbers of every width and protocol are read to the last bit`() throws {
    let rates: [(text: [UInt8], value: Double)] = [
      (b("K\u{07}"), 7), (b("M\u{34}\u{12}"), 0x1234),
      (b("J\u{00}\u{00}\u{00}\u{40}"), 0x4000_0000),
      (b("\u{8a}\u{05}\u{00}\u{00}\u{00}\u{00}\u{01}"), 4_294_967_296),
      (b("\u{8b}\u{02}\u{00}\u{00}\u{00}\u{00}\u{01}"), 256), (b("I255\n"), 255), (b("L99L\n"), 99),
      (b("F0.1\n"), 0.1), (b("G\u{3f}\u{f8}\u{00}\u{00}\u{00}\u{00}\u{00}\u{00}"), 1.5),
      // 5 bytes of which the highest is a sign that is not there: 0x00ff.
      (b("\u{8a}\u{02}\u{ff}\u{00}"), 255),
    ]
    for (text, value) in rates {
      let found = try Self.capacity(
        Piece.head + Self.b("K\u{01}}(") + Piece.entry("computation", text)
          + Piece.entry("communication", text) + Self.b("u") + Piece.end)
      #expect(found[0].computation == value && found[0].communication == value, "\(value)")
    }
  }

  private static let b0 = Piece.head + Piece.int(1)
  private static let call = "the file would call or load something, which is not supported"

  /// Operations that name, build or call, and whatever else plain values do not need.
  private static let refused: [Spoilt] = [
    Spoilt(
      "os.system by protocol 0", [], b("cos\nsystem\n(S'touch x'\ntR."), [], .unsupported,
      "the operation GLOBAL"),
    Spoilt(
      "os.system as a value", b0, b("cposix\nsystem\nq\u{00}X\u{02}\u{00}\u{00}\u{00}id\u{85}R"),
      .unsupported, call),
    Spoilt(
      "os.system by protocol 4",
      b("\u{80}\u{04}\u{95}\u{1d}\0\0\0\0\0\0\0\u{8c}\u{05}posix\u{94}\u{8c}\u{06}system\u{94}"),
      b("\u{93}\u{94}\u{8c}\u{02}id\u{94}\u{85}\u{94}R\u{94}."), [], .unsupported, "STACK_GLOBAL"),
    Spoilt("REDUCE", b0 + Piece.text("f"), b("R"), .unsupported, "REDUCE"),
    Spoilt("BUILD", b0, b("b"), .unsupported, "BUILD"),
    Spoilt("INST", b0, b("ios\nsystem\n"), .unsupported, "INST"),
    Spoilt("OBJ", b0, b("o"), .unsupported, "OBJ"),
    Spoilt("NEWOBJ", b0, b("\u{81}"), .unsupported, "NEWOBJ"),
    Spoilt("NEWOBJ_EX", b0, b("\u{92}"), .unsupported, "NEWOBJ_EX"),
    Spoilt("PERSID", b0, b("Pid\n"), .unsupported, "PERSID"),
    Spoilt("BINPERSID", b0, b("Q"), .unsupported, "BINPERSID"),
    Spoilt("EXT1", b0, b("\u{82}\u{01}"), .unsupported, "EXT1"),
    Spoilt("EXT4", b0, b("\u{84}\u{01}\0\0\0"), .unsupported, "EXT4"),
    Spoilt("a set", b0, b("\u{8f}"), .unsupported, "EMPTY_SET"),
    Spoilt("bytes", b0, b("C\u{01}x"), .unsupported, "SHORT_BINBYTES"),
    Spoilt("a buffer from outside", b0, b("\u{97}"), .unsupported, "NEXT_BUFFER"),
    Spoilt("POP", b0, b("0"), .unsupported, "POP"),
    Spoilt("protocol 6", [], b("\u{80}\u{06}}."), [], .unsupported, "protocol 6"),
    Spoilt("no pickle", [], b("\u{ff}\u{d8}"), [], .wrongMagic, "byte ff"),
    Spoilt("no operation", b0, b("\u{ff}"), .corrupt, "byte ff"),
  ]

  /// Bytes that no pickler writes.
  private static let broken: [Spoilt] = [
    Spoilt("an empty file", [], [], [], .truncated, "an empty file"),
    Spoilt("cut before STOP", b("\u{80}\u{02}}"), [], [], .truncated, "up to STOP"),
    Spoilt("cut in a number", b0 + b("J\u{01}"), [], [], .truncated),
    Spoilt("cut in a text", b0 + b("X\u{05}\0\0\0ab"), [], [], .truncated),
    Spoilt("bytes behind the end", Piece.head + Piece.end, b("."), [], .trailingBytes),
    Spoilt("a list", b("\u{80}\u{02}"), b("]."), [], .unsupported, "expected one dictionary"),
    Spoilt("nothing", b("\u{80}\u{02}"), b("."), [], .corrupt, "STOP with 0 values"),
    Spoilt("two values", b("}}"), b("."), [], .corrupt, "STOP with 2 values"),
    Spoilt("an open mark", b("}("), b("."), [], .corrupt),
    Spoilt("no mark", b("}"), b("u."), [], .corrupt, "no mark"),
    Spoilt("a key without a value", b0, b("u."), [], .corrupt, "a key without a value"),
    Spoilt("a list as dictionary", b("](") + Piece.int(1) + Piece.int(2), b("u."), [], .corrupt),
    Spoilt("a dictionary as list", b("}") + Piece.int(1), b("a."), [], .corrupt),
    Spoilt("no value to add", b("]"), b("a."), [], .corrupt),
    Spoilt("a list as key", Piece.head, Piece.list([1]) + Piece.int(2), .corrupt, "as key"),
    Spoilt("a text of 4 GiB", b0, b("X\u{ff}\u{ff}\u{ff}\u{ff}"), .tooLarge, skip: 5),
    Spoilt(
      "a text of 2⁶⁴ − 1 bytes", b0, [0x8d] + [UInt8](repeating: 0xff, count: 8), .tooLarge,
      skip: 9),
    Spoilt("a text that is not UTF-8", b0, b("X\u{01}\0\0\0\u{ff}"), .malformed),
    Spoilt("half a surrogate pair", b0, b("V\\ud800\n"), .malformed),
    Spoilt("a number of 9 bytes", b0, b("\u{8a}\u{09}\0\0\0\0\0\0\0\0\u{01}"), .outOfRange),
    Spoilt("a number of 2 GiB", b0, b("\u{8b}\0\0\0\u{80}"), .tooLarge, skip: 5),
    Spoilt("a decimal beyond 64 bits", b0, b("I99999999999999999999\n"), .outOfRange),
    Spoilt("a decimal that is none", b0, b("I0x12\n"), .malformed),
    Spoilt("a place to remember far away", b0, b("r\u{ff}\u{ff}\u{ff}\u{ff}"), .outOfRange),
    Spoilt("a place in decimal far away", b0, b("p99999999999\n"), .outOfRange),
    Spoilt("a place that is no number", b0, b("p-1\n"), .malformed),
    Spoilt("nothing remembered there", b0, b("h\u{03}"), .corrupt),
    Spoilt("nothing to remember", b(""), b("\u{94}"), .corrupt),
    Spoilt(
      "a list in itself", b0 + b("]q\u{00}h\u{00}"), b("a"), .corrupt,
      "a value that contains itself"),
    Spoilt("the whole in itself", b("}q\u{00}K\u{01}h\u{00}"), b("s."), [], .corrupt),
    // A list is put into another, and then changed through what is remembered of it.
    Spoilt(
      "a change afterwards", b0 + b("]]q\u{00}ah\u{00}K\u{01}"), b("a"), .corrupt,
      "a change of a value that is already inside another"),
    Spoilt("lists nine deep", b0 + b("]]]]]]]]]aaaaaaa"), b("a"), .tooLarge, "deep"),
    Spoilt(
      "a million marks", b0 + [UInt8](repeating: 0x28, count: 1 << 20), b("("), .tooLarge,
      skip: -1),
  ]

  /// Plain values of another form than a trace's.
  private static let wrong: [Spoilt] = [
    Spoilt("a device as number", b0, Piece.int(3), .malformed, "found 3, expected a dictionary"),
    Spoilt("an id as None", Piece.head, b("N") + Piece.device(), .malformed),
    Spoilt("an id twice", b0 + Piece.device(), Piece.int(1) + Piece.device(), .duplicate, "`1`"),
    Spoilt("no lists", b0, b("}"), .missingName, "no `finish_time` in `1`"),
    Spoilt(
      "an unknown key", b0 + b("}("), Piece.entry("actve", b("]")) + b("u"), .unknownName,
      "did you mean `active`?"),
    Spoilt(
      "a key twice", b0 + b("}(") + Piece.entry("active", b("]")),
      Piece.entry("active", b("]")) + b("u"), .duplicate),
    Spoilt(
      "more active than inactive",
      b0 + b("}(") + Piece.entry("active", Piece.list([5, 20])) + Piece.text("inactive"),
      Piece.list([9]) + Piece.entry("finish_time", Piece.int(100)) + b("u"), .countMismatch),
    Spoilt(
      "inactive before active",
      b0 + b("}(") + Piece.entry("active", Piece.list([5])) + Piece.text("inactive") + b("]("),
      Piece.int(4) + b("e") + Piece.entry("finish_time", Piece.int(100)) + b("u"), .outOfRange,
      "from 5, when it became active, to `finish_time`, 100"),
    Spoilt(
      "overlapping intervals", b0 + b("}(") + Piece.text("active") + b("](") + Piece.int(5),
      Piece.int(8) + b("e") + Piece.entry("inactive", Piece.list([9, 20]))
        + Piece.entry("finish_time", Piece.int(100)) + b("u"), .outOfRange,
      "active again at 8"),
    Spoilt(
      "unordered intervals", b0 + b("}(") + Piece.text("active") + b("](") + Piece.int(50),
      Piece.int(5) + b("e") + Piece.entry("inactive", Piece.list([60, 9]))
        + Piece.entry("finish_time", Piece.int(100)) + b("u"), .outOfRange),
    Spoilt(
      "active beyond the end",
      b0 + b("}(") + Piece.entry("active", Piece.list([5])) + Piece.text("inactive") + b("]("),
      Piece.int(101) + b("e") + Piece.entry("finish_time", Piece.int(100)) + b("u"), .outOfRange),
    Spoilt(
      "active only beyond the end", b0 + b("}(") + Piece.text("active") + b("]("),
      Piece.int(101) + b("e") + Piece.entry("inactive", Piece.list([102]))
        + Piece.entry("finish_time", Piece.int(100)) + b("u"), .outOfRange, "up to `finish_time`"),
    Spoilt(
      "a negative time", b0 + b("}(") + Piece.text("active") + b("]("),
      Piece.int(-5) + b("e") + Piece.entry("inactive", Piece.list([9]))
        + Piece.entry("finish_time", Piece.int(100)) + b("u"), .outOfRange, "whole seconds"),
    Spoilt(
      "half a second", b0 + b("}(") + Piece.text("active") + b("]("),
      b("F0.5\ne") + Piece.entry("inactive", Piece.list([9]))
        + Piece.entry("finish_time", Piece.int(100)) + b("u"), .outOfRange),
    Spoilt(
      "a time as text", b0 + b("}(") + Piece.text("active") + b("]("),
      Piece.text("5") + b("e") + Piece.entry("inactive", Piece.list([9]))
        + Piece.entry("finish_time", Piece.int(100)) + b("u"), .malformed),
    Spoilt(
      "times as a tuple", b0 + b("}(") + Piece.text("active"),
      b(")") + Piece.entry("inactive", b("]")) + Piece.entry("finish_time", Piece.int(100))
        + b("u"), .malformed, "a list of times"),
    Spoilt(
      "a period of nothing", b0 + b("}(") + Piece.text("finish_time"), Piece.int(0) + b("u"),
      .outOfRange),
    Spoilt(
      "a period without end", b0 + b("}(") + Piece.text("finish_time"),
      b("G\u{7f}\u{f0}\0\0\0\0\0\0u"), .outOfRange),
    Spoilt(
      "a period as flag", b0 + b("}(") + Piece.text("finish_time"), b("\u{88}u"), .malformed),
    Spoilt(
      "no computation", b0,
      b(
        "}("
      ) + Piece.entry("communication", Piece.int(1)) + b("u"), .missingName, isCapacity: true),
    Spoilt(
      "a computation of nothing", b0 + b("}(") + Piece.text("computation"), Piece.int(0) + b("u"),
      .outOfRange, isCapacity: true),
    Spoilt(
      "a computation that is no number", b0 + b("}(") + Piece.text("computation"),
      b("G\u{7f}\u{f8}\0\0\0\0\0\0u"), .outOfRange, isCapacity: true),
    Spoilt(
      "a huge rate",
      b0 + b("}(") + Piece.entry("computation", Piece.int(1)) + Piece.text("communication"),
      b("F1e300\nu"), .outOfRange, isCapacity: true),
  ]

  @Test(arguments: refused + broken + wrong)
  private func `damage is told with its byte, and nothing is ever executed`(
    fault: Spoilt
  ) throws {
    do {
      if fault.isCapacity {
        _ = try Self.capacity(fault.bytes)
      } else {
        _ = try Self.availability(fault.bytes)
      }
      Issue.record("was read")
    } catch let found as DataFault {
      #expect(found.kind == fault.kind, "\(found)")
      #expect(found.place == .byte(fault.place), "\(found)")
      #expect(fault.words.isEmpty || found.description.contains(fault.words), "\(found)")
    }
  }

  @Test func `a list that is used again and again is no large file`() throws {
    // 1,000 numbers, which 300 devices refer to: 600,000 numbers out of 13 kB.
    let numbers = Piece.list((0..<1000).map { 2 * $0 })
    var bytes = b("\u{80}\u{02}}(") + b("K\u{01}")
    bytes += Piece.device(
      active: numbers + b("q\u{00}"), inactive: b("h\u{00}"), finish: Piece.int(5000))
    for device in 2..<300 {
      bytes += Piece.int(device)
      bytes += Piece.device(
        active: b("h\u{00}"), inactive: b("h\u{00}"), finish: Piece.int(5000))
    }
    do {
      _ = try Self.availability(bytes + Piece.end)
      Issue.record("was read")
    } catch let found as DataFault {
      #expect(found.kind == .tooLarge && found.description.contains("used repeatedly"))
    }
  }

  private func b(_ text: String) -> [UInt8] { Piece.bytes(text) }
}
