/// Writes values as bytes in the order in which they are handed to it.
public final class ArchiveEncoder: Encoder {
  /// Always empty: places are given as bytes.
  public var codingPath: [any CodingKey] { [] }
  /// Always empty: see `context(_:)`.
  public var userInfo: [CodingUserInfoKey: Any] { [:] }
  private let contexts: [any ArchiveContext]

  // Reached through the encoder alone, which one thread has.
  @exclusivity(unchecked) private(set) var bytes: [UInt8] = []
  @exclusivity(unchecked) private var words: [String] = []
  @exclusivity(unchecked) private var wordNumbers: [String: Int] = [:]
  @exclusivity(unchecked) private var objects: [any ArchivedObject]
  @exclusivity(unchecked) private var objectNumbers: [ObjectIdentifier: Int] = [:]
  @exclusivity(unchecked) private var references: [Int] = []
  private let knownCount: Int

  init(known: [any ArchivedObject], contexts: [any ArchiveContext]) {
    self.contexts = contexts
    objects = known
    knownCount = known.count
    for (number, object) in known.enumerated() { objectNumbers[ObjectIdentifier(object)] = number }
  }

  // MARK: Plain values

  /// Writes one byte.
  @inline(__always)
  public func write(byte: UInt8) { bytes.append(byte) }

  /// Writes a whole number, seven bits a byte, the lowest first.
  public func write(_ number: UInt64) {
    var rest = number
    while rest > 0x7F {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: rest))
  }

  /// Writes a whole number; those near 0 take few bytes, below it as above.
  public func write(_ number: Int64) {
    write(UInt64(bitPattern: number << 1 ^ number >> 63))
  }

  /// Writes the bits of a number.
  public func write(_ number: Double) {
    withUnsafeBytes(of: number.bitPattern.littleEndian) { bytes.append(contentsOf: $0) }
  }

  /// Writes memory as it is.
  public func write(memory: UnsafeRawBufferPointer) { bytes.append(contentsOf: memory) }

  /// Writes a word; each is written once in the whole archive.
  public func write(_ word: String) {
    if let number = wordNumbers[word] { return write(UInt64(number)) }
    let number = words.count
    words.append(word)
    wordNumbers[word] = number
    write(UInt64(number))
  }

  // MARK: Values

  /// What values need besides their bytes; nil: the writer has none of this type.
  public func context<Context: ArchiveContext>(_ type: Context.Type) -> Context? {
    contexts.lazy.compactMap { $0 as? Context }.first
  }

  /// Writes a value by its own `encode`, or its reference if it is an object.
  public func write<Value: Encodable>(_ value: Value) throws {
    if Value.self is AnyObject.Type, let object = value as? any ArchivedObject {
      return refer(to: object)
    }
    if writeVector(value) { return }
    try value.encode(to: self)
  }

  /// Writes whether there is a value, and the value.
  @inline(__always)
  func writeOptional<Value: Encodable>(_ value: Value?) throws {
    write(byte: value == nil ? 0 : 1)
    if let value { try write(value) }
  }

  /// Writes an object's number.
  private func refer(to object: any ArchivedObject) {
    let identity = ObjectIdentifier(object)
    let number = objectNumbers[identity] ?? objects.count
    if number == objects.count {
      objects.append(object)
      objectNumbers[identity] = number
    }
    references.append(number)
    write(UInt64(number))
  }

  /// Makes room for a count that is known later.
  func reserveCount() -> Int {
    let place = bytes.count
    bytes.append(contentsOf: [0, 0, 0, 0])
    return place
  }

  /// One more is counted.
  @inline(__always)
  func count(at place: Int) {
    for byte in place..<place + 4 {
      bytes[byte] &+= 1
      if bytes[byte] != 0 { return }
    }
    preconditionFailure("a list is shorter than 2^32")
  }

  func count(at place: Int, is count: Int) {
    for byte in 0..<4 { bytes[place + byte] = UInt8(truncatingIfNeeded: count >> (8 * byte)) }
  }

  // MARK: The whole

  /// All that was written, behind the objects that it refers to, in two pieces.
  func finish(_ marks: [Archive.Mark]) throws -> [[UInt8]] {
    let value = bytes
    // What objects refer to is found out by writing them; leaves are written where they are.
    var written: [[UInt8]] = []
    var referred: [[Int]] = []
    var place = knownCount
    while place < objects.count {
      (bytes, references) = ([], [])
      let object = objects[place]
      if !type(of: object).isLeaf { try object.encode(to: self) }
      written.append(bytes)
      referred.append(references)
      place += 1
    }
    let order = Self.order(referred, first: knownCount)
    for object in objects[knownCount...] { intern(type(of: object).archiveName) }
    for mark in marks { for word in [mark.name, mark.text] { intern(word) } }
    bytes = Array(repeating: 0, count: Archive.headerLength)
    write(UInt64(words.count))
    for word in words {
      write(UInt64(word.utf8.count))
      bytes.append(contentsOf: word.utf8)
    }
    write(UInt64(marks.count))
    for mark in marks { for word in [mark.name, mark.text] { write(word) } }
    write(UInt64(knownCount))
    write(UInt64(order.count))
    for number in order {
      let object = objects[number]
      write(UInt64(number))
      write(type(of: object).archiveName)
      if type(of: object).isLeaf {
        try object.encode(to: self)
      } else {
        bytes.append(contentsOf: written[number - knownCount])
        written[number - knownCount] = []
      }
    }
    seal(value)
    return [bytes, value]
  }

  private func intern(_ word: String) {
    guard wordNumbers[word] == nil else { return }
    wordNumbers[word] = words.count
    words.append(word)
  }

  /// The numbers of objects such that each comes after those that it refers to.
  private static func order(_ referred: [[Int]], first: Int) -> [Int] {
    var order: [Int] = []
    var next = [Int](repeating: -1, count: referred.count)
    for root in referred.indices where next[root] < 0 {
      // An object on the way has `next` at the reference that comes next.
      var way = [root]
      next[root] = 0
      while let object = way.last {
        guard next[object] < referred[object].count else {
          order.append(object + first)
          way.removeLast()
          continue
        }
        let other = referred[object][next[object]] - first
        next[object] += 1
        if other >= 0, next[other] < 0 {
          next[other] = 0
          way.append(other)
        }
      }
    }
    return order
  }

  /// Fills in the header, whose length and digest cover the value behind it, too.
  private func seal(_ value: [UInt8]) {
    let header = Archive.headerLength
    var digest = Digest()
    digest.combine(pieces: [bytes[header...], value[...]])
    let length = bytes.count + value.count - header
    let numbers = [UInt64(length), digest.value].flatMap { number in
      (0..<8).map { UInt8(truncatingIfNeeded: number >> UInt64(8 * $0)) }
    }
    bytes.replaceSubrange(..<header, with: Archive.magic + numbers)
  }

  // MARK: Encoder

  /// Fields in their order.
  public func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(ArchiveFields<Key>(encoder: self))
  }
  /// Elements behind their count.
  public func unkeyedContainer() -> any UnkeyedEncodingContainer {
    ArchiveElements(encoder: self, place: reserveCount())
  }
  /// One value.
  public func singleValueContainer() -> any SingleValueEncodingContainer {
    ArchiveSingle(encoder: self)
  }
}

extension Archive {
  /// The digest at the head of an archive.
  static func digest(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    var digest = Digest()
    digest.combine(bytes: bytes)
    return digest.value
  }
}
