import Numerics

/// The events to come, in the total order (time, class, actor, the actor's own sequence).
///
/// Each actor has a list of its own, in order; a mark in `marks` says when its first event comes.
/// So an actor whose next events concern nobody else can be played on without a look at the others
/// (`upcoming`). It is no `Sequence`, because its inner order means nothing. Complexity: O(log n)
/// for `popFirst`, n being the actors of a stretch of time; O(events of the actor before it) for
/// `push`, O(1) behind its last.
package struct EventQueue {
  /// A scheduled event with its place in the order.
  package struct Entry {
    package let time: SimTime
    package let eventClass: EventClass
    /// The server is 0, device d is d + 1.
    package let actor: Int32
    package let sequence: UInt32
    package let event: Event

    package init(
      time: SimTime, eventClass: EventClass, actor: Int32, sequence: UInt32, event: Event
    ) {
      self.time = time
      self.eventClass = eventClass
      self.actor = actor
      self.sequence = sequence
      self.event = event
    }
  }

  /// An entry in its actor's list.
  private struct Node {
    var time: SimTime
    var event: Event
    var eventClass: EventClass
    var sequence: UInt32
    var next: Int32

    /// Whether it comes before an entry of the same actor.
    @inline(__always)
    func precedes(_ entry: borrowing Entry) -> Bool {
      if time != entry.time { return time < entry.time }
      if eventClass != entry.eventClass { return eventClass.rawValue < entry.eventClass.rawValue }
      return sequence < entry.sequence
    }
  }

  private var nodes = Table<Node>()
  /// The first of the nodes that are free.
  private var free: Int32 = -1
  /// The first and the last node of each actor; −1: it has none.
  private var lists: [(first: Int32, last: Int32)] = []
  private var marks = EventMarks()
  /// The actor whose event was taken last; its list has no mark.
  private var current: Int32 = -1
  private let shaken: ShakenTies?

  /// An empty queue; `shaken` permutes the actors within one (time, class).
  package init(shaken: ShakenTies? = nil) { self.shaken = shaken }

  /// How many events wait.
  package private(set) var count = 0

  package mutating func push(_ entry: Entry) {
    count += 1
    let actor = Int(entry.actor)
    while lists.count <= actor { lists.append((-1, -1)) }
    let node = make(entry)
    let (first, last) = lists[actor]
    if last >= 0, nodes[Int(last)].precedes(entry) {
      nodes[Int(last)].next = node
      lists[actor].last = node
      return
    }
    guard first >= 0, nodes[Int(first)].precedes(entry) else {
      nodes[Int(node)].next = first
      lists[actor].first = node
      if first < 0 { lists[actor].last = node }
      if entry.actor != current { mark(entry.actor) }
      return
    }
    var before = first
    while true {
      let next = nodes[Int(before)].next
      guard nodes[Int(next)].precedes(entry) else {
        nodes[Int(node)].next = next
        nodes[Int(before)].next = node
        return
      }
      before = next
    }
  }

  package mutating func popFirst() -> Entry? {
    let played = current
    current = -1
    if played >= 0 { mark(played) }
    while let found = marks.popFirst() {
      // A mark whose event was overtaken by another, which has a mark of its own, is passed over.
      let first = lists[Int(found.actor)].first
      guard first >= 0, nodes[Int(first)].time == found.time,
        nodes[Int(first)].eventClass.rawValue == found.eventClass
      else { continue }
      current = found.actor
      return takeFirst()
    }
    return nil
  }

  /// The next event of the actor whose event was taken last; nil: it has none.
  package var upcoming: (time: SimTime, event: Event)? {
    guard current >= 0 else { return nil }
    let first = lists[Int(current)].first
    return first < 0 ? nil : (nodes[Int(first)].time, nodes[Int(first)].event)
  }

  /// Takes the next event of the actor whose event was taken last.
  package mutating func popUpcoming() -> Entry { takeFirst() }

  /// Takes the first event of the current actor.
  private mutating func takeFirst() -> Entry {
    let first = lists[Int(current)].first
    let entry = Entry(
      time: nodes[Int(first)].time, eventClass: nodes[Int(first)].eventClass, actor: current,
      sequence: nodes[Int(first)].sequence, event: nodes[Int(first)].event)
    let next = nodes[Int(first)].next
    lists[Int(current)].first = next
    if next < 0 { lists[Int(current)].last = -1 }
    nodes[Int(first)].next = free
    free = first
    count -= 1
    return entry
  }

  /// Says when the first event of an actor comes.
  private mutating func mark(_ actor: Int32) {
    let first = lists[Int(actor)].first
    guard first >= 0 else { return }
    let (time, eventClass) = (nodes[Int(first)].time, nodes[Int(first)].eventClass)
    let rank = shaken?.rank(time, eventClass, actor) ?? UInt64(actor)
    marks.push(
      EventMarks.Mark(
        time: time, rank: UInt64(eventClass.rawValue) << 56 | rank, actor: actor))
  }

  /// A node of its own for an entry, the last of its list.
  private mutating func make(_ entry: Entry) -> Int32 {
    let node = Node(
      time: entry.time, event: entry.event, eventClass: entry.eventClass,
      sequence: entry.sequence, next: -1)
    guard free >= 0 else {
      nodes.append(node)
      return Int32(nodes.count - 1)
    }
    let place = free
    free = nodes[Int(place)].next
    nodes[Int(place)] = node
    return place
  }
}

/// An order of the actors within one (time, class) that a key decides, not their place in the
/// fleet.
package struct ShakenTies {
  private let key: UInt64
  private let names: [UInt64]

  /// An order by a key over numbers that stand for the devices' names. Shapes: [device].
  package init(key: UInt64, names: [UInt64]) {
    self.key = key
    self.names = names
  }

  /// The lower 56 bits of an actor's rank; the server is first.
  func rank(_ time: SimTime, _ eventClass: EventClass, _ actor: Int32) -> UInt64 {
    guard actor > 0 else { return 0 }
    var digest = Digest(seed: key)
    digest.combine(time.microseconds)
    digest.combine(UInt64(eventClass.rawValue))
    digest.combine(names[Int(actor) - 1])
    return digest.value >> 8
  }
}
