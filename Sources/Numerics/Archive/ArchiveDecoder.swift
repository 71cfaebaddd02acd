/// Reads values from bytes in the order in which they were written.
///
/// Every count is compared with what is left before anything is made of it.
public final class ArchiveDecoder: Decoder {
  /// Always empty: places are given as bytes.
  public var codingPath: [any CodingKey] { [] }
  /// Always empty: see `context(_:)`.
  public var userInfo: [CodingUserInfoKey: Any] { [:] }
  private let contexts: [any ArchiveContext]

  // Reached through the decoder alone, which one thread has.
  @exclusivity(unchecked) private var next: UnsafeRawPointer
  private let start: UnsafeRawPointer
  private let end: UnsafeRawPointer
  @exclusivity(unchecked) private var words: [String] = []
  @exclusivity(unchecked) private var objects: [(any ArchivedObject)?]

  /// A decoder of bytes that are a whole archive and stay where they are.
  init(
    _ bytes: UnsafeRawBufferPointer, marks: [Archive.Mark], known: [any ArchivedObject],
    types: [any ArchivedObject.Type], contexts: [any ArchiveContext]
  ) throws(ArchiveFault) {
    self.contexts = contexts
    guard bytes.count >= Archive.magic.count,
      bytes[..<Archive.magic.count].elementsEqual(Archive.magic)
    else { throw .noArchive }
    let header = Archive.headerLength
    guard bytes.count >= header else {
      throw .damaged(at: bytes.count, "the file ends in its header")
    }
    let length = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    guard length == UInt64(bytes.count - header) else {
      throw .damaged(
        at: min(bytes.count, header), "\(bytes.count - header) of \(length) bytes are there")
    }
    let digest = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 16, as: UInt64.self))
    guard digest == Archive.digest(UnsafeRawBufferPointer(rebasing: bytes[header...])) else {
      throw .damaged(at: header, "the digest of all bytes differs")
    }
    start = bytes.baseAddress!
    next = start + header
    end = start + bytes.count
    objects = known
    do {
      try readWords()
      try readMarks(marks)
      try readObjects(known: known.count, types)
    } catch let fault as ArchiveFault {
      throw fault
    } catch {
      throw damage("\(error)")
    }
  }

  private func readWords() throws {
    for _ in 0..<(try readCount()) {
      let length = try readCount()
      words.append(String(decoding: try read(memory: length), as: UTF8.self))
    }
  }

  private func readMarks(_ marks: [Archive.Mark]) throws {
    var saved: [(name: String, text: String)] = []
    for _ in 0..<(try readCount()) { saved.append((try readWord(), try readWord())) }
    for place in 0..<max(saved.count, marks.count) {
      let (was, now) = (
        place < saved.count ? saved[place] : ("", "nothing"),
        place < marks.count ? (marks[place].name, marks[place].text) : ("", "nothing")
      )
      guard was != now else { continue }
      throw ArchiveFault.otherRun(
        what: was.0.isEmpty ? now.0 : was.0, saved: was.1, found: now.0 == was.0 ? now.1 : "nothing"
      )
    }
  }

  private func readObjects(known: Int, _ types: [any ArchivedObject.Type]) throws {
    let saved = try readUnsigned(Int.self)
    guard saved == known else { throw damage("\(saved) objects were known, \(known) are") }
    let count = try readCount()
    objects += Array(repeating: nil, count: count)
    for _ in 0..<count {
      let number = try readUnsigned(Int.self)
      let name = try readWord()
      guard number >= known, number < objects.count, objects[number] == nil else {
        throw damage("an object's number")
      }
      guard let type = types.first(where: { $0.archiveName == name }) else {
        throw damage("an object's type, \(name)")
      }
      objects[number] = try type.init(from: self)
    }
  }

  // MARK: Plain values

  /// How many bytes are left.
  public var left: Int { end - next }

  /// What is said of bytes that are not what they should be.
  public func damage(_ what: String) -> ArchiveFault { .damaged(at: next - start, what) }

  /// Reads one byte.
  @inline(__always)
  public func readByte() throws(ArchiveFault) -> UInt8 {
    guard next < end else { throw damage("the end") }
    defer { next += 1 }
    return next.load(as: UInt8.self)
  }

  /// Reads what is true or false.
  @inline(__always)
  func readBool() throws(ArchiveFault) -> Bool {
    let byte = try readByte()
    guard byte < 2 else { throw damage("true or false") }
    return byte == 1
  }

  private func readNumber() throws(ArchiveFault) -> UInt64 {
    var number: UInt64 = 0
    var shift: UInt64 = 0
    while true {
      let byte = try readByte()
      guard shift < 63 || byte <= 1 else { throw damage("a whole number") }
      number |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return number }
      shift += 7
    }
  }

  /// Reads a whole number that was written without a sign.
  public func readUnsigned<Number: FixedWidthInteger>(
    _ type: Number.Type
  ) throws(ArchiveFault) -> Number {
    guard let number = Number(exactly: try readNumber()) else {
      throw damage("a number too large")
    }
    return number
  }

  /// Reads a whole number that was written with a sign.
  public func readSigned<Number: FixedWidthInteger>(
    _ type: Number.Type
  ) throws(ArchiveFault) -> Number {
    let folded = try readNumber()
    let number = Int64(bitPattern: folded >> 1) ^ -Int64(bitPattern: folded & 1)
    guard let number = Number(exactly: number) else { throw damage("a number too large") }
    return number
  }

  /// Reads a number by its bits.
  public func readDouble() throws(ArchiveFault) -> Double {
    guard left >= 8 else { throw damage("the end") }
    defer { next += 8 }
    return Double(bitPattern: UInt64(littleEndian: next.loadUnaligned(as: UInt64.self)))
  }

  func readFloat() throws(ArchiveFault) -> Float {
    Float(bitPattern: try readUnsigned(UInt32.self))
  }

  /// Reads a word.
  public func readWord() throws(ArchiveFault) -> String {
    let number = try readUnsigned(Int.self)
    guard number < words.count else { throw damage("a word's number") }
    return words[number]
  }

  /// Lends this many bytes as they are.
  public func read(memory count: Int) throws(ArchiveFault) -> UnsafeRawBufferPointer {
    guard count >= 0, count <= left else { throw damage("the end") }
    defer { next += count }
    return UnsafeRawBufferPointer(start: next, count: count)
  }

  /// Reads a count of things that take a byte each at least.
  public func readCount() throws(ArchiveFault) -> Int {
    let count = try readUnsigned(Int.self)
    guard count <= left else { throw damage("a count of \(count)") }
    return count
  }

  // MARK: Values

  /// What values need besides their bytes; nil: the reader has none of this type.
  public func context<Context: ArchiveContext>(_ type: Context.Type) -> Context? {
    contexts.lazy.compactMap { $0 as? Context }.first
  }

  /// Reads a value by its own `init(from:)`, or the object that it refers to.
  public func read<Value: Decodable>(_ type: Value.Type) throws -> Value {
    if type is AnyObject.Type, type is any ArchivedObject.Type {
      let number = try readUnsigned(Int.self)
      guard number < objects.count, let object = objects[number] as? Value else {
        throw damage("a reference to an object")
      }
      return object
    }
    if let vector = try readVector(type) { return vector }
    return try type.init(from: self)
  }

  // MARK: Decoder

  /// Fields in their order.
  public func container<Key: CodingKey>(
    keyedBy type: Key.Type
  ) throws -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(ArchivedFields<Key>(decoder: self))
  }
  /// Elements behind their count.
  public func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    let bytes = try read(memory: 4)
    let length = Int(UInt32(littleEndian: bytes.loadUnaligned(as: UInt32.self)))
    guard length <= left else { throw damage("a count of \(length)") }
    return ArchivedElements(decoder: self, length: length)
  }
  /// One value.
  public func singleValueContainer() throws -> any SingleValueDecodingContainer {
    ArchivedSingle(decoder: self)
  }
}
