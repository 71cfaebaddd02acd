extension NPYArray {
  /// The bytes of an NPY file, version 1, as NumPy's `save` writes them.
  ///
  /// The same array gives the same bytes on every little-endian machine.
  public func npyBytes() -> [UInt8] {
    var bytes = Self.npyHead(shape: shape, descriptor: values.descriptor)
    appendValues(to: &bytes)
    return bytes
  }

  /// The bytes of an NPY file that holds one text, as NumPy saves a `str`.
  public static func npyBytes(text: String) -> [UInt8] {
    let scalars = Array(text.unicodeScalars)
    var bytes = npyHead(shape: [], descriptor: "<U\(max(1, scalars.count))")
    for scalar in scalars {
      for byte in 0..<4 { bytes.append(UInt8(truncatingIfNeeded: scalar.value >> (8 * byte))) }
    }
    return scalars.isEmpty ? bytes + [0, 0, 0, 0] : bytes
  }

  /// All that is before the values.
  private static func npyHead(shape: [Int], descriptor: String) -> [UInt8] {
    let axes = shape.map { String($0) }.joined(separator: ", ")
    let tuple = shape.count == 1 ? "(\(axes),)" : "(\(axes))"
    var text = "{'descr': '\(descriptor)', 'fortran_order': False, 'shape': \(tuple), }"
    // NumPy leaves room to grow the last digits in place, then fills up to a multiple of 64.
    if let first = shape.first {
      text += String(repeating: " ", count: 21 - String(first).utf8.count)
    }
    let used = 10 + text.utf8.count + 1
    text += String(repeating: " ", count: 64 - used % 64) + "\n"
    let length = text.utf8.count
    precondition(length <= 0xffff, "too many axes for version 1")
    var bytes: [UInt8] = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0]
    bytes.append(UInt8(length & 0xff))
    bytes.append(UInt8(length >> 8))
    bytes.append(contentsOf: text.utf8)
    return bytes
  }

  private func appendValues(to bytes: inout [UInt8]) {
    func append<Value: BitwiseCopyable>(_ values: [Value]) {
      values.withUnsafeBytes { bytes.append(contentsOf: $0) }
    }
    switch values {
    case .float32(let values): append(values)
    case .float64(let values): append(values)
    case .int32(let values): append(values)
    case .int64(let values): append(values)
    case .int8(let values): append(values)
    case .uint8(let values): append(values)
    case .uint16(let values): append(values)
    case .uint32(let values): append(values)
    case .bool(let values): append(values.map { $0 ? 1 as UInt8 : 0 })
    }
  }
}
