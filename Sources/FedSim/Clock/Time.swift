import Schema

/// A point on the virtual clock: whole microseconds since the scenario's start.
@frozen
public struct SimTime: Hashable, Comparable, Sendable {
  /// Microseconds since the start.
  public let microseconds: Int64

  /// A time this many microseconds after the start.
  @inlinable
  public init(microseconds: Int64) { self.microseconds = microseconds }

  /// The scenario's start.
  public static let start = SimTime(microseconds: 0)
  /// Later than anything that happens.
  public static let never = SimTime(microseconds: .max)

  /// Seconds since the start.
  public var seconds: Double { Double(microseconds) / 1e6 }

  /// Earlier or later.
  @inlinable
  public static func < (a: SimTime, b: SimTime) -> Bool { a.microseconds < b.microseconds }

  /// A later time; `never` stays `never`.
  @inlinable
  public static func + (time: SimTime, duration: SimDuration) -> SimTime {
    let (sum, overflow) = time.microseconds.addingReportingOverflow(duration.microseconds)
    return overflow || time == .never ? .never : SimTime(microseconds: sum)
  }

  /// An earlier time.
  @inlinable
  public static func - (time: SimTime, duration: SimDuration) -> SimTime {
    time == .never ? .never : SimTime(microseconds: time.microseconds - duration.microseconds)
  }

  /// The duration from one time to another.
  @inlinable
  public static func - (later: SimTime, earlier: SimTime) -> SimDuration {
    later == .never
      ? .forever : SimDuration(microseconds: later.microseconds - earlier.microseconds)
  }
}

/// A length of virtual time in whole microseconds.
@frozen
public struct SimDuration: Hashable, Comparable, Sendable {
  /// Its length.
  public let microseconds: Int64

  /// A duration of this many microseconds.
  @inlinable
  public init(microseconds: Int64) { self.microseconds = microseconds }

  /// No time at all.
  public static let zero = SimDuration(microseconds: 0)
  /// Longer than any run.
  public static let forever = SimDuration(microseconds: .max)

  /// Whole seconds.
  public static func seconds(_ count: Int64) -> SimDuration {
    SimDuration(microseconds: count * 1_000_000)
  }
  /// Whole milliseconds.
  public static func milliseconds(_ count: Int64) -> SimDuration {
    SimDuration(microseconds: count * 1_000)
  }
  /// Whole minutes.
  public static func minutes(_ count: Int64) -> SimDuration { seconds(60 * count) }
  /// Whole hours.
  public static func hours(_ count: Int64) -> SimDuration { seconds(3600 * count) }
  /// Whole days of 24 hours.
  public static func days(_ count: Int64) -> SimDuration { hours(24 * count) }

  /// The one place where a computed duration becomes whole microseconds: rounded up, and at least
  /// 0.
  public init(roundingUp seconds: Double) {
    let microseconds = (seconds * 1e6).rounded(.up)
    self.init(
      microseconds: microseconds >= 9e18 ? .max : microseconds > 0 ? Int64(microseconds) : 0)
  }

  /// Its length in seconds.
  public var seconds: Double { Double(microseconds) / 1e6 }

  /// Shorter or longer.
  @inlinable
  public static func < (a: SimDuration, b: SimDuration) -> Bool {
    a.microseconds < b.microseconds
  }
  /// The sum.
  @inlinable
  public static func + (a: SimDuration, b: SimDuration) -> SimDuration {
    let (sum, overflow) = a.microseconds.addingReportingOverflow(b.microseconds)
    return overflow ? .forever : SimDuration(microseconds: sum)
  }
  /// The difference.
  @inlinable
  public static func - (a: SimDuration, b: SimDuration) -> SimDuration {
    SimDuration(microseconds: a.microseconds - b.microseconds)
  }
  /// A whole multiple.
  @inlinable
  public static func * (a: SimDuration, count: Int64) -> SimDuration {
    let (product, overflow) = a.microseconds.multipliedReportingOverflow(by: count)
    return overflow ? .forever : SimDuration(microseconds: product)
  }
}

extension SimTime: CustomStringConvertible {
  /// Days and time since the start, such as `3 d 02:15:00.5`.
  public var description: String {
    if self == .never { return "never" }
    let day = microseconds.floored(by: 86_400_000_000)
    let rest = microseconds - day * 86_400_000_000
    let seconds = rest / 1_000_000
    func two(_ value: Int64) -> String { (value < 10 ? "0" : "") + String(value) }
    var text = "\(day) d " + two(seconds / 3600) + ":" + two(seconds / 60 % 60) + ":"
    text += two(seconds % 60)
    let fraction = rest % 1_000_000
    if fraction > 0 {
      var digits = String(1_000_000 + fraction).dropFirst()
      while digits.last == "0" { digits = digits.dropLast() }
      text += "." + digits
    }
    return text
  }
}

extension SimDuration: CustomStringConvertible {
  /// Whole units, such as `1 h 30 min`.
  public var description: String {
    self == .forever ? "forever" : Text.quantity(microseconds, units: Self.units)
  }

  static let units: [(name: String, size: Int64)] = [
    ("s", 1_000_000), ("us", 1), ("ms", 1_000), ("min", 60_000_000), ("h", 3_600_000_000),
    ("d", 86_400_000_000),
  ]
}

extension Int64 {
  /// The quotient rounded towards −∞.
  func floored(by divisor: Int64) -> Int64 {
    let quotient = self / divisor
    return self % divisor < 0 ? quotient - 1 : quotient
  }
}
