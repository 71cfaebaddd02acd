import Numerics

/// A digest of all events handled: the sum of a fingerprint of each, with its time, its actor and
/// the actor's own number of it.
///
/// A sum does not depend on the order in which it is added up; the order of an actor's events is
/// in their numbers, and that of different actors follows from times and classes.
public struct EventDigest: Sendable, Hashable {
  /// The digest.
  public private(set) var value: UInt64 = 0
  /// The same of each hour's events alone; they add up to `value`.
  public private(set) var hours: [UInt64] = []
  /// The class and the actor's own number of the event that was added last; no part of the digest.
  private var last: UInt64 = 0

  private static let hour: Int64 = 3_600_000_000

  @inline(__always)
  mutating func add(_ entry: borrowing EventQueue.Entry) {
    var print = Fingerprint(seed: UInt64(UInt32(bitPattern: entry.actor)) << 32)
    print.combine(entry.time.microseconds)
    last = UInt64(entry.sequence) << 8 | UInt64(entry.eventClass.rawValue)
    print.combine(last)
    entry.event.combine(into: &print)
    value &+= print.value
    let hour = Int(entry.time.microseconds / Self.hour)
    while hours.count <= hour { hours.append(0) }
    hours[hour] &+= print.value
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
