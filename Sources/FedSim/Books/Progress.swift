/// The state of a run at a moment, as sums over all devices.
public struct Progress: Sendable, Equatable, Codable {
  // In place, and added at once: every transmission books some.
  private var sums = SIMD8<Int64>()

  /// Bytes sent.
  public internal(set) var bytesUp: Int64 {
    get { sums[0] }
    set { sums[0] = newValue }
  }
  /// Bytes received.
  public internal(set) var bytesDown: Int64 {
    get { sums[1] }
    set { sums[1] = newValue }
  }
  /// Time trained in stretches that have ended, in microseconds.
  public internal(set) var microseconds: Int64 {
    get { sums[2] }
    set { sums[2] = newValue }
  }
  /// Energy of work and transfers that have ended, in nanojoules.
  public internal(set) var nanojoules: Int64 {
    get { sums[3] }
    set { sums[3] = newValue }
  }
  /// Devices that hold a version.
  public internal(set) var holders: Int64 {
    get { sums[4] }
    set { sums[4] = newValue }
  }
  /// Test samples that the versions held get right, summed over these devices; of a version that
  /// was not evaluated those of the last evaluated one before it.
  public internal(set) var heldCorrect: Int64 {
    get { sums[5] }
    set { sums[5] = newValue }
  }

  init(bytesUp: Int64 = 0, bytesDown: Int64 = 0, nanojoules: Int64 = 0) {
    sums[0] = bytesUp
    sums[1] = bytesDown
    sums[3] = nanojoules
  }

  static func += (a: inout Progress, b: Progress) { a.sums &+= b.sums }
}

/// Sums that are true at a moment, although devices are played on ahead of it.
///
/// What is booked in its turn is added at once. What a device books ahead of its turn waits, by
/// stretches of 67 seconds, until the run as a whole has reached its time. Only events of classes
/// before the server's book ahead, so an event at the server's own time is before the server.
struct ProgressLog: Sendable, Codable {
  private struct Booking: Codable {
    let time: SimTime
    let amount: Progress
  }

  private var sum = Progress()
  /// What was booked ahead, by stretch from number `first` on; those before `head` are empty.
  private var stretches: [[Booking]] = []
  private var first: Int64 = 0
  private var head = 0
  private var waiting = 0
  private var limit = 1024

  /// Books an amount at a time.
  mutating func book(_ amount: Progress, at time: SimTime, isAhead: Bool, played: SimTime) {
    guard isAhead else { return sum += amount }
    if waiting >= limit {
      settle(until: played)
      limit = max(1024, 2 * waiting)
    }
    let number = Self.number(time)
    if head == stretches.count {
      (stretches, head, first) = ([], 0, number)
    }
    // Nothing waits before the head.
    while number < first + Int64(head) {
      if head == 0 {
        stretches.insert([], at: 0)
        first -= 1
      } else {
        head -= 1
      }
    }
    while number >= first + Int64(stretches.count) { stretches.append([]) }
    stretches[Int(number - first)].append(Booking(time: time, amount: amount))
    waiting += 1
  }

  /// The sums of all that was booked at a time or before.
  mutating func progress(at time: SimTime) -> Progress {
    settle(until: time)
    return sum
  }

  private mutating func settle(until time: SimTime) {
    let last = Self.number(time)
    while head < stretches.count, first + Int64(head) <= last {
      let isWhole = first + Int64(head) < last
      var kept: [Booking] = []
      for booking in stretches[head] {
        if isWhole || booking.time <= time {
          sum += booking.amount
          waiting -= 1
        } else {
          kept.append(booking)
        }
      }
      stretches[head] = kept
      guard isWhole else { return }
      head += 1
    }
    guard head > 4096 else { return }
    stretches.removeFirst(head)
    first += Int64(head)
    head = 0
  }

  private static func number(_ time: SimTime) -> Int64 { time.microseconds >> 26 }
}
