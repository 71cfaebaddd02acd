/// An event in its actor's list. Of a million phones each byte counts: it takes 20, because none of
/// its parts is aligned to more than four.
package struct EventSlot {
  private let timeLow: UInt32
  private let timeHigh: UInt32
  let sequence: UInt32
  let code: EventCode
  let eventClass: EventClass

  init(_ entry: borrowing EventQueue.Entry, _ code: EventCode) {
    let bits = UInt64(bitPattern: entry.time.microseconds)
    timeLow = UInt32(truncatingIfNeeded: bits)
    timeHigh = UInt32(truncatingIfNeeded: bits >> 32)
    self.code = code
    eventClass = entry.eventClass
    sequence = entry.sequence
  }

  @inline(__always) var time: SimTime {
    SimTime(microseconds: Int64(bitPattern: UInt64(timeHigh) << 32 | UInt64(timeLow)))
  }

  /// Whether it comes before an entry of the same actor.
  @inline(__always)
  func precedes(_ entry: borrowing EventQueue.Entry) -> Bool {
    if time != entry.time { return time < entry.time }
    if eventClass != entry.eventClass { return eventClass.rawValue < entry.eventClass.rawValue }
    return sequence < entry.sequence
  }
}
