/// The events to come, in the total order (time, class, actor, the actor's own sequence).
///
/// Each actor has a list of its own, in order; a mark in `marks` says when its first event comes.
/// So an actor whose next events concern nobody else can be played on without a look at the others
/// (`upcoming`). It is no `Sequence`, because its inner order means nothing. Complexity: O(log n)
/// for `popFirst`, n being the actors of a stretch of time; O(events of the actor before it) for
/// `push`, O(1) behind its last.
package struct EventQueue {
  /// A scheduled event with its place in the order.
  package struct Entry: Codable {
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

  private var nodes = EventNodes()
  /// The first and the last node of each actor; −1: it has none.
  private var lists: [(first: Int32, last: Int32)] = []
  private var marks = EventMarks()
  /// The actor whose event was taken last; its list has no mark.
  private var current: Int32 = -1
  private let shaken: ShakenTies?

  /// An empty queue; `shaken` permutes the actors within one (time, class).
  package init(shaken: ShakenTies? = nil) { self.shaken = shaken }

  /// Forgets all events.
  mutating func removeAll() { self = EventQueue(shaken: shaken) }

  /// How many events wait.
  package private(set) var count = 0

  package mutating func push(_ entry: Entry) {
    count += 1
    let actor = Int(entry.actor)
    while lists.count <= actor { lists.append((-1, -1)) }
    nodes.makeUnique()
    let node = nodes.make(entry)
    let (first, last) = lists[actor]
    if last >= 0, nodes[last].precedes(entry) {
      nodes[last].next = node
      lists[actor].last = node
      return
    }
    guard first >= 0, nodes[first].precedes(entry) else {
      nodes[node].next = first
      lists[actor].first = node
      if first < 0 { lists[actor].last = node }
      if entry.actor != current { mark(entry.actor) }
      return
    }
    var before = first
    while true {
      let next = nodes[before].next
      guard nodes[next].precedes(entry) else {
        nodes[node].next = next
        nodes[before].next = node
        return
      }
      before = next
    }
  }

  /// All events that wait, actor by actor, each one's in their order.
  package var entries: [Entry] {
    var entries: [Entry] = []
    entries.reserveCapacity(count)
    for (actor, list) in lists.enumerated() {
      var node = list.first
      while node >= 0 {
        entries.append(
          Entry(
            time: nodes[node].time, eventClass: nodes[node].eventClass, actor: Int32(actor),
            sequence: nodes[node].sequence, event: nodes[node].event))
        node = nodes[node].next
      }
    }
    return entries
  }

  /// Takes back an event of an actor that was scheduled for a time, if it is there.
  package mutating func cancel(_ event: Event, at time: SimTime, of actor: Int32) {
    guard Int(actor) < lists.count else { return }
    nodes.makeUnique()
    var before: Int32 = -1
    var node = lists[Int(actor)].first
    while node >= 0, nodes[node].time <= time {
      let next = nodes[node].next
      guard nodes[node].time == time, nodes[node].event == event else {
        (before, node) = (node, next)
        continue
      }
      if before < 0 { lists[Int(actor)].first = next } else { nodes[before].next = next }
      if next < 0 { lists[Int(actor)].last = before }
      nodes.free(node)
      count -= 1
      if before < 0, actor != current { mark(actor) }
      return
    }
  }

  package mutating func popFirst() -> Entry? {
    let played = current
    current = -1
    if played >= 0 { mark(played) }
    while let found = marks.popFirst() {
      // A mark whose event was overtaken by another, which has a mark of its own, is passed over.
      let first = lists[Int(found.actor)].first
      guard first >= 0, nodes[first].time == found.time,
        nodes[first].eventClass.rawValue == found.eventClass
      else { continue }
      current = found.actor
      nodes.makeUnique()
      return takeFirst()
    }
    return nil
  }

  /// From now on an actor's events are scheduled one after the other: it is marked when another's
  /// turn comes, or the first event is taken.
  package mutating func turn(to actor: Int32) {
    let before = current
    current = actor
    if before >= 0 { mark(before) }
  }

  /// Actors that will most likely be next, after the one whose event was taken last.
  var comingActors: (Int32, Int32, Int32) { marks.coming }

  /// Asks for the memory of what an actor does next.
  func prefetch(_ actor: Int32) {
    guard actor >= 0, Int(actor) < lists.count else { return }
    nodes.prefetch(lists[Int(actor)].first)
  }

  /// The next event of the actor whose event was taken last; nil: it has none.
  package var upcoming: (time: SimTime, event: Event)? {
    guard current >= 0, Int(current) < lists.count else { return nil }
    let first = lists[Int(current)].first
    return first < 0 ? nil : (nodes[first].time, nodes[first].event)
  }

  /// Takes the next event of the actor whose event was taken last.
  package mutating func popUpcoming() -> Entry { takeFirst() }

  /// Takes the first event of the current actor.
  private mutating func takeFirst() -> Entry {
    let first = lists[Int(current)].first
    let entry = Entry(
      time: nodes[first].time, eventClass: nodes[first].eventClass, actor: current,
      sequence: nodes[first].sequence, event: nodes[first].event)
    let next = nodes[first].next
    lists[Int(current)].first = next
    if next < 0 { lists[Int(current)].last = -1 }
    nodes.free(first)
    count -= 1
    return entry
  }

  /// Says when the first event of an actor comes.
  private mutating func mark(_ actor: Int32) {
    guard Int(actor) < lists.count else { return }
    let first = lists[Int(actor)].first
    guard first >= 0 else { return }
    let (time, eventClass) = (nodes[first].time, nodes[first].eventClass)
    let rank = shaken?.rank(time, eventClass, actor) ?? UInt64(actor)
    marks.push(
      EventMarks.Mark(
        time: time, rank: UInt64(eventClass.rawValue) << 56 | rank, actor: actor))
  }
}
