/// The events to come, in the total order (time, class, actor, the actor's own sequence).
///
/// Each actor has its own list, in order; a mark in `marks` says when its first event comes.
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

  private var lists = EventLists()
  private var marks: EventMarks
  /// The actor whose event was taken last; its list has no mark.
  private var current: Int32 = -1

  /// An empty queue; `shaken` permutes the actors within one (time, class).
  package init(shaken: ShakenTies? = nil) { marks = EventMarks(shaken: shaken) }

  /// Forgets all events.
  mutating func removeAll() {
    lists.removeAll()
    marks = EventMarks(shaken: marks.shaken)
    (current, count) = (-1, 0)
  }

  /// How many events wait.
  package private(set) var count = 0

  package mutating func push(_ entry: Entry) {
    count += 1
    lists.makeUnique()
    if lists.insert(entry), entry.actor != current { mark(entry.actor) }
  }

  /// Schedules an event of an actor, with the actor's next number.
  @inline(__always)
  mutating func schedule(
    _ event: Event, _ eventClass: EventClass, at time: SimTime, by actor: Int32
  ) {
    lists.makeUnique()
    let sequence = lists.count(oneMoreOf: actor)
    count += 1
    let entry = Entry(
      time: time, eventClass: eventClass, actor: actor, sequence: sequence, event: event)
    if lists.insert(entry), actor != current { mark(actor) }
  }

  /// How many events each actor has scheduled so far.
  var sequences: [UInt32] { (0..<Int32(lists.count)).map { lists[$0].sequence } }

  /// How many events an actor has scheduled so far.
  subscript(sequenceOf actor: Int32) -> UInt32 {
    get { Int(actor) < lists.count ? lists[actor].sequence : 0 }
    set {
      lists.makeUnique()
      lists.set(sequence: newValue, of: actor)
    }
  }

  /// All events that wait, actor by actor, each one's in their order.
  package var entries: [Entry] {
    (0..<Int32(lists.count)).flatMap { actor in
      (0..<Int(lists[actor].count)).reversed().map {
        lists.entry(lists[actor].slots[$0], of: actor)
      }
    }
  }

  /// Takes back an event of an actor that was scheduled for a time, or for any; nil: it is not
  /// there.
  @discardableResult
  package mutating func cancel(_ event: Event, at time: SimTime?, of actor: Int32) -> EventSlot? {
    guard Int(actor) < lists.count else { return nil }
    lists.makeUnique()
    let list = lists[actor]
    let last = Int(list.count) - 1
    let code = EventCode(event, of: actor)
    var place = time.map { time in list.places { $0.time >= time } - 1 } ?? last
    while place >= 0, time == nil || list.slots[place].time == time {
      if lists.has(event, code, in: list.slots[place]) {
        let found = list.slots[place]
        lists.remove(place, of: actor)
        count -= 1
        if place == last, actor != current { mark(actor) }
        return found
      }
      place -= 1
    }
    return nil
  }

  package mutating func popFirst() -> Entry? {
    let played = current
    current = -1
    if played >= 0 { mark(played) }
    while let found = marks.popFirst() {
      // A mark whose event was overtaken by another, which has its own mark, is passed over.
      let list = lists[found.actor]
      guard list.count > 0, list.first.time == found.time,
        list.first.eventClass.rawValue == found.eventClass
      else { continue }
      current = found.actor
      defer { removeUpcoming() }
      return upcoming
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

  /// The actor that comes next, and those that will most likely follow and were not named the last
  /// time; −1: none.
  mutating func comingActors() -> (first: Int32, fresh: SIMD4<Int32>) { marks.coming() }

  /// Moves the devices' events into their rows, as far as they have room there.
  mutating func move(to rows: DeviceRows) { lists.move(to: rows) }

  /// The next event of the actor whose event was taken last; nil: it has none.
  package var upcoming: Entry? {
    mutating get {  // or a caller would copy the queue
      guard current >= 0, Int(current) < lists.count, lists[current].count > 0 else { return nil }
      return lists.entry(lists[current].first, of: current)
    }
  }

  /// Removes the next event of the actor whose event was taken last.
  package mutating func removeUpcoming() {
    lists.makeUnique()
    count -= 1
    lists.removeFirst(of: current)
  }

  /// Says when the first event of an actor comes.
  private mutating func mark(_ actor: Int32) {
    guard Int(actor) < lists.count, lists[actor].count > 0 else { return }
    marks.push(
      FiledMark(
        time: lists[actor].first.time, eventClass: lists[actor].first.eventClass, actor: actor))
  }
}
