import DataSets
import Foundation
import Learning
import Testing

/// A copy of a folder of fixtures in which one file can be spoilt.
func copied(_ name: String) throws -> TemporaryFolder {
  let folder = try TemporaryFolder()
  try FileManager.default.copyItem(atPath: Fixture.path(name), toPath: folder.path + "/data")
  return folder
}

@Suite struct CIFARTests {
  static func ten(_ folder: String) throws -> TrainAndTest {
    var settings = CIFAR10.Settings()
    settings.folder = folder
    return try CIFAR10(settings).load(folders: DataFolders([]), seed: 1)
  }

  static func hundred(_ folder: String, _ labels: CIFAR100.Labels) throws -> TrainAndTest {
    var settings = CIFAR100.Settings()
    settings.folder = folder
    settings.labels = labels
    return try CIFAR100(settings).load(folders: DataFolders([]), seed: 1)
  }

  @Test func `images come channels-last, batches in order`() throws {
    // Found by the default folder inside the folders searched.
    let data = try CIFAR10(.init()).load(
      folders: DataFolders([Fixture.path("readers")]), seed: 1)
    #expect(data.train.labels == [1, 2, 3, 4, 5] && data.test.labels == [9, 0])
    #expect(data.train.sampleShape == [32, 32, 3] && data.train.classCount == 10)
    guard case .bytes(let bytes) = data.train.features else {
      return #expect(Bool(false), "bytes stay bytes")
    }
    // The file's value is (image + pixel + 80 · colour) mod 256.
    #expect(Array(bytes[..<6]) == [1, 81, 161, 2, 82, 162])
    #expect(Array(bytes[3_069..<3_072]) == [0, 80, 160], "pixel 1,023 of image 1")
    #expect(Array(bytes[3_072 * 4 + 300..<3_072 * 4 + 303]) == [105, 185, 9], "pixel 100, image 5")
  }

  @Test func `the labels of CIFAR-100 are fine or coarse`() throws {
    let folder = Fixture.path("readers/cifar-100-binary")
    let fine = try Self.hundred(folder, .fine)
    #expect(fine.train.labels == [99, 0] && fine.train.classCount == 100)
    #expect(fine.test.labels == [50])
    let coarse = try Self.hundred(folder, .coarse)
    #expect(coarse.train.labels == [19, 3] && coarse.train.classCount == 20)
    guard case .bytes(let bytes) = coarse.test.features else {
      return #expect(Bool(false), "bytes stay bytes")
    }
    #expect(Array(bytes[..<3]) == [3, 83, 163])
  }

  struct Spoilt: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var file: String
    var kind: DataFault.Kind
    var place: DataFault.Place
    var spoil: @Sendable ([UInt8]) -> [UInt8]

    init(
      _ words: String, _ file: String, _ kind: DataFault.Kind, _ byte: Int,
      _ spoil: @escaping @Sendable ([UInt8]) -> [UInt8]
    ) {
      (testDescription, self.file, self.kind, place) = (words, file, kind, .byte(byte))
      self.spoil = spoil
    }
  }

  static let spoilt: [Spoilt] = [
    Spoilt("empty", "data_batch_3.bin", .truncated, 0) { _ in [] },
    Spoilt("a byte short", "data_batch_1.bin", .truncated, 3_072) { $0.dropLast() },
    Spoilt("a byte more", "data_batch_5.bin", .truncated, 3_074) { $0 + [0] },
    Spoilt("half a record more", "test_batch.bin", .truncated, 7_682) { $0 + $0[..<1_536] },
    Spoilt("no class", "data_batch_2.bin", .outOfRange, 0) { [10] + $0[1...] },
    Spoilt("no class, later", "test_batch.bin", .outOfRange, 3_073) {
      $0[..<3_073] + [255] + $0[3_074...]
    },
    Spoilt("a stray label", "data_batch_4.bin", .outOfRange, 3_073) { $0 + [77] },
    Spoilt("the Python version", "data_batch_1.bin", .outOfRange, 0) { _ in [0x80, 2, 0x7d, 0x71] },
    Spoilt("a broken gzip", "test_batch.bin", .truncated, 12) { _ in
      [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 1, 2]
    },
  ]

  @Test(arguments: spoilt)
  func `a spoilt file of CIFAR-10 says where`(spoilt: Spoilt) throws {
    let folder = try copied("readers/cifar-10-batches-bin")
    let bytes = try Fixture.bytes("readers/cifar-10-batches-bin/\(spoilt.file)")
    let path = try folder.write(spoilt.spoil(bytes), as: "data/\(spoilt.file)")
    let fault = fault { _ = try Self.ten(folder.path + "/data") }
    #expect(fault?.kind == spoilt.kind && fault?.file == path)
    if spoilt.testDescription != "a broken gzip" { #expect(fault?.place == spoilt.place) }
    if spoilt.testDescription == "the Python version" {
      #expect(fault?.advice?.contains("binary version") == true)
    }
  }

  @Test func `a missing batch and a folder that is not there are faults`() throws {
    let folder = try copied("readers/cifar-10-batches-bin")
    try FileManager.default.removeItem(atPath: folder.path + "/data/data_batch_4.bin")
    let missing = fault { _ = try Self.ten(folder.path + "/data") }
    #expect(missing?.kind == .missingFile && missing?.file == "data_batch_4.bin")
    let nowhere = fault { _ = try Self.ten("/nowhere") }
    #expect(nowhere?.kind == .missingFile)
    #expect(nowhere?.advice?.contains("cifar-10-binary.tar.gz") == true)
  }

  static let spoiltHundred: [Spoilt] = [
    Spoilt("empty", "test.bin", .truncated, 0) { _ in [] },
    Spoilt("one label", "train.bin", .truncated, 1) { Array($0[..<1]) },
    Spoilt("a byte short", "train.bin", .truncated, 6_147) { $0.dropLast() },
    Spoilt("a byte more", "test.bin", .truncated, 3_075) { $0 + [0] },
    Spoilt("no group", "train.bin", .outOfRange, 0) { [20] + $0[1...] },
    Spoilt("no class", "train.bin", .outOfRange, 1) { [$0[0], 100] + $0[2...] },
    Spoilt("no group, later", "train.bin", .outOfRange, 3_074) {
      $0[..<3_074] + [30] + $0[3_075...]
    },
    Spoilt("no class, later", "train.bin", .outOfRange, 3_075) {
      $0[..<3_075] + [200] + $0[3_076...]
    },
    Spoilt("CIFAR-10", "train.bin", .outOfRange, 0) { _ in [255, 0, 0] },
  ]

  @Test(arguments: spoiltHundred, [CIFAR100.Labels.fine, .coarse])
  func `a spoilt file of CIFAR-100 says where`(spoilt: Spoilt, labels: CIFAR100.Labels) throws {
    let folder = try copied("readers/cifar-100-binary")
    let bytes = try Fixture.bytes("readers/cifar-100-binary/\(spoilt.file)")
    let path = try folder.write(spoilt.spoil(bytes), as: "data/\(spoilt.file)")
    let fault = fault { _ = try Self.hundred(folder.path + "/data", labels) }
    #expect(fault?.kind == spoilt.kind && fault?.place == spoilt.place && fault?.file == path)
  }

  @Test func `a missing file and a broken gzip of CIFAR-100 are faults`() throws {
    let folder = try copied("readers/cifar-100-binary")
    try FileManager.default.removeItem(atPath: folder.path + "/data/train.bin")
    let missing = fault { _ = try Self.hundred(folder.path + "/data", .fine) }
    #expect(missing?.kind == .missingFile && missing?.file == "train.bin")
    _ = try folder.write([3, 99, 1, 2], as: "data/train.bin.gz")
    #expect(fault { _ = try Self.hundred(folder.path + "/data", .fine) }?.kind == .wrongMagic)
  }
}
