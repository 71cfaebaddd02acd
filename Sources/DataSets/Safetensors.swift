import Foundation
import Schema

/// Named tensors from a file of the `safetensors` library.
///
/// Shapes: as stored, last axis fastest. Floats of 64, 32 and 16 bits and bfloat16 are read.
/// Source: safetensors, README, "Format": the length of a header in 8 bytes, the header as JSON,
/// then the numbers.
public struct Safetensors: Sendable {
  /// The file's path.
  public let file: String
  /// The tensors in the order of their numbers.
  public let names: [String]
  /// The texts that describe the file.
  public let metadata: [String: String]

  private let entries: [String: Entry]
  private let bytes: [UInt8]
  private let start: Int

  private struct Entry: Decodable, Sendable {
    let dtype: String
    let shape: [Int]
    let data_offsets: [Int]
  }

  /// What the header has under a name.
  private enum Value: Decodable {
    case tensor(Entry)
    case texts([String: String])

    init(from decoder: any Decoder) throws {
      if let entry = try? Entry(from: decoder) {
        // The decoder does not check what it passes over.
        guard try [String: PassedOver](from: decoder).count == 3 else { throw UnknownField() }
        self = .tensor(entry)
      } else {
        self = .texts(try [String: String](from: decoder))
      }
    }
  }

  /// A value that is not read.
  private struct PassedOver: Decodable {
    init(from decoder: any Decoder) {}
  }

  /// A field of a tensor that the format has not.
  private struct UnknownField: Error {}
  /// Texts under another name than that of the metadata.
  private struct NoTensor: Error {}
  /// A tensor or a field that is there twice, of which the decoder reads one.
  private struct NameTwice: Error {}

  /// The longest header that the format allows.
  private static let longestHeader = 100_000_000

  /// Reads a file; its tensors are converted when asked for.
  ///
  /// The tensors' numbers follow each other without a gap, as the format says. Throws: what
  /// `ByteStream` throws; `truncated`, `malformed`, `countMismatch`, `outOfRange`, `trailingBytes`.
  public init(contentsOf path: String, limit: Int = 4 << 30) throws(DataFault) {
    file = path
    let bytes = try ByteStream(path: path, limit: limit).readAll()
    self.bytes = bytes
    guard bytes.count >= 8 else {
      throw DataFault(
        .truncated, in: path, found: "\(bytes.count) bytes", expected: "a header's length, 8 bytes")
    }
    let length = (0..<8).reduce(UInt64(0)) { $0 | UInt64(bytes[$1]) << UInt64(8 * $1) }
    guard length <= UInt64(min(Self.longestHeader, bytes.count - 8)) else {
      throw DataFault(
        .truncated, in: path, at: .byte(0), found: "a header of \(length) bytes",
        expected: "at most \(min(Self.longestHeader, bytes.count - 8))",
        advice: "is it a file of the safetensors library?")
    }
    start = 8 + Int(length)
    var (entries, metadata): ([String: Entry], [String: String]) = ([:], [:])
    do {
      let header = try JSONDecoder().decode([String: Value].self, from: Data(bytes[8..<start]))
      for name in header.keys.sorted() {
        switch header[name]! {
        case .tensor(let entry): entries[name] = entry
        case .texts(let texts):
          guard name == "__metadata__" else { throw NoTensor() }
          metadata = texts
        }
      }
      guard Self.memberCount(bytes[8..<start]) == header.count + 3 * entries.count + metadata.count
      else { throw NameTwice() }
    } catch {
      throw DataFault(
        .malformed, in: path, at: .byte(8), found: "a header that is not one",
        expected: "JSON with dtype, shape and data_offsets of each tensor, each name once, and "
          + "nothing else")
    }
    self.metadata = metadata
    self.entries = entries
    // A tensor without numbers comes before the one that begins where it does.
    let place = { (name: String) in
      (entries[name]!.data_offsets.first ?? 0, entries[name]!.data_offsets.last ?? 0, name)
    }
    names = entries.keys.sorted { place($0) < place($1) }
    var end = 0
    for name in names {
      try check(name)
      guard entries[name]!.data_offsets[0] == end else {
        throw fault(
          .outOfRange, name, found: "numbers at \(entries[name]!.data_offsets)",
          expected: "them from byte \(end), behind those of the tensor before")
      }
      end = entries[name]!.data_offsets[1]
    }
    guard end == bytes.count - start else {
      throw DataFault(
        .trailingBytes, in: path, at: .byte(start + end),
        found: "\(bytes.count - start - end) bytes that are no tensor's",
        expected: "the end after the last tensor")
    }
  }

  /// How many members all objects of a header have, equal names counted apart: the colons that are
  /// in no text.
  private static func memberCount(_ header: ArraySlice<UInt8>) -> Int {
    var (count, isText, isEscaped) = (0, false, false)
    for byte in header {
      if isEscaped {
        isEscaped = false
      } else if isText, byte == UInt8(ascii: "\\") {
        isEscaped = true
      } else if byte == UInt8(ascii: "\"") {
        isText.toggle()
      } else if !isText, byte == UInt8(ascii: ":") {
        count += 1
      }
    }
    return count
  }

  private func fault(
    _ kind: DataFault.Kind, _ name: String, found: String, expected: String
  ) -> DataFault {
    DataFault(kind, in: "\(file):\(name)", found: found, expected: expected)
  }

  /// That a tensor's numbers are where the header says, and as many as its shape has.
  private func check(_ name: String) throws(DataFault) {
    let entry = entries[name]!
    let (offsets, size) = (entry.data_offsets, bytes.count - start)
    guard offsets.count == 2, 0 <= offsets[0], offsets[0] <= offsets[1], offsets[1] <= size else {
      throw fault(
        .outOfRange, name, found: "numbers at \(offsets)", expected: "a range within \(size) bytes")
    }
    guard let width = Self.width(entry.dtype) else { return }
    var count = 1
    for extent in entry.shape {
      let (product, overflow) = count.multipliedReportingOverflow(by: extent)
      guard extent >= 0, !overflow else {
        throw fault(.outOfRange, name, found: "shape \(entry.shape)", expected: "a shape")
      }
      count = product
    }
    guard count.multipliedReportingOverflow(by: width) == (offsets[1] - offsets[0], false) else {
      throw fault(
        .countMismatch, name, found: "\(offsets[1] - offsets[0]) bytes",
        expected: "shape \(entry.shape) of \(entry.dtype)")
    }
  }

  private static func width(_ type: String) -> Int? {
    ["F64": 8, "F32": 4, "F16": 2, "BF16": 2][type]
  }

  /// The tensor called `name`, as 32-bit floats or, where it has them, 64-bit ones.
  ///
  /// Throws: `missingName`, naming the nearest one there is; `unsupported` for another type.
  public func array(named name: String) throws(DataFault) -> NPYArray {
    guard let entry = entries[name] else {
      throw DataFault(
        .missingName, in: file,
        found: names.isEmpty ? "no tensors" : "only \(names.joined(separator: ", "))",
        expected: "a tensor called '\(name)'",
        advice: Spelling.nearest(to: name, among: names).map { "the nearest name there is '\($0)'" }
      )
    }
    let range = start + entry.data_offsets[0]..<start + entry.data_offsets[1]
    switch entry.dtype {
    case "F64":
      return NPYArray(
        shape: entry.shape,
        values: .float64(values(range, UInt64.self) { Double(bitPattern: $0) }))
    case "F32":
      return NPYArray(
        shape: entry.shape, floats: values(range, UInt32.self) { Float(bitPattern: $0) })
    case "F16":
      return NPYArray(shape: entry.shape, floats: values(range, UInt16.self, HalfNumber.float))
    case "BF16":
      return NPYArray(
        shape: entry.shape,
        floats: values(range, UInt16.self) { Float(bitPattern: UInt32($0) << 16) })
    default:
      throw fault(
        .unsupported, name, found: "type \(entry.dtype)", expected: "F64, F32, F16 or BF16")
    }
  }

  private func values<Bits: FixedWidthInteger, Number>(
    _ range: Range<Int>, _: Bits.Type, _ number: (Bits) -> Number
  ) -> [Number] {
    bytes.withUnsafeBytes { all in
      stride(from: range.lowerBound, to: range.upperBound, by: Bits.bitWidth / 8).map {
        number(Bits(littleEndian: all.loadUnaligned(fromByteOffset: $0, as: Bits.self)))
      }
    }
  }
}

/// Numbers of IEEE 754's binary16.
enum HalfNumber {
  /// The number as 32 bits have it.
  static func float(_ bits: UInt16) -> Float {
    let sign: Float = bits & 0x8000 == 0 ? 1 : -1
    let (exponent, fraction) = (Int(bits >> 10 & 31), Float(bits & 1023))
    if exponent == 31 { return fraction == 0 ? sign * .infinity : .nan }
    return exponent == 0
      ? sign * fraction * 0x1p-24
      : sign * Float(sign: .plus, exponent: exponent - 15, significand: 1 + fraction / 1024)
  }
}
