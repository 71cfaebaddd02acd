extension NPZ {
  /// The bytes of an archive of arrays, in the order given, stored without compression.
  ///
  /// Every date is 1980-01-01 and every member has the same attributes, so equal arrays give equal
  /// bytes. `names` are without `.npy`, each once.
  public static func bytes(of arrays: [(name: String, array: NPYArray)]) -> [UInt8] {
    Self.bytes(ofMembers: arrays.map { ($0.name, $0.array.npyBytes()) })
  }

  /// The bytes of an archive of NPY files, which are in memory already.
  public static func bytes(ofMembers members: [(name: String, contents: [UInt8])]) -> [UInt8] {
    ZipArchive.bytes(of: members.map { ($0.name + ".npy", $0.contents) })
  }

  /// Writes an archive next to `path` and renames it into place. Throws: `inputOutput`.
  public static func write(
    _ arrays: [(name: String, array: NPYArray)], to path: String
  ) throws(DataFault) {
    try writeWhole(bytes(of: arrays), to: path)
  }
}
