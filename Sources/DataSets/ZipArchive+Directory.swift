/// Little-endian numbers out of bytes, each read inside the bounds or a fault.
struct LittleEndian {
  let bytes: [UInt8]
  let file: String

  func number(_ width: Int, at offset: Int) throws(DataFault) -> Int {
    try need(width, at: offset)
    var value: UInt64 = 0
    for byte in bytes[offset..<offset + width].reversed() { value = value << 8 | UInt64(byte) }
    guard let number = Int(exactly: value) else {
      throw DataFault(
        .corrupt, in: file, at: .byte(offset), found: "the size \(value)",
        expected: "a size below 2^63")
    }
    return number
  }

  func text(_ count: Int, at offset: Int) throws(DataFault) -> String {
    try need(count, at: offset)
    return String(decoding: bytes[offset..<offset + count], as: UTF8.self)
  }

  private func need(_ count: Int, at offset: Int) throws(DataFault) {
    guard offset >= 0, offset <= bytes.count, count <= bytes.count - offset else {
      throw DataFault(
        .truncated, in: file, at: .byte(bytes.count), found: "the end of the archive",
        expected: "\(count) bytes from byte \(offset)")
    }
  }
}

extension ZipArchive {
  /// Where the central directory is and how many entries it has.
  static func directory(
    of cursor: LittleEndian
  ) throws(DataFault) -> (offset: Int, end: Int, count: Int) {
    let bytes = cursor.bytes
    let file = cursor.file
    var at = bytes.count - 22
    let lowest = max(0, at - 0xffff)
    while at >= lowest {
      if bytes[at] == 0x50 && bytes[at + 1] == 0x4b && bytes[at + 2] == 5 && bytes[at + 3] == 6,
        at + 22 + Int(bytes[at + 20]) + Int(bytes[at + 21]) << 8 == bytes.count
      {
        break
      }
      at -= 1
    }
    guard at >= lowest else {
      throw DataFault(
        .truncated, in: file, at: .byte(bytes.count), found: "no end of a zip archive",
        expected: "the end record (50 4b 05 06)")
    }
    guard try cursor.number(2, at: at + 4) == 0, try cursor.number(2, at: at + 6) == 0 else {
      throw DataFault(
        .unsupported, in: file, at: .byte(at + 4), found: "an archive in several parts",
        expected: "one file")
    }
    var count = try cursor.number(2, at: at + 10)
    var size = try cursor.number(4, at: at + 12)
    var offset = try cursor.number(4, at: at + 16)
    var end = at
    if count == 0xffff || size == 0xffff_ffff || offset == 0xffff_ffff {
      guard at >= 20, try cursor.number(4, at: at - 20) == 0x0706_4b50 else {
        throw DataFault(
          .corrupt, in: file, at: .byte(at), found: "no zip64 locator",
          expected: "one before the end record")
      }
      end = try cursor.number(8, at: at - 12)
      guard try cursor.number(4, at: end) == 0x0606_4b50 else {
        throw DataFault(
          .corrupt, in: file, at: .byte(end), found: "no zip64 end record",
          expected: "one where the locator says")
      }
      count = try cursor.number(8, at: end + 32)
      size = try cursor.number(8, at: end + 40)
      offset = try cursor.number(8, at: end + 48)
    }
    guard offset <= end, size == end - offset, count <= size / 46 else {
      throw DataFault(
        .corrupt, in: file, at: .byte(end),
        found: "a directory of \(count) entries and \(size) bytes at byte \(offset)",
        expected: "one that ends at byte \(end)")
    }
    return (offset, end, count)
  }

  /// One entry of the directory, and where the next begins.
  static func member(
    at start: Int, of cursor: LittleEndian, end: Int
  ) throws(DataFault) -> (Member, next: Int) {
    let file = cursor.file
    guard start + 46 <= end, try cursor.number(4, at: start) == 0x0201_4b50 else {
      throw DataFault(
        .corrupt, in: file, at: .byte(start), found: "no directory entry",
        expected: "one (50 4b 01 02)")
    }
    let flags = try cursor.number(2, at: start + 8)
    let nameLength = try cursor.number(2, at: start + 28)
    let extraLength = try cursor.number(2, at: start + 30)
    let commentLength = try cursor.number(2, at: start + 32)
    let next = start + 46 + nameLength + extraLength + commentLength
    guard next <= end else {
      throw DataFault(
        .corrupt, in: file, at: .byte(start), found: "an entry beyond the directory",
        expected: "its end at byte \(end) at most")
    }
    var member = Member(
      name: try cursor.text(nameLength, at: start + 46),
      method: try cursor.number(2, at: start + 10),
      checksum: UInt32(try cursor.number(4, at: start + 16)),
      compressedSize: try cursor.number(4, at: start + 20),
      size: try cursor.number(4, at: start + 24),
      localHeader: try cursor.number(4, at: start + 42))
    guard flags & 1 == 0 else {
      throw DataFault(
        .unsupported, in: file, at: .byte(start + 8), found: "'\(member.name)' encrypted",
        expected: "an archive without a password")
    }
    guard member.method == 0 || member.method == 8 else {
      throw DataFault(
        .unsupported, in: file, at: .byte(start + 10),
        found: "compression method \(member.method) of '\(member.name)'",
        expected: "0 (stored) or 8 (deflated)")
    }
    try widen(&member, extra: start + 46 + nameLength, length: extraLength, of: cursor)
    return (member, next)
  }

  /// Takes the sizes that do not fit into 32 bits from the zip64 extra field.
  private static func widen(
    _ member: inout Member, extra: Int, length: Int, of cursor: LittleEndian
  ) throws(DataFault) {
    var at = extra
    let end = extra + length
    while at + 4 <= end {
      let tag = try cursor.number(2, at: at)
      var field = at + 4
      at = field + (try cursor.number(2, at: at + 2))
      guard tag == 1 else { continue }
      func next() throws(DataFault) -> Int {
        guard field + 8 <= min(at, end) else {
          throw DataFault(
            .corrupt, in: cursor.file, at: .byte(field), found: "a short zip64 field",
            expected: "the sizes of '\(member.name)'")
        }
        field += 8
        return try cursor.number(8, at: field - 8)
      }
      if member.size == 0xffff_ffff { member.size = try next() }
      if member.compressedSize == 0xffff_ffff { member.compressedSize = try next() }
      if member.localHeader == 0xffff_ffff { member.localHeader = try next() }
    }
  }
}
