import CZlib

extension ZipArchive {
  /// The most bytes that the contents of an archive that is written can have: 4 GiB less 1 MiB.
  package static let mostBytes = (1 << 32) - (1 << 20)

  /// The bytes of an archive of members, in the order given, stored without compression.
  ///
  /// Every date is 1980-01-01 and every member has the same attributes, so equal members give equal
  /// bytes. Each name comes once; names and contents have `mostBytes` in all at most.
  package static func bytes(of members: [(name: String, contents: [UInt8])]) -> [UInt8] {
    precondition(members.count < 0xffff, "too many members of one archive")
    precondition(Set(members.map(\.name)).count == members.count, "a duplicate name")
    var bytes: [UInt8] = []
    var directory: [UInt8] = []
    for (name, contents) in members {
      let localHeader = bytes.count
      precondition(
        localHeader + contents.count < 0xffff_ffff - 0xffff, "more than 4 GiB in one archive")
      let checksum = contents.withUnsafeBufferPointer { crc32_z(0, $0.baseAddress, $0.count) }
      var common: [UInt8] = []
      // Version 2.0, bit 11 (names in UTF-8), stored, midnight of 1980-01-01.
      common.append(little: [(20, 2), (0x800, 2), (0, 2), (0, 2), (0x21, 2)])
      common.append(little: [(Int(checksum), 4), (contents.count, 4), (contents.count, 4)])
      let member = Array(name.utf8)
      common.append(little: [(member.count, 2), (0, 2)])

      bytes.append(little: [(0x0403_4b50, 4)])
      bytes.append(contentsOf: common)
      bytes.append(contentsOf: member)
      bytes.append(contentsOf: contents)

      directory.append(little: [(0x0201_4b50, 4), (20, 2)])
      directory.append(contentsOf: common)
      directory.append(little: [(0, 2), (0, 2), (0, 2), (0, 4), (localHeader, 4)])
      directory.append(contentsOf: member)
    }
    let start = bytes.count
    bytes.append(contentsOf: directory)
    bytes.append(little: [(0x0605_4b50, 4), (0, 2), (0, 2), (members.count, 2), (members.count, 2)])
    bytes.append(little: [(directory.count, 4), (start, 4), (0, 2)])
    return bytes
  }
}

extension Array<UInt8> {
  /// Appends numbers of this many bytes each, lowest byte first.
  fileprivate mutating func append(little fields: [(value: Int, width: Int)]) {
    for (value, width) in fields {
      for byte in 0..<width { append(UInt8(truncatingIfNeeded: value >> (8 * byte))) }
    }
  }
}
