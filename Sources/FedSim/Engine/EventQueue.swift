/// The events to come, in the total order (time, class, actor, the actor's own sequence).
///
/// A heap of four children a node; where many events wait, it holds those of a short stretch of
/// time, and all later ones lie unsorted by stretch. It is no `Sequence`, because its inner order
/// means nothing. Complexity: O(log n) for `push` and `popFirst`, n being the events of a stretch.
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

  /// The heap: everything before `limit`.
  private var entries: [Entry] = []
  private var limit = SimTime.never
  /// Stretches of 2^`shift` µs each from `origin` on, in no order within; those before `next` are
  /// done. Empty while the heap holds all.
  private var stretches: [[Entry]] = []
  private var origin: Int64 = 0
  private var shift: Int64 = 0
  private var next = 0
  /// What comes after the last stretch.
  private var beyond: [Entry] = []

  package init() {}

  /// How many events wait.
  package private(set) var count = 0

  /// A heap of more than this is spread over stretches.
  private static let most = 2048
  /// How many events a stretch is meant to have.
  private static let each = 16

  package mutating func push(_ entry: Entry) {
    count += 1
    guard entry.time < limit || limit == .never else { return file(entry) }
    entries.append(entry)
    rise(entry, from: entries.count - 1)
    guard limit == .never, entries.count > Self.most else { return }
    var all: [Entry] = []
    swap(&all, &entries)
    spread(all)
  }

  package mutating func popFirst() -> Entry? {
    if entries.isEmpty { fill() }
    guard let first = entries.first else { return nil }
    count -= 1
    let last = entries.removeLast()
    if !entries.isEmpty { sink(last, from: 0) }
    return first
  }

  /// Puts an entry behind the heap's stretch of time.
  private mutating func file(_ entry: Entry) {
    let place = (entry.time.microseconds - origin) >> shift
    if place < stretches.count { stretches[Int(place)].append(entry) } else { beyond.append(entry) }
  }

  /// Takes the next stretch with an event in it as the heap.
  private mutating func fill() {
    while entries.isEmpty, count > 0 {
      while next < stretches.count, stretches[next].isEmpty { next += 1 }
      if next < stretches.count {
        swap(&entries, &stretches[next])
        next += 1
        limit = SimTime(microseconds: origin + Int64(next) << shift)
        order()
      } else if beyond.count > Self.most {
        var all: [Entry] = []
        swap(&all, &beyond)
        spread(all)
      } else {
        swap(&entries, &beyond)
        (stretches, limit) = ([], .never)
        order()
      }
    }
  }

  /// Spreads entries over stretches such that the nearer half has about `each` in one.
  private mutating func spread(_ all: [Entry]) {
    let times = all.map(\.time.microseconds).sorted()
    let half = times[times.count / 2] - times[0]
    let wanted = Int64(max(1, times.count / 2 / Self.each))
    (origin, shift, next) = (times[0], 0, 0)
    while half >> shift > wanted { shift += 1 }
    let used = min(4 * wanted, (times[times.count - 1] - origin) >> shift + 1)
    stretches = Array(repeating: [], count: Int(used))
    limit = SimTime(microseconds: origin)
    for entry in all { file(entry) }
  }

  /// Makes a heap of the entries as they stand.
  private mutating func order() {
    guard entries.count > 1 else { return }
    for place in (0...(entries.count - 2) / 4).reversed() { sink(entries[place], from: place) }
  }

  /// Lets an entry rise from the place of a leaf.
  private mutating func rise(_ entry: Entry, from leaf: Int) {
    var child = leaf
    while child > 0 {
      let parent = (child - 1) / 4
      if !Entry.precedes(entry, entries[parent]) { break }
      entries[child] = entries[parent]
      child = parent
    }
    entries[child] = entry
  }

  /// Lets an entry sink from a place whose own entry is gone.
  private mutating func sink(_ entry: Entry, from place: Int) {
    entries.withUnsafeMutableBufferPointer { entries in
      let count = entries.count
      var parent = place
      while true {
        let firstChild = 4 * parent + 1
        if firstChild >= count { break }
        var best = firstChild
        var child = firstChild + 1
        while child < min(firstChild + 4, count) {
          if Entry.precedes(entries[child], entries[best]) { best = child }
          child += 1
        }
        if !Entry.precedes(entries[best], entry) { break }
        entries[parent] = entries[best]
        parent = best
      }
      entries[parent] = entry
    }
  }
}
