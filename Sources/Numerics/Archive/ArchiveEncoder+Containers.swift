// The three ways in which Swift's `Encodable` hands over values, each without names: one line for
// each type, since an existential call for each number would take longer than writing it.

/// Fields in the order of their declaration.
struct ArchiveFields<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let encoder: ArchiveEncoder
  var codingPath: [any CodingKey] { [] }

  mutating func encodeNil(forKey key: Key) { encoder.write(byte: 0) }
  mutating func encode(_ value: Bool, forKey key: Key) { encoder.write(byte: value ? 1 : 0) }
  mutating func encode(_ value: String, forKey key: Key) { encoder.write(value) }
  mutating func encode(_ value: Double, forKey key: Key) { encoder.write(value) }
  mutating func encode(_ value: Float, forKey key: Key) { encoder.write(UInt64(value.bitPattern)) }
  mutating func encode(_ value: Int, forKey key: Key) { encoder.write(Int64(value)) }
  mutating func encode(_ value: Int8, forKey key: Key) {
    encoder.write(byte: UInt8(bitPattern: value))
  }
  mutating func encode(_ value: Int16, forKey key: Key) { encoder.write(Int64(value)) }
  mutating func encode(_ value: Int32, forKey key: Key) { encoder.write(Int64(value)) }
  mutating func encode(_ value: Int64, forKey key: Key) { encoder.write(Int64(value)) }
  mutating func encode(_ value: UInt, forKey key: Key) { encoder.write(UInt64(value)) }
  mutating func encode(_ value: UInt8, forKey key: Key) { encoder.write(byte: value) }
  mutating func encode(_ value: UInt16, forKey key: Key) { encoder.write(UInt64(value)) }
  mutating func encode(_ value: UInt32, forKey key: Key) { encoder.write(UInt64(value)) }
  mutating func encode(_ value: UInt64, forKey key: Key) { encoder.write(UInt64(value)) }
  mutating func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
    try encoder.write(value)
  }
  mutating func encodeIfPresent(_ value: Bool?, forKey key: Key) throws {
    try encoder.writeOptional(value)
  }
  mutating func encodeIfPresent(_ value: String?, forKey key: Key) throws {
    try encoder.writeOptional(value)
  }
  mutating func encodeIfPresent(_ value: Double?, forKey key: Key) throws {
    try encoder.writeOptional(value)
  }
  mutating func encodeIfPresent(_ value: Float?, forKey key: Key) throws {
    try encoder.writeOptional(value)
  }
  mutating func encodeIfPresent(_ value: Int?, forKey key: Key) throws {
    try encoder.writeOptional(value)
  }
  mutating func encodeIfPresent(_ value: Int8?, forKey key: Key) throws {
    try encoder.writeOptional(value)
  }
  mutating func encodeIfPresent(_ value: Int16?, forKey key: Key) throws {
    try encoder.writeOptional(value)
  }
  mutating func encodeIfPresent(_ value: Int32?, forKey key: Key) throws {
    try encoder.writeOptional(value)
  }
  mutating func encodeIfPresent(_ value: Int64?, forKey key: Key) throws {
    try encoder.writeOptional(value)
  }
  mutating func encodeIfPresent(_ value: UInt?, forKey key: Key) throws {
    try encoder.writeOptional(value)
  }
  mutating func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws {
    try encoder.writeOptional(value)
  }
  mutating func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws {
    try encoder.writeOptional(value)
  }
  mutating func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws {
    try encoder.writeOptional(value)
  }
  mutating func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws {
    try encoder.writeOptional(value)
  }
  mutating func encodeIfPresent<Value: Encodable>(_ value: Value?, forKey key: Key) throws {
    try encoder.writeOptional(value)
  }

  /// A case with its values: the case's name is before them.
  mutating func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) -> KeyedEncodingContainer<Nested> {
    encoder.write(key.stringValue)
    return encoder.container(keyedBy: type)
  }
  mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    encoder.unkeyedContainer()
  }
  mutating func superEncoder() -> any Encoder { encoder }
  mutating func superEncoder(forKey key: Key) -> any Encoder { encoder }
}

/// Elements, counted as they come.
struct ArchiveElements: UnkeyedEncodingContainer {
  let encoder: ArchiveEncoder
  let place: Int
  var count = 0
  var codingPath: [any CodingKey] { [] }

  private mutating func next() {
    count += 1
    encoder.count(at: place)
  }

  mutating func encodeNil() {
    next()
    encoder.write(byte: 0)
  }
  mutating func encode(_ value: Bool) {
    next()
    encoder.write(byte: value ? 1 : 0)
  }
  mutating func encode(_ value: String) {
    next()
    encoder.write(value)
  }
  mutating func encode(_ value: Double) {
    next()
    encoder.write(value)
  }
  mutating func encode(_ value: Float) {
    next()
    encoder.write(UInt64(value.bitPattern))
  }
  mutating func encode(_ value: Int) {
    next()
    encoder.write(Int64(value))
  }
  mutating func encode(_ value: Int8) {
    next()
    encoder.write(byte: UInt8(bitPattern: value))
  }
  mutating func encode(_ value: Int16) {
    next()
    encoder.write(Int64(value))
  }
  mutating func encode(_ value: Int32) {
    next()
    encoder.write(Int64(value))
  }
  mutating func encode(_ value: Int64) {
    next()
    encoder.write(Int64(value))
  }
  mutating func encode(_ value: UInt) {
    next()
    encoder.write(UInt64(value))
  }
  mutating func encode(_ value: UInt8) {
    next()
    encoder.write(byte: value)
  }
  mutating func encode(_ value: UInt16) {
    next()
    encoder.write(UInt64(value))
  }
  mutating func encode(_ value: UInt32) {
    next()
    encoder.write(UInt64(value))
  }
  mutating func encode(_ value: UInt64) {
    next()
    encoder.write(UInt64(value))
  }
  mutating func encode<Value: Encodable>(_ value: Value) throws {
    next()
    if let type = Value.self as? any ArchivedOptional.Type {
      try type.write(value, to: encoder)
    } else {
      try encoder.write(value)
    }
  }

  mutating func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type
  ) -> KeyedEncodingContainer<Nested> {
    next()
    return encoder.container(keyedBy: type)
  }
  mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
    next()
    return encoder.unkeyedContainer()
  }
  mutating func superEncoder() -> any Encoder { encoder }
}

/// One value.
struct ArchiveSingle: SingleValueEncodingContainer {
  let encoder: ArchiveEncoder
  var codingPath: [any CodingKey] { [] }

  mutating func encodeNil() { encoder.write(byte: 0) }
  mutating func encode(_ value: Bool) { encoder.write(byte: value ? 1 : 0) }
  mutating func encode(_ value: String) { encoder.write(value) }
  mutating func encode(_ value: Double) { encoder.write(value) }
  mutating func encode(_ value: Float) { encoder.write(UInt64(value.bitPattern)) }
  mutating func encode(_ value: Int) { encoder.write(Int64(value)) }
  mutating func encode(_ value: Int8) { encoder.write(byte: UInt8(bitPattern: value)) }
  mutating func encode(_ value: Int16) { encoder.write(Int64(value)) }
  mutating func encode(_ value: Int32) { encoder.write(Int64(value)) }
  mutating func encode(_ value: Int64) { encoder.write(Int64(value)) }
  mutating func encode(_ value: UInt) { encoder.write(UInt64(value)) }
  mutating func encode(_ value: UInt8) { encoder.write(byte: value) }
  mutating func encode(_ value: UInt16) { encoder.write(UInt64(value)) }
  mutating func encode(_ value: UInt32) { encoder.write(UInt64(value)) }
  mutating func encode(_ value: UInt64) { encoder.write(UInt64(value)) }
  mutating func encode<Value: Encodable>(_ value: Value) throws { try encoder.write(value) }
}
