import Numerics

/// An order of the actors within one (time, class) that a key decides, not their place in the
/// fleet.
package struct ShakenTies {
  private let key: UInt64
  private let names: [UInt64]

  /// An order by a key over numbers that represent the devices' names. Shapes: [device].
  package init(key: UInt64, names: [UInt64]) {
    self.key = key
    self.names = names
  }

  /// An order by a key: each device counts by its group's name and its ordinal alone.
  init(key: UInt64, fleet: [FleetGroupSettings]) {
    self.init(
      key: key,
      names: fleet.flatMap { group in
        (0..<group.count).map { ordinal in
          var digest = Digest()
          digest.combine(bytes: group.name.utf8)
          digest.combine(UInt64(ordinal))
          return digest.value
        }
      })
  }

  /// The lower 56 bits of an actor's rank; the server is first.
  func rank(_ time: SimTime, _ eventClass: EventClass, _ actor: Int32) -> UInt64 {
    guard actor > 0 else { return 0 }
    var digest = Digest(seed: key)
    digest.combine(time.microseconds)
    digest.combine(UInt64(eventClass.rawValue))
    digest.combine(names[Int(actor) - 1])
    return digest.value >> 8
  }
}
