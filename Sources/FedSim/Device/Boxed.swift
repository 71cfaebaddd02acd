/// A value that is there for a short part of a device's life, in memory of its own while it is.
///
/// It is a value as any other: two that share memory part when one of them changes.
struct Boxed<Value> {
  private final class Memory {
    // Reached through `value` below alone, which keeps others away.
    @exclusivity(unchecked) var value: Value?
    init(_ value: Value?) { self.value = value }
  }

  private var memory: Memory?

  init() {}

  var value: Value? {
    @inline(__always) get { memory?.value }
    @inline(__always) _modify {
      if memory == nil {
        var fresh: Value?
        yield &fresh
        if let fresh { memory = Memory(fresh) }
      } else {
        if !isKnownUniquelyReferenced(&memory) { memory = Memory(memory!.value) }
        yield &memory!.value
        if memory!.value == nil { memory = nil }
      }
    }
  }
}
