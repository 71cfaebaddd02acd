extension DelimitedTable {
  /// The cell as the nearest `Double`. Throws: `malformed`, `outOfRange` beyond the largest one.
  public func number(_ column: Int) throws(DataFault) -> Double {
    let bytes = bytes(column)
    guard DecimalNumber.isNumber(bytes),
      let number = Double(String(decoding: bytes, as: UTF8.self))
    else { throw fault(.malformed, column: column, expected: "a number") }
    guard number.isFinite else {
      throw fault(.outOfRange, column: column, expected: "a number below 1.8e308")
    }
    return number
  }

  /// The cell as a whole number in a range; `3.0` and `3e0` are 3 too.
  ///
  /// Throws: `malformed`, `outOfRange`.
  public func integer(_ column: Int, in range: ClosedRange<Int>) throws(DataFault) -> Int {
    let expected = "a whole number from \(range.lowerBound) to \(range.upperBound)"
    let bytes = bytes(column)
    guard let decimal = DecimalNumber(bytes) else {
      let isNumber = DecimalNumber.isNumber(bytes)
      throw fault(isNumber ? .outOfRange : .malformed, column: column, expected: expected)
    }
    guard let number = decimal.whole(times: 1) else {
      throw fault(.malformed, column: column, expected: expected)
    }
    guard range.contains(number) else {
      throw fault(.outOfRange, column: column, expected: expected)
    }
    return number
  }

  /// The cell as a time in whole microseconds: plain seconds (`5400`), or with a unit (`90 min`).
  ///
  /// Nothing is rounded. Units: `us`, `µs`, `ms`, `s`, `min`, `h`, `d`, `wk`. Throws: `malformed`
  /// for what is no time, `outOfRange` for one finer than a microsecond or beyond 292,000 years.
  public func microseconds(_ column: Int) throws(DataFault) -> Int64 {
    let bytes = bytes(column)
    let isLetter = { (byte: UInt8) in
      byte >= 0x61 && byte <= 0x7a || byte >= 0x41 && byte <= 0x5a || byte >= 0x80
    }
    // An exponent is no unit: the unit is the letters at the end.
    var split = bytes.endIndex
    while split > bytes.startIndex && isLetter(bytes[split - 1]) { split -= 1 }
    let unit = String(decoding: bytes[split...], as: UTF8.self)
    let amount = bytes[..<split].reversed().drop(while: { $0 == 0x20 }).reversed()
    let factor: Int? =
      switch unit {
      case "us", "µs", "μs": 1
      case "ms": 1_000
      case "", "s": 1_000_000
      case "min": 60_000_000
      case "h": 3_600_000_000
      case "d": 86_400_000_000
      case "wk": 604_800_000_000
      default: nil
      }
    guard let factor, DecimalNumber.isNumber(amount) else {
      throw fault(
        .malformed, column: column, expected: "a time, such as 5400 (seconds) or 90 min,")
    }
    guard let whole = DecimalNumber(amount)?.whole(times: factor) else {
      throw fault(.outOfRange, column: column, expected: "a whole number of microseconds")
    }
    return Int64(whole)
  }
}
