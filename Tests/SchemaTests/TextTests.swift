import Testing

import Schema

@Suite("Numbers, quantities and words as text")
struct TextTests {
  private static let units: [(name: String, size: Int64)] = [
    ("s", 1_000_000), ("us", 1), ("ms", 1_000), ("min", 60_000_000), ("h", 3_600_000_000),
  ]

  @Test("a quantity is read exactly, or not at all")
  func quantities() {
    func read(_ text: String) -> Int64? { Text.quantity(text, units: Self.units) }
    #expect(read("1 h 30 min") == 5_400_000_000)
    #expect(read("1h30min") == 5_400_000_000)
    #expect(read("0.5 s") == 500_000)
    #expect(read("0.000001 s") == 1)
    #expect(read("0.0000001 s") == nil)
    #expect(read("-5 ms") == -5_000)
    #expect(read("0") == 0)
    #expect(read("30") == nil)
    #expect(read("12:30") == nil)
    #expect(read("3 parsecs") == nil)
    #expect(read("s") == nil)
    #expect(read("") == nil)
    #expect(read("9999999999 h") == nil)
    #expect(read("1. s") == nil)
  }

  @Test("a quantity is written with the fewest units and reads back")
  func writtenQuantities() {
    #expect(Text.quantity(5_400_000_000, units: Self.units) == "1 h 30 min")
    #expect(Text.quantity(0, units: Self.units) == "0 s")
    for value: Int64 in [1, 999, 1_000, 61_000_001, -5_400_000_000, .max] {
      let text = Text.quantity(value, units: Self.units)
      #expect(Text.quantity(text, units: Self.units) == value, "\(text)")
    }
  }

  @Test("numbers are those of YAML 1.2, and finite")
  func numbers() {
    for (text, value) in [
      ("1", 1), ("-1.5", -1.5), ("+2", 2), (".5", 0.5), ("3.", 3), ("1e3", 1_000), ("2E-1", 0.2),
    ] {
      #expect(Text.number(text) == value, "\(text)")
    }
    for text in [
      "", ".", "1_000", "0x10", ".inf", "nan", "12:30", "1e", "1e400", "1 ", "e3", "--1",
    ] {
      #expect(Text.number(text) == nil, "\(text)")
    }
  }

  @Test("the nearest word is one that differs in at most a third of its letters")
  func nearestWords() {
    let known = ["threshold", "every", "deadline", "cohort-complete"]
    #expect(Spelling.nearest(to: "treshold", among: known) == "threshold")
    #expect(Spelling.nearest(to: "Cohort_Complete", among: known) == "cohort-complete")
    #expect(Spelling.nearest(to: "evrey", among: known) == "every")
    #expect(Spelling.nearest(to: "buffer", among: known) == nil)
    // Two letters more of six are near, three are not.
    #expect(Spelling.nearest(to: "everyab", among: known) == "every")
    #expect(Spelling.nearest(to: "everyabc", among: known) == nil)
    // Words that take 80 GB to compare letter by letter are not compared.
    let long = { (count: Int) in String(repeating: "a", count: count) }
    #expect(Spelling.nearest(to: long(199), among: [long(200)]) == long(200))
    #expect(Spelling.nearest(to: long(99_999), among: [long(100_000)]) == nil)
  }

  @Test("a moment reads and writes as RFC 3339 says, and knows its weekday")
  func civilTime() {
    // Seconds from `date -u -d … +%s`, weekdays from `date -u -d … +%u`, less one.
    for (text, seconds, weekday) in [
      ("1970-01-01T00:00:00Z", 0, 3), ("2025-11-17T00:00:00Z", 1_763_337_600, 0),
      ("2024-02-29T23:59:59Z", 1_709_251_199, 3), ("1969-12-31T23:59:59Z", -1, 2),
      ("2000-03-01T12:00:00Z", 951_912_000, 2), ("0001-01-01T00:00:00Z", -62_135_596_800, 0),
      ("9999-12-31T23:59:59Z", 253_402_300_799, 4), ("1900-02-28T06:30:01Z", -2_203_954_199, 2),
    ] as [(String, Int64, Int)] {
      let time = CivilTime(text)
      #expect(time?.secondsSince1970 == seconds, "\(text)")
      #expect(time?.text == text)
      #expect(time?.weekday == weekday, "\(text)")
    }
    #expect(CivilTime("2025-11-17")?.text == "2025-11-17T00:00:00Z")
    for text in [
      "2025-02-29", "2025-13-01", "2025-00-10", "2025-11-31", "1900-02-29", "0000-01-01",
      "2025-11-17T24:00:00Z", "2025-11-17T00:60:00Z", "2025-11-17T00:00:60Z",
      "2025-11-17T00:00:00", "2025-11-17 00:00:00Z", "2025-11-17T00:00:00+01:00", "17.11.2025",
      "２025-11-17", "2025-11-17T00:00:00.5Z", "",
    ] {
      #expect(CivilTime(text) == nil, "\(text)")
    }
  }
}
