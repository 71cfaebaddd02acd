// Vectors of whole numbers, of which a fleet has many: their own `Codable` takes a call for each
// number. They are distinguished by their type alone.

extension ArchiveEncoder {
  /// Writes the numbers of a vector; false where the value is none.
  @inline(__always)
  func writeVector<Value>(_ value: Value) -> Bool {
    func write<Vector: SIMD>(_ type: Vector.Type) -> Bool where Vector.Scalar: UnsignedInteger {
      let vector = unsafeBitCast(value, to: type)
      for place in 0..<Vector.scalarCount { self.write(UInt64(vector[place])) }
      return true
    }
    if Value.self == SIMD8<UInt16>.self { return write(SIMD8<UInt16>.self) }
    if Value.self == SIMD16<UInt8>.self { return write(SIMD16<UInt8>.self) }
    if Value.self == SIMD8<UInt32>.self { return write(SIMD8<UInt32>.self) }
    return false
  }
}

extension ArchiveDecoder {
  /// Reads the numbers of a vector; nil where the type is none.
  @inline(__always)
  func readVector<Value>(_ type: Value.Type) throws -> Value? {
    func read<Vector: SIMD>(_ type: Vector.Type) throws -> Value
    where Vector.Scalar: FixedWidthInteger {
      var vector = Vector()
      for place in 0..<Vector.scalarCount { vector[place] = try readUnsigned(Vector.Scalar.self) }
      return unsafeBitCast(vector, to: Value.self)
    }
    if type == SIMD8<UInt16>.self { return try read(SIMD8<UInt16>.self) }
    if type == SIMD16<UInt8>.self { return try read(SIMD16<UInt8>.self) }
    if type == SIMD8<UInt32>.self { return try read(SIMD8<UInt32>.self) }
    return nil
  }
}
