/// A mark without the rank, which is worked out where it is looked at.
struct FiledMark {
  let time: SimTime
  /// Class in the upper 32 bits, actor in the lower.
  private let place: UInt64

  init(time: SimTime, eventClass: EventClass, actor: Int32) {
    self.time = time
    place = UInt64(eventClass.rawValue) << 32 | UInt64(UInt32(bitPattern: actor))
  }

  var eventClass: EventClass { EventClass(rawValue: UInt8(place >> 32))! }
  var actor: Int32 { Int32(truncatingIfNeeded: place) }
}
