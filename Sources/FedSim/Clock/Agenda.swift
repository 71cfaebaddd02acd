import Numerics

/// What is scheduled: each actor's events, numbered in the order in which the actor scheduled them.
struct Agenda {
  private(set) var queue: EventQueue
  /// The time after which nothing is scheduled any more.
  private let end: SimTime

  init(end: SimTime, shaken: ShakenTies?) {
    self.end = end
    queue = EventQueue(shaken: shaken)
  }

  /// Schedules an event of a device, or of the server (`device` nil).
  @inline(__always)
  mutating func schedule(
    _ event: Event, _ eventClass: EventClass, at time: SimTime, by device: Int?
  ) {
    guard time <= end else { return }
    queue.schedule(event, eventClass, at: time, by: Int32(device.map { $0 + 1 } ?? 0))
  }

  /// Takes back an event of a device that would only be skipped, if it is still to come.
  mutating func cancel(_ event: Event, at time: SimTime, of device: Int) {
    queue.cancel(event, at: time, of: Int32(device + 1))
  }

  /// Takes a device's event out, whenever it is to come; nil: it is not there.
  mutating func take(_ event: Event, of device: Int) -> (time: SimTime, sequence: UInt32)? {
    queue.take(event, of: Int32(device + 1))
  }

  /// The number of a device's next event.
  func sequence(of device: Int) -> UInt32 { queue.sequence(of: Int32(device + 1)) }

  /// Sets it.
  mutating func set(sequence: UInt32, of device: Int) {
    queue.set(sequence: sequence, of: Int32(device + 1))
  }

  /// Schedules an event of a device that has its number already.
  mutating func restore(
    _ event: Event, _ eventClass: EventClass, at time: SimTime, by device: Int, _ sequence: UInt32
  ) {
    guard time <= end else { return }
    queue.push(
      EventQueue.Entry(
        time: time, eventClass: eventClass, actor: Int32(device + 1), sequence: sequence,
        event: event))
  }

  /// Puts back the event that was taken last.
  mutating func push(back entry: EventQueue.Entry) { queue.push(entry) }

  // What the loop takes.
  mutating func popFirst() -> EventQueue.Entry? { queue.popFirst() }
  mutating func popUpcoming() -> EventQueue.Entry { queue.popUpcoming() }
  mutating func comingActors() -> (first: Int32, fresh: SIMD4<Int32>) { queue.comingActors() }
  /// Nothing is to come any more.
  mutating func clear() { queue.removeAll() }

  /// From now on one device schedules event after event; nil: no longer.
  mutating func turn(to device: Int?) { queue.turn(to: Int32(device.map { $0 + 1 } ?? -1)) }

  /// What is scheduled and how far each actor has counted, to be saved.
  var saved: SavedAgenda { SavedAgenda(entries: queue.entries, sequences: queue.sequences) }

  /// Takes back what was saved, in place of everything that was scheduled meanwhile.
  mutating func restore(_ saved: SavedAgenda) {
    clear()
    for entry in saved.entries { queue.push(entry) }
    queue.take(sequences: saved.sequences)
  }
}

/// An agenda as it is saved.
struct SavedAgenda: Codable {
  /// The events to come, in any order that keeps each actor's.
  let entries: [EventQueue.Entry]
  /// How many events each actor has scheduled so far, the server first.
  let sequences: [UInt32]
}
