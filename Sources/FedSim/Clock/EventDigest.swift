import Numerics

/// A digest of all events handled: the sum of a fingerprint of each, with its time, its actor and
/// the actor's own number of it.
///
/// A sum does not depend on the order in which it is added up; the order of an actor's events is
/// in their numbers, and that of different actors follows from times and classes.
public struct EventDigest: Sendable, Hashable, Codable {
  /// The digest.
  public private(set) var value: UInt64 = 0
  /// The class and the actor's own number of the event that was added last; no part of the digest.
  private var last: UInt64 = 0
  /// The first moment of the hour under way, in microseconds, and the digest as it began.
  private var hourBegin: Int64 = 0
  private var valueBefore: UInt64 = 0
  /// The sums of earlier turns of each hour.
  private var earlier: [UInt64] = []

  private static let hour: Int64 = 3_600_000_000

  /// A digest of no events yet.
  init() {}

  /// A digest as it was.
  package init(value: UInt64, hours: [UInt64]) {
    (self.value, valueBefore, earlier) = (value, value, hours)
  }

  @inline(__always)
  mutating func add(_ entry: borrowing EventQueue.Entry) {
    let time = entry.time.microseconds
    if UInt64(bitPattern: time &- hourBegin) >= UInt64(Self.hour) { turn(to: time) }
    var print = Fingerprint(seed: UInt64(UInt32(bitPattern: entry.actor)) << 32)
    print.combine(time)
    last = UInt64(entry.sequence) << 8 | UInt64(entry.eventClass.rawValue)
    print.combine(last)
    entry.event.combine(into: &print)
    value &+= print.value
  }

  /// Adds an event that nobody scheduled; `words` takes in what tells it from every other.
  @inline(__always)
  mutating func add(
    _ time: Int64, _ eventClass: EventClass, actor: Int32, _ sequence: UInt32,
    words: (inout Fingerprint) -> Void
  ) {
    if UInt64(bitPattern: time &- hourBegin) >= UInt64(Self.hour) { turn(to: time) }
    var print = Fingerprint(seed: UInt64(UInt32(bitPattern: actor)) << 32)
    print.combine(time)
    print.combine(UInt64(sequence) << 8 | UInt64(eventClass.rawValue))
    words(&print)
    value &+= print.value
  }

  /// Adds the events of another digest.
  mutating func add(_ other: EventDigest) {
    for (hour, sum) in other.hours.enumerated() where sum != 0 {
      turn(to: Int64(hour) * Self.hour)
      value &+= sum
    }
  }

  /// Begins an hour, perhaps once more: a device that is played on leaves it, and another comes
  /// back to it.
  @inline(never)
  private mutating func turn(to time: Int64) {
    let now = Int(hourBegin / Self.hour)
    while earlier.count <= now { earlier.append(0) }
    earlier[now] &+= value &- valueBefore
    hourBegin = time / Self.hour * Self.hour
    valueBefore = value
  }

  /// The same of each hour's events alone, up to the last hour with any; they add up to `value`.
  /// Complexity: O(hours).
  public var hours: [UInt64] {
    var hours = earlier
    let now = Int(hourBegin / Self.hour)
    while hours.count <= now { hours.append(0) }
    hours[now] &+= value &- valueBefore
    return hours
  }

  /// The class of the event that was added last.
  package var lastClass: EventClass? { EventClass(rawValue: UInt8(last & 0xFF)) }
  /// Which of its actor's events that was, of all that were ever scheduled.
  package var lastSequence: Int { Int(last >> 8) }

  /// Whether the same events were added.
  public static func == (a: EventDigest, b: EventDigest) -> Bool {
    a.value == b.value && a.hours == b.hours
  }

  /// Hashes the digest.
  public func hash(into hasher: inout Hasher) { hasher.combine(value) }
}

extension EventDigest: CustomStringConvertible {
  /// The digest, and those of the hours.
  public var description: String {
    ([value] + hours).map(\.hexDigits).joined(separator: " ")
  }
}
