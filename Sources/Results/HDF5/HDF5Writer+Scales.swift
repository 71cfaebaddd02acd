import CHDF5

/// What attaches variables to the scales of their axes, as `H5DSattach_scale` does, which reads,
/// removes and writes a scale's whole list again for each variable: a quarter of its instructions.
///
/// Source: HDF5 Dimension Scale Specification, "Dimension scale storage".
extension HDF5Writer {
  /// A scale, and the variables along it in the order in which they were written.
  struct Scale {
    /// Its path in the file.
    let path: String
    /// Where it is, as other objects name it.
    var reference: hobj_ref_t
    var uses: [chdf5_use] = []
  }

  /// Takes in a scale that was written.
  mutating func keep(scale id: hid_t, at place: HDF5Place) throws(ResultFault) {
    scales.append(Scale(path: place.path, reference: try reference(to: id, at: place)))
  }

  /// Writes which scale each axis of a variable has, and notes the variable for the scales' lists.
  mutating func attach(
    _ names: [String], to data: hid_t, at place: HDF5Place, axes: [PlacedAxis]
  ) throws(ResultFault) {
    guard !names.isEmpty else { return }
    let own = try reference(to: data, at: place)
    var references: [hobj_ref_t] = []
    for (dimension, name) in names.enumerated() {
      let scale = axes.first { $0.axis.name == name }!.scale
      references.append(scales[scale].reference)
      scales[scale].uses.append(
        chdf5_use(dataset: own, dimension: Int32(dimension), zero: 0))
    }
    let type = try place.handle("H5Tvlen_create", H5Tvlen_create(chdf5_reference()), H5Tclose)
    let list = try create("DIMENSION_LIST", type.id, [names.count], on: data, at: place)
    let status = references.withUnsafeMutableBufferPointer { references in
      let lists = references.indices.map { hvl_t(len: 1, p: references.baseAddress! + $0) }
      return H5Awrite(list.id, type.id, lists)
    }
    try place.check("H5Awrite", status)
  }

  /// Writes each scale's list of the variables along it.
  func writeUsesOfScales(at place: HDF5Place) throws(ResultFault) {
    let type = try place.handle("H5Tcreate", chdf5_use_type(), H5Tclose)
    for scale in scales where !scale.uses.isEmpty {
      let place = HDF5Place(file: place.file, path: scale.path)
      let data = try place.handle(
        "H5Dopen2", H5Dopen2(file, scale.path, chdf5_default()), H5Dclose)
      let list = try create("REFERENCE_LIST", type.id, [scale.uses.count], on: data.id, at: place)
      try place.check("H5Awrite", H5Awrite(list.id, type.id, scale.uses))
    }
  }

  private func reference(to id: hid_t, at place: HDF5Place) throws(ResultFault) -> hobj_ref_t {
    var reference = hobj_ref_t()
    try place.check("H5Rcreate", H5Rcreate(&reference, id, ".", H5R_OBJECT, -1))
    return reference
  }
}
