import CHDF5
import Synchronization

/// The one door to HDF5, which is not safe for several threads, nor are its dimension scales in any
/// build.
///
/// The rule: every call of this module runs inside `exclusively`, and no handle leaves it.
enum HDF5 {
  private static let lock = Mutex<Bool>(false)

  /// Runs `body` while no other thread of this module is in HDF5, and HDF5 prints nothing.
  static func exclusively<R: Sendable>(_ body: () throws(ResultFault) -> R)
    throws(ResultFault) -> R
  {
    try lock.withLock { (isOpen: inout Bool) throws(ResultFault) -> R in
      guard H5open() >= 0 else {
        throw .hdf5(path: "", place: "/", call: "H5open", reason: "HDF5 does not start")
      }
      isOpen = true
      chdf5_be_silent()
      return try body()
    }
  }

  /// The version of the library in use, such as "1.10.8".
  static var version: String {
    let version = try? exclusively { () throws(ResultFault) -> String in
      var (major, minor, release): (UInt32, UInt32, UInt32) = (0, 0, 0)
      H5get_libversion(&major, &minor, &release)
      return "\(major).\(minor).\(release)"
    }
    return version ?? "unknown"
  }
}

/// An HDF5 identifier that closes itself.
struct HDF5Handle: ~Copyable {
  let id: hid_t
  private let release: (hid_t) -> herr_t

  init(_ id: hid_t, _ release: @escaping (hid_t) -> herr_t) {
    self.id = id
    self.release = release
  }

  deinit { _ = release(id) }
}

/// A place inside a file: turns HDF5's return codes into faults that name it.
struct HDF5Place {
  /// The path of the file, for messages.
  let file: String
  /// The path of the object in the file, `/` for the root.
  let path: String

  init(file: String, path: String = "/") {
    self.file = file
    self.path = path
  }

  /// The place of a member.
  func appending(_ name: String) -> HDF5Place {
    HDF5Place(file: file, path: path == "/" ? "/\(name)" : "\(path)/\(name)")
  }

  /// What HDF5 says about its last failure.
  func fault(_ call: String) -> ResultFault {
    var bytes = [CChar](repeating: 0, count: 512)
    chdf5_take_error(&bytes, bytes.count)
    let reason = String(
      decoding: bytes.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    return .hdf5(
      file, path, call, reason.isEmpty ? "HDF5 gives no reason; the file is damaged" : reason)
  }

  /// A handle on what a call made.
  func handle(_ call: String, _ id: hid_t, _ release: @escaping (hid_t) -> herr_t)
    throws(ResultFault) -> HDF5Handle
  {
    guard id >= 0 else { throw fault(call) }
    return HDF5Handle(id, release)
  }

  /// Takes in the status of a call.
  func check(_ call: String, _ status: some SignedInteger) throws(ResultFault) {
    guard status >= 0 else { throw fault(call) }
  }

  /// The type of variable-length UTF-8 strings.
  func stringType() throws(ResultFault) -> HDF5Handle {
    let type = try handle("H5Tcopy", H5Tcopy(chdf5_c_string()), H5Tclose)
    try check("H5Tset_size", H5Tset_size(type.id, chdf5_variable_length()))
    try check("H5Tset_cset", H5Tset_cset(type.id, H5T_CSET_UTF8))
    return type
  }

  /// How to write a text: HDF5 would clear a megabyte to convert it in.
  func textTransfer() throws(ResultFault) -> HDF5Handle {
    let list = try handle("H5Pcreate", H5Pcreate(chdf5_dataset_transfer()), H5Pclose)
    try check("H5Pset_buffer", H5Pset_buffer(list.id, 4096, nil, nil))
    return list
  }

  /// A data space of the given lengths, scalar for none.
  func space(_ lengths: [Int], unlimited: Bool = false) throws(ResultFault) -> HDF5Handle {
    guard !lengths.isEmpty else { return try handle("H5Screate", H5Screate(H5S_SCALAR), H5Sclose) }
    let sizes = lengths.map { hsize_t($0) }
    var limits = sizes
    if unlimited { limits[0] = chdf5_unlimited() }
    return try handle(
      "H5Screate_simple", H5Screate_simple(Int32(sizes.count), sizes, limits), H5Sclose)
  }

  /// The lengths of a data space.
  func lengths(of space: hid_t) throws(ResultFault) -> [Int] {
    let rank = H5Sget_simple_extent_ndims(space)
    try check("H5Sget_simple_extent_ndims", rank)
    var sizes = [hsize_t](repeating: 0, count: Int(rank))
    try check("H5Sget_simple_extent_dims", H5Sget_simple_extent_dims(space, &sizes, nil))
    return sizes.map { Int(clamping: $0) }
  }

  /// How many values a shape has.
  ///
  /// Throws: `ResultFault.notAResult` for more than 2⁴⁰, which only damage can ask for.
  func count(_ lengths: [Int]) throws(ResultFault) -> Int {
    var count = 1
    for length in lengths {
      let (product, isTooMuch) = count.multipliedReportingOverflow(by: length)
      guard !isTooMuch, product <= 1 << 40 else {
        throw unexpected("the shape \(lengths)", "fewer values")
      }
      count = product
    }
    return count
  }
}

extension ResultFault {
  fileprivate static func hdf5(_ path: String, _ place: String, _ call: String, _ reason: String)
    -> ResultFault
  { .hdf5(path: path, place: place, call: call, reason: reason) }
}

extension ResultValues {
  /// The type in the file: little-endian everywhere, so that equal results are equal bytes.
  var fileType: hid_t {
    switch self {
    case .double: chdf5_f64_file()
    case .float: chdf5_f32_file()
    case .int64: chdf5_i64_file()
    case .int32: chdf5_i32_file()
    case .int8: chdf5_i8_file()
    case .uint8: chdf5_u8_file()
    }
  }

  /// The type in memory.
  var memoryType: hid_t {
    switch self {
    case .double: chdf5_f64()
    case .float: chdf5_f32()
    case .int64: chdf5_i64()
    case .int32: chdf5_i32()
    case .int8: chdf5_i8()
    case .uint8: chdf5_u8()
    }
  }
}
