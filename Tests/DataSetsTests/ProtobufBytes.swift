/// A protobuf message that a test takes apart, changes and puts together again.
struct ProtobufBytes {
  enum Content: Equatable {
    case number(UInt64)
    case fixed([UInt8])
    case bytes([UInt8])
  }

  var fields: [(number: Int, content: Content)] = []

  init() {}

  /// The fields of a message that is well formed.
  init(_ bytes: [UInt8]) {
    var place = 0
    func varint() -> UInt64 {
      var (value, shift) = (UInt64(0), UInt64(0))
      while true {
        let byte = bytes[place]
        place += 1
        value |= UInt64(byte & 127) << shift
        if byte < 128 { return value }
        shift += 7
      }
    }
    while place < bytes.count {
      let tag = varint()
      let number = Int(tag >> 3)
      switch tag & 7 {
      case 0: fields.append((number, .number(varint())))
      case 2:
        let length = Int(varint())
        fields.append((number, .bytes(Array(bytes[place..<place + length]))))
        place += length
      default:
        let length = tag & 7 == 5 ? 4 : 8
        fields.append((number, .fixed(Array(bytes[place..<place + length]))))
        place += length
      }
    }
  }

  static func varint(_ value: UInt64) -> [UInt8] {
    var (bytes, rest) = ([UInt8](), value)
    while rest >= 128 {
      bytes.append(UInt8(rest & 127) | 128)
      rest >>= 7
    }
    return bytes + [UInt8(rest)]
  }

  var bytes: [UInt8] {
    fields.flatMap { number, content in
      switch content {
      case .number(let value): Self.varint(UInt64(number) << 3) + Self.varint(value)
      case .fixed(let bytes):
        Self.varint(UInt64(number) << 3 | (bytes.count == 4 ? 5 : 1)) + bytes
      case .bytes(let bytes):
        Self.varint(UInt64(number) << 3 | 2) + Self.varint(UInt64(bytes.count)) + bytes
      }
    }
  }

  /// The message that the n-th field of a number is.
  subscript(_ number: Int, _ occurrence: Int = 0) -> ProtobufBytes {
    get {
      let found = fields.filter { $0.number == number }
      guard occurrence < found.count, case .bytes(let bytes) = found[occurrence].content else {
        return ProtobufBytes()
      }
      return ProtobufBytes(bytes)
    }
    set {
      let places = fields.indices.filter { fields[$0].number == number }
      if occurrence < places.count {
        fields[places[occurrence]].content = .bytes(newValue.bytes)
      } else {
        fields.append((number, .bytes(newValue.bytes)))
      }
    }
  }

  /// Sets a field to a number, to bytes, or takes all of the number away.
  mutating func set(_ number: Int, _ content: Content?) {
    fields.removeAll { $0.number == number }
    if let content { fields.append((number, content)) }
  }
}
