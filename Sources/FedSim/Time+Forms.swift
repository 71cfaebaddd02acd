import Schema

extension Form where Value == SimDuration {
  /// A duration with its units, such as `1 h 30 min`, of at least `minimum`.
  public static func duration(atLeast minimum: SimDuration = .zero) -> Form {
    let expected =
      "a duration with a unit, such as `30 min` (units: us, ms, s, min, h, d)"
      + (minimum > .zero ? ", of at least \(minimum)" : "")
    return Form(
      shape: .text, expected: expected,
      parse: { text, _ in
        guard let value = Text.quantity(text, units: SimDuration.units) else { return nil }
        let duration = SimDuration(microseconds: value)
        return duration >= minimum ? duration : nil
      }, write: { .text($0.description) })
  }

  /// A duration that may be negative, such as an offset from UTC.
  public static var offset: Form {
    Form(
      shape: .text, expected: "a duration with a unit, such as `-5 h` or `5 h 30 min`",
      parse: { text, _ in
        Text.quantity(text, units: SimDuration.units).map(SimDuration.init(microseconds:))
      }, write: { .text($0.description) })
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

/// Bits a second.
public struct BitRate: Hashable, Sendable {
  /// Bits a second, above zero.
  public let bitsPerSecond: Int64

  /// A rate.
  public init(bitsPerSecond: Int64) { self.bitsPerSecond = bitsPerSecond }

  static let units: [(name: String, size: Int64)] = [
    ("bit/s", 1), ("kbit/s", 1_000), ("Mbit/s", 1_000_000), ("Gbit/s", 1_000_000_000),
  ]

  /// How long this many bytes take, rounded up to a microsecond.
  func duration(bytes: Int64) -> SimDuration {
    let (high, low) = bytes.multipliedFullWidth(by: 8_000_000)
    let (quotient, remainder) = bitsPerSecond.dividingFullWidth((high, low))
    return SimDuration(microseconds: quotient + (remainder > 0 ? 1 : 0))
  }

  /// How many whole bytes pass in a duration.
  func bytes(in duration: SimDuration) -> Int64 {
    let (high, low) = duration.microseconds.multipliedFullWidth(by: bitsPerSecond)
    return Int64(8_000_000).dividingFullWidth((high, low)).quotient
  }
}

extension Form where Value == BitRate {
  /// A data rate with its unit, such as `20 Mbit/s`.
  public static var rate: Form {
    Form(
      shape: .text,
      expected:
        "a rate above 0 with a unit, such as `20 Mbit/s` (units: bit/s, kbit/s, Mbit/s, Gbit/s)",
      parse: { text, _ in
        guard let value = Text.quantity(text, units: BitRate.units), value > 0 else { return nil }
        return BitRate(bitsPerSecond: value)
      }, write: { .text(Text.quantity($0.bitsPerSecond, units: BitRate.units)) })
  }
}

extension Form where Value == Int64 {
  /// A size with its unit, such as `500 B` or `64 MiB`.
  public static var bytes: Form {
    let units: [(name: String, size: Int64)] = [
      ("B", 1), ("kB", 1_000), ("KiB", 1_024), ("MB", 1_000_000), ("MiB", 1_048_576),
      ("GB", 1_000_000_000), ("GiB", 1_073_741_824),
    ]
    return Form(
      shape: .text,
      expected: "a size with a unit, such as `500 B` (units: B, kB, KiB, MB, MiB, GB, GiB)",
      parse: { text, _ in
        guard let value = Text.quantity(text, units: units), value >= 0 else { return nil }
        return value
      },
      write: { .text(Text.quantity($0, units: units.filter { !$0.name.contains("i") })) })
  }
}
