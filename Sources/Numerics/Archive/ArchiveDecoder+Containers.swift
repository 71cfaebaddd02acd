// The counterpart of the encoder's containers, type for type.

/// Fields in the order of their declaration.
struct ArchivedFields<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let decoder: ArchiveDecoder
  var codingPath: [any CodingKey] { [] }

  /// The one case that comes.
  var allKeys: [Key] {
    guard let word = try? decoder.readWord(), let key = Key(stringValue: word) else { return [] }
    return [key]
  }
  func contains(_ key: Key) -> Bool { true }
  func decodeNil(forKey key: Key) throws -> Bool { try !decoder.readBool() }
  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try decoder.readBool() }
  func decode(_ type: String.Type, forKey key: Key) throws -> String { try decoder.readWord() }
  func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try decoder.readDouble() }
  func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try decoder.readFloat() }
  func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try decoder.readSigned(Int.self) }
  func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 {
    Int8(bitPattern: try decoder.readByte())
  }
  func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 {
    try decoder.readSigned(Int16.self)
  }
  func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 {
    try decoder.readSigned(Int32.self)
  }
  func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 {
    try decoder.readSigned(Int64.self)
  }
  func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt {
    try decoder.readUnsigned(UInt.self)
  }
  func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try decoder.readByte() }
  func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 {
    try decoder.readUnsigned(UInt16.self)
  }
  func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 {
    try decoder.readUnsigned(UInt32.self)
  }
  func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 {
    try decoder.readUnsigned(UInt64.self)
  }
  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    try decoder.read(type)
  }
  func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
    try decoder.readBool() ? decoder.readBool() : nil
  }
  func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
    try decoder.readBool() ? decoder.readWord() : nil
  }
  func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
    try decoder.readBool() ? decoder.readDouble() : nil
  }
  func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? {
    try decoder.readBool() ? decoder.readFloat() : nil
  }
  func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
    try decoder.readBool() ? decoder.readSigned(Int.self) : nil
  }
  func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? {
    try decoder.readBool() ? Int8(bitPattern: try decoder.readByte()) : nil
  }
  func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? {
    try decoder.readBool() ? decoder.readSigned(Int16.self) : nil
  }
  func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? {
    try decoder.readBool() ? decoder.readSigned(Int32.self) : nil
  }
  func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
    try decoder.readBool() ? decoder.readSigned(Int64.self) : nil
  }
  func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? {
    try decoder.readBool() ? decoder.readUnsigned(UInt.self) : nil
  }
  func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? {
    try decoder.readBool() ? decoder.readByte() : nil
  }
  func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? {
    try decoder.readBool() ? decoder.readUnsigned(UInt16.self) : nil
  }
  func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? {
    try decoder.readBool() ? decoder.readUnsigned(UInt32.self) : nil
  }
  func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? {
    try decoder.readBool() ? decoder.readUnsigned(UInt64.self) : nil
  }
  func decodeIfPresent<Value: Decodable>(
    _ type: Value.Type, forKey key: Key
  ) throws -> Value? {
    try decoder.readBool() ? decoder.read(type) : nil
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> {
    try decoder.container(keyedBy: type)
  }
  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try decoder.unkeyedContainer()
  }
  func superDecoder() throws -> any Decoder { decoder }
  func superDecoder(forKey key: Key) throws -> any Decoder { decoder }
}

/// Elements behind their count.
struct ArchivedElements: UnkeyedDecodingContainer {
  let decoder: ArchiveDecoder
  let length: Int
  var codingPath: [any CodingKey] { [] }
  var count: Int? { length }
  var currentIndex = 0
  var isAtEnd: Bool { currentIndex == length }

  private mutating func next() throws {
    guard currentIndex < length else { throw decoder.damage("a list's end") }
    currentIndex += 1
  }

  mutating func decodeNil() throws -> Bool {
    guard try !decoder.readBool() else { return false }
    try next()
    return true
  }
  mutating func decode(_ type: Bool.Type) throws -> Bool {
    try next()
    return try decoder.readBool()
  }
  mutating func decode(_ type: String.Type) throws -> String {
    try next()
    return try decoder.readWord()
  }
  mutating func decode(_ type: Double.Type) throws -> Double {
    try next()
    return try decoder.readDouble()
  }
  mutating func decode(_ type: Float.Type) throws -> Float {
    try next()
    return try decoder.readFloat()
  }
  mutating func decode(_ type: Int.Type) throws -> Int {
    try next()
    return try decoder.readSigned(Int.self)
  }
  mutating func decode(_ type: Int8.Type) throws -> Int8 {
    try next()
    return Int8(bitPattern: try decoder.readByte())
  }
  mutating func decode(_ type: Int16.Type) throws -> Int16 {
    try next()
    return try decoder.readSigned(Int16.self)
  }
  mutating func decode(_ type: Int32.Type) throws -> Int32 {
    try next()
    return try decoder.readSigned(Int32.self)
  }
  mutating func decode(_ type: Int64.Type) throws -> Int64 {
    try next()
    return try decoder.readSigned(Int64.self)
  }
  mutating func decode(_ type: UInt.Type) throws -> UInt {
    try next()
    return try decoder.readUnsigned(UInt.self)
  }
  mutating func decode(_ type: UInt8.Type) throws -> UInt8 {
    try next()
    return try decoder.readByte()
  }
  mutating func decode(_ type: UInt16.Type) throws -> UInt16 {
    try next()
    return try decoder.readUnsigned(UInt16.self)
  }
  mutating func decode(_ type: UInt32.Type) throws -> UInt32 {
    try next()
    return try decoder.readUnsigned(UInt32.self)
  }
  mutating func decode(_ type: UInt64.Type) throws -> UInt64 {
    try next()
    return try decoder.readUnsigned(UInt64.self)
  }
  mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    try next()
    if let optional = type as? any ArchivedOptional.Type {
      return try optional.read(type, from: decoder)
    }
    return try decoder.read(type)
  }

  mutating func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type
  ) throws -> KeyedDecodingContainer<Nested> {
    try next()
    return try decoder.container(keyedBy: type)
  }
  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try next()
    return try decoder.unkeyedContainer()
  }
  mutating func superDecoder() throws -> any Decoder { decoder }
}

/// One value.
struct ArchivedSingle: SingleValueDecodingContainer {
  let decoder: ArchiveDecoder
  var codingPath: [any CodingKey] { [] }

  func decodeNil() -> Bool { (try? decoder.readBool()) != true }
  func decode(_ type: Bool.Type) throws -> Bool { try decoder.readBool() }
  func decode(_ type: String.Type) throws -> String { try decoder.readWord() }
  func decode(_ type: Double.Type) throws -> Double { try decoder.readDouble() }
  func decode(_ type: Float.Type) throws -> Float { try decoder.readFloat() }
  func decode(_ type: Int.Type) throws -> Int { try decoder.readSigned(Int.self) }
  func decode(_ type: Int8.Type) throws -> Int8 { Int8(bitPattern: try decoder.readByte()) }
  func decode(_ type: Int16.Type) throws -> Int16 { try decoder.readSigned(Int16.self) }
  func decode(_ type: Int32.Type) throws -> Int32 { try decoder.readSigned(Int32.self) }
  func decode(_ type: Int64.Type) throws -> Int64 { try decoder.readSigned(Int64.self) }
  func decode(_ type: UInt.Type) throws -> UInt { try decoder.readUnsigned(UInt.self) }
  func decode(_ type: UInt8.Type) throws -> UInt8 { try decoder.readByte() }
  func decode(_ type: UInt16.Type) throws -> UInt16 { try decoder.readUnsigned(UInt16.self) }
  func decode(_ type: UInt32.Type) throws -> UInt32 { try decoder.readUnsigned(UInt32.self) }
  func decode(_ type: UInt64.Type) throws -> UInt64 { try decoder.readUnsigned(UInt64.self) }
  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try decoder.read(type) }
}
