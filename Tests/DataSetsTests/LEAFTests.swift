import DataSets
import Foundation
import Learning
import Testing

@Suite struct LEAFTests {
  static func load(
    _ folder: String, _ change: (inout LEAFFiles.Settings) -> Void = { _ in }
  ) throws -> TrainAndTest {
    var settings = LEAFFiles.Settings()
    settings.classes = 3
    change(&settings)
    return try LEAFFiles(settings).load(folders: DataFolders([folder]), seed: 1)
  }

  @Test func `users and samples come file by file, as Python wrote them`() throws {
    let data = try Self.load(Fixture.path("readers/leaf"))
    guard case .floats(let floats) = data.train.features else {
      return #expect(Bool(false), "numbers become floats")
    }
    #expect(floats == [0.5, 1, -0.002, 4, 5, 6, 7, 8, 9, 1, 2, 3])
    #expect(data.train.labels == [0, 2, 1, 2] && data.train.sampleShape == [3])
    // Users as listed, their samples where their data are.
    #expect(
      data.users
        == DataUsers(
          names: ["f1", "f0", "ü"], shards: [[2], [0, 1], [3]], tests: [[0], [], []]))
    #expect(data.test.labels == [0] && data.test.classCount == 3)
    #expect(
      try Self.load(Fixture.path("readers/leaf")) { $0.shape = [3, 1] }.test.sampleShape == [3, 1])
  }

  @Test func `numbers are read to the nearest float, whatever their length`() throws {
    let numbers = ["0.1", "1e-3", "123456789.123456789", "3.4028234e38", "1E+2", "-0", "1e-400"]
    let text =
      "{\"users\":[\"a\"],\"num_samples\":[1],\"user_data\":{\"a\":{\"x\":[["
      + numbers.joined(separator: ",") + "]],\"y\":[1]}}}"
    let data = try read(text)
    guard case .floats(let floats) = data.train.features else {
      return #expect(Bool(false), "numbers become floats")
    }
    #expect(floats == numbers.map { Float(Double($0) ?? .nan) })
  }

  private func read(_ train: String) throws -> TrainAndTest {
    let folder = try folder(train)
    return try Self.load(folder.path) { $0.classes = 2 }
  }

  /// A folder whose training file is this text; the test file is the same where that is good.
  private func folder(_ train: String) throws -> TemporaryFolder {
    let folder = try TemporaryFolder()
    for name in ["train", "test"] {
      try FileManager.default.createDirectory(
        atPath: folder.path + "/" + name, withIntermediateDirectories: true)
      _ = try folder.write(train, as: name + "/all.json")
    }
    return folder
  }

  @Test func `a label that is no class is told as it is written`() {
    let found = { (label: String) in
      fault { _ = try self.read(Self.spoil("[0]", "[\(label)]")) }?.found
    }
    #expect(found("2") == "`2`" && found("-1") == "`-1`" && found("0.5") == "`0.5`")
  }

  /// What is wrong, the sort of fault, and the text with § at its place.
  static let spoilt: [(String, DataFault.Kind, String)] = [
    ("empty", .truncated, "§"),
    ("a list", .malformed, "§[1]"),
    ("cut", .truncated, #"{"users":["a"],"num_samples":[1],"user_data":{"a":{"x":[[1]],"y":[0]}§"#),
    ("cut in a text", .truncated, #"{"users":[§"a"#),
    ("cut in a list", .truncated, #"{"users":["a",§"#),
    ("more", .trailingBytes, good + "\n §x"),
    ("not a number", .outOfRange, spoil("[1,2]", "[1,\n§NaN]")),
    ("infinite", .outOfRange, spoil("[1,2]", "[1,§-Infinity]")),
    ("too large for doubles", .outOfRange, spoil("[1,2]", "[§1e400,1]")),
    ("too large for floats", .outOfRange, spoil("[1,2]", "[1,§1e39]")),
    ("a text as a number", .malformed, spoil("[1,2]", #"[1,§"two"]"#)),
    ("a word", .malformed, spoil("[1,2]", "[1,§true]")),
    ("a missing comma", .malformed, spoil("[1,2]", "[1 §2]")),
    ("no class", .outOfRange, spoil("[0]", "[§2]")),
    ("a negative label", .outOfRange, spoil("[0]", "[§-1]")),
    ("half a label", .outOfRange, spoil("[0]", "[§0.5]")),
    (
      "samples of two sizes", .countMismatch, spoil(#"[[1,2]],"y":[0]"#, #"[[1,2],§[1]],"y":[0,0]"#)
    ),
    ("another count", .countMismatch, spoil("[1],", "[§2],")),
    ("counts and users", .countMismatch, spoil("[1],", "[1,1],")),
    ("labels and samples", .countMismatch, spoil(#"[0]}"#, #"[0,0]§}"#)),
    ("a user without data", .missingName, spoil(#"["a"]"#, #"[§"b"]"#)),
    ("no counts", .missingName, #"{"users":["a"],"user_data":{"a":{"x":[[1,2]],"y":[0]}}}"#),
    ("no labels", .missingName, spoil(#","y":[0]}"#, "§}")),
    ("an unknown key", .unknownName, spoil(#""users""#, #"§"usres""#)),
    ("an unknown key of a user", .unknownName, spoil(#""y":"#, #"§"z":[],"y":"#)),
    ("a key twice", .duplicate, spoil(#""num"#, #"§"users":["a"],"num"#)),
    ("a user twice", .duplicate, spoil("]}}}", #"]},§"a":{"x":[],"y":[]}}}"#)),
    (
      "a user twice, with another count", .duplicate,
      #"{"users":["a",§"a"],"num_samples":[1,0],"user_data":{"a":{"x":[[1,2]],"y":[0]},"#
        + #""b":{"x":[],"y":[]}}}"#
    ),
    ("an unknown escape", .malformed, spoil(#"["a"]"#, #"[§"\q"]"#)),
    ("a first half of a pair before a letter", .malformed, spoil(#"["a"]"#, #"[§"\ud83d\u0041"]"#)),
    ("half a character", .malformed, spoil(#"["a"]"#, #"[§"\ud800"]"#)),
    ("a line in a text", .malformed, spoil(#"["a"]"#, "[§\"a\nb\"]")),
    ("samples nested without end", .malformed, spoil("[1,2]", String(repeating: "[", count: 40))),
  ]

  static let good =
    #"{"users":["a"],"num_samples":[1],"user_data":{"a":{"x":[[1,2]],"y":[0]}}}"#

  private static func spoil(_ part: String, _ other: String) -> String {
    good.replacing(part, with: other, maxReplacements: 1)
  }

  @Test(arguments: spoilt.indices)
  func `a spoilt file says where`(index: Int) throws {
    let (words, kind, marked) = Self.spoilt[index]
    #expect(marked != Self.good, "\(words)")
    let folder = try folder(marked.replacing("§", with: ""))
    let fault = fault { _ = try Self.load(folder.path) { $0.classes = 2 } }
    #expect(fault?.kind == kind, "\(words): \(fault as Any)")
    #expect(fault?.file == folder.path + "/train/all.json")
    if let mark = marked.firstIndex(of: "§") {
      let lines = marked[..<mark].split(separator: "\n", omittingEmptySubsequences: false)
      let place = DataFault.Place.text(line: lines.count, column: (lines.last?.count ?? 0) + 1)
      #expect(fault?.place == place, "\(words): \(fault as Any)")
    }
  }

  @Test func `a user of two files, a broken gzip and a folder without files are faults`() throws {
    let folder = try folder(Self.good)
    _ = try folder.write(Self.good, as: "train/more.json")
    let twice = fault { _ = try Self.load(folder.path) { $0.classes = 2 } }
    #expect(twice?.kind == .duplicate && twice?.file == folder.path + "/train/more.json")
    #expect(twice?.place == .text(line: 1, column: 11))
    _ = try folder.write([0x1f, 0x8b, 8, 0], as: "train/more.json")
    #expect(fault { _ = try Self.load(folder.path) { $0.classes = 2 } }?.kind == .truncated)
    #expect(fault { _ = try Self.load("/nowhere") }?.kind == .missingFile)
    let shape = fault { _ = try Self.load(Fixture.path("readers/leaf")) { $0.shape = [2, 2] } }
    #expect(shape?.kind == .countMismatch)
  }
}
