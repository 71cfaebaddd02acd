/// Reads and writes numbers and units as text, exactly.
public enum Text {
  /// Whether a text is a decimal integer by YAML 1.2, without leading zeros.
  public static func isInteger(_ text: String) -> Bool {
    var digits = Substring(text)
    if let sign = digits.first, sign == "-" || sign == "+" { digits = digits.dropFirst() }
    guard !digits.isEmpty, digits.utf8.allSatisfy({ (48...57).contains($0) }) else { return false }
    return digits.count == 1 || digits.first != "0"
  }

  /// A finite decimal number by YAML 1.2, or nil; `1_000`, `0x10`, `.inf` and `12:30` are none.
  public static func number(_ text: String) -> Double? {
    var seenDigit = false
    var seenPoint = false
    var bytes = Array(text.utf8)[...]
    if let sign = bytes.first, sign == 45 || sign == 43 { bytes = bytes.dropFirst() }
    while let byte = bytes.first {
      if (48...57).contains(byte) {
        seenDigit = true
      } else if byte == 46, !seenPoint {
        seenPoint = true
      } else {
        break
      }
      bytes = bytes.dropFirst()
    }
    guard seenDigit else { return nil }
    if let e = bytes.first {
      guard e == 69 || e == 101 else { return nil }
      bytes = bytes.dropFirst()
      if let sign = bytes.first, sign == 45 || sign == 43 { bytes = bytes.dropFirst() }
      guard !bytes.isEmpty, bytes.allSatisfy({ (48...57).contains($0) }) else { return nil }
    }
    guard let value = Double(text), value.isFinite else { return nil }
    return value
  }

  /// The shortest text that reads back as the same number, without a needless `.0`.
  public static func shortest(_ value: Double) -> String {
    let text = "\(value)"
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }

  /// A quantity such as `1 h 30 min` or `20 Mbit/s` as a whole multiple of the smallest unit.
  ///
  /// Every number needs a unit. Digits beyond the smallest unit make it nil, as do overflow and
  /// unknown units. `0` alone is allowed.
  public static func quantity(_ text: String, units: [(name: String, size: Int64)]) -> Int64? {
    if text == "0" { return 0 }
    var rest = Substring(text)
    let isNegative = rest.first == "-"
    if isNegative { rest = rest.dropFirst() }
    var total: Int64 = 0
    var parts = 0
    rest = rest.drop { $0 == " " }
    while !rest.isEmpty {
      let number = rest.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
      rest = rest.dropFirst(number.count).drop { $0 == " " }
      let name = rest.prefix { !($0.isASCII && ($0.isNumber || $0 == "." || $0 == " ")) }
      rest = rest.dropFirst(name.count).drop { $0 == " " }
      guard let unit = units.first(where: { $0.name == name }) else { return nil }
      guard let value = multiple(of: unit.size, number) else { return nil }
      let (sum, overflow) = total.addingReportingOverflow(value)
      guard !overflow else { return nil }
      total = sum
      parts += 1
    }
    return parts == 0 ? nil : isNegative ? -total : total
  }

  /// A decimal text times a size, exactly.
  private static func multiple(of size: Int64, _ text: Substring) -> Int64? {
    let pieces = text.split(separator: ".", omittingEmptySubsequences: false)
    guard pieces.count <= 2, let whole = Int64(pieces[0]) else { return nil }
    let (product, overflow) = whole.multipliedReportingOverflow(by: size)
    guard !overflow else { return nil }
    guard pieces.count == 2 else { return product }
    let digits = pieces[1]
    guard !digits.isEmpty, digits.count <= 9, let numerator = Int64(digits) else { return nil }
    var denominator: Int64 = 1
    for _ in digits { denominator *= 10 }
    let (scaled, tooLarge) = numerator.multipliedReportingOverflow(by: size)
    guard !tooLarge, scaled % denominator == 0 else { return nil }
    let (sum, overflows) = product.addingReportingOverflow(scaled / denominator)
    return overflows ? nil : sum
  }

  /// The inverse of `quantity`: the fewest parts, largest unit first.
  public static func quantity(_ value: Int64, units: [(name: String, size: Int64)]) -> String {
    if value == 0 { return "0 " + units[0].name }
    var rest = value.magnitude
    var parts: [String] = []
    for unit in units.sorted(by: { $0.size > $1.size }) where rest >= UInt64(unit.size) {
      parts.append("\(rest / UInt64(unit.size)) \(unit.name)")
      rest %= UInt64(unit.size)
    }
    return (value < 0 ? "-" : "") + parts.joined(separator: " ")
  }
}
