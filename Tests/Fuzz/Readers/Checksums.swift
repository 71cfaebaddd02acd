import Numerics

/// Checksums of files, set right after a mutation.
enum Checksums {
  /// CRC-32 as zip has it, bit by bit. Source: ISO 3309.
  static func crc32(_ bytes: some Sequence<UInt8>) -> UInt32 {
    var sum: UInt32 = 0xffff_ffff
    for byte in bytes {
      sum ^= UInt32(byte)
      for _ in 0..<8 { sum = sum & 1 == 1 ? sum >> 1 ^ 0xedb8_8320 : sum >> 1 }
    }
    return ~sum
  }

  /// Writes the checksums of stored members into the directory of a zip archive.
  static func zip(_ bytes: inout [UInt8]) {
    for member in ZipMember.all(in: bytes) {
      guard member.method == 0, let data = member.stored(in: bytes) else { continue }
      let sum = crc32(data)
      for byte in 0..<4 {
        bytes[member.entry + 16 + byte] = UInt8(truncatingIfNeeded: sum >> UInt32(8 * byte))
      }
    }
  }

  /// Writes the digests of a journal's records, as long as their lengths fit.
  static func journal(_ bytes: inout [UInt8]) {
    var place = 8
    while let length = number(bytes, place, 4), place + 12 + length <= bytes.count {
      let digest = journalDigest(bytes[place + 12..<place + 12 + length], at: place)
      write(digest, at: place + 4, in: &bytes)
      place += 12 + length
    }
  }

  static func journalDigest(_ payload: ArraySlice<UInt8>, at place: Int) -> UInt64 {
    var digest = Digest(seed: UInt64(place))
    payload.withUnsafeBytes { digest.combine(bytes: $0) }
    return digest.value
  }

  /// Writes the digest of a checkpoint.
  static func checkpoint(_ bytes: inout [UInt8]) {
    guard bytes.count >= 16 else { return }
    write(checkpointDigest(bytes), at: 8, in: &bytes)
  }

  static func checkpointDigest(_ bytes: [UInt8]) -> UInt64 {
    var digest = Digest()
    bytes[16...].withUnsafeBytes { digest.combine(bytes: $0) }
    return digest.value
  }

  /// A little-endian number; nil beyond the end.
  static func number(_ bytes: [UInt8], _ place: Int, _ width: Int) -> Int? {
    guard place >= 0, place + width <= bytes.count else { return nil }
    return bytes[place..<place + width].reversed().reduce(0) { $0 << 8 | Int($1) }
  }

  private static func write(_ number: UInt64, at place: Int, in bytes: inout [UInt8]) {
    for byte in 0..<8 {
      bytes[place + byte] = UInt8(truncatingIfNeeded: number >> UInt64(8 * byte))
    }
  }
}

/// An entry of a zip archive's directory; its sizes are those of 32 bits.
struct ZipMember {
  /// Where the entry begins.
  var entry: Int
  var name: String
  var method: Int
  var checksum: UInt32
  /// How many bytes there are in the file, and behind the inflation.
  var packed: Int
  var size: Int
  var local: Int

  /// The entries that the last end record names, as far as they can be followed.
  static func all(in bytes: [UInt8]) -> [ZipMember] {
    var end = bytes.count - 22
    while end >= 0, Array(bytes[end..<end + 4]) != [0x50, 0x4b, 5, 6] { end -= 1 }
    guard end >= 0, var count = Checksums.number(bytes, end + 10, 2),
      var at = Checksums.number(bytes, end + 16, 4)
    else { return [] }
    // In zip64 the 20 bytes before that record say where the one with 64 bits is.
    if count == 0xffff || at == 0xffff_ffff {
      guard let record = Checksums.number(bytes, end - 12, 8), 0..<bytes.count ~= record,
        let entries = Checksums.number(bytes, record + 32, 8),
        let first = Checksums.number(bytes, record + 48, 8), 0..<bytes.count ~= first
      else { return [] }
      (count, at) = (min(max(0, entries), bytes.count), first)
    }
    var members: [ZipMember] = []
    for _ in 0..<count {
      guard at + 46 <= bytes.count, let length = Checksums.number(bytes, at + 28, 2),
        let extra = Checksums.number(bytes, at + 30, 2),
        let comment = Checksums.number(bytes, at + 32, 2), at + 46 + length <= bytes.count
      else { return members }
      func number(_ offset: Int, _ width: Int) -> Int {
        Checksums.number(bytes, at + offset, width) ?? 0
      }
      members.append(
        ZipMember(
          entry: at, name: String(decoding: bytes[at + 46..<at + 46 + length], as: UTF8.self),
          method: number(10, 2), checksum: UInt32(number(16, 4)), packed: number(20, 4),
          size: number(24, 4), local: number(42, 4)))
      at += 46 + length + extra + comment
    }
    return members
  }

  /// Its name in the header before its bytes.
  func localName(in bytes: [UInt8]) -> String? {
    guard let length = Checksums.number(bytes, local + 26, 2), local + 30 + length <= bytes.count
    else { return nil }
    return String(decoding: bytes[local + 30..<local + 30 + length], as: UTF8.self)
  }

  /// Its bytes in the file; nil where they do not fit, or zip64 says their number.
  func stored(in bytes: [UInt8]) -> [UInt8]? {
    guard let name = Checksums.number(bytes, local + 26, 2),
      let extra = Checksums.number(bytes, local + 28, 2)
    else { return nil }
    let start = local + 30 + name + extra
    guard packed != 0xffff_ffff, start + packed <= bytes.count else { return nil }
    return Array(bytes[start..<start + packed])
  }
}
