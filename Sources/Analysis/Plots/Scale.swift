/// What the numbers along an axis are, and so how ticks fall and read.
public enum Quantity: String, Sendable, CaseIterable {
  /// Plain numbers.
  case number
  /// Whole numbers: no tick is between two of them.
  case whole
  /// Shares of one, read as percentages.
  case share
  /// Virtual time in seconds, read as hours or days.
  case time
  /// Bytes, read in powers of a thousand.
  case bytes
  /// Energy in joules.
  case energy
  /// Hours of a day, from 0 to 24.
  case hourOfDay
}

/// A stretch of numbers, laid on a stretch of the page.
package struct Scale {
  package let low: Double
  package let high: Double
  let quantity: Quantity
  /// Where `low` and `high` are on the page.
  let from: Double
  let to: Double

  /// A scale over some numbers, widened to whole ticks if `isRounded`. NaN and infinities are left
  /// out; without any number it runs from 0 to 1.
  package init(
    _ values: [Double], _ quantity: Quantity, includesZero: Bool = false, isRounded: Bool = false,
    from: Double, to: Double
  ) {
    var (low, high) = (Double.infinity, -Double.infinity)
    for value in values where value.isFinite { (low, high) = (min(low, value), max(high, value)) }
    if low > high { (low, high) = (0, 1) }
    if includesZero { (low, high) = (min(low, 0), max(high, 0)) }
    if low == high {
      let room = low == 0 ? 1 : low.magnitude * 0.1
      (low, high) = (low - (includesZero && low >= 0 ? 0 : room), high + room)
    }
    if isRounded {
      let step = Self.step(high - low, quantity, atMost: 5)
      low = (low / step).rounded(.down) * step
      high = (high / step).rounded(.up) * step
    }
    (self.low, self.high, self.quantity) = (low, high, quantity)
    (self.from, self.to) = (from, to)
  }

  /// Where a number is on the page.
  package func place(_ value: Double) -> Double {
    from + (value - low) / (high - low) * (to - from)
  }

  /// The ticks: round numbers of the quantity, at most this many, lowest first.
  package func ticks(atMost count: Int) -> [Double] {
    let step = Self.step(high - low, quantity, atMost: max(1, count - 1))
    let slack = step * 1e-9
    var ticks: [Double] = []
    var index = ((low - slack) / step).rounded(.up)
    while index * step <= high + slack, ticks.count < 50 {
      ticks.append(index * step)
      index += 1
    }
    return ticks
  }

  /// The unit that ticks are read in; it goes with the axis's label.
  package var unit: String? {
    switch quantity {
    case .number, .whole, .hourOfDay: nil
    case .share: nil
    case .time: timeUnit.name
    case .bytes: metric.prefix + "B"
    case .energy: metric.prefix + "J"
    }
  }

  /// A tick's label.
  package func label(_ tick: Double) -> String {
    switch quantity {
    case .number, .whole:
      tick.magnitude >= 10_000 && tick == tick.rounded()
        ? Markup.grouped(tick) : Markup.significant(tick, 5)
    case .share: Markup.significant(tick * 100, 5) + "%"
    case .time: Markup.significant(tick / timeUnit.seconds, 6)
    case .bytes, .energy: Markup.significant(tick / metric.factor, 5)
    case .hourOfDay: Markup.significant(tick, 4)
    }
  }

  private var timeUnit: (name: String, seconds: Double) { Self.timeUnit(of: high - low) }

  private static func timeUnit(of span: Double) -> (name: String, seconds: Double) {
    if span >= 2 * 86_400 { return ("days", 86_400) }
    if span >= 2 * 3_600 { return ("hours", 3_600) }
    if span >= 120 { return ("minutes", 60) }
    return ("seconds", 1)
  }

  private var metric: (prefix: String, factor: Double) {
    let most = max(low.magnitude, high.magnitude)
    for (prefix, factor) in [("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)] where most >= factor {
      return (prefix, factor)
    }
    return ("", 1)
  }

  /// The least round step that makes at most this many steps of a span.
  static func step(_ span: Double, _ quantity: Quantity, atMost count: Int) -> Double {
    let wanted = span / Double(max(1, count))
    let factors: [Double]
    var unit = 1.0
    switch quantity {
    case .hourOfDay: factors = [1, 2, 3, 4, 6, 12, 24]
    case .time:
      unit = timeUnit(of: span).seconds
      switch unit {
      case 86_400: factors = [1, 2, 4, 7, 14, 28, 56, 91, 182, 364]
      case 3_600: factors = [0.5, 1, 2, 3, 6, 12, 24]
      default: factors = [1, 2, 5, 10, 15, 30, 60]
      }
    case .number, .whole, .share, .bytes, .energy: factors = []
    }
    if let fit = factors.first(where: { $0 * unit >= wanted * (1 - 1e-12) }) { return fit * unit }
    var power = 1.0
    let rest = wanted / unit
    while power * 10 <= rest { power *= 10 }
    while power > rest { power /= 10 }
    let least = quantity == .whole ? 1.0 : 0
    for factor in [1.0, 2, 5, 10] where factor * power >= rest * (1 - 1e-12) {
      return max(least, factor * power * unit)
    }
    return max(least, 10 * power * unit)
  }
}
