/// When the first event of each actor comes, in the order (time, class, rank of the actor, actor).
///
/// A heap of four children a node; where many marks wait, it holds those of a short stretch of
/// time, and all later ones lie unsorted by stretch.
struct EventMarks {
  /// A time at which an actor has something to do.
  struct Mark {
    let time: SimTime
    /// Class in the upper 8 bits; below them the actor, or a shaken rank of it.
    let rank: UInt64
    /// The server is 0, device d is d + 1.
    let actor: Int32

    var eventClass: UInt8 { UInt8(rank >> 56) }

    @inline(__always)
    static func precedes(_ a: Mark, _ b: Mark) -> Bool {
      if a.time != b.time { return a.time < b.time }
      if a.rank != b.rank { return a.rank < b.rank }
      return a.actor < b.actor
    }
  }

  /// The heap: everything before `limit`.
  private var heap: [Mark] = []
  private var limit = SimTime.never
  /// Stretches of 2^`shift` µs each from `origin` on, in no order within; those before `next` are
  /// done. Empty while the heap holds all.
  private var stretches: [[Mark]] = []
  private var origin: Int64 = 0
  private var shift: Int64 = 0
  private var next = 0
  /// What comes after the last stretch.
  private var beyond: [Mark] = []

  /// How many marks wait.
  private(set) var count = 0

  /// A heap of more than this is spread over stretches.
  private static let most = 2048
  /// How many marks a stretch is meant to have.
  private static let each = 16

  mutating func push(_ mark: Mark) {
    count += 1
    guard mark.time < limit || limit == .never else { return file(mark) }
    heap.append(mark)
    rise(mark, from: heap.count - 1)
    guard limit == .never, heap.count > Self.most else { return }
    var all: [Mark] = []
    swap(&all, &heap)
    spread(all)
  }

  mutating func popFirst() -> Mark? {
    if heap.isEmpty { fill() }
    guard let first = heap.first else { return nil }
    count -= 1
    let last = heap.removeLast()
    if !heap.isEmpty { sink(last, from: 0) }
    return first
  }

  /// The actors of the first marks in the heap; −1 where there are fewer.
  var coming: (Int32, Int32, Int32) {
    (
      heap.count > 0 ? heap[0].actor : -1, heap.count > 1 ? heap[1].actor : -1,
      heap.count > 2 ? heap[2].actor : -1
    )
  }

  /// Puts a mark behind the heap's stretch of time.
  private mutating func file(_ mark: Mark) {
    let place = (mark.time.microseconds - origin) >> shift
    if place < stretches.count { stretches[Int(place)].append(mark) } else { beyond.append(mark) }
  }

  /// Takes the next stretch with a mark in it as the heap.
  private mutating func fill() {
    while heap.isEmpty, count > 0 {
      while next < stretches.count, stretches[next].isEmpty { next += 1 }
      if next < stretches.count {
        // The heap's memory goes with what was in it.
        heap = []
        swap(&heap, &stretches[next])
        next += 1
        limit = SimTime(microseconds: origin + Int64(next) << shift)
        order()
      } else if beyond.count > Self.most {
        var all: [Mark] = []
        swap(&all, &beyond)
        spread(all)
      } else {
        swap(&heap, &beyond)
        (stretches, limit) = ([], .never)
        order()
      }
    }
  }

  /// Spreads marks over stretches such that the nearer half has about `each` in one.
  private mutating func spread(_ all: [Mark]) {
    let times = all.map(\.time.microseconds).sorted()
    let half = times[times.count / 2] - times[0]
    let wanted = Int64(max(1, times.count / 2 / Self.each))
    (origin, shift, next) = (times[0], 0, 0)
    while half >> shift > wanted { shift += 1 }
    let used = min(4 * wanted, (times[times.count - 1] - origin) >> shift + 1)
    stretches = Array(repeating: [], count: Int(used))
    limit = SimTime(microseconds: origin)
    for mark in all { file(mark) }
  }

  /// Makes a heap of the marks as they stand.
  private mutating func order() {
    guard heap.count > 1 else { return }
    for place in (0...(heap.count - 2) / 4).reversed() { sink(heap[place], from: place) }
  }

  /// Lets a mark rise from the place of a leaf.
  private mutating func rise(_ mark: Mark, from leaf: Int) {
    var child = leaf
    while child > 0 {
      let parent = (child - 1) / 4
      if !Mark.precedes(mark, heap[parent]) { break }
      heap[child] = heap[parent]
      child = parent
    }
    heap[child] = mark
  }

  /// Lets a mark sink from a place whose own mark is gone.
  private mutating func sink(_ mark: Mark, from place: Int) {
    heap.withUnsafeMutableBufferPointer { heap in
      let count = heap.count
      var parent = place
      while true {
        let firstChild = 4 * parent + 1
        if firstChild >= count { break }
        var best = firstChild
        var child = firstChild + 1
        while child < min(firstChild + 4, count) {
          if Mark.precedes(heap[child], heap[best]) { best = child }
          child += 1
        }
        if !Mark.precedes(heap[best], mark) { break }
        heap[parent] = heap[best]
        parent = best
      }
      heap[parent] = mark
    }
  }
}
