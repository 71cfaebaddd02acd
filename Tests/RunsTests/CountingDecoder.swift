/// Makes a value of any type that reads itself from numbers: each field is another one, whatever
/// is optional is there, and lists have eight elements.
///
/// No field is named, so a test with it holds for fields that are added later.
final class CountingDecoder: Decoder {
  private var numbers: [Int]

  /// The first number that is handed out, and what the others count from.
  init(first: Int, then next: Int) { numbers = [next, first] }

  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func next() -> Int {
    if numbers.count > 1 { return numbers.removeLast() }
    numbers[0] += 1
    return numbers[0]
  }

  /// The next value.
  func make<Value: Decodable>(_ type: Value.Type) throws -> Value {
    if let value = next(as: type) { return value }
    return try Value(from: self)
  }

  private func next<Value>(as type: Value.Type) -> Value? {
    switch type {
    case is Bool.Type: true as? Value
    case is Double.Type: (Double(next()) + 0.5) as? Value
    case let integer as any FixedWidthInteger.Type:
      integer.init(truncatingIfNeeded: next()) as? Value
    default: nil
    }
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(Fields<Key>(decoder: self))
  }
  func unkeyedContainer() -> any UnkeyedDecodingContainer { Elements(decoder: self) }
  func singleValueContainer() -> any SingleValueDecodingContainer { Single(decoder: self) }

  private struct Fields<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: CountingDecoder
    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { [] }
    func contains(_ key: Key) -> Bool { true }
    func decodeNil(forKey key: Key) -> Bool { false }
    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
      try decoder.make(type)
    }
    func nestedContainer<Nested: CodingKey>(
      keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedDecodingContainer<Nested> { decoder.container(keyedBy: type) }
    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedDecodingContainer {
      decoder.unkeyedContainer()
    }
    func superDecoder() -> any Decoder { decoder }
    func superDecoder(forKey key: Key) -> any Decoder { decoder }
  }

  private struct Elements: UnkeyedDecodingContainer {
    let decoder: CountingDecoder
    var codingPath: [any CodingKey] { [] }
    var count: Int? { 8 }
    var isAtEnd: Bool { currentIndex == 8 }
    var currentIndex = 0
    func decodeNil() -> Bool { false }
    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
      currentIndex += 1
      return try decoder.make(type)
    }
    func nestedContainer<Nested: CodingKey>(
      keyedBy type: Nested.Type
    ) -> KeyedDecodingContainer<Nested> { decoder.container(keyedBy: type) }
    func nestedUnkeyedContainer() -> any UnkeyedDecodingContainer { decoder.unkeyedContainer() }
    func superDecoder() -> any Decoder { decoder }
  }

  private struct Single: SingleValueDecodingContainer {
    let decoder: CountingDecoder
    var codingPath: [any CodingKey] { [] }
    func decodeNil() -> Bool { false }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try decoder.make(type) }
  }
}
