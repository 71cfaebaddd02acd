import Learning

/// The memory of the queue's lists: nodes that are taken and given back, the last one given back
/// first.
///
/// Two that share memory part when one of them says that it will change (`makeUnique`).
struct EventNodes {
  /// An entry in its actor's list.
  struct Node {
    var time: SimTime
    var event: Event
    var eventClass: EventClass
    var sequence: UInt32
    var next: Int32

    /// Whether it comes before an entry of the same actor.
    @inline(__always)
    func precedes(_ entry: borrowing EventQueue.Entry) -> Bool {
      if time != entry.time { return time < entry.time }
      if eventClass != entry.eventClass { return eventClass.rawValue < entry.eventClass.rawValue }
      return sequence < entry.sequence
    }
  }

  private final class Storage {
    let base: UnsafeMutablePointer<Node>
    let capacity: Int
    init(capacity: Int) {
      base = .allocate(capacity: capacity)
      HostMemory.preferLargePages(base, capacity * MemoryLayout<Node>.stride)
      self.capacity = capacity
    }
    deinit { base.deallocate() }
  }

  private var storage = Storage(capacity: 16)
  private var base: UnsafeMutablePointer<Node>
  private var count: Int32 = 0
  /// The first of the nodes that are free.
  private var firstFree: Int32 = -1

  init() { base = storage.base }

  /// The node of a number that was made. Before a change `makeUnique` was called.
  @inline(__always)
  subscript(number: Int32) -> Node {
    unsafeAddress { UnsafePointer(base + Int(number)) }
    nonmutating unsafeMutableAddress { base + Int(number) }
  }

  /// Makes sure that nobody else has this memory.
  @inline(__always)
  mutating func makeUnique() {
    if !isKnownUniquelyReferenced(&storage) { move(capacity: storage.capacity) }
  }

  /// A node for an entry, with nothing behind it.
  @inline(__always)
  mutating func make(_ entry: borrowing EventQueue.Entry) -> Int32 {
    var number = firstFree
    if number >= 0 {
      firstFree = base[Int(number)].next
    } else {
      if Int(count) == storage.capacity { move(capacity: 2 * storage.capacity) }
      number = count
      count += 1
    }
    (base + Int(number)).initialize(
      to: Node(
        time: entry.time, event: entry.event, eventClass: entry.eventClass,
        sequence: entry.sequence, next: -1))
    return number
  }

  /// Asks for the memory of a node.
  @inline(__always)
  func prefetch(_ number: Int32) {
    if number >= 0 { HostMemory.prefetch(base + Int(number), MemoryLayout<Node>.stride) }
  }

  /// Gives a node back.
  @inline(__always)
  mutating func free(_ number: Int32) {
    base[Int(number)].next = firstFree
    firstFree = number
  }

  private mutating func move(capacity: Int) {
    let fresh = Storage(capacity: capacity)
    fresh.base.update(from: base, count: Int(count))
    storage = fresh
    base = fresh.base
  }
}
