import Learning

/// The events to come of each actor, one beside the other in memory: a list is reached in one go,
/// where links would lead from place to place.
///
/// Two that share memory part when one of them says that it will change (`makeUnique`).
struct EventLists {
  /// An event in its actor's list.
  struct Slot {
    var time: SimTime
    var event: Event
    var eventClass: EventClass
    var sequence: UInt32

    /// Whether it comes before an entry of the same actor.
    @inline(__always)
    func precedes(_ entry: borrowing EventQueue.Entry) -> Bool {
      if time != entry.time { return time < entry.time }
      if eventClass != entry.eventClass { return eventClass.rawValue < entry.eventClass.rawValue }
      return sequence < entry.sequence
    }
  }

  /// An actor's events, the first of them in the last slot.
  struct List {
    fileprivate(set) var slots: UnsafeMutablePointer<Slot>
    fileprivate(set) var count: Int32 = 0
    fileprivate var capacity: Int32 = 0

    /// The first event of a list that is not empty.
    @inline(__always) var first: Slot {
      unsafeAddress { UnsafePointer(slots + Int(count) - 1) }
    }
  }

  /// Memory of lists, in few sizes: a list that grows or shrinks leaves what others can use.
  private final class Storage {
    /// As many as a phone has waiting, most of the time.
    static let least = 6
    private static let piece = 1 << 14
    // Each is reached through the lists alone, which keep others away.
    @exclusivity(unchecked) private var pieces: [UnsafeMutablePointer<Slot>] = []
    /// What is left of the last piece.
    @exclusivity(unchecked) private var rest = 0
    /// Memory that was given back, by its size in parts of the least.
    @exclusivity(unchecked) private var free: [[UnsafeMutablePointer<Slot>]] = []

    func take(_ capacity: Int) -> UnsafeMutablePointer<Slot> {
      let size = capacity / Self.least
      if size < free.count, let slots = free[size].popLast() { return slots }
      if rest < capacity { grow(atLeast: capacity) }
      rest -= capacity
      return pieces[pieces.count - 1] + rest
    }

    func give(_ slots: UnsafeMutablePointer<Slot>, _ capacity: Int) {
      let size = capacity / Self.least
      while free.count <= size { free.append([]) }
      free[size].append(slots)
    }

    private func grow(atLeast capacity: Int) {
      if rest > 0 { give(pieces[pieces.count - 1], rest) }
      rest = max(Self.piece, capacity)
      let piece = UnsafeMutablePointer<Slot>.allocate(capacity: rest)
      HostMemory.preferLargePages(piece, rest * MemoryLayout<Slot>.stride)
      pieces.append(piece)
    }

    deinit { for piece in pieces { piece.deallocate() } }
  }

  private var storage = Storage()
  private var lists = Table<List>()

  /// How many actors have a list.
  var count: Int { lists.count }

  /// The list of an actor that has one.
  @inline(__always)
  subscript(actor: Int32) -> List { lists[Int(actor)] }

  /// Makes sure that nobody else has this memory.
  @inline(__always)
  mutating func makeUnique() {
    if !isKnownUniquelyReferenced(&storage) { copy() }
  }

  /// Puts an entry into its actor's list; whether it is its first event now.
  @inline(__always)
  mutating func insert(_ entry: borrowing EventQueue.Entry) -> Bool {
    let actor = Int(entry.actor)
    while lists.count <= actor { add() }
    var list = lists[actor]
    if list.count == list.capacity { resize(&list, to: 2 * Int(list.capacity)) }
    let slots = list.slots
    var place = Int(list.count)
    while place > 0, slots[place - 1].precedes(entry) {
      slots[place] = slots[place - 1]
      place -= 1
    }
    (slots + place).initialize(
      to: Slot(
        time: entry.time, event: entry.event, eventClass: entry.eventClass,
        sequence: entry.sequence))
    list.count += 1
    lists[actor] = list
    return place + 1 == Int(list.count)
  }

  /// Takes the first event of an actor out of its list.
  @inline(__always)
  mutating func removeFirst(of actor: Int32) -> Slot {
    let slot = lists[Int(actor)].first
    shorten(actor)
    return slot
  }

  /// Takes an event out of an actor's list.
  @inline(__always)
  mutating func remove(_ place: Int, of actor: Int32) {
    let list = lists[Int(actor)]
    for place in place..<Int(list.count) - 1 { list.slots[place] = list.slots[place + 1] }
    shorten(actor)
  }

  /// Asks for the memory of what is known of a list.
  func prefetch(_ actor: Int32) { lists.prefetch(Int(actor)) }

  /// Asks for the memory of the events of a list.
  func prefetchSlots(_ actor: Int32) {
    let list = lists[Int(actor)]
    HostMemory.prefetch(list.slots, Int(list.count) * MemoryLayout<Slot>.stride)
  }

  @inline(never)
  private mutating func add() {
    lists.append(List(slots: storage.take(Storage.least), capacity: Int32(Storage.least)))
  }

  /// Leaves the last slot of a list, and half of its memory where the rest is enough.
  @inline(__always)
  private mutating func shorten(_ actor: Int32) {
    var list = lists[Int(actor)]
    list.count -= 1
    if 2 * list.count <= list.capacity, list.capacity > Storage.least {
      resize(&list, to: Int(list.capacity) / 2)
    }
    lists[Int(actor)] = list
  }

  @inline(never)
  private func resize(_ list: inout List, to capacity: Int) {
    let slots = storage.take(capacity)
    slots.update(from: list.slots, count: Int(list.count))
    storage.give(list.slots, Int(list.capacity))
    (list.slots, list.capacity) = (slots, Int32(capacity))
  }

  private mutating func copy() {
    let fresh = Storage()
    for actor in lists.indices {
      let slots = fresh.take(Int(lists[actor].capacity))
      slots.update(from: lists[actor].slots, count: Int(lists[actor].count))
      lists[actor].slots = slots
    }
    storage = fresh
  }
}
