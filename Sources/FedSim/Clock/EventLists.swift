import Learning

/// The events to come of each actor, one next to the other in memory: a list is reached in one go,
/// where links would lead from place to place.
///
/// Two that share memory part when one of them says that it will change (`makeUnique`).
struct EventLists {
  /// An actor's events, the first of them in the last slot.
  ///
  /// A list of more than the least memory is in the middle of it, so that it grows at either
  /// end, and what comes between two others moves those of the shorter side.
  struct List {
    /// The last event, and behind it those before it.
    fileprivate(set) var slots: UnsafeMutablePointer<EventSlot>
    fileprivate(set) var count: Int32 = 0
    /// Free slots before the last event, in the upper 24 bits, and its memory's size below: lists
    /// are many, and nearly all of them short.
    private var shape: UInt32 = 0
    /// The number of the actor's next event.
    fileprivate(set) var sequence: UInt32 = 0

    private static let mostBefore = 0xFF_FFFF

    fileprivate init(slots: UnsafeMutablePointer<EventSlot>) { self.slots = slots }

    /// The first event of a list that is not empty.
    @inline(__always) var first: EventSlot {
      unsafeAddress { UnsafePointer(slots + Int(count) - 1) }
    }

    /// Whether it has the least memory, and begins where that begins.
    @inline(__always) fileprivate var isShort: Bool { shape == 0 }
    fileprivate var size: Int { Int(shape & 0xFF) }
    private var capacity: Int { EventMemory.capacity(size) }
    private var before: Int { Int(shape >> 8) }
    private var behind: Int { capacity - before - Int(count) }
    /// Where its memory begins.
    fileprivate var memory: UnsafeMutablePointer<EventSlot> { slots - before }

    /// How many of its last events something holds for that holds for none before them.
    /// Complexity: O(log events).
    @inline(__always)
    func places(where isLate: (EventSlot) -> Bool) -> Int {
      var (low, high) = (0, Int(count))
      while low < high {
        let middle = (low + high) / 2
        if isLate(slots[middle]) { low = middle + 1 } else { high = middle }
      }
      return low
    }

    /// Whether fewer events are before a place in memory than behind it.
    private func isLow(_ place: Int) -> Bool { place < (Int(count) + 1) / 2 }

    /// Whether an event cannot be inserted at a place without more room.
    fileprivate func isFull(at place: Int) -> Bool {
      isLow(place) ? before == 0 : behind == 0
    }

    /// Whether there is room at its other end, enough to move it for where it is long.
    fileprivate var hasRoom: Bool {
      !isShort && Int(count) < capacity && (capacity <= 16 || 4 * Int(count) <= 3 * capacity)
    }
    /// Whether the next smaller memory is enough, and some more would fit; but for the least, which
    /// most lists have and few events fill: of a million phones each slot counts.
    fileprivate var isSparse: Bool {
      !isShort && 6 * Int(count) <= (size == 1 ? 6 : 5) * EventMemory.capacity(size - 1)
    }

    /// Moves it to the middle of some memory, perhaps its own, with room for one at a place.
    fileprivate mutating func move(
      to memory: UnsafeMutablePointer<EventSlot>, size: Int, for place: Int = .max
    ) {
      let free = size == 0 ? 0 : EventMemory.capacity(size) - Int(count)
      let before = min((free + (isLow(place) ? 1 : 0)) / 2, Self.mostBefore)
      (memory + before).update(from: slots, count: Int(count))
      slots = memory + before
      shape = UInt32(before) << 8 | UInt32(size)
    }

    /// Opens a place that is not full. Complexity: O(events of the shorter side).
    fileprivate mutating func open(_ place: Int) {
      if isLow(place) {
        slots -= 1
        shape -= 1 << 8
        slots.update(from: slots + 1, count: place)
      } else {
        (slots + place + 1).update(from: slots + place, count: Int(count) - place)
      }
      count += 1
    }

    /// Closes a place. Complexity: O(events of the shorter side).
    fileprivate mutating func close(_ place: Int) {
      count -= 1
      if isShort || !isLow(place) || before == Self.mostBefore {
        (slots + place).update(from: slots + place + 1, count: Int(count) - place)
      } else {
        (slots + 1).update(from: slots, count: place)
        slots += 1
        shape += 1 << 8
      }
    }
  }

  private var storage = EventMemory()
  private var lists = RecordArray<List>()
  /// Events that a slot has no room for.
  private var kept = Slots<Event>()

  /// What an actor takes that has few events to come.
  static var bytesOfActor: Int {
    MemoryLayout<List>.stride + EventMemory.least * MemoryLayout<EventSlot>.stride
  }

  /// How many actors have a list.
  var count: Int { lists.count }

  /// The list of an actor that has one.
  @inline(__always)
  subscript(actor: Int32) -> List { lists[Int(actor)] }

  /// Makes sure that nobody else has this memory.
  @inline(__always)
  mutating func makeUnique() {
    if !isKnownUniquelyReferenced(&storage) { move(to: EventMemory()) }
  }

  /// Counts an event that an actor schedules, and says its number.
  @inline(__always)
  mutating func count(oneMoreOf actor: Int32) -> UInt32 {
    while lists.count <= Int(actor) { add() }
    let sequence = lists[Int(actor)].sequence
    lists[Int(actor)].sequence &+= 1
    return sequence
  }

  /// Sets the number of an actor's next event.
  mutating func set(sequence: UInt32, of actor: Int32) {
    while lists.count <= Int(actor) { add() }
    lists[Int(actor)].sequence = sequence
  }

  /// The event in a slot of an actor's list.
  @inline(__always)
  func event(_ slot: EventSlot, of actor: Int32) -> Event {
    guard let place = slot.code.place else { return slot.code.event(of: actor) }
    return kept[place]!
  }

  /// What is in a slot of an actor's list.
  @inline(__always)
  func entry(_ slot: EventSlot, of actor: Int32) -> EventQueue.Entry {
    EventQueue.Entry(
      time: slot.time, eventClass: slot.eventClass, actor: actor, sequence: slot.sequence,
      event: event(slot, of: actor))
  }

  /// Whether a slot has an event; `code` is that of the event, where it has one.
  @inline(__always)
  func has(_ event: Event, _ code: EventCode?, in slot: EventSlot) -> Bool {
    if let code { return slot.code == code }
    guard let place = slot.code.place else { return false }
    return kept[place] == event
  }

  /// Puts an entry into its actor's list; whether it is its first event now.
  @inline(__always)
  mutating func insert(_ entry: EventQueue.Entry) -> Bool {
    let actor = Int(entry.actor)
    while lists.count <= actor { add() }
    let code = EventCode(entry.event, of: entry.actor) ?? keep(entry.event)
    var list = lists[actor]
    guard list.isShort, list.count < EventMemory.least else { return insertLong(entry, code) }
    let slots = list.slots
    var place = Int(list.count)
    while place > 0, slots[place - 1].precedes(entry) {
      slots[place] = slots[place - 1]
      place -= 1
    }
    (slots + place).initialize(to: EventSlot(entry, code))
    list.count += 1
    lists[actor] = list
    return place + 1 == Int(list.count)
  }

  @inline(never)
  private mutating func keep(_ event: Event) -> EventCode {
    EventCode(keptAt: kept.insert(event))
  }

  /// The same in a list that has more than the least memory, or needs more.
  @inline(never)
  private mutating func insertLong(_ entry: EventQueue.Entry, _ code: EventCode) -> Bool {
    let actor = Int(entry.actor)
    let place = lists[actor].places { !$0.precedes(entry) }
    if lists[actor].isFull(at: place) {
      if lists[actor].hasRoom {
        lists[actor].move(to: lists[actor].memory, size: lists[actor].size, for: place)
      } else {
        resize(actor, to: lists[actor].size + 1, for: place)
      }
    }
    lists[actor].open(place)
    (lists[actor].slots + place).initialize(to: EventSlot(entry, code))
    return place + 1 == Int(lists[actor].count)
  }

  /// Removes the first event of an actor from its list.
  @inline(__always)
  mutating func removeFirst(of actor: Int32) {
    let list = lists.mutableAddress(Int(actor))
    if let place = list.pointee.first.code.place { _ = kept.remove(place) }
    list.pointee.count -= 1
    if !list.pointee.isShort { shrink(actor) }
  }

  /// Removes all lists; each actor's memory stays where it is.
  mutating func removeAll() {
    makeUnique()
    lists.removeAll()
    kept = Slots()
  }

  /// Takes an event out of an actor's list.
  @inline(__always)
  mutating func remove(_ place: Int, of actor: Int32) {
    if let place = lists[Int(actor)].slots[place].code.place { _ = kept.remove(place) }
    lists[Int(actor)].close(place)
    if !lists[Int(actor)].isShort { shrink(actor) }
  }

  /// Moves the lists into the devices' rows, and the events of short ones.
  mutating func move(to rows: DeviceRows) {
    lists.move(to: rows, device: -1)
    if let homes = EventMemory(in: rows) { move(to: homes) }
  }

  @inline(never)
  private mutating func add() { lists.append(List(slots: storage.take(0, for: lists.count))) }

  /// Gives a list less memory where that leaves room for some more: a long one that gains and loses
  /// an event in turn stays where it is.
  @inline(never)
  private mutating func shrink(_ actor: Int32) {
    let list = lists[Int(actor)]
    if list.isSparse { resize(Int(actor), to: list.size - 1) }
  }

  private mutating func resize(_ actor: Int, to size: Int, for place: Int = .max) {
    let (memory, before) = (lists[actor].memory, lists[actor].size)
    lists[actor].move(to: storage.take(size, for: actor), size: size, for: place)
    storage.give(memory, before, of: actor)
  }

  private mutating func move(to fresh: EventMemory) {
    for actor in lists.indices {
      let size = lists[actor].size
      lists[actor].move(to: fresh.take(size, for: actor), size: size)
    }
    storage = fresh
  }
}
