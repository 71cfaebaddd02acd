import DataSets
import Learning
import Testing

@Suite struct NPZFilesTests {
  static func load(
    _ path: String = Fixture.path("readers/arrays.npz"),
    _ change: (inout NPZFiles.Settings) -> Void = { _ in }
  ) throws -> TrainAndTest {
    var settings = NPZFiles.Settings()
    settings.path = path
    change(&settings)
    return try NPZFiles(settings).load(folders: DataFolders([]), seed: 1)
  }

  @Test func `four arrays make a source, with users where they are named`() throws {
    let data = try Self.load { $0.users = "owner" }
    #expect(data.train.sampleShape == [2, 2] && data.train.classCount == 3)
    #expect(data.train.labels == [0, 2, 1] && data.test.labels == [1, 0])
    guard case .floats(let floats) = data.train.features else {
      return #expect(Bool(false), "floats stay floats")
    }
    #expect(floats == (0..<12).map { n -> Float in Float(n) / 4 })
    #expect(data.users == DataUsers(names: ["-1", "7"], shards: [[1], [0, 2]]))
    #expect(try Self.load().users == nil)
    #expect(try Self.load { $0.classes = 5 }.test.classCount == 5)
  }

  @Test func `bytes stay bytes and whole numbers become floats`() throws {
    func both(_ name: String) throws -> Dataset.Features {
      try Self.load {
        ($0.trainSamples, $0.testSamples, $0.testLabels) = (name, name, "y_train")
      }.train.features
    }
    guard case .bytes(let bytes) = try both("bytes"), case .floats(let floats) = try both("counts")
    else { return #expect(Bool(false), "types as described") }
    #expect(bytes == (0..<12).map { UInt8($0) } && floats == (0..<12).map { Float($0) })
  }

  @Test func `four files of one array each are the same data`() throws {
    var settings = NPYFiles.Settings()
    (settings.trainSamples, settings.trainLabels) = ("x_train.npy", "y_train.npy")
    (settings.testSamples, settings.testLabels) = ("x_test.npy", "y_test.npy")
    let folders = DataFolders([Fixture.path("readers")])
    let data = try NPYFiles(settings).load(folders: folders, seed: 1)
    let other = try Self.load()
    guard case .floats(let floats) = data.train.features,
      case .floats(let others) = other.train.features
    else { return #expect(Bool(false), "floats stay floats") }
    #expect(floats == others && data.train.labels == other.train.labels)
    #expect(data.test.labels == [1, 0] && data.users == nil)
    settings.testLabels = "y_train.npy"
    let fault = fault { _ = try NPYFiles(settings).load(folders: folders, seed: 1) }
    #expect(fault?.kind == .countMismatch && fault?.file.hasSuffix("/y_train.npy") == true)
  }

  struct Spoilt: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var kind: DataFault.Kind
    var array: String
    var change: @Sendable (inout NPZFiles.Settings) -> Void
    init(
      _ words: String, _ kind: DataFault.Kind, _ array: String,
      _ change: @escaping @Sendable (inout NPZFiles.Settings) -> Void
    ) {
      (testDescription, self.kind, self.array) = (words, kind, array)
      self.change = change
    }
  }

  static let spoilt: [Spoilt] = [
    Spoilt("no such samples", .missingName, "") { $0.trainSamples = "x_tarin" },
    Spoilt("no such labels", .missingName, "") { $0.testLabels = "y" },
    Spoilt("not a number", .outOfRange, "nan") { $0.trainSamples = "nan" },
    Spoilt("too large for 32 bits", .outOfRange, "wide") { $0.trainSamples = "wide" },
    Spoilt("too large for a float", .outOfRange, "large") { $0.trainSamples = "large" },
    Spoilt("truth values", .unsupported, "flags") { $0.trainSamples = "flags" },
    Spoilt("one axis", .countMismatch, "flat") { $0.trainSamples = "flat" },
    Spoilt("no sample", .truncated, "empty") { $0.trainSamples = "empty" },
    Spoilt("samples of nothing", .countMismatch, "hollow") { $0.trainSamples = "hollow" },
    Spoilt("a label too many", .countMismatch, "four") { $0.trainLabels = "four" },
    Spoilt("labels of two axes", .countMismatch, "counts") { $0.trainLabels = "counts" },
    Spoilt("labels that are floats", .unsupported, "reals") { $0.trainLabels = "reals" },
    Spoilt("a negative label", .outOfRange, "negative") { $0.trainLabels = "negative" },
    Spoilt("a huge label", .outOfRange, "huge") { $0.trainLabels = "huge" },
    Spoilt("a label that is no class", .outOfRange, "y_train") { $0.classes = 2 },
    Spoilt("test samples of another shape", .countMismatch, "other") { $0.testSamples = "other" },
    Spoilt("test samples that are bytes, which would be fractions", .unsupported, "bytes") {
      ($0.testSamples, $0.testLabels) = ("bytes", "y_train")
    },
    Spoilt("test samples that are no bytes", .unsupported, "x_train") {
      ($0.trainSamples, $0.testSamples, $0.testLabels) = ("bytes", "x_train", "y_train")
    },
    Spoilt("a user too many", .countMismatch, "four") { $0.users = "four" },
  ]

  @Test(arguments: spoilt)
  func `an array that does not fit is named`(spoilt: Spoilt) throws {
    let fault = fault { _ = try Self.load { spoilt.change(&$0) } }
    let ending = spoilt.array.isEmpty ? "arrays.npz" : "arrays.npz:\(spoilt.array).npy"
    #expect(fault?.kind == spoilt.kind && fault?.file.hasSuffix(ending) == true)
  }

  @Test func `the place of a number at fault is its index`() {
    let fault = fault { _ = try Self.load { $0.trainSamples = "nan" } }
    #expect(fault?.found == "nan at index [1, 1, 0]")
  }

  @Test func `a cut archive and another format are faults`() throws {
    let folder = try TemporaryFolder()
    let bytes = try Fixture.bytes("readers/arrays.npz")
    let cut = try folder.write(Array(bytes.dropLast(30)), as: "cut.npz")
    #expect(fault { _ = try Self.load(cut) }?.kind == .truncated)
    let other = try folder.write(Array("hello world".utf8), as: "other.npz")
    #expect(fault { _ = try Self.load(other) }?.kind == .wrongMagic)
    #expect(fault { _ = try Self.load("/nowhere.npz") }?.kind == .missingFile)
  }

  /// What is wrong, the fault, which of the four files, and what is there instead.
  static let spoiltFiles: [(String, DataFault.Kind, Int, @Sendable ([UInt8]) -> [UInt8])] = [
    ("empty", .truncated, 0, { _ in [] }),
    ("another format", .wrongMagic, 0, { _ in Array("PK header".utf8) }),
    ("half a header", .truncated, 1, { Array($0[..<40]) }),
    ("a value short", .truncated, 0, { Array($0.dropLast(4)) }),
    ("a byte more", .trailingBytes, 1, { $0 + [0] }),
    ("version 9", .unsupported, 2, { $0[..<6] + [9] + $0[7...] }),
    ("a header of words", .malformed, 3, { $0[..<10] + [0x58] + $0[11...] }),
    ("infinite", .outOfRange, 0, { $0.dropLast(4) + [0, 0, 0x80, 0x7f] }),
    ("not a number", .outOfRange, 2, { $0.dropLast(4) + [0, 0, 0xc0, 0x7f] }),
    ("a negative label", .outOfRange, 3, { $0.dropLast(4) + [255, 255, 255, 255] }),
    ("a huge label", .outOfRange, 1, { $0.dropLast(8) + [0, 0, 0, 0, 1, 0, 0, 0] }),
  ]

  @Test(arguments: spoiltFiles.indices)
  func `a spoilt file of one array is named`(index: Int) throws {
    let (words, kind, which, spoil) = Self.spoiltFiles[index]
    let folder = try copied("readers")
    let names = ["x_train.npy", "y_train.npy", "x_test.npy", "y_test.npy"]
    let path = try folder.write(
      spoil(try Fixture.bytes("readers/" + names[which])), as: "data/" + names[which])
    var settings = NPYFiles.Settings()
    (settings.trainSamples, settings.trainLabels) = (names[0], names[1])
    (settings.testSamples, settings.testLabels) = (names[2], names[3])
    let fault = fault {
      _ = try NPYFiles(settings).load(folders: DataFolders([folder.path + "/data"]), seed: 1)
    }
    #expect(fault?.kind == kind && fault?.file == path, "\(words): \(fault as Any)")
  }
}
