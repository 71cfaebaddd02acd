/// When the first event of each actor comes, in the order (time, class, rank of the actor, actor).
///
/// A heap of four children a node; where many marks wait, it holds those of a short stretch of
/// time, and all later ones are unsorted by stretch.
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

  /// What permutes the actors within one (time, class), if anything does.
  let shaken: ShakenTies?
  /// The heap: everything before `limit`.
  private var heap: [Mark] = []
  private var limit = SimTime.never
  /// Stretches of 2^`shift` µs each from `origin` on, in no order within; those before `next` are
  /// done. Of each the place in `filed` of its last mark, −1: none. Empty while the heap holds all.
  private var stretches: [Int32] = []
  private var origin: Int64 = 0
  private var shift: Int64 = 0
  private var next = 0
  /// Marks of stretches in runs of four, and of each run the one before it in its stretch. So a
  /// mark is filed without a look at the others of its stretch, which are far away.
  private var filed: [FiledMark] = []
  private var before: [Int32] = []
  /// Runs that are free.
  private var free: [Int32] = []
  /// What comes after the last stretch.
  private var beyond: [FiledMark] = []

  /// Whether the heap's first mark has been taken and its place waits for another: most often the
  /// same actor's next, which then sinks from there.
  private var isFirstTaken = false

  /// How many marks wait.
  private(set) var count = 0
  /// The actors that `coming` has named.
  private var named = SIMD4<Int32>(repeating: -1)

  /// A heap of more than this is spread over stretches.
  private static let most = 2048
  /// How many marks a stretch is meant to have.
  private static let each = 16
  /// How many times of marks are sorted at most to find the middle one.
  private static let sample = 1 << 16

  init(shaken: ShakenTies? = nil) { self.shaken = shaken }

  mutating func push(_ filed: FiledMark) {
    count += 1
    guard filed.time < limit || limit == .never else { return file(filed) }
    let mark = mark(filed)
    if isFirstTaken {
      isFirstTaken = false
      return sink(mark, from: 0)
    }
    heap.append(mark)
    rise(mark, from: heap.count - 1)
    guard limit == .never, heap.count > Self.most else { return }
    let all = heap.map {
      FiledMark(time: $0.time, eventClass: EventClass(rawValue: $0.eventClass)!, actor: $0.actor)
    }
    heap = []
    spread(all)
  }

  /// A mark with its rank.
  @inline(__always)
  private func mark(_ filed: FiledMark) -> Mark {
    let rank =
      shaken?.rank(filed.time, filed.eventClass, filed.actor)
      ?? UInt64(UInt32(bitPattern: filed.actor))
    return Mark(
      time: filed.time, rank: UInt64(filed.eventClass.rawValue) << 56 | rank, actor: filed.actor)
  }

  mutating func popFirst() -> Mark? {
    closeUp()
    if heap.isEmpty { fill() }
    guard let first = heap.first else { return nil }
    count -= 1
    isFirstTaken = true
    return first
  }

  /// Fills the place of the mark that was taken with one of the others.
  private mutating func closeUp() {
    guard isFirstTaken else { return }
    isFirstTaken = false
    let last = heap.removeLast()
    if heap.isEmpty { fill() } else { sink(last, from: 0) }
  }

  /// The actor of the first mark, and those of the first three that were not named the last time;
  /// −1: none.
  mutating func coming() -> (first: Int32, fresh: SIMD4<Int32>) {
    closeUp()
    let known = named
    var fresh = SIMD4<Int32>(repeating: -1)
    for place in 0..<min(3, heap.count) {
      named[place] = heap[place].actor
      if !any(known .== named[place]) { fresh[place] = named[place] }
    }
    return (heap.first?.actor ?? -1, fresh)
  }

  /// Puts a mark behind the heap's stretch of time.
  private mutating func file(_ mark: FiledMark) {
    let place = (mark.time.microseconds - origin) >> shift
    guard place < stretches.count else { return beyond.append(mark) }
    let last = stretches[Int(place)]
    var own = last + 1
    if own & 3 == 0 {
      own = 4 * (free.popLast() ?? addRun(mark))
      before[Int(own >> 2)] = last
    }
    filed[Int(own)] = mark
    stretches[Int(place)] = own
  }

  private mutating func addRun(_ mark: FiledMark) -> Int32 {
    before.append(-1)
    for _ in 0..<4 { filed.append(mark) }
    return Int32(before.count - 1)
  }

  /// Puts the marks of a stretch behind those of the heap.
  private mutating func take(_ stretch: Int) {
    var last = stretches[stretch]
    while last >= 0 {
      for place in last & ~3...last { heap.append(mark(filed[Int(place)])) }
      free.append(last >> 2)
      last = before[Int(last >> 2)]
    }
  }

  /// Takes the next stretch with a mark in it as the heap.
  private mutating func fill() {
    while heap.isEmpty, count > 0 {
      while next < stretches.count, stretches[next] < 0 { next += 1 }
      if next < stretches.count {
        take(next)
        next += 1
        limit = SimTime(microseconds: origin + Int64(next) << shift)
        order()
      } else if beyond.count > Self.most {
        var all: [FiledMark] = []
        swap(&all, &beyond)
        spread(all)
      } else {
        for mark in beyond { heap.append(self.mark(mark)) }
        (beyond, stretches, limit) = ([], [], .never)
        order()
      }
    }
  }

  /// Spreads marks over stretches such that the nearer half has about `each` in one.
  private mutating func spread(_ all: [FiledMark]) {
    var (first, last) = (all[0].time, all[0].time)
    for mark in all { (first, last) = (min(first, mark.time), max(last, mark.time)) }
    let some = stride(from: 0, to: all.count, by: (all.count - 1) / Self.sample + 1)
    let times = some.map { all[$0].time.microseconds }.sorted()
    let half = times[times.count / 2] - first.microseconds
    let wanted = Int64(max(1, all.count / 2 / Self.each))
    (origin, shift, next) = (first.microseconds, 0, 0)
    while half >> shift > wanted { shift += 1 }
    let used = min(4 * wanted, (last.microseconds - origin) >> shift + 1)
    stretches = Array(repeating: -1, count: Int(used))
    limit = SimTime(microseconds: origin)
    filed.reserveCapacity(all.count + all.count / 8)
    before.reserveCapacity(all.count / 4 + all.count / 32)
    for mark in all { file(mark) }
  }

  /// Makes a heap of the marks as they are.
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
