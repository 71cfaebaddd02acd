extension ResultFile {
  /// The bytes of the file that `write` would place, and the digest of what is in it; nothing is
  /// written.
  ///
  /// Throws: `ResultFault.malformed`, `.hdf5`.
  public static func image(
    of document: ResultDocument
  ) throws(ResultFault) -> (bytes: [UInt8], contentDigest: String) {
    try document.validate()
    let digest = document.contentDigest
    var whole = document.canonical
    whole.keep(digest: digest)
    return (try HDF5Image.bytes(of: whole, path: "a result in memory"), digest)
  }
}
