import Numerics

/// A digest of all events handled: the sum of a fingerprint of each, with its time, its actor and
/// the actor's own number of it.
///
/// A sum does not depend on the order in which it is added up; the order of an actor's events is
/// in their numbers, and that of different actors follows from times and classes.
public struct EventDigest: Sendable, Hashable, Codable {
  /// The digest.
  public private(set) var value: UInt64 = 0

  @inline(__always)
  mutating func add(_ entry: borrowing EventQueue.Entry) {
    var print = Fingerprint(seed: UInt64(UInt32(bitPattern: entry.actor)) << 32)
    print.combine(entry.time.microseconds)
    print.combine(UInt64(entry.sequence) << 8 | UInt64(entry.eventClass.rawValue))
    entry.event.combine(into: &print)
    value &+= print.value
  }
}
