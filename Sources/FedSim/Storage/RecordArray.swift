import Learning

/// Records in one piece of memory, read and changed in place.
///
/// It is an array whose subscript never copies an element: reading one field of a large record
/// costs the reading of that field. Complexity: O(1) for a subscript, O(1) on average for `append`.
struct RecordArray<Element>: RandomAccessCollection {
  /// The memory; two arrays may share it until one of them changes.
  private final class Storage {
    let base: UnsafeMutablePointer<Element>
    let capacity: Int
    var count = 0

    init(capacity: Int) {
      // Records of a whole number of cache lines begin where one does.
      base = UnsafeMutableRawPointer.allocate(
        byteCount: capacity * MemoryLayout<Element>.stride,
        alignment: Swift.max(64, MemoryLayout<Element>.alignment)
      ).bindMemory(to: Element.self, capacity: capacity)
      HostMemory.preferLargePages(base, capacity * MemoryLayout<Element>.stride)
      self.capacity = capacity
    }

    deinit {
      base.deinitialize(count: count)
      UnsafeMutableRawPointer(base).deallocate()
    }
  }

  private var storage = Storage(capacity: 1)

  init() {}

  var startIndex: Int { 0 }
  var endIndex: Int { storage.count }

  subscript(position: Int) -> Element {
    @inline(__always) unsafeAddress { address(position) }
    @inline(__always) unsafeMutableAddress { mutableAddress(position) }
  }

  /// Where a record is, for subscripts that yield it; valid until the table changes.
  @inline(__always) func address(_ position: Int) -> UnsafePointer<Element> {
    precondition(position >= 0 && position < storage.count, "no record \(position)")
    return UnsafePointer(storage.base + position)
  }

  /// The same for changing it, in memory that no other table shares.
  @inline(__always) mutating func mutableAddress(_ position: Int) -> UnsafeMutablePointer<Element> {
    if !isKnownUniquelyReferenced(&storage) { copy(capacity: storage.capacity) }
    precondition(position >= 0 && position < storage.count, "no record \(position)")
    return storage.base + position
  }

  /// Asks for the memory of a record, or of its first bytes, if there is one.
  @inline(__always)
  func prefetch(_ position: Int, bytes: Int = MemoryLayout<Element>.stride) {
    guard position >= 0, position < storage.count else { return }
    HostMemory.prefetch(storage.base + position, bytes)
  }

  mutating func append(_ element: Element) {
    if !isKnownUniquelyReferenced(&storage) || storage.count == storage.capacity {
      copy(capacity: Swift.max(storage.capacity, 2 * storage.count))
    }
    (storage.base + storage.count).initialize(to: element)
    storage.count += 1
  }

  /// Makes room for this many records in all.
  mutating func reserveCapacity(_ capacity: Int) {
    if capacity > storage.capacity { copy(capacity: capacity) }
  }

  private mutating func copy(capacity: Int) {
    let fresh = Storage(capacity: capacity)
    fresh.base.initialize(from: storage.base, count: storage.count)
    fresh.count = storage.count
    storage = fresh
  }
}

extension RecordArray: Encodable where Element: Encodable {
  func encode(to encoder: any Encoder) throws {
    var elements = encoder.unkeyedContainer()
    for place in 0..<storage.count { try elements.encode(storage.base[place]) }
  }
}

extension RecordArray: Decodable where Element: Decodable {
  init(from decoder: any Decoder) throws {
    self.init()
    var elements = try decoder.unkeyedContainer()
    while !elements.isAtEnd { append(try elements.decode(Element.self)) }
  }
}
