extension NPYArray {
  private static let magic: [UInt8] = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59]

  /// Reads an NPY file. Throws: what `init(npy:file:)` and `ByteStream` throw.
  public init(contentsOf path: String) throws(DataFault) {
    let bytes = try ByteStream(path: path).readAll()
    try self.init(npy: bytes[...], file: path)
  }

  /// Reads the bytes of an NPY file, version 1 or 2; arrays in Fortran order are transposed.
  ///
  /// Offsets of faults count from the start of `bytes`. Throws: `wrongMagic`, `truncated`,
  /// `trailingBytes`, `malformed` and its kin in the header, `unsupported` for other versions and
  /// types, `tooLarge` for a shape whose size overflows, `outOfRange` for a bool other than 0 and
  /// 1.
  public init(npy bytes: ArraySlice<UInt8>, file: String) throws(DataFault) {
    let bytes = bytes.startIndex == 0 ? bytes : Array(bytes)[...]
    let header = try Self.header(of: bytes, file: file)
    let width = try Self.width(of: header.parsed.descriptor, at: header.text.lowerBound, in: file)
    var count = 1
    for axis in header.parsed.shape {
      let (product, overflow) = count.multipliedReportingOverflow(by: axis)
      guard !overflow && product <= Int.max / width else {
        throw DataFault(
          .tooLarge, in: file, at: .byte(header.text.lowerBound),
          found: "shape \(header.parsed.shape)", expected: "a shape that fits into memory")
      }
      count = product
    }
    let data = bytes[header.text.upperBound...]
    guard data.count >= count * width else {
      throw DataFault(
        .truncated, in: file, at: .byte(bytes.count), found: "the end after \(data.count) bytes",
        expected: "\(count * width) bytes for shape \(header.parsed.shape)")
    }
    guard data.count == count * width else {
      throw DataFault(
        .trailingBytes, in: file, at: .byte(data.startIndex + count * width),
        found: "\(data.count - count * width) more bytes",
        expected: "\(count * width) bytes for shape \(header.parsed.shape)")
    }
    let values = try Self.values(of: header.parsed, count, data, file: file)
    self.init(shape: header.parsed.shape, values: values)
  }

  private static func header(
    of bytes: ArraySlice<UInt8>, file: String
  ) throws(DataFault) -> (parsed: NPYHeader, text: Range<Int>) {
    guard bytes.prefix(6).elementsEqual(magic) else {
      throw DataFault(
        bytes.count < 6 && magic.starts(with: bytes) ? .truncated : .wrongMagic, in: file,
        at: .byte(0), found: hexadecimal(bytes.prefix(6)),
        expected: "the NPY magic number, \(hexadecimal(magic))")
    }
    guard bytes.count >= 10 else {
      throw DataFault(
        .truncated, in: file, at: .byte(bytes.count), found: "the end", expected: "a header")
    }
    guard bytes[6] == 1 || bytes[6] == 2, bytes[7] == 0 else {
      throw DataFault(
        .unsupported, in: file, at: .byte(6), found: "version \(bytes[6]).\(bytes[7])",
        expected: "version 1.0 or 2.0")
    }
    let lengthBytes = bytes[6] == 1 ? 2 : 4
    let start = 8 + lengthBytes
    let length = bytes[8..<min(start, bytes.count)].reversed().reduce(0) { $0 << 8 | Int($1) }
    guard bytes.count >= start + length else {
      throw DataFault(
        .truncated, in: file, at: .byte(bytes.count), found: "the end",
        expected: "a header of \(length) bytes")
    }
    let text = start..<start + length
    return (try NPYHeader(parsing: bytes[text], file: file), text)
  }

  private static func width(
    of descriptor: String, at offset: Int, in file: String
  ) throws(DataFault) -> Int {
    switch descriptor {
    case "|i1", "|u1", "|b1": return 1
    case "<u2": return 2
    case "<f4", "<i4", "<u4": return 4
    case "<f8", "<i8": return 8
    default:
      throw DataFault(
        .unsupported, in: file, at: .byte(offset), found: "type '\(descriptor)'",
        expected: "'<f4', '<f8', '<i4', '<i8', '|i1', '|u1', '<u2', '<u4' or '|b1'",
        advice: descriptor.hasSuffix("O")
          ? "save an array of numbers, not of Python objects" : "convert it with astype")
    }
  }

  private static func values(
    of header: NPYHeader, _ count: Int, _ data: ArraySlice<UInt8>, file: String
  ) throws(DataFault) -> Values {
    func read<Value: BitwiseCopyable>(_ zero: Value) -> [Value] {
      var values = Array(repeating: zero, count: count)
      values.withUnsafeMutableBytes { target in
        data.withUnsafeBytes { target.copyMemory(from: $0) }
      }
      return header.isFortranOrder ? transposed(values, header.shape) : values
    }
    switch header.descriptor {
    case "<f4": return .float32(read(0))
    case "<f8": return .float64(read(0))
    case "<i4": return .int32(read(0))
    case "<i8": return .int64(read(0))
    case "<u2": return .uint16(read(0))
    case "<u4": return .uint32(read(0))
    case "|i1": return .int8(read(0))
    case "|u1": return .uint8(read(0))
    default:
      if let wrong = data.firstIndex(where: { $0 > 1 }) {
        throw DataFault(
          .outOfRange, in: file, at: .byte(wrong), found: "\(data[wrong]) as a truth value",
          expected: "0 or 1")
      }
      let bytes: [UInt8] = read(0)
      return .bool(bytes.map { $0 == 1 })
    }
  }

  /// Values stored with the first index fastest, put in order with the last index fastest.
  private static func transposed<Value>(_ values: [Value], _ shape: [Int]) -> [Value] {
    guard shape.count > 1, !values.isEmpty else { return values }
    var strides: [Int] = []
    var stride = 1
    for axis in shape {
      strides.append(stride)
      stride *= axis
    }
    var index = Array(repeating: 0, count: shape.count)
    var from = 0
    var result: [Value] = []
    result.reserveCapacity(values.count)
    while true {
      result.append(values[from])
      var axis = shape.count - 1
      while axis >= 0 {
        index[axis] += 1
        from += strides[axis]
        if index[axis] < shape[axis] { break }
        from -= strides[axis] * shape[axis]
        index[axis] = 0
        axis -= 1
      }
      if axis < 0 { return result }
    }
  }
}
