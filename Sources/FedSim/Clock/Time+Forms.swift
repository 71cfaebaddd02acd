import Schema

extension Form where Value == SimDuration {
  /// A duration with its units, such as `1 h 30 min`, of at least `minimum`.
  public static func duration(atLeast minimum: SimDuration = .zero) -> Form {
    Form<Int64>.quantity(
      "a duration", units: SimDuration.units, minimum.microseconds...Int64.max, example: "30 min"
    ).map(SimDuration.init(microseconds:), back: \.microseconds)
  }

  /// A duration that may be negative, such as an offset from UTC, of at most a day.
  public static var offset: Form {
    Form<Int64>.quantity(
      "a duration", units: SimDuration.units, -86_400_000_000...86_400_000_000,
      example: "5 h 30 min"
    ).map(SimDuration.init(microseconds:), back: \.microseconds)
  }

  /// A time of day from `00:00` to `24:00`, as the duration since midnight.
  public static var timeOfDay: Form {
    Form(
      shape: .text, expected: "a time of day from 00:00 to 24:00, such as `22:30`",
      parse: { text, _ in
        let pieces = text.split(separator: ":", omittingEmptySubsequences: false)
        guard (2...3).contains(pieces.count), pieces.allSatisfy({ $0.count == 2 }) else {
          return nil
        }
        let numbers = pieces.compactMap { Int64($0) }
        guard numbers.count == pieces.count, numbers.allSatisfy({ $0 >= 0 }), numbers[1] < 60
        else { return nil }
        let seconds = numbers[0] * 3600 + numbers[1] * 60 + (numbers.count == 3 ? numbers[2] : 0)
        guard seconds <= 86_400, numbers.last! < 60 else { return nil }
        return .seconds(seconds)
      },
      write: { duration in
        func two(_ value: Int64) -> String { (value < 10 ? "0" : "") + String(value) }
        let seconds = duration.microseconds / 1_000_000
        let text = two(seconds / 3600) + ":" + two(seconds / 60 % 60)
        return .quoted(seconds % 60 == 0 ? text : text + ":" + two(seconds % 60))
      })
  }
}

extension Form where Value == SimTime {
  /// A time since the scenario's start, written as a duration.
  public static var sinceStart: Form {
    Form<SimDuration>.duration().map(
      { SimTime(microseconds: $0.microseconds) },
      back: { SimDuration(microseconds: $0.microseconds) })
  }
}

extension SimTime {
  /// A time since the scenario's start, written as a duration such as `1 d 2 h`; nil: it is none.
  public init?(sinceStart text: String) {
    guard let time = Text.quantity(text, units: SimDuration.units), time >= 0 else { return nil }
    self.init(microseconds: time)
  }
}

/// Bits a second.
public struct BitRate: Hashable, Sendable, Codable {
  /// Bits a second, above zero.
  public let bitsPerSecond: Int64

  /// A rate.
  public init(bitsPerSecond: Int64) { self.bitsPerSecond = bitsPerSecond }

  static let units: [(name: String, size: Int64)] = [
    ("bit/s", 1), ("kbit/s", 1_000), ("Mbit/s", 1_000_000), ("Gbit/s", 1_000_000_000),
  ]

  /// How long this many bytes take of which this many millionths of a bit have passed, rounded up
  /// to a microsecond.
  func duration(bytes: Int64, less fraction: Int64) -> SimDuration {
    guard bytes > 0 else { return .zero }
    var (high, low) = bytes.multipliedFullWidth(by: 8_000_000)
    let (rest, borrow) = low.subtractingReportingOverflow(UInt64(fraction))
    (high, low) = (borrow ? high - 1 : high, rest)
    // Longer than any run: the quotient is no duration any more.
    guard 2 * high + Int64(low >> 63) < bitsPerSecond else { return .forever }
    let (quotient, remainder) = bitsPerSecond.dividingFullWidth((high, low))
    return SimDuration(microseconds: quotient + (remainder > 0 ? 1 : 0))
  }

  /// How many whole bytes pass in a duration, after a part of one in millionths of a bit, and what
  /// passes of the next.
  func bytes(
    in duration: SimDuration, after fraction: Int64
  ) -> (bytes: Int64, fraction: Int64) {
    var (high, low) = duration.microseconds.multipliedFullWidth(by: bitsPerSecond)
    let (sum, carry) = low.addingReportingOverflow(UInt64(fraction))
    (high, low) = (carry ? high + 1 : high, sum)
    let (bytes, rest) = Int64(8_000_000).dividingFullWidth((high, low))
    return (bytes, rest)
  }
}

extension Form where Value == BitRate {
  /// A data rate above zero with its unit, such as `20 Mbit/s`.
  public static var rate: Form {
    Form<Int64>.quantity("a rate", units: BitRate.units, 1...Int64.max, example: "20 Mbit/s")
      .map(BitRate.init(bitsPerSecond:), back: \.bitsPerSecond)
  }
}

extension Form where Value == Int64 {
  /// A size with its unit, such as `500 B` or `64 MB`; small enough for sums of many to be counted.
  public static var bytes: Form {
    quantity(
      "a size",
      units: [("B", 1), ("kB", 1_000), ("MB", 1_000_000), ("GB", 1_000_000_000)],
      0...1_000_000_000_000_000,
      example: "500 B")
  }
}
