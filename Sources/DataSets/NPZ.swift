import Schema

/// Named arrays from an archive written by NumPy's `savez` or `savez_compressed`.
public struct NPZ: Sendable {
  /// The archive's path.
  public let file: String
  /// The names of the arrays, without `.npy`, in the archive's order.
  public let names: [String]

  private let archive: ZipArchive
  private let limit: Int

  /// Opens an archive and reads its directory; arrays are read when asked for.
  ///
  /// Throws: what `ZipArchive` and `ByteStream` throw; `unknownName` for a member that is no
  /// `.npy`.
  public init(contentsOf path: String, limit: Int = 4 << 30) throws(DataFault) {
    try self.init(
      bytes: try ByteStream(path: path, limit: limit).readAll(), file: path, limit: limit)
  }

  /// An archive already in memory; `file` is named in faults.
  public init(bytes: [UInt8], file: String, limit: Int = 4 << 30) throws(DataFault) {
    archive = try ZipArchive(bytes: bytes, file: file)
    for member in archive.members where !member.name.hasSuffix(".npy") {
      throw DataFault(
        .unknownName, in: file, at: .byte(member.localHeader), found: "'\(member.name)'",
        expected: "only arrays, *.npy")
    }
    self.file = file
    self.limit = limit
    names = archive.members.map { String($0.name.dropLast(4)) }
  }

  /// The array called `name`, without `.npy`.
  ///
  /// Throws: `missingName`, naming the nearest one there is, and what `NPYArray` throws.
  public func array(named name: String) throws(DataFault) -> NPYArray {
    guard let position = names.firstIndex(of: name) else {
      throw DataFault(
        .missingName, in: file,
        found: names.isEmpty ? "no arrays" : "only \(names.joined(separator: ", "))",
        expected: "an array called '\(name)'",
        advice: Spelling.nearest(to: name, among: names).map { "the nearest name there is '\($0)'" }
      )
    }
    let member = archive.members[position]
    let bytes = try archive.contents(of: member, limit: limit)
    return try NPYArray(npy: bytes[...], file: "\(file):\(member.name)")
  }
}
