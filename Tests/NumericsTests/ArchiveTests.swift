import Numerics
import Testing

/// Values of every kind that an archive takes.
private struct Mixture: Codable, Equatable {
  enum Kind: Codable, Equatable {
    case plain
    case one(Int)
    case two(name: String, value: Double?)
  }
  enum Code: UInt8, Codable { case first, second }
  enum Word: String, Codable { case yes, no }

  var bool = true
  var bytes: [UInt8] = [0, 1, 255]
  var small: Int8 = -128
  var integers: [Int64] = [.min, -1, 0, 1, 63, 64, .max]
  var unsigned: [UInt64] = [0, 127, 128, .max]
  var int32: Int32 = .min
  var number = -0.0
  var notNumbers = [Double(bitPattern: 0x7FF0_0000_0000_0001), .infinity, .leastNonzeroMagnitude]
  var float = Float(bitPattern: 0x7FA0_0001)
  var text = "Grüße"
  var missing: Int?
  var there: String? = "there"
  var kinds = [Kind.plain, .one(-3), .two(name: "there", value: nil), .two(name: "", value: 2)]
  var codes = [Code.second, .first]
  var word = Word.no
  var gaps: [Int?] = [nil, 3, nil]
  var nested: [[[Int32]]] = [[], [[1], []]]
  var range = 3..<9
  var vector = SIMD8<UInt16>(1, 2, 3, 4, 5, 6, 7, 65_535)
  var vectors = [SIMD8<UInt32>(0, .max, 1, 2, 3, 4, 5, 6)]
  var bytes16: SIMD16<UInt8>? = SIMD16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 254, 255)
  var other = SIMD4<Int64>(-1, 0, .min, .max)
}

/// An object that refers to others.
private final class Node: ArchivedObject {
  static var archiveName: String { "node" }
  static var isLeaf: Bool { false }
  let number: Int
  var others: [Node]

  init(_ number: Int, _ others: [Node] = []) { (self.number, self.others) = (number, others) }
}

private final class Leaf: ArchivedObject {
  static var archiveName: String { "leaf" }
  static var isLeaf: Bool { true }
  let number: Int

  init(_ number: Int) { self.number = number }
}

@Suite("Archives")
struct ArchiveTests {
  private func bits(_ mixture: Mixture) -> [UInt64] {
    mixture.notNumbers.map(\.bitPattern)
      + [mixture.number.bitPattern, UInt64(mixture.float.bitPattern)]
  }

  @Test("What is written is read back, to the last bit")
  func mixture() throws {
    let mixture = Mixture()
    let bytes = try Archive.bytes(of: mixture)
    let read = try Archive.value(Mixture.self, from: bytes)
    #expect(bits(read) == bits(mixture))
    var (a, b) = (read, mixture)
    (a.notNumbers, b.notNumbers, a.float, b.float) = ([], [], 0, 0)
    #expect(a == b)
    #expect(try Archive.bytes(of: read) == bytes)
  }

  @Test("The layout is the one that is documented")
  func layout() throws {
    struct Value: Codable {
      let a: UInt64
      let b: Int64
      let c: String
      let d: String?
      let e: Bool?
    }
    let bytes = try Archive.bytes(of: Value(a: 300, b: -2, c: "no", d: "no", e: nil))
    // One word of two bytes; no marks; no known objects; no objects. Then 300 = 2·128 + 44; −2,
    // folded to 3; the word's number 0; there is a `d`, the same word; there is no `e`.
    let content: [UInt8] = [1, 2, 110, 111] + [0, 0, 0] + [0x80 | 44, 2, 3, 0, 1, 0, 0]
    #expect(Array(bytes[24...]) == content)
    #expect(Array(bytes[..<8]) == Array("FedSim\u{1}\n".utf8))
    #expect(Array(bytes[8..<16]) == [14, 0, 0, 0, 0, 0, 0, 0])
    var digest = Digest()
    content.withUnsafeBytes { digest.combine(bytes: $0) }
    let value = digest.value
    #expect(Array(bytes[16..<24]) == (0..<8).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) })
  }

  @Test("Objects are written once, and are one again when they are read")
  func sharing() throws {
    let leaf = Node(1)
    let (left, right) = (Node(2, [leaf]), Node(3, [leaf, leaf]))
    let value = [right, left, Node(4, [left, right, leaf])]
    let bytes = try Archive.bytes(of: value)
    let read = try Archive.value([Node].self, from: bytes, types: [Node.self])
    #expect(read.map(\.number) == [3, 2, 4])
    #expect(read[2].others[0] === read[1] && read[2].others[1] === read[0])
    #expect(read[0].others[0] === read[1].others[0] && read[0].others[1] === read[2].others[2])
    #expect(try Archive.bytes(of: read) == bytes)
  }

  @Test("Objects that the reader has are not written, and stay themselves")
  func known() throws {
    let (own, other) = (Leaf(7), Leaf(8))
    let bytes = try Archive.bytes(of: [own, other, own], known: [own])
    let mine = Leaf(9)
    let read = try Archive.value([Leaf].self, from: bytes, known: [mine], types: [Leaf.self])
    #expect(read[0] === mine && read[2] === mine && read[1].number == 8)
    #expect(throws: ArchiveFault.self) {
      try Archive.value([Leaf].self, from: bytes, types: [Leaf.self])
    }
    #expect(throws: ArchiveFault.self) {
      try Archive.value([Leaf].self, from: bytes, known: [mine])
    }
  }

  @Test("A chain of objects needs no stack")
  func chain() throws {
    var nodes = [Node(0)]
    for number in 1..<20_000 { nodes.append(Node(number, [nodes[number - 1]])) }
    let bytes = try Archive.bytes(of: nodes[nodes.count - 1])
    var read = try Archive.value(Node.self, from: bytes, types: [Node.self])
    var count = 1
    var all = [read]
    while let next = read.others.first {
      (read, count) = (next, count + 1)
      all.append(next)
    }
    #expect(count == 20_000)
    // Chains are taken apart link by link, so that letting them go needs no stack either.
    for node in nodes + all { node.others = [] }
  }

  @Test("Marks that differ are named")
  func marks() throws {
    let marks = [Archive.Mark("seed", 3), Archive.Mark("devices", 10)]
    let bytes = try Archive.bytes(of: 1, marks: marks)
    #expect(try Archive.value(Int.self, from: bytes, marks: marks) == 1)
    #expect(throws: ArchiveFault.otherRun(what: "devices", saved: "10", found: "11")) {
      try Archive.value(Int.self, from: bytes, marks: [marks[0], Archive.Mark("devices", 11)])
    }
    #expect(throws: ArchiveFault.otherRun(what: "devices", saved: "10", found: "nothing")) {
      try Archive.value(Int.self, from: bytes, marks: [marks[0]])
    }
    #expect(
      ArchiveFault.otherRun(what: "devices", saved: "10", found: "11").description
        == "the file is of another run: devices was 10 and is 11")
  }

  @Test("Damaged bytes are an error, wherever they are damaged")
  func damage() throws {
    let bytes = try Archive.bytes(of: Mixture())
    for place in bytes.indices {
      for bit in 0..<8 {
        var damaged = bytes
        damaged[place] ^= 1 << UInt8(bit)
        #expect(throws: ArchiveFault.self) { try Archive.value(Mixture.self, from: damaged) }
      }
      #expect(throws: ArchiveFault.self) {
        try Archive.value(Mixture.self, from: Array(bytes[..<place]))
      }
    }
    #expect(throws: ArchiveFault.self) { try Archive.value(Mixture.self, from: bytes + [0]) }
    #expect(throws: ArchiveFault.self) { try Archive.value([Mixture].self, from: bytes) }
  }

  @Test("Bytes that no value has are no crash even where the digest fits")
  func forged() throws {
    let value = [Node(1), Node(2, [Node(3)])]
    let (mixture, nodes) = (try Archive.bytes(of: Mixture()), try Archive.bytes(of: value))
    var stream = StreamKey(seed: 1, purpose: "forgeries").stream(slot: 0)
    var faults = 0
    for round in 0..<4000 {
      var bytes = round % 2 == 0 ? mixture : nodes
      for _ in 0...stream.below(3) {
        let place = 24 + Int(stream.below(UInt32(bytes.count - 24)))
        bytes[place] = UInt8(truncatingIfNeeded: stream.nextUInt32())
      }
      var digest = Digest()
      bytes.withUnsafeBytes { digest.combine(bytes: UnsafeRawBufferPointer(rebasing: $0[24...])) }
      let sealed = digest.value
      for byte in 0..<8 {
        bytes[16 + byte] = UInt8(truncatingIfNeeded: sealed >> (8 * UInt64(byte)))
      }
      do throws(ArchiveFault) {
        if round % 2 == 0 {
          _ = try Archive.value(Mixture.self, from: bytes)
        } else {
          _ = try Archive.value([Node].self, from: bytes, types: [Node.self])
        }
      } catch {
        faults += 1
      }
    }
    #expect(faults > 1000)
  }
}
