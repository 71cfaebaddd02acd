import Numerics

/// What is scheduled: each actor's events, numbered in the order in which the actor scheduled them.
struct Agenda {
  var queue: EventQueue
  /// The devices whose polls are foreseen: their events are not in the queue.
  var pollers = Pollers()
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

  /// Nothing is to come any more.
  mutating func clear() { queue.removeAll() }

  /// From now on one device schedules event after event; nil: no longer.
  mutating func turn(to device: Int?) { queue.turn(to: Int32(device.map { $0 + 1 } ?? -1)) }
}
