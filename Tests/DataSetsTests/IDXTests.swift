import DataSets
import Testing

@Suite struct IDXTests {
  static let pixels = (0..<24).map { UInt8(10 * $0) }

  @Test(arguments: ["images.idx", "images.idx.gz", "two-members.gz"])
  func `plain, gzip and several gzip members read the same`(name: String) throws {
    let file = try IDX(contentsOf: Fixture.path(name), rank: 3)
    #expect(file.dimensions == [3, 2, 4])
    #expect(file.bytes == Self.pixels)
  }

  @Test func `images go with their labels`() throws {
    let data = try LabelledImages(
      imagesAt: Fixture.path("images.idx.gz"), labelsAt: Fixture.path("labels.idx"), classes: 3)
    #expect(data.count == 3 && data.rows == 2 && data.columns == 4)
    #expect(data.pixels == Self.pixels)
    #expect(data.labels == [2, 0, 1])
  }

  @Test func `a file in chunks larger than the buffer keeps every byte`() throws {
    let folder = try TemporaryFolder()
    let values = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7 ^ $0 >> 8) }
    let path = try folder.write([0, 0, 8, 1, 0, 4, 0x93, 0xe0] + values, as: "large.idx")
    #expect(try IDX(contentsOf: path, rank: 1).bytes == values)
  }

  static let damages: [Damage] = [
    Damage("empty", "images.idx", .truncated, .byte(0)) { $0 = [] },
    Damage("another format", "images.idx", .wrongMagic, .byte(0)) { $0 = Array("P5 28 28".utf8) },
    Damage("floats", "images.idx", .unsupported, .byte(2)) { $0[2] = 0x0d },
    Damage("labels for images", "images.idx", .countMismatch, .byte(3)) { $0[3] = 1 },
    Damage("cut in the dimensions", "images.idx", .truncated, .byte(10)) { $0.removeLast(30) },
    Damage("cut in the values", "images.idx", .truncated, .byte(39)) { $0.removeLast() },
    Damage("a byte too many", "images.idx", .trailingBytes, .byte(40)) { $0.append(0) },
    Damage("a dimension of 0", "images.idx", .outOfRange, .byte(8)) { $0[11] = 0 },
    Damage("dimensions that overflow", "images.idx", .tooLarge, .byte(8)) {
      $0.replaceSubrange(4..<16, with: [0x7f, 0xff, 0xff, 0xff] + Array(repeating: 0xff, count: 8))
    },
    Damage("gzip cut short", "images.idx.gz", .truncated, .byte(50)) { $0.removeLast(7) },
    Damage("gzip's header only", "images.idx.gz", .truncated, .byte(10)) { $0.removeLast(47) },
    Damage("gzip with an unknown block", "images.idx.gz", .corrupt, .byte(11)) { $0[10] = 0x07 },
    Damage("gzip with a wrong checksum", "images.idx.gz", .corrupt, .byte(53)) { $0[49] ^= 1 },
    Damage("gzip with a wrong length", "images.idx.gz", .corrupt, .byte(57)) { $0[53] ^= 1 },
    Damage("bytes after gzip", "images.idx.gz", .trailingBytes, .byte(57)) { $0 += [0, 0, 0] },
    Damage("a second gzip member cut short", "images.idx.gz", .truncated, .byte(59)) {
      $0 += [0x1f, 0x8b]
    },
  ]

  @Test(arguments: damages)
  func `damaged files say what and where`(damage: Damage) throws {
    let folder = try TemporaryFolder()
    let path = try folder.write(damage.bytes(), as: "spoiled")
    let fault = fault { _ = try IDX(contentsOf: path, rank: 3) }
    #expect(fault?.kind == damage.kind)
    #expect(fault?.place == damage.place)
    #expect(fault?.file == path)
  }

  @Test func `a name ending in gz has to hold gzip`() throws {
    let folder = try TemporaryFolder()
    let plain = try folder.write(Fixture.bytes("images.idx"), as: "images.gz")
    #expect(fault { _ = try IDX(contentsOf: plain, rank: 3) }?.kind == .wrongMagic)
    let empty = try folder.write([], as: "empty.gz")
    #expect(fault { _ = try IDX(contentsOf: empty, rank: 3) }?.kind == .truncated)
  }

  @Test func `a file that inflates beyond the limit is refused`() throws {
    let fault = fault {
      _ = try ByteStream(path: Fixture.path("images.idx.gz"), limit: 39).readAll()
    }
    #expect(fault?.kind == .tooLarge)
    #expect(fault?.place == .byte(39))
    #expect(try ByteStream(path: Fixture.path("images.idx.gz"), limit: 40).readAll().count == 40)
  }

  @Test func `a missing file and a folder are told apart`() throws {
    let folder = try TemporaryFolder()
    #expect(
      fault { _ = try IDX(contentsOf: folder.path + "/none", rank: 1) }?.kind == .missingFile)
    #expect(fault { _ = try IDX(contentsOf: folder.path, rank: 1) }?.kind == .inputOutput)
  }

  @Test func `labels that are no classes or too few are faults`() throws {
    let images = Fixture.path("images.idx")
    let labels = Fixture.path("labels.idx")
    let range = fault { _ = try LabelledImages(imagesAt: images, labelsAt: labels, classes: 2) }
    #expect(range?.kind == .outOfRange)
    #expect(range?.place == .byte(8))
    #expect(range?.found == "label 2")

    let folder = try TemporaryFolder()
    let two = try folder.write([0, 0, 8, 1, 0, 0, 0, 2, 1, 1], as: "two")
    let count = fault { _ = try LabelledImages(imagesAt: images, labelsAt: two, classes: 3) }
    #expect(count?.kind == .countMismatch)
    #expect(count?.place == .byte(4))
    #expect(count?.file == two)
  }
}
