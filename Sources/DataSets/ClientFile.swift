import CHDF5
import Schema
import Synchronization

/// An HDF5 file with a group of clients, each a group of data sets: open while it is read.
///
/// Only plain calls of HDF5 are used, under a lock of this module's own: such calls are safe next
/// to those of other modules where the library is built for threads, as Debian's is. Identifiers
/// are closed where they were opened.
struct ClientFile {
  let path: String
  private let group: hid_t

  private static let lock = Mutex<Bool>(false)
  private static let magic: [UInt8] = [0x89, 0x48, 0x44, 0x46, 0x0d, 0x0a, 0x1a, 0x0a]

  /// Opens a file and its group `name`, and gives both to `body`.
  ///
  /// Throws: `missingFile`, `wrongMagic`, `truncated` for what HDF5 cannot open, `missingName`
  /// without the group, and what `body` throws.
  static func reading<R: Sendable>(
    _ path: String, group name: String, _ body: (ClientFile) throws(DataFault) -> R
  ) throws(DataFault) -> R {
    var first: [UInt8] = []
    _ = try ByteStream(path: path, limit: 1 << 50).read(8, appendingTo: &first)
    guard first == magic else {
      throw DataFault(
        first.count < 8 && magic.starts(with: first) ? .truncated : .wrongMagic, in: path,
        at: .byte(0), found: hexadecimal(first), expected: "an HDF5 file (\(hexadecimal(magic)))",
        advice: first.starts(with: [0x42, 0x5a, 0x68]) ? "unpack it with bunzip2" : nil)
    }
    return try lock.withLock { (isOpen: inout Bool) throws(DataFault) -> R in
      isOpen = H5open() >= 0
      chdf5_be_silent()
      let file = H5Fopen(path, chdf5_read_only(), chdf5_default())
      guard file >= 0 else {
        throw fault(.truncated, path, "a file that HDF5 cannot open", "a complete HDF5 file")
      }
      defer { H5Fclose(file) }
      let group = H5Gopen2(file, name, chdf5_default())
      guard group >= 0 else {
        throw fault(.missingName, path, "no group '\(name)'", "a file with one group per client")
      }
      defer { H5Gclose(group) }
      return try body(ClientFile(path: "\(path):/\(name)", group: group))
    }
  }

  /// The clients, in the order of their names' bytes.
  func clients() throws(DataFault) -> [String] { try Self.names(in: group, path) }

  /// The arrays called `names` of a client.
  ///
  /// Throws: `missingName`, naming the nearest there is, and what `array` throws.
  func arrays(_ names: [String], of client: String) throws(DataFault) -> [NPYArray] {
    let place = "\(path)/\(client)"
    let id = H5Gopen2(group, client, chdf5_default())
    guard id >= 0 else {
      throw Self.fault(
        .corrupt, place, "an object that is not a group", "a group with the client's data sets")
    }
    defer { H5Gclose(id) }
    let known = try Self.names(in: id, place)
    var arrays: [NPYArray] = []
    for name in names {
      guard known.contains(name) else {
        throw DataFault(
          .missingName, in: place,
          found: known.isEmpty ? "no data sets" : "only \(known.joined(separator: ", "))",
          expected: "a data set called '\(name)'",
          advice: Spelling.nearest(to: name, among: known).map {
            "the nearest name there is '\($0)'"
          })
      }
      arrays.append(try Self.array(name, in: id, "\(place)/\(name)"))
    }
    return arrays
  }

  private static func names(in group: hid_t, _ place: String) throws(DataFault) -> [String] {
    var names: [String] = []
    let status = withUnsafeMutablePointer(to: &names) { target in
      chdf5_each_name(
        group,
        { name, context in
          guard let name, let context else { return }
          context.assumingMemoryBound(to: [String].self).pointee.append(String(cString: name))
        }, target)
    }
    guard status >= 0 else {
      throw fault(.corrupt, place, "a group that HDF5 cannot list", "a list")
    }
    return names
  }

  /// Reads one data set. Throws: `corrupt` where HDF5 fails, `unsupported` for a type, `truncated`
  /// for many more numbers than are stored, `tooLarge`.
  private static func array(
    _ name: String, in group: hid_t, _ place: String
  ) throws(DataFault) -> NPYArray {
    let id = H5Dopen2(group, name, chdf5_default())
    guard id >= 0 else {
      throw fault(.corrupt, place, "an object that is not a data set", "a data set")
    }
    defer { H5Dclose(id) }
    let type = H5Dget_type(id)
    defer { H5Tclose(type) }
    let space = H5Dget_space(id)
    defer { H5Sclose(space) }
    let rank = H5Sget_simple_extent_ndims(space)
    guard type >= 0, space >= 0, rank >= 0 else {
      throw fault(.corrupt, place, "a data set without type or shape", "both")
    }
    var extents = [hsize_t](repeating: 0, count: max(1, Int(rank)))
    H5Sget_simple_extent_dims(space, &extents, nil)
    let shape = extents.prefix(Int(rank)).map { Int(clamping: $0) }
    var count = 1
    for extent in shape {
      let (product, overflow) = count.multipliedReportingOverflow(by: extent)
      guard !overflow, product <= 1 << 32 else {
        throw DataFault(
          .tooLarge, in: place, found: "shape \(shape)", expected: "at most 2^32 numbers")
      }
      count = product
    }
    // What is not stored is read as zeros: a spoiled shape must not ask for more memory than there
    // is. Filters make a data set a thousand times smaller at most.
    guard count <= 1 << 24 || UInt64(count >> 12) <= H5Dget_storage_size(id) else {
      throw DataFault(
        .truncated, in: place, found: "\(H5Dget_storage_size(id)) bytes for shape \(shape)",
        expected: "its \(count) numbers")
    }
    func read<Value: BitwiseCopyable>(
      _ zero: Value, _ memory: hid_t
    ) throws(DataFault) -> [Value] {
      var values = [Value](repeating: zero, count: count)
      guard count > 0 else { return values }
      let status = values.withUnsafeMutableBytes { target in
        H5Dread(id, memory, chdf5_all(), chdf5_all(), chdf5_default(), target.baseAddress)
      }
      guard status >= 0 else {
        throw fault(.corrupt, place, "values that HDF5 cannot read", "shape \(shape)")
      }
      return values
    }
    switch (H5Tget_class(type), H5Tget_size(type), H5Tget_sign(type) == H5T_SGN_NONE) {
    case (H5T_FLOAT, ...4, _): return NPYArray(shape: shape, floats: try read(0, chdf5_f32()))
    case (H5T_FLOAT, 8, _):
      return NPYArray(shape: shape, values: .float64(try read(0, chdf5_f64())))
    case (H5T_INTEGER, 1, true):
      return NPYArray(shape: shape, values: .uint8(try read(0, chdf5_u8())))
    case (H5T_INTEGER, ...8, let isUnsigned):
      guard !(isUnsigned && H5Tget_size(type) == 8) else { break }
      return NPYArray(shape: shape, values: .int64(try read(0, chdf5_i64())))
    default: break
    }
    throw DataFault(
      .unsupported, in: place,
      found: H5Tget_class(type) == H5T_STRING ? "texts" : "numbers of another type",
      expected: "floats of at most 64 bits or whole numbers")
  }

  /// A fault with what HDF5 says about it.
  private static func fault(
    _ kind: DataFault.Kind, _ place: String, _ found: String, _ expected: String
  ) -> DataFault {
    var bytes = [CChar](repeating: 0, count: 512)
    chdf5_take_error(&bytes, bytes.count)
    let reason = String(
      decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return DataFault(
      kind, in: place, found: reason.isEmpty ? found : "\(found) (\(reason))", expected: expected)
  }
}
