import Numerics

/// A place in the total order of events: time, class, actor, the actor's own number.
struct EventPlace: Codable, Comparable {
  let time: Int64
  /// The class, and below it the actor in 32 bits.
  private let rank: UInt64
  private let sequence: UInt32

  /// Before everything.
  static let start = EventPlace(.min, .world, actor: 0, 0)

  @inline(__always)
  init(_ time: Int64, _ eventClass: EventClass, actor: Int32, _ sequence: UInt32) {
    self.time = time
    rank = UInt64(eventClass.rawValue) << 32 | UInt64(UInt32(bitPattern: actor))
    self.sequence = sequence
  }

  /// The place of an event.
  init(_ entry: borrowing EventQueue.Entry) {
    self.init(entry.time.microseconds, entry.eventClass, actor: entry.actor, entry.sequence)
  }

  @inline(__always)
  static func < (a: EventPlace, b: EventPlace) -> Bool {
    if a.time != b.time { return a.time < b.time }
    if a.rank != b.rank { return a.rank < b.rank }
    return a.sequence < b.sequence
  }

  /// The first device whose event of a class is behind this place, of those at its own time; nil:
  /// none is, all at that time are before it.
  func firstDevice(of eventClass: EventClass) -> Int? {
    let own = UInt8(rank >> 32)
    if own < eventClass.rawValue { return 0 }
    // The actor of device d is d + 1.
    return own == eventClass.rawValue ? Int(rank & 0xFFFF_FFFF) : nil
  }
}
