/// Checksums of object headers in HDF5 files: what says the shape of a table is behind them.
///
/// Source: HDF5 File Format Specification 3.0, IV.A.1.b, and Jenkins's lookup3 (2006).
enum ObjectHeaders {
  /// Writes the checksums of all headers of version 2 whose first chunk is in the file.
  static func repair(_ bytes: inout [UInt8]) {
    var place = 0
    while place + 16 <= bytes.count {
      defer { place += 1 }
      guard bytes[place] == UInt8(ascii: "O"), bytes[place + 1] == UInt8(ascii: "H"),
        bytes[place + 2] == UInt8(ascii: "D"), bytes[place + 3] == UInt8(ascii: "R"),
        bytes[place + 4] == 2
      else { continue }
      let flags = Int(bytes[place + 5])
      let width = 1 << (flags & 3)
      // Four times, and two limits of attributes, are there if flags say so.
      let before = 6 + (flags & 0x20 == 0 ? 0 : 16) + (flags & 0x10 == 0 ? 0 : 4)
      guard let size = Checksums.number(bytes, place + before, width),
        0..<bytes.count ~= size, place + before + width + size + 4 <= bytes.count
      else { continue }
      let end = place + before + width + size
      let sum = lookup3(bytes[place..<end])
      for byte in 0..<4 { bytes[end + byte] = UInt8(truncatingIfNeeded: sum >> UInt32(8 * byte)) }
    }
  }

  /// Jenkins's `hashlittle` with initial value 0.
  static func lookup3(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    var (a, b, c): (UInt32, UInt32, UInt32)
    a = 0xdead_beef &+ UInt32(truncatingIfNeeded: bytes.count)
    (b, c) = (a, a)
    func rotated(_ x: UInt32, _ bits: UInt32) -> UInt32 { x << bits | x >> (32 - bits) }
    var rest = bytes
    func word(_ place: Int) -> UInt32 {
      (0..<4).reduce(0) { sum, byte in
        let index = rest.startIndex + 4 * place + byte
        return index < rest.endIndex ? sum | UInt32(rest[index]) << UInt32(8 * byte) : sum
      }
    }
    while rest.count > 12 {
      (a, b, c) = (a &+ word(0), b &+ word(1), c &+ word(2))
      (a, c) = ((a &- c) ^ rotated(c, 4), c &+ b)
      (b, a) = ((b &- a) ^ rotated(a, 6), a &+ c)
      (c, b) = ((c &- b) ^ rotated(b, 8), b &+ a)
      (a, c) = ((a &- c) ^ rotated(c, 16), c &+ b)
      (b, a) = ((b &- a) ^ rotated(a, 19), a &+ c)
      (c, b) = ((c &- b) ^ rotated(b, 4), b &+ a)
      rest = rest.dropFirst(12)
    }
    guard !rest.isEmpty else { return c }
    (a, b, c) = (a &+ word(0), b &+ word(1), c &+ word(2))
    c = (c ^ b) &- rotated(b, 14)
    a = (a ^ c) &- rotated(c, 11)
    b = (b ^ a) &- rotated(a, 25)
    c = (c ^ b) &- rotated(b, 16)
    a = (a ^ c) &- rotated(c, 4)
    b = (b ^ a) &- rotated(a, 14)
    c = (c ^ b) &- rotated(b, 24)
    return c
  }
}
