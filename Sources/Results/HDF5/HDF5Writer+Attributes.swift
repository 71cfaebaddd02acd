import CHDF5
import Foundation

extension HDF5Writer {
  /// Writes an attribute on an open object.
  func write(_ attribute: ResultDocument.Attribute, on id: hid_t, at place: HDF5Place)
    throws(ResultFault)
  {
    let place = HDF5Place(file: place.file, path: "\(place.path)@\(attribute.name)")
    switch attribute.value {
    case .text(let text): try write([text], lengths: [], attribute.name, on: id, at: place)
    case .texts(let texts):
      try write(texts, lengths: [texts.count], attribute.name, on: id, at: place)
    case .integer(let number):
      try write(.int64([number]), lengths: [], attribute.name, on: id, at: place)
    case .number(let number):
      try write(.double([number]), lengths: [], attribute.name, on: id, at: place)
    case .array(let values):
      try write(values, lengths: [values.count], attribute.name, on: id, at: place)
    case .unsigned(var number):
      let made = try create(attribute.name, chdf5_u64_file(), [], on: id, at: place)
      try place.check("H5Awrite", H5Awrite(made.id, chdf5_u64(), &number))
    }
  }

  /// An attribute on an open object, without values yet.
  func create(
    _ name: String, _ type: hid_t, _ lengths: [Int], on id: hid_t, at place: HDF5Place
  ) throws(ResultFault) -> HDF5Handle {
    if lengths.isEmpty { return try create(name, type, scalar.id, on: id, at: place) }
    let space = try place.space(lengths)
    return try create(name, type, space.id, on: id, at: place)
  }

  private func create(
    _ name: String, _ type: hid_t, _ space: hid_t, on id: hid_t, at place: HDF5Place
  ) throws(ResultFault) -> HDF5Handle {
    try place.handle(
      "H5Acreate2", H5Acreate2(id, name, type, space, chdf5_default(), chdf5_default()), H5Aclose)
  }

  private func write(
    _ values: ResultValues, lengths: [Int], _ name: String, on id: hid_t, at place: HDF5Place
  ) throws(ResultFault) {
    let made = try create(name, values.fileType, lengths, on: id, at: place)
    try values.withBytes { (bytes) throws(ResultFault) in
      try place.check("H5Awrite", H5Awrite(made.id, values.memoryType, bytes.baseAddress))
    }
  }

  private func write(
    _ texts: [String], lengths: [Int], _ name: String, on id: hid_t, at place: HDF5Place
  ) throws(ResultFault) {
    let made = try create(name, text.id, lengths, on: id, at: place)
    try withPointers(texts) { (pointers) throws(ResultFault) in
      try place.check("H5Awrite", H5Awrite(made.id, text.id, pointers))
    }
  }

  /// Calls `body` with an array of pointers to zero-terminated copies of the texts.
  func withPointers(
    _ texts: [String], _ body: (UnsafeMutableRawPointer) throws(ResultFault) -> Void
  ) throws(ResultFault) {
    var pointers = texts.map { strdup($0) }
    defer { for pointer in pointers { free(pointer) } }
    try body(&pointers)
  }
}
