import Learning

/// Records in one piece of memory, or in a column of the devices' rows, read and changed in place.
///
/// It is an array whose subscript never copies an element: reading one field of a large record
/// costs the reading of that field. Complexity: O(1) for a subscript, O(1) on average for `append`.
struct RecordArray<Element>: RandomAccessCollection {
  /// The memory; two arrays may share it until one of them changes.
  private final class Storage {
    private let base: UnsafeMutableRawPointer
    /// The bytes from a record to the next.
    private let stride: Int
    let capacity: Int
    var count = 0
    /// The rows in which this memory is a column.
    private let rows: DeviceRows?

    init(capacity: Int) {
      // Records of a whole number of cache lines begin where one does.
      base = UnsafeMutableRawPointer.allocate(
        byteCount: capacity * MemoryLayout<Element>.stride,
        alignment: Swift.max(64, MemoryLayout<Element>.alignment)
      )
      stride = MemoryLayout<Element>.stride
      HostMemory.preferLargePages(base, capacity * stride)
      self.capacity = capacity
      rows = nil
    }

    init(column base: UnsafeMutableRawPointer, of rows: DeviceRows, capacity: Int) {
      self.base = base
      stride = rows.stride
      self.capacity = capacity
      self.rows = rows
    }

    @inline(__always)
    func record(_ position: Int) -> UnsafeMutablePointer<Element> {
      (base + position &* stride).assumingMemoryBound(to: Element.self)
    }

    func removeAll() {
      for position in 0..<count { record(position).deinitialize(count: 1) }
      count = 0
    }

    deinit {
      removeAll()
      if rows == nil { base.deallocate() }
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
    return UnsafePointer(storage.record(position))
  }

  /// The same for changing it, in memory that no other table shares.
  @inline(__always) mutating func mutableAddress(_ position: Int) -> UnsafeMutablePointer<Element> {
    if !isKnownUniquelyReferenced(&storage) { copy(capacity: storage.capacity) }
    precondition(position >= 0 && position < storage.count, "no record \(position)")
    return storage.record(position)
  }

  /// Asks for the memory of a record, if there is one.
  @inline(__always)
  func prefetch(_ position: Int) {
    guard position >= 0, position < storage.count else { return }
    HostMemory.prefetch(storage.record(position), MemoryLayout<Element>.stride)
  }

  mutating func append(_ element: Element) {
    if !isKnownUniquelyReferenced(&storage) || storage.count == storage.capacity {
      copy(capacity: Swift.max(storage.capacity, 2 * storage.count))
    }
    storage.record(storage.count).initialize(to: element)
    storage.count += 1
  }

  /// Removes all records, and keeps the memory if no other table shares it.
  mutating func removeAll() {
    if isKnownUniquelyReferenced(&storage) {
      storage.removeAll()
    } else {
      storage = Storage(capacity: 1)
    }
  }

  /// Puts another table's records in place of these, in the memory that there is.
  mutating func take(_ records: RecordArray) {
    removeAll()
    reserveCapacity(records.count)
    for place in records.indices { append(records[place]) }
  }

  /// Makes room for this many records in all.
  mutating func reserveCapacity(_ capacity: Int) {
    if capacity > storage.capacity { copy(capacity: capacity) }
  }

  /// Moves the records into a column, the first of them into a device's row.
  mutating func move(to rows: DeviceRows, device: Int = 0) {
    let column = rows.column(
      bytes: MemoryLayout<Element>.stride, alignment: MemoryLayout<Element>.alignment,
      device: device)
    guard let column else { return }
    let capacity = rows.count - device
    precondition(count <= capacity, "no row for each record")
    copy(to: Storage(column: column, of: rows, capacity: capacity))
  }

  private mutating func copy(capacity: Int) { copy(to: Storage(capacity: capacity)) }

  private mutating func copy(to fresh: Storage) {
    for place in 0..<storage.count {
      fresh.record(place).initialize(to: storage.record(place).pointee)
    }
    fresh.count = storage.count
    storage = fresh
  }
}

extension RecordArray: Encodable where Element: Encodable {
  func encode(to encoder: any Encoder) throws {
    var elements = encoder.unkeyedContainer()
    for place in 0..<storage.count { try elements.encode(storage.record(place).pointee) }
  }
}

extension RecordArray: Decodable where Element: Decodable {
  init(from decoder: any Decoder) throws {
    self.init()
    var elements = try decoder.unkeyedContainer()
    while !elements.isAtEnd { append(try elements.decode(Element.self)) }
  }
}
