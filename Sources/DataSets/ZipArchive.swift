import CZlib

/// The members of a zip archive held in memory: stored and deflated ones, zip64 sizes included.
///
/// Source: PKWARE, "APPNOTE.TXT", 6.3. The central directory is believed, and every member's local
/// header and checksum are held against it.
package struct ZipArchive {
  /// One entry of the central directory.
  package struct Member: Equatable {
    /// Its name, as it is in the archive.
    package var name: String
    var method: Int
    var checksum: UInt32
    var compressedSize: Int
    /// Its bytes when inflated.
    package var size: Int
    var localHeader: Int
  }

  let file: String
  let bytes: [UInt8]
  /// The entries of the central directory, in its order.
  package let members: [Member]

  /// Reads the central directory.
  ///
  /// Throws: `wrongMagic` for what is no zip archive, `truncated` for one without its end,
  /// `corrupt` for a directory that does not fit, `unsupported` for encrypted or split archives and
  /// for other compression methods, `duplicate` for a name that comes twice.
  package init(bytes: [UInt8], file: String) throws(DataFault) {
    self.file = file
    self.bytes = bytes
    let cursor = LittleEndian(bytes: bytes, file: file)
    guard bytes.starts(with: [0x50, 0x4b, 3, 4]) || bytes.starts(with: [0x50, 0x4b, 5, 6]) else {
      throw DataFault(
        bytes.count < 4 ? .truncated : .wrongMagic, in: file, at: .byte(0),
        found: hexadecimal(bytes.prefix(4)), expected: "a zip archive (50 4b 03 04)")
    }
    let directory = try Self.directory(of: cursor)
    var members: [Member] = []
    var names: Set<String> = []
    var at = directory.offset
    for _ in 0..<directory.count {
      let (member, next) = try Self.member(at: at, of: cursor, end: directory.end)
      guard names.insert(member.name).inserted else {
        throw DataFault(
          .duplicate, in: file, at: .byte(at), found: "'\(member.name)' again",
          expected: "each name once")
      }
      members.append(member)
      at = next
    }
    guard at == directory.end else {
      throw DataFault(
        .corrupt, in: file, at: .byte(at), found: "a directory of another length",
        expected: "its end at byte \(directory.end)")
    }
    self.members = members
  }

  /// The inflated and checked bytes of one member.
  ///
  /// Throws: `corrupt`, `truncated`, `tooLarge`.
  package func contents(of member: Member, limit: Int) throws(DataFault) -> [UInt8] {
    let place = "\(file):\(member.name)"
    guard member.size <= limit else {
      throw DataFault(
        .tooLarge, in: place, found: "\(member.size) bytes", expected: "at most \(limit) bytes")
    }
    let data = bytes[try dataRange(of: member)]
    let contents: [UInt8]
    if member.method == 0 {
      guard member.compressedSize == member.size else {
        throw DataFault(
          .corrupt, in: place, at: .byte(data.startIndex), found: "two sizes of stored data",
          expected: "\(member.size) bytes")
      }
      contents = Array(data)
    } else {
      contents = try inflated(data, to: member.size, file: place)
    }
    let checksum = contents.withUnsafeBufferPointer {
      crc32_z(0, $0.baseAddress, $0.count)
    }
    guard checksum == CUnsignedLong(member.checksum) else {
      throw DataFault(
        .corrupt, in: place, at: .byte(data.startIndex),
        found: "checksum \(String(checksum, radix: 16))",
        expected: "\(String(member.checksum, radix: 16))")
    }
    return contents
  }

  private func dataRange(of member: Member) throws(DataFault) -> Range<Int> {
    let cursor = LittleEndian(bytes: bytes, file: file)
    guard try cursor.number(4, at: member.localHeader) == 0x0403_4b50 else {
      throw DataFault(
        .corrupt, in: file, at: .byte(member.localHeader), found: "no local header",
        expected: "the header of '\(member.name)'")
    }
    let nameLength = try cursor.number(2, at: member.localHeader + 26)
    let start = member.localHeader + 30 + nameLength
    let name = try cursor.text(nameLength, at: member.localHeader + 30)
    guard name == member.name else {
      throw DataFault(
        .corrupt, in: file, at: .byte(member.localHeader + 30), found: "the name '\(name)'",
        expected: "'\(member.name)', as in the directory")
    }
    let dataStart = start + (try cursor.number(2, at: member.localHeader + 28))
    guard dataStart <= bytes.count, member.compressedSize <= bytes.count - dataStart else {
      throw DataFault(
        .truncated, in: "\(file):\(member.name)", at: .byte(bytes.count), found: "the end",
        expected: "\(member.compressedSize) bytes from byte \(dataStart)")
    }
    return dataStart..<dataStart + member.compressedSize
  }

  private func inflated(
    _ data: ArraySlice<UInt8>, to size: Int, file: String
  ) throws(DataFault) -> [UInt8] {
    let inflater = Inflater(.none)
    var contents: [UInt8] = []
    contents.reserveCapacity(min(size + 1, 1 << 26))
    var consumed = 0
    var outcome = Inflater.Outcome.more
    while outcome == .more && contents.count <= size {
      let step = data.withUnsafeBytes { input in
        let rest = UnsafeRawBufferPointer(rebasing: input[consumed...].prefix(1 << 20))
        return inflater.inflate(
          rest, upTo: min(size + 1 - contents.count, 1 << 20), into: &contents)
      }
      consumed += step.consumed
      outcome = step.outcome
      if outcome == .more && step.produced == 0 && consumed == data.count { break }
    }
    guard outcome == .end, contents.count == size, consumed == data.count else {
      var found = "\(contents.count) or more bytes"
      if case .corrupt(let message) = outcome { found = message }
      if outcome == .end && contents.count == size { found = "bytes after the deflate stream" }
      throw DataFault(
        .corrupt, in: file, at: .byte(data.startIndex + consumed), found: found,
        expected: "a deflate stream of \(size) bytes")
    }
    return contents
  }
}
