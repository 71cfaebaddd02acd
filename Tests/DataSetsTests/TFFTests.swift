import DataSets
import Foundation
import Learning
import Testing

@Suite struct TFFTests {
  static func load(
    _ train: String, _ test: String = "readers/test.h5",
    _ change: (inout TFFFiles.Settings) -> Void = { _ in }
  ) throws -> TrainAndTest {
    var settings = TFFFiles.Settings()
    settings.train = train.hasPrefix("/") ? train : Fixture.path("readers/\(train).h5")
    settings.test = Fixture.path(test)
    change(&settings)
    return try TFFFiles(settings).load(folders: DataFolders([]), seed: 1)
  }

  @Test func `clients come in the order of their names, as h5py wrote them`() throws {
    let data = try Self.load("train")
    guard case .floats(let floats) = data.train.features else {
      return #expect(Bool(false), "floats stay floats")
    }
    #expect(floats == [5, 6, 1, 2, 3, 4] && data.train.sampleShape == [2, 1])
    #expect(data.train.labels == [1, 0, 2] && data.train.classCount == 3)
    #expect(data.test.labels == [1] && data.test.classCount == 3)
    #expect(
      data.users
        == DataUsers(names: ["f1", "f2", "f3"], shards: [[0], [1, 2], []], tests: [[0], [], []]))
    #expect(try Self.load("train") { $0.classes = 10 }.train.classCount == 10)
  }

  @Test func `bytes stay bytes, in a group and data sets of any name`() throws {
    let data = try Self.load("bytes", "readers/bytes.h5")
    guard case .bytes(let bytes) = data.train.features else {
      return #expect(Bool(false), "bytes stay bytes")
    }
    #expect(bytes == [1, 255] && data.train.classCount == 2)
    let names = fault { _ = try Self.load("bytes") { $0.samples = "image" } }
    #expect(names?.kind == .missingName)
  }

  static let spoilt: [(String, DataFault.Kind, String)] = [
    ("no-label", .missingName, "/examples/b"), ("counts", .countMismatch, "/examples/b/label"),
    ("nan", .outOfRange, "/examples/b/pixels"), ("range", .outOfRange, "/examples/b/label"),
    ("below", .outOfRange, "/examples/b/label"), ("reals", .unsupported, "/examples/b/label"),
    ("texts", .unsupported, "/examples/b/pixels"), ("large", .outOfRange, "/examples/b/pixels"),
    ("complex", .unsupported, "/examples/b/pixels"),
    ("shape", .countMismatch, "/examples/b/pixels"),
    ("bytes", .unsupported, "/examples/b/pixels"), ("empty", .truncated, "/examples"),
    ("group", .missingName, ".h5"), ("member", .corrupt, "/examples/a"),
    ("claim", .truncated, "/examples/b/pixels"),
    ("claimed-labels", .truncated, "/examples/b/label"),
  ]

  @Test(arguments: spoilt.indices)
  func `a spoilt client is named`(index: Int) {
    let (name, kind, place) = Self.spoilt[index]
    let fault = fault { _ = try Self.load("spoilt-\(name)") { $0.classes = 3 } }
    #expect(fault?.kind == kind && fault?.file.hasSuffix(place) == true, "\(fault as Any)")
  }

  @Test func `without a number of classes a negative label is a fault of its client as well`() {
    let fault = fault { _ = try Self.load("spoilt-below") }
    #expect(fault?.kind == .outOfRange && fault?.found == "label -1 of sample 0")
    #expect(fault?.file.hasSuffix("/examples/b/label") == true, "\(fault as Any)")
  }

  @Test func `what is no whole HDF5 file is a fault`() throws {
    let folder = try TemporaryFolder()
    let bytes = try Fixture.bytes("readers/train.h5")
    let cut = try folder.write(Array(bytes[..<(bytes.count / 2)]), as: "cut.h5")
    #expect(fault { _ = try Self.load(cut) }?.kind == .truncated)
    let head = try folder.write(Array(bytes[..<5]), as: "head.h5")
    #expect(fault { _ = try Self.load(head) }?.kind == .truncated)
    let packed = try folder.write(Array("BZh91AY&SY".utf8), as: "packed.h5")
    let wrong = fault { _ = try Self.load(packed) }
    #expect(wrong?.kind == .wrongMagic && wrong?.advice?.contains("bunzip2") == true)
    #expect(fault { _ = try Self.load("/nowhere.h5") }?.kind == .missingFile)
    let shape = fault { _ = try Self.load("bytes") }
    #expect(shape?.kind == .countMismatch, "test samples of another shape")
  }
}
