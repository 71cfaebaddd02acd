import Analysis
import Testing

/// Numbers in fixed forms, and the ticks of axes, worked out by hand.
struct ScaleTests {
  @Test func numbersHaveOneFormWhateverTheHost() {
    #expect(Markup.fixed(2.5, decimals: 0) == "3")
    #expect(Markup.fixed(-2.5, decimals: 0) == "-3")
    #expect(Markup.fixed(-0.004, decimals: 2) == "0.00")
    #expect(Markup.fixed(1.005e6, decimals: 1) == "1005000.0")
    #expect(Markup.fixed(.nan, decimals: 2) == "–")
    #expect(Markup.significant(0.0123456, 3) == "0.0123")
    #expect(Markup.significant(1234.56, 3) == "1235")
    #expect(Markup.significant(0.5, 4) == "0.5")
    #expect(Markup.grouped(1_234_567) == "1,234,567")
    #expect(Markup.grouped(-12_345) == "-12,345")
    #expect(Markup.grouped(999) == "999")
  }

  @Test func textIsEscapedAndCut() {
    #expect(Markup.escaped("<a b=\"1\">&'") == "&lt;a b=&quot;1&quot;&gt;&amp;&#39;")
    #expect(Markup.escaped("a\u{1}b") == "a\u{FFFD}b")
    #expect(Markup.cut("short", to: 100, size: 10) == "short")
    let cut = Markup.cut("a very long name of a series", to: 60, size: 10)
    #expect(cut.hasSuffix("…"))
    #expect(Markup.width(cut, size: 10) <= 60)
  }

  @Test func ticksAreRoundNumbersInsideTheRange() {
    // 0 to 0.87 in at most 5 steps: 0.174 a step at least, so 0.2.
    let share = Scale([0, 0.87], .share, isRounded: true, from: 0, to: 100)
    #expect(share.high == 1)
    #expect(share.ticks(atMost: 6).map(share.label) == ["0%", "20%", "40%", "60%", "80%", "100%"])
    // 37 in at most 4 steps: 9.25, so 10.
    let number = Scale([3, 40], .number, from: 0, to: 1)
    #expect(number.ticks(atMost: 5) == [10, 20, 30, 40])
  }

  @Test func ticksOfTimeAreWholeHoursOrDays() {
    // Fourteen days in at most nine steps: 1.56 days, so two.
    let days = Scale([0, 14 * 86_400], .time, from: 0, to: 1)
    #expect(days.ticks(atMost: 10).map(days.label) == ["0", "2", "4", "6", "8", "10", "12", "14"])
    #expect(days.unit == "days")
    // Nine hours in at most five steps: 1.8 h, so two.
    let hours = Scale([0, 9 * 3_600], .time, from: 0, to: 1)
    #expect(hours.ticks(atMost: 6).map(hours.label) == ["0", "2", "4", "6", "8"])
    #expect(hours.unit == "hours")
    let seconds = Scale([0, 90], .time, from: 0, to: 1)
    #expect(seconds.ticks(atMost: 4).map(seconds.label) == ["0", "30", "60", "90"])
  }

  @Test func nothingLiesBetweenWholeNumbers() {
    // 0 to 1 in at most five steps is 0.2 a step for plain numbers, and 1 for whole ones.
    #expect(Scale([0, 1], .number, from: 0, to: 1).ticks(atMost: 6).count == 6)
    #expect(Scale([0, 1], .whole, from: 0, to: 1).ticks(atMost: 6) == [0, 1])
    #expect(Scale([-0.5, 4.5], .whole, from: 0, to: 1).ticks(atMost: 8) == [0, 1, 2, 3, 4])
    #expect(Scale([0, 40], .whole, from: 0, to: 1).ticks(atMost: 5) == [0, 10, 20, 30, 40])
  }

  @Test func bytesAreReadInPowersOfAThousand() {
    let bytes = Scale([0, 14.1e9], .bytes, from: 0, to: 1)
    #expect(bytes.unit == "GB")
    #expect(bytes.ticks(atMost: 4).map(bytes.label) == ["0", "5", "10"])
  }

  @Test(arguments: [[], [Double.nan], [.infinity, .nan], [0], [5], [-3, -3], [1e-300], [1e300]])
  func anyNumbersMakeAScale(values: [Double]) {
    for quantity in Quantity.allCases {
      let scale = Scale(values, quantity, from: 0, to: 100)
      #expect(scale.low < scale.high)
      #expect(scale.ticks(atMost: 6).count <= 50)
      #expect(scale.place(scale.low) == 0)
      #expect(abs(scale.place(scale.high) - 100) < 1e-9)
    }
  }

  @Test func placesLieProportionally() {
    let scale = Scale([10, 20], .number, from: 100, to: 300)
    #expect(scale.place(15) == 200)
    #expect(scale.place(12.5) == 150)
  }
}
