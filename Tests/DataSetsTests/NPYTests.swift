import DataSets
import Testing

/// An NPY file, version 1, around a header's text.
func npy(_ header: String, _ data: [UInt8] = []) -> [UInt8] {
  [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0, UInt8(header.utf8.count), 0] + Array(header.utf8)
    + data
}

@Suite struct NPYTests {
  static let good: [(String, NPYArray)] = [
    ("f4", NPYArray(shape: [2, 3], values: .float32([-1, -0.5, 0, 0.5, 1, 1.5]))),
    ("f8", NPYArray(shape: [2, 3], values: .float64([-1, -0.5, 0, 0.5, 1, 1.5]))),
    ("i4", NPYArray(shape: [3], values: .int32([0, 7, 2_147_483_647]))),
    ("i8", NPYArray(shape: [3], values: .int64([0, 7, 9_007_199_254_740_992]))),
    ("i1", NPYArray(shape: [3], values: .int8([0, 7, 127]))),
    ("u1", NPYArray(shape: [3], values: .uint8([0, 7, 255]))),
    ("u2", NPYArray(shape: [3], values: .uint16([0, 7, 65_535]))),
    ("u4", NPYArray(shape: [3], values: .uint32([0, 7, 4_294_967_295]))),
    ("b1", NPYArray(shape: [2, 1], values: .bool([true, false]))),
    ("number", NPYArray(shape: [], values: .float64([2.5]))),
    ("nothing", NPYArray(shape: [0, 3], values: .int32([]))),
  ]

  @Test(arguments: good)
  func `arrays read as NumPy wrote them and write the same bytes`(
    name: String, expected: NPYArray
  ) throws {
    let array = try NPYArray(contentsOf: Fixture.path(name + ".npy"))
    #expect(array == expected)
    #expect(try array.npyBytes() == Fixture.bytes(name + ".npy"))
  }

  @Test(arguments: [("text", "größe 😀"), ("no-text", "")])
  func `a text has the bytes that NumPy writes`(name: String, text: String) throws {
    #expect(try NPYArray.npyBytes(text: text) == Fixture.bytes(name + ".npy"))
  }

  @Test func `version 2 reads too`() throws {
    let array = try NPYArray(contentsOf: Fixture.path("version2.npy"))
    #expect(array == NPYArray(integers: [1, 2, 3] as [Int32]))
  }

  @Test func `Fortran order is put into C order`() throws {
    let array = try NPYArray(contentsOf: Fixture.path("fortran.npy"))
    #expect(array == NPYArray(shape: [2, 3, 2], floats: (0..<12).map { Float($0) }))
  }

  static let damages: [Damage] = [
    Damage("empty", "f4.npy", .truncated, .byte(0)) { $0 = [] },
    Damage("another format", "f4.npy", .wrongMagic, .byte(0)) { $0[5] = 0x58 },
    Damage("cut in the lengths", "f4.npy", .truncated, .byte(9)) { $0.removeLast(143) },
    Damage("version 3", "f4.npy", .unsupported, .byte(6)) { $0[6] = 3 },
    Damage("cut in the header", "f4.npy", .truncated, .byte(100)) { $0.removeLast(52) },
    Damage("cut in the values", "f4.npy", .truncated, .byte(151)) { $0.removeLast() },
    Damage("a byte too many", "f4.npy", .trailingBytes, .byte(152)) { $0.append(0) },
    Damage("Python objects", "objects.npy", .unsupported, .byte(10)),
    Damage("big-endian", "big-endian.npy", .unsupported, .byte(10)),
    Damage("records", "records.npy", .malformed, .byte(20)),
    Damage("an unknown key", "f4.npy", .unknownName, .byte(11)) { $0[12] = 0x78 },
    Damage("no dictionary", "f4.npy", .malformed, .byte(10)) { $0[10] = 0x5b },
    Damage("neither True nor False", "f4.npy", .malformed, .byte(44)) {
      $0 = npy("{'descr': '<f4', 'fortran_order': 0, 'shape': (2,)}")
    },
    Damage("a shape that is no tuple", "f4.npy", .malformed, .byte(60)) {
      $0 = npy("{'descr': '<f4', 'fortran_order': False, 'shape': 2}")
    },
    Damage("a negative axis", "f4.npy", .malformed, .byte(61)) {
      $0 = npy("{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}")
    },
    Damage("a missing key", "f4.npy", .missingName, .byte(10)) {
      $0 = npy("{'descr': '<f4', 'shape': (1,)}", [0, 0, 0, 0])
    },
    Damage("a key twice", "f4.npy", .duplicate, .byte(42)) {
      $0 = npy("{'descr': '<f4', 'shape': (1,), 'descr': '<f4'}")
    },
    Damage("an open quote", "f4.npy", .malformed, .byte(20)) { $0 = npy("{'descr': '<f4") },
    Damage("something after the header", "f4.npy", .malformed, .byte(66)) {
      $0 = npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} # one", [0, 0, 0, 0])
    },
    Damage("a shape that overflows", "f4.npy", .tooLarge, .byte(10)) {
      $0 = npy("{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296)}")
    },
    Damage("a truth value of 2", "b1.npy", .outOfRange, .byte(129)) { $0[129] = 2 },
  ]

  @Test(arguments: damages)
  func `damaged arrays say what and where`(damage: Damage) throws {
    let bytes = try damage.bytes()
    let fault = fault { _ = try NPYArray(npy: bytes[...], file: "weights.npy") }
    #expect(fault?.kind == damage.kind)
    #expect(fault?.place == damage.place)
    #expect(fault?.file == "weights.npy")
  }

  @Test func `every cut of a good file is a fault and never a crash`() throws {
    let bytes = try Fixture.bytes("f4.npy")
    for length in bytes.indices {
      #expect(
        fault { _ = try NPYArray(npy: bytes[..<length], file: "") }?.kind == .truncated,
        "cut to \(length) bytes")
    }
  }
}
