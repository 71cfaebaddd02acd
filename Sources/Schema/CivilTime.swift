/// A moment in UTC by the proleptic Gregorian calendar, to the second, without leap seconds.
public struct CivilTime: Hashable, Comparable, Sendable {
  /// Seconds since 1970-01-01T00:00:00Z.
  public let secondsSince1970: Int64

  /// A moment by its distance from 1970-01-01T00:00:00Z.
  ///
  /// Units: seconds, within the years 1 to 9999.
  public init(secondsSince1970 seconds: Int64) {
    precondition(Self.range.contains(seconds), "a civil time is in the years 1 to 9999")
    secondsSince1970 = seconds
  }

  /// A moment by `YYYY-MM-DDTHH:MM:SSZ` (or `YYYY-MM-DD`, its midnight); nil for anything else.
  ///
  /// Source: RFC 3339, §5.6, of which this is a part.
  public init?(_ text: String) {
    let bytes = Array(text.utf8)
    guard bytes.count == 20 || bytes.count == 10 else { return nil }
    let pattern = Array("0000-00-00T00:00:00Z".utf8)
    for (byte, wanted) in zip(bytes, pattern) {
      guard wanted == 48 ? (48...57).contains(byte) : byte == wanted else { return nil }
    }
    func number(_ range: Range<Int>) -> Int64 {
      bytes[range].reduce(0) { 10 * $0 + Int64($1 - 48) }
    }
    let (year, month, day) = (number(0..<4), number(5..<7), number(8..<10))
    guard year >= 1, (1...12).contains(month), day >= 1, day <= Self.days(in: month, of: year)
    else { return nil }
    var seconds = Self.daysSince1970(year: year, month: month, day: day) * 86_400
    if bytes.count == 20 {
      let (hour, minute, second) = (number(11..<13), number(14..<16), number(17..<19))
      guard hour < 24, minute < 60, second < 60 else { return nil }
      seconds += hour * 3_600 + minute * 60 + second
    }
    secondsSince1970 = seconds
  }

  /// `YYYY-MM-DDTHH:MM:SSZ`.
  public var text: String {
    let (year, month, day) = date
    let second = secondsSince1970 - days * 86_400
    func digits(_ value: Int64, _ count: Int) -> String {
      let text = String(value)
      return String(repeating: "0", count: count - text.count) + text
    }
    return "\(digits(year, 4))-\(digits(month, 2))-\(digits(day, 2))T\(digits(second / 3_600, 2))"
      + ":\(digits(second / 60 % 60, 2)):\(digits(second % 60, 2))Z"
  }

  /// The day of the week, from 0 for Monday to 6 for Sunday.
  public var weekday: Int { Int(((days + 3) % 7 + 7) % 7) }

  /// Seconds since midnight, UTC.
  public var secondsSinceMidnight: Int64 { secondsSince1970 - days * 86_400 }

  /// Whole days since 1970-01-01, rounded down.
  private var days: Int64 {
    secondsSince1970 / 86_400 - (secondsSince1970 % 86_400 < 0 ? 1 : 0)
  }

  /// Orders by time.
  public static func < (a: CivilTime, b: CivilTime) -> Bool {
    a.secondsSince1970 < b.secondsSince1970
  }

  private static let range: ClosedRange<Int64> = -62_135_596_800...253_402_300_799

  private static func days(in month: Int64, of year: Int64) -> Int64 {
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    switch month {
    case 2: return isLeap ? 29 : 28
    case 4, 6, 9, 11: return 30
    default: return 31
    }
  }

  /// Source: Hinnant, "chrono-compatible low-level date algorithms", `days_from_civil`.
  private static func daysSince1970(year: Int64, month: Int64, day: Int64) -> Int64 {
    let y = month <= 2 ? year - 1 : year
    let era = y / 400
    let yearOfEra = y - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  /// Source: the same, `civil_from_days`.
  private var date: (year: Int64, month: Int64, day: Int64) {
    let shifted = days + 719_468
    let era = shifted / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
  }
}

extension Form where Value == CivilTime {
  /// A moment in UTC.
  public static var civilTime: Form {
    Form(
      shape: .text, expected: "a moment in UTC, such as `2025-11-17T00:00:00Z`",
      parse: { text, _ in CivilTime(text) }, write: { .text($0.text) })
  }
}
