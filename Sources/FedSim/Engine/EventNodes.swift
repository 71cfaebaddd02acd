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

  /// Pieces of memory of 2^`bits` nodes each, so that growing copies nothing.
  private final class Storage {
    var pieces: [UnsafeMutablePointer<Node>] = []

    func grow() {
      let size = 1 << EventNodes.bits
      let piece = UnsafeMutablePointer<Node>.allocate(capacity: size)
      HostMemory.preferLargePages(piece, size * MemoryLayout<Node>.stride)
      pieces.append(piece)
    }

    deinit { for piece in pieces { piece.deallocate() } }
  }

  private static let bits: Int32 = 14
  private var storage = Storage()
  /// The storage's pieces, where they can be reached at once.
  private var pieces: [UnsafeMutablePointer<Node>] = []
  private var count: Int32 = 0
  /// The first of the nodes that are free.
  private var firstFree: Int32 = -1

  /// The node of a number that was made. Before a change `makeUnique` was called.
  @inline(__always)
  subscript(number: Int32) -> Node {
    unsafeAddress { UnsafePointer(place(number)) }
    nonmutating unsafeMutableAddress { place(number) }
  }

  @inline(__always)
  private func place(_ number: Int32) -> UnsafeMutablePointer<Node> {
    pieces[Int(number >> Self.bits)] + Int(number & (1 << Self.bits - 1))
  }

  /// Makes sure that nobody else has this memory.
  @inline(__always)
  mutating func makeUnique() {
    if !isKnownUniquelyReferenced(&storage) { copy() }
  }

  /// A node for an entry, with nothing behind it.
  @inline(__always)
  mutating func make(_ entry: borrowing EventQueue.Entry) -> Int32 {
    var number = firstFree
    if number >= 0 {
      firstFree = place(number).pointee.next
    } else {
      if Int(count) == pieces.count << Int(Self.bits) { grow() }
      number = count
      count += 1
    }
    place(number).initialize(
      to: Node(
        time: entry.time, event: entry.event, eventClass: entry.eventClass,
        sequence: entry.sequence, next: -1))
    return number
  }

  /// Asks for the memory of a node.
  @inline(__always)
  func prefetch(_ number: Int32) {
    if number >= 0 { HostMemory.prefetch(place(number), MemoryLayout<Node>.stride) }
  }

  /// Gives a node back.
  @inline(__always)
  mutating func free(_ number: Int32) {
    place(number).pointee.next = firstFree
    firstFree = number
  }

  private mutating func grow() {
    storage.grow()
    pieces = storage.pieces
  }

  private mutating func copy() {
    let fresh = Storage()
    for piece in pieces {
      fresh.grow()
      fresh.pieces[fresh.pieces.count - 1].update(from: piece, count: 1 << Self.bits)
    }
    storage = fresh
    pieces = fresh.pieces
  }
}
