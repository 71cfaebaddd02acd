import CHDF5
import Foundation

extension HDF5Reader {
  /// The attributes of an object that are not the layout's own, in the order in which they were
  /// made.
  func attributes(of id: hid_t, at place: HDF5Place)
    throws(ResultFault) -> [ResultDocument.Attribute]
  {
    let hidden = ["CLASS", "NAME", "DIMENSION_LIST", "REFERENCE_LIST"]
    let count = H5Aget_num_attrs(id)
    try place.check("H5Aget_num_attrs", count)
    var attributes: [ResultDocument.Attribute] = []
    for i in 0..<hsize_t(count) {
      var opened = H5Aopen_by_idx(
        id, ".", H5_INDEX_CRT_ORDER, H5_ITER_INC, i, chdf5_default(), chdf5_default())
      if opened < 0 {
        opened = H5Aopen_by_idx(
          id, ".", H5_INDEX_NAME, H5_ITER_INC, i, chdf5_default(), chdf5_default())
      }
      let attribute = try place.handle("H5Aopen_by_idx", opened, H5Aclose)
      var name = [CChar](repeating: 0, count: 256)
      try place.check("H5Aget_name", H5Aget_name(attribute.id, name.count, &name))
      if hidden.contains(name.text) || name.text.hasPrefix("_") { continue }
      let inside = HDF5Place(file: place.file, path: "\(place.path)@\(name.text)")
      attributes.append(.init(name.text, try value(of: attribute.id, at: inside)))
    }
    return attributes
  }

  private func value(of id: hid_t, at place: HDF5Place)
    throws(ResultFault) -> ResultDocument.AttributeValue
  {
    let type = try place.handle("H5Aget_type", H5Aget_type(id), H5Tclose)
    let space = try place.handle("H5Aget_space", H5Aget_space(id), H5Sclose)
    let lengths = try place.lengths(of: space.id)
    let count = try place.count(lengths)
    guard count <= 1 << 16 else {
      throw place.unexpected("an attribute of the shape \(lengths)", "at most 65,536 values")
    }
    if H5Tget_class(type.id) == H5T_STRING {
      let texts = try strings(type.id, space.id, count: count, at: place, "H5Aread") {
        H5Aread(id, $1, $0)
      }
      return lengths.isEmpty ? .text(texts[0]) : .texts(texts)
    }
    if lengths.isEmpty, H5Tget_size(type.id) == 8, H5Tget_sign(type.id) == H5T_SGN_NONE {
      var number: UInt64 = 0
      try place.check("H5Aread", H5Aread(id, chdf5_u64(), &number))
      return .unsigned(number)
    }
    let values = try values(type.id, count: count, at: place, "H5Aread") { H5Aread(id, $1, $0) }
    guard lengths.isEmpty else { return .array(values) }
    switch values {
    case .double(let x): return .number(x[0])
    case .float(let x): return .number(Double(x[0]))
    case .int64(let x): return .integer(x[0])
    case .int32(let x): return .integer(Int64(x[0]))
    case .int8(let x): return .integer(Int64(x[0]))
    case .uint8(let x): return .integer(Int64(x[0]))
    }
  }

  /// Reads numbers of one of the six types through `read`, which gets a buffer and a memory type.
  func values(
    _ type: hid_t, count: Int, at place: HDF5Place, _ call: String,
    _ read: (UnsafeMutableRawPointer?, hid_t) -> herr_t
  ) throws(ResultFault) -> ResultValues {
    let isSigned = H5Tget_sign(type) == H5T_SGN_2
    switch (H5Tget_class(type), H5Tget_size(type), isSigned) {
    case (H5T_FLOAT, 8, _): return .double(try array(0, count, chdf5_f64(), at: place, call, read))
    case (H5T_FLOAT, 4, _): return .float(try array(0, count, chdf5_f32(), at: place, call, read))
    case (H5T_INTEGER, 8, true):
      return .int64(try array(0, count, chdf5_i64(), at: place, call, read))
    case (H5T_INTEGER, 4, true):
      return .int32(try array(0, count, chdf5_i32(), at: place, call, read))
    case (H5T_INTEGER, 1, true):
      return .int8(try array(0, count, chdf5_i8(), at: place, call, read))
    case (H5T_INTEGER, 1, false):
      return .uint8(try array(0, count, chdf5_u8(), at: place, call, read))
    default: throw place.unexpected("numbers of another type", "one of a result's six types")
    }
  }

  private func array<T>(
    _ zero: T, _ count: Int, _ type: hid_t, at place: HDF5Place, _ call: String,
    _ read: (UnsafeMutableRawPointer?, hid_t) -> herr_t
  ) throws(ResultFault) -> [T] {
    var array = [T](repeating: zero, count: count)
    guard count > 0 else { return array }
    try place.check(call, array.withUnsafeMutableBytes { read($0.baseAddress, type) })
    return array
  }

  /// Reads strings, of variable or fixed length, through `read`, which gets a buffer and a memory
  /// type.
  func strings(
    _ type: hid_t, _ space: hid_t, count: Int, at place: HDF5Place, _ call: String,
    _ read: (UnsafeMutableRawPointer, hid_t) -> herr_t
  ) throws(ResultFault) -> [String] {
    guard H5Tis_variable_str(type) > 0 else {
      let size = H5Tget_size(type)
      var bytes = [CChar](repeating: 0, count: max(1, size * count))
      try place.check(call, read(&bytes, type))
      return (0..<count).map { Array(bytes[$0 * size..<($0 + 1) * size]).text }
    }
    let memory = try place.handle("H5Tcopy", H5Tcopy(type), H5Tclose)
    var pointers = [UnsafeMutablePointer<CChar>?](repeating: nil, count: max(1, count))
    try place.check(call, read(&pointers, memory.id))
    let texts = pointers.prefix(count).map { $0.map { String(cString: $0) } ?? "" }
    try place.check("H5Dvlen_reclaim", chdf5_reclaim(memory.id, space, &pointers))
    return texts
  }
}
