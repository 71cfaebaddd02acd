import DataSets
import Foundation
import Testing

@Suite struct NPZTests {
  @Test(arguments: ["stored.npz", "deflated.npz"])
  func `archives read as NumPy wrote them`(name: String) throws {
    let archive = try NPZ(contentsOf: Fixture.path(name))
    #expect(archive.names == ["hidden.weight", "hidden.bias", "steps"])
    #expect(
      try archive.array(named: "hidden.weight")
        == NPYArray(shape: [2, 3], floats: [-1, -0.5, 0, 0.5, 1, 1.5]))
    #expect(
      try archive.array(named: "hidden.bias").floats == [Float](repeating: 0, count: 200))
    #expect(try archive.array(named: "steps").integers == [40])
  }

  @Test func `sizes in zip64 fields are read`() throws {
    let archive = try NPZ(contentsOf: Fixture.path("zip64.npz"))
    #expect(try archive.array(named: "i4").integers == [0, 7, 2_147_483_647])
  }

  @Test func `what is written reads back, and equal arrays give equal bytes`() throws {
    let folder = try TemporaryFolder()
    let arrays: [(name: String, array: NPYArray)] = [
      ("b", NPYArray(shape: [2, 1], floats: [0.1, -.infinity])),
      ("a", NPYArray(integers: [5, -6] as [Int32])), ("größe", NPYArray(integers: [1] as [Int64])),
    ]
    let path = folder.path + "/model.npz"
    try NPZ.write(arrays, to: path)
    let archive = try NPZ(contentsOf: path)
    #expect(archive.names == ["b", "a", "größe"])
    for (name, array) in arrays { #expect(try archive.array(named: name) == array) }
    let written = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    #expect(written == NPZ.bytes(of: arrays))
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["model.npz"])
  }

  @Test func `members are stored, with names in UTF-8, dated 1980-01-01`() {
    let bytes = NPZ.bytes(of: [("a", NPYArray(integers: [1] as [Int32]))])
    // Signature; version 2.0; bit 11; method 0; midnight; the first of January of year 0 = 1980.
    let head: [UInt8] = [0x50, 0x4b, 3, 4, 20, 0, 0, 8, 0, 0, 0, 0, 0x21, 0]
    #expect(bytes[..<14].elementsEqual(head))
    // One member of 128 + 4 bytes: local header 30 + 5, directory entry 46 + 5, end record 22.
    #expect(bytes.count == 35 + 132 + 51 + 22)
    #expect(bytes[(35 + 132 + 6)..<(35 + 132 + 16)].elementsEqual(head[4...]))
  }

  @Test func `a place that cannot be written to is a fault and leaves nothing`() throws {
    let folder = try TemporaryFolder()
    let fault = fault { try NPZ.write([], to: folder.path + "/none/model.npz") }
    #expect(fault?.kind == .inputOutput)
  }

  @Test func `an unknown name suggests the nearest`() throws {
    let archive = try NPZ(contentsOf: Fixture.path("stored.npz"))
    let fault = fault { _ = try archive.array(named: "hidden.wieght") }
    #expect(fault?.kind == .missingName)
    #expect(fault?.advice == "the nearest name there is 'hidden.weight'")
  }

  // stored.npz: members at 0, 219, ...; the directory from 1407 with entries of 63, 61 and 55
  // bytes; the end record at 1586. deflated.npz: the first member's deflate stream from 67.
  static let damages: [Damage] = [
    Damage("empty", "stored.npz", .truncated, .byte(0)) { $0 = [] },
    Damage("another format", "stored.npz", .wrongMagic, .byte(0)) { $0[0] = 0 },
    Damage("no end", "stored.npz", .truncated, .byte(1598)) { $0.removeLast(10) },
    Damage("several parts", "stored.npz", .unsupported, .byte(1590)) { $0[1590] = 1 },
    Damage("a directory of the wrong size", "stored.npz", .corrupt, .byte(1586)) {
      $0[1586 + 12] += 1
    },
    Damage("an entry too many", "stored.npz", .corrupt, .byte(1586)) { $0[1586 + 10] = 4 },
    Damage("an entry too few", "stored.npz", .corrupt, .byte(1531)) { $0[1586 + 10] = 2 },
    Damage("more entries than bytes", "stored.npz", .corrupt, .byte(1586)) { $0[1586 + 11] = 9 },
    Damage("no entry", "stored.npz", .corrupt, .byte(1407)) { $0[1407] = 0 },
    Damage("an entry beyond the directory", "stored.npz", .corrupt, .byte(1531)) {
      $0[1531 + 33] = 1
    },
    Damage("a password", "stored.npz", .unsupported, .byte(1415)) { $0[1415] = 1 },
    Damage("another compression", "stored.npz", .unsupported, .byte(1417)) { $0[1417] = 12 },
    Damage("a member that is no array", "stored.npz", .unknownName, .byte(0)) {
      $0[1407 + 46 + 16] = 0x78
    },
    Damage("a wrong byte", "stored.npz", .corrupt, .byte(67)) { $0[67 + 140] ^= 1 },
    Damage("no local header", "stored.npz", .corrupt, .byte(220)) { $0[1407 + 42] = 220 },
    Damage("another member's header", "stored.npz", .corrupt, .byte(249)) { $0[1407 + 42] = 219 },
    Damage("another local name", "stored.npz", .corrupt, .byte(30)) { $0[30] = 0x48 },
    Damage("a member beyond the end", "stored.npz", .truncated, .byte(1608)) {
      $0[1407 + 21] = 9
    },
    Damage("two sizes", "stored.npz", .corrupt, .byte(67)) { $0[1407 + 20] -= 1 },
    Damage("a size beyond the limit", "stored.npz", .tooLarge, .file) { $0[1407 + 27] = 1 },
    Damage("an unknown block", "deflated.npz", .corrupt, .byte(68)) { $0[67] = 0x07 },
    Damage("a wrong zip64 locator", "zip64.npz", .corrupt, .byte(352)) { $0[332] = 0 },
    Damage("a wrong zip64 end", "zip64.npz", .corrupt, .byte(276)) { $0[276] = 0 },
  ]

  @Test(arguments: damages)
  func `damaged archives say what and where`(damage: Damage) throws {
    let bytes = try damage.bytes()
    let fault = fault {
      let archive = try NPZ(bytes: bytes, file: "model.npz", limit: 1 << 20)
      for name in archive.names { _ = try archive.array(named: name) }
    }
    #expect(fault?.kind == damage.kind)
    #expect(fault?.place == damage.place)
    #expect(fault?.file.hasPrefix("model.npz") == true)
  }

  @Test func `a name that comes twice is a fault`() throws {
    let array = NPYArray(integers: [1] as [Int32])
    var bytes = NPZ.bytes(of: [("a", array), ("b", array)])
    let place = try #require(bytes.lastIndex(of: UInt8(ascii: "b")))
    bytes[place] = UInt8(ascii: "a")
    #expect(fault { _ = try NPZ(bytes: bytes, file: "") }?.kind == .duplicate)
  }

  @Test(arguments: ["stored.npz", "deflated.npz", "zip64.npz"])
  func `every cut and every flipped byte is a fault or changes nothing, never a crash`(
    name: String
  ) throws {
    let bytes = try Fixture.bytes(name)
    func contents(_ bytes: [UInt8]) throws -> [NPYArray] {
      let archive = try NPZ(bytes: bytes, file: "", limit: 1 << 20)
      return try archive.names.map { try archive.array(named: $0) }
    }
    let whole = try contents(bytes)
    for length in bytes.indices {
      #expect(throws: DataFault.self) { try contents(Array(bytes[..<length])) }
    }
    for place in bytes.indices {
      var spoiled = bytes
      spoiled[place] ^= 0x10
      if let read = try? contents(spoiled) { #expect(read == whole, "byte \(place)") }
    }
  }
}
