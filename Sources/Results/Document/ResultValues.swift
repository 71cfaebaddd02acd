/// The numbers of one variable or array attribute, in one of the six types a result file holds.
///
/// Shapes: row-major, the last axis fastest.
public enum ResultValues: Sendable {
  /// 64-bit floating point.
  case double([Double])
  /// 32-bit floating point.
  case float([Float])
  /// 64-bit integers.
  case int64([Int64])
  /// 32-bit integers.
  case int32([Int32])
  /// 8-bit integers: flags.
  case int8([Int8])
  /// Bytes.
  case uint8([UInt8])

  /// How many numbers there are.
  public var count: Int {
    switch self {
    case .double(let x): x.count
    case .float(let x): x.count
    case .int64(let x): x.count
    case .int32(let x): x.count
    case .int8(let x): x.count
    case .uint8(let x): x.count
    }
  }

  /// The name of the type, as in netCDF's extended notation.
  public var typeName: String {
    switch self {
    case .double: "double"
    case .float: "float"
    case .int64: "int64"
    case .int32: "int"
    case .int8: "byte"
    case .uint8: "ubyte"
    }
  }

  /// The bytes of one number.
  public var stride: Int {
    switch self {
    case .double, .int64: 8
    case .float, .int32: 4
    case .int8, .uint8: 1
    }
  }

  /// The numbers as `Double`, exact for all types but 64-bit integers beyond 2⁵³.
  public var asDoubles: [Double] {
    switch self {
    case .double(let x): x
    case .float(let x): x.map(Double.init)
    case .int64(let x): x.map(Double.init)
    case .int32(let x): x.map(Double.init)
    case .int8(let x): x.map(Double.init)
    case .uint8(let x): x.map(Double.init)
    }
  }

  /// Calls `body` with the bytes, in the machine's order.
  func withBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    // The standard library's `withUnsafeBytes` rethrows untyped, so the result travels inside.
    func run(_ bytes: UnsafeRawBufferPointer) -> Result<R, E> {
      do { return .success(try body(bytes)) } catch { return .failure(error) }
    }
    let result =
      switch self {
      case .double(let x): x.withUnsafeBytes(run)
      case .float(let x): x.withUnsafeBytes(run)
      case .int64(let x): x.withUnsafeBytes(run)
      case .int32(let x): x.withUnsafeBytes(run)
      case .int8(let x): x.withUnsafeBytes(run)
      case .uint8(let x): x.withUnsafeBytes(run)
      }
    return try result.get()
  }

  /// The same numbers with every NaN as the one quiet NaN with no payload.
  var withOneNaN: ResultValues {
    switch self {
    case .double(let x) where x.contains(where: \.isNaN):
      .double(x.map { $0.isNaN ? Double(bitPattern: 0x7FF8_0000_0000_0000) : $0 })
    case .float(let x) where x.contains(where: \.isNaN):
      .float(x.map { $0.isNaN ? Float(bitPattern: 0x7FC0_0000) : $0 })
    default: self
    }
  }
}

extension ResultValues: Equatable {
  /// Whether type and bits agree, any NaN being equal to any other: what the digest sees.
  public static func == (a: ResultValues, b: ResultValues) -> Bool {
    guard a.typeName == b.typeName, a.count == b.count else { return false }
    return a.withOneNaN.withBytes { x in b.withOneNaN.withBytes { y in x.elementsEqual(y) } }
  }
}
