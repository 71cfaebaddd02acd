/// An array of numbers as NumPy saves it: a shape and values, last index fastest.
public struct NPYArray: Sendable, Equatable {
  /// The values with their type.
  public enum Values: Sendable, Equatable {
    /// `<f4`
    case float32([Float])
    /// `<f8`
    case float64([Double])
    /// `<i4`
    case int32([Int32])
    /// `<i8`
    case int64([Int64])
    /// `|i1`
    case int8([Int8])
    /// `|u1`
    case uint8([UInt8])
    /// `<u2`
    case uint16([UInt16])
    /// `<u4`
    case uint32([UInt32])
    /// `|b1`
    case bool([Bool])
  }

  /// The length of each axis, slowest first; none for a single number.
  public let shape: [Int]
  /// The values. Shapes: the product of `shape`.
  public let values: Values

  /// An array of a shape.
  public init(shape: [Int], values: Values) {
    precondition(shape.reduce(1, *) == values.count, "\(values.count) values for shape \(shape)")
    self.shape = shape
    self.values = values
  }

  /// An array of floats.
  public init(shape: [Int], floats: [Float]) {
    self.init(shape: shape, values: .float32(floats))
  }

  /// A row of 32-bit integers.
  public init(integers: [Int32]) { self.init(shape: [integers.count], values: .int32(integers)) }

  /// A row of 64-bit integers.
  public init(integers: [Int64]) { self.init(shape: [integers.count], values: .int64(integers)) }

  /// The values where they are floats of 32 bits, else nil.
  public var floats: [Float]? {
    guard case .float32(let values) = values else { return nil }
    return values
  }

  /// The values where they are integers of any type, else nil.
  public var integers: [Int]? {
    switch values {
    case .int32(let values): values.map { Int($0) }
    case .int64(let values): values.map { Int($0) }
    case .int8(let values): values.map { Int($0) }
    case .uint8(let values): values.map { Int($0) }
    case .uint16(let values): values.map { Int($0) }
    case .uint32(let values): values.map { Int($0) }
    case .float32, .float64, .bool: nil
    }
  }
}

extension NPYArray.Values {
  /// How many values.
  public var count: Int {
    switch self {
    case .float32(let values): values.count
    case .float64(let values): values.count
    case .int32(let values): values.count
    case .int64(let values): values.count
    case .int8(let values): values.count
    case .uint8(let values): values.count
    case .uint16(let values): values.count
    case .uint32(let values): values.count
    case .bool(let values): values.count
    }
  }

  /// NumPy's name of the type.
  public var descriptor: String {
    switch self {
    case .float32: "<f4"
    case .float64: "<f8"
    case .int32: "<i4"
    case .int64: "<i8"
    case .int8: "|i1"
    case .uint8: "|u1"
    case .uint16: "<u2"
    case .uint32: "<u4"
    case .bool: "|b1"
    }
  }
}
