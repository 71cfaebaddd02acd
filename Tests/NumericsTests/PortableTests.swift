import Foundation
import Testing

import Numerics

@Suite("Portable functions and digests")
struct PortableTests {
  /// Distance in units in the last place of the reference.
  private func ulps(_ value: Double, _ reference: Double) -> Double {
    abs(value - reference) / reference.ulp
  }

  @Test("log agrees with the C library to 2 units in the last place")
  func logarithm() {
    var stream = StreamKey(seed: 1, purpose: "test").stream(slot: 0)
    for _ in 0..<100_000 {
      let x = stream.uniformAboveZero() * 4
      #expect(ulps(Portable.log(x), Foundation.log(x)) <= 2, "log(\(x))")
      let wide = Double(bitPattern: stream.nextUInt64() >> 2 | 1)
      if wide.isFinite { #expect(ulps(Portable.log(wide), Foundation.log(wide)) <= 2) }
    }
    #expect(Portable.log(1) == 0)
    #expect(Portable.log(0) == -.infinity)
    #expect(Portable.log(-1).isNaN)
    #expect(Portable.log(.infinity) == .infinity)
    #expect(ulps(Portable.log(.leastNonzeroMagnitude), Foundation.log(.leastNonzeroMagnitude)) <= 2)
  }

  @Test("Two logarithms at once are each that of its number alone, bit for bit")
  func logarithms() {
    var stream = StreamKey(seed: 7, purpose: "test").stream(slot: 0)
    let special = [1, 0.5, 0.0.nextUp, 1.0.nextDown, 0x1p-1022, .greatestFiniteMagnitude]
    for place in 0..<20_000 {
      let x = place < special.count ? special[place] : stream.uniformAboveZero()
      let y = Double(bitPattern: stream.nextUInt64() >> 2 | 1)
      let logs = Portable.logs(SIMD2(x, y))
      #expect(logs[0] == Portable.log(x) && logs[1] == Portable.log(y), "\(x) and \(y)")
    }
  }

  @Test("exp agrees with the C library to 2 units in the last place")
  func exponential() {
    var stream = StreamKey(seed: 2, purpose: "test").stream(slot: 0)
    for _ in 0..<100_000 {
      let x = (stream.uniform() - 0.5) * 1400
      #expect(ulps(Portable.exp(x), Foundation.exp(x)) <= 2, "exp(\(x))")
    }
    #expect(Portable.exp(0) == 1)
    #expect(Portable.exp(710) == .infinity)
    #expect(Portable.exp(-746) == 0)
    #expect(Portable.exp(-740) > 0)
    #expect(Portable.exp(.nan).isNaN)
  }

  @Test("the digest is XXH64: values computed with the reference implementation (Python xxhash)")
  func xxh64() {
    #expect(Digest().value.hexDigits == "ef46db3751d8e999")
    func digest(_ words: Range<UInt64>) -> String {
      var digest = Digest()
      for word in words { digest.combine(word) }
      return digest.value.hexDigits
    }
    #expect(digest(0..<1) == "34c96acdcadb1bbb")
    #expect(digest(0..<4) == "d5fe80bd05f87c8e")
    #expect(digest(0..<11) == "377fe4b1e6252fa5")
  }

  @Test("bytes are distinguished from their padded neighbours")
  func bytesCarryTheirLength() {
    func digest(_ bytes: [UInt8]) -> UInt64 {
      var digest = Digest()
      digest.combine(bytes: bytes)
      return digest.value
    }
    #expect(digest([1]) != digest([1, 0]))
    #expect(digest([]) != digest([0]))
    // Bytes in memory count as the same bytes in a sequence, whatever their number.
    for count in 0..<20 {
      let bytes = (0..<UInt8(count)).map { $0 &* 37 &+ 1 }
      var inMemory = Digest()
      bytes.withUnsafeBytes { inMemory.combine(bytes: $0) }
      #expect(inMemory.value == digest(bytes))
      // So do pieces, wherever they are cut.
      for cut in 0...count {
        for second in cut...count {
          var pieces = Digest()
          pieces.combine(pieces: [bytes[..<cut], bytes[cut..<second], bytes[second...]])
          #expect(pieces.value == digest(bytes))
        }
      }
    }
  }

  @Test("SHA-256 gives the examples of FIPS 180-4")
  func sha256() {
    func digest(_ text: String) -> String {
      var digest = SHA256()
      digest.update(text.utf8)
      return digest.hexDigest()
    }
    #expect(
      digest("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    #expect(
      digest("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    #expect(
      digest("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")
        == "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1")
    #expect(
      digest(String(repeating: "a", count: 1_000_000))
        == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
  }

  @Test("SHA-256 takes bytes in pieces of any size, and from a sequence that is no memory")
  func sha256InPieces() {
    let expected = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
    let million = [UInt8](repeating: UInt8(ascii: "a"), count: 1_000_000)
    for size in [1, 7, 55, 63, 64, 65, 128, 1000] {
      var digest = SHA256()
      for start in stride(from: 0, to: million.count, by: size) {
        digest.update(million[start..<min(start + size, million.count)])
      }
      #expect(digest.hexDigest() == expected, "in pieces of \(size)")
    }
    var digest = SHA256()
    digest.update(sequence(first: 1) { $0 < 1_000_000 ? $0 + 1 : nil }.lazy.map { _ in 97 })
    #expect(digest.hexDigest() == expected)
  }
}
