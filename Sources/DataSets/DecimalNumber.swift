/// A number written in decimal, kept exactly: digits · 10^exponent.
struct DecimalNumber: Equatable {
  /// The digits as one whole number with its sign.
  var digits: Int
  /// The power of ten that they count.
  var exponent: Int

  /// Parses `-12.5e3`: sign, digits with at most one point, exponent. Nil for anything else.
  ///
  /// Nil also where the digits, leading zeros aside, do not fit into 64 bits.
  init?(_ text: some Sequence<UInt8>) {
    guard let grammar = Grammar(text), !grammar.isTooLong else { return nil }
    digits = grammar.isNegative ? -grammar.digits : grammar.digits
    exponent = grammar.exponent
  }

  /// Whether the bytes are a number in the grammar above, of any length.
  static func isNumber(_ text: some Sequence<UInt8>) -> Bool { Grammar(text) != nil }

  /// This number times `factor` where that is a whole number within 64 bits.
  func whole(times factor: Int) -> Int? {
    var value = digits
    var factor = factor
    var exponent = exponent
    guard value != 0 else { return 0 }
    // Ten divides the product by parts: out of the factor first, then out of the digits.
    while exponent < 0 {
      if factor % 10 == 0 {
        factor /= 10
      } else if value % 10 == 0 {
        value /= 10
      } else {
        break
      }
      exponent += 1
    }
    while exponent < 0 {
      let (fives, twos) = (value % 5 == 0, value % 2 == 0)
      if fives && factor % 2 == 0 {
        value /= 5
        factor /= 2
      } else if twos && factor % 5 == 0 {
        value /= 2
        factor /= 5
      } else {
        return nil
      }
      exponent += 1
    }
    var (product, overflow) = value.multipliedReportingOverflow(by: factor)
    while exponent > 0 && !overflow {
      (product, overflow) = product.multipliedReportingOverflow(by: 10)
      exponent -= 1
    }
    return overflow ? nil : product
  }
}

/// The parts of a decimal number as they are met.
private struct Grammar {
  var isNegative = false
  var digits = 0
  var exponent = 0
  var isTooLong = false

  init?(_ text: some Sequence<UInt8>) {
    var iterator = text.makeIterator()
    var next = iterator.next()
    if next == UInt8(ascii: "-") || next == UInt8(ascii: "+") {
      isNegative = next == UInt8(ascii: "-")
      next = iterator.next()
    }
    var count = 0
    var hasPoint = false
    while let byte = next {
      if byte == UInt8(ascii: ".") && !hasPoint {
        hasPoint = true
      } else if byte >= 0x30 && byte <= 0x39 {
        append(Int(byte - 0x30))
        if hasPoint { exponent -= 1 }
        count += 1
      } else {
        break
      }
      next = iterator.next()
    }
    guard count > 0 else { return nil }
    if next == UInt8(ascii: "e") || next == UInt8(ascii: "E") {
      next = iterator.next()
      let isDown = next == UInt8(ascii: "-")
      if isDown || next == UInt8(ascii: "+") { next = iterator.next() }
      var power = 0
      guard next != nil else { return nil }
      while let byte = next, byte >= 0x30 && byte <= 0x39 {
        power = min(power * 10 + Int(byte - 0x30), 10_000)
        next = iterator.next()
      }
      exponent += isDown ? -power : power
    }
    guard next == nil else { return nil }
  }

  private mutating func append(_ digit: Int) {
    let (tens, first) = digits.multipliedReportingOverflow(by: 10)
    let (sum, second) = tens.addingReportingOverflow(digit)
    if first || second { isTooLong = true } else { digits = sum }
  }
}
