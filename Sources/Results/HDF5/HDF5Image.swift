import CHDF5

/// Writes a document as the bytes of an HDF5 file.
///
/// HDF5 builds the file in memory and never sees the disk: a full disk then is an error of one
/// `write` call of ours, and not of an HDF5 that cannot close its file any more.
enum HDF5Image {
  /// The bytes of the file that holds a valid document in canonical form, sealed.
  ///
  /// Throws: `ResultFault.hdf5`.
  static func bytes(of document: ResultDocument, path: String) throws(ResultFault) -> [UInt8] {
    try HDF5.exclusively { () throws(ResultFault) in
      let place = HDF5Place(file: path)
      let file = try create(place)
      var writer = try HDF5Writer(file: file.id, at: place)
      try writer.write(root: document.root, at: place)
      try place.check("H5Fflush", H5Fflush(file.id, H5F_SCOPE_GLOBAL))
      let size = H5Fget_file_image(file.id, nil, 0)
      try place.check("H5Fget_file_image", size)
      var bytes = [UInt8](repeating: 0, count: size + ResultSeal.length)
      try place.check("H5Fget_file_image", H5Fget_file_image(file.id, &bytes, size))
      ResultSeal.close(&bytes)
      return bytes
    }
  }

  private static func create(_ place: HDF5Place) throws(ResultFault) -> HDF5Handle {
    let access = try place.handle("H5Pcreate", H5Pcreate(chdf5_file_access()), H5Pclose)
    try place.check(
      "H5Pset_libver_bounds",
      H5Pset_libver_bounds(access.id, H5F_LIBVER_EARLIEST, H5F_LIBVER_V18))
    try place.check("H5Pset_fapl_core", H5Pset_fapl_core(access.id, 1 << 18, false))
    let creation = try place.handle("H5Pcreate", H5Pcreate(chdf5_file_create()), H5Pclose)
    try HDF5Writer.setOrderAndTimes(ofGroup: creation.id, at: place)
    // HDF5 first tries to open what is under the name; nothing can be under this one.
    return try place.handle(
      "H5Fcreate",
      H5Fcreate("/dev/null/in-memory", chdf5_truncate(), creation.id, access.id), H5Fclose)
  }
}
