/// The events to come, in the total order (time, class, actor, the actor's own sequence).
///
/// A heap of four children a node. It is no `Sequence`, because its inner order means nothing.
/// Complexity: O(log n) for `push` and `popFirst`.
package struct EventQueue {
  /// A scheduled event with its place in the order.
  package struct Entry {
    package let time: SimTime
    /// Class in the upper 8 bits; below them the actor, or a shaken rank of it.
    package let rank: UInt64
    /// The server is 0, device d is d + 1.
    package let actor: Int32
    package let sequence: UInt32
    package let event: Event

    package init(time: SimTime, rank: UInt64, actor: Int32, sequence: UInt32, event: Event) {
      self.time = time
      self.rank = rank
      self.actor = actor
      self.sequence = sequence
      self.event = event
    }

    @inline(__always)
    static func precedes(_ a: borrowing Entry, _ b: borrowing Entry) -> Bool {
      if a.time != b.time { return a.time < b.time }
      if a.rank != b.rank { return a.rank < b.rank }
      if a.actor != b.actor { return a.actor < b.actor }
      return a.sequence < b.sequence
    }
  }

  private var entries: [Entry] = []

  package init() {}

  package var count: Int { entries.count }

  var first: Entry? { entries.first }

  package mutating func push(_ entry: Entry) {
    entries.append(entry)
    var child = entries.count - 1
    while child > 0 {
      let parent = (child - 1) / 4
      if !Entry.precedes(entry, entries[parent]) { break }
      entries[child] = entries[parent]
      child = parent
    }
    entries[child] = entry
  }

  package mutating func popFirst() -> Entry? {
    guard let first = entries.first else { return nil }
    let last = entries.removeLast()
    if !entries.isEmpty { sink(last) }
    return first
  }

  /// Puts an entry where the root was taken from.
  private mutating func sink(_ entry: Entry) {
    let count = entries.count
    var parent = 0
    while true {
      let firstChild = 4 * parent + 1
      if firstChild >= count { break }
      var best = firstChild
      for child in (firstChild + 1)..<max(firstChild + 1, min(firstChild + 4, count))
      where Entry.precedes(entries[child], entries[best]) {
        best = child
      }
      if !Entry.precedes(entries[best], entry) { break }
      entries[parent] = entries[best]
      parent = best
    }
    entries[parent] = entry
  }
}
