extension Text {
  /// What to write instead of a text that looks like a number, a flag or a quantity and is none.
  ///
  /// YAML 1.2 and this project read such a plain scalar as text; other readers of YAML do not.
  public static func hint(_ text: String, isQuoted: Bool) -> String? {
    if isQuoted {
      return number(text) != nil || text == "true" || text == "false"
        ? "a quoted value is a text: write `\(text)` without quotes" : nil
    }
    let lowered = text.lowercased()
    if ["yes", "on", "true", "y"].contains(lowered) { return "YAML 1.2 spells it `true`" }
    if ["no", "off", "false", "n"].contains(lowered) { return "YAML 1.2 spells it `false`" }
    if [".inf", "+.inf", "-.inf", ".nan", "inf", "-inf", "nan", "infinity"].contains(lowered) {
      return "a number is finite here"
    }
    let digits = lowered.drop { $0 == "-" || $0 == "+" }
    guard digits.first?.isASCIIDigit == true else { return nil }
    if digits.hasPrefix("0x") || digits.hasPrefix("0o") || digits.hasPrefix("0b") {
      return "write it in decimal"
    }
    if digits.contains("_") {
      let plain = text.filter { $0 != "_" }
      return number(plain) == nil
        ? nil : "YAML 1.2 reads `\(text)` as a text: write `\(plain)`"
    }
    if digits.contains(":") { return clock(digits, text) }
    if digits.contains(","), number(text.filter { $0 != "," }) != nil {
      return "a number has a decimal point and no commas"
    }
    if digits.count > 1, digits.first == "0", digits.allSatisfy(\.isASCIIDigit) {
      let plain = digits.drop { $0 == "0" }
      return "a whole number has no leading zeros: write `\(plain.isEmpty ? "0" : plain)`"
    }
    return nil
  }

  /// What is wrong with a text that should have been a quantity.
  public static func quantityHint(
    _ text: String, isQuoted: Bool, units: [(name: String, size: Int64)], example: String
  ) -> String? {
    if quantity(text, units: units) != nil {
      return isQuoted ? "a quoted value is a text: write `\(text)` without quotes" : nil
    }
    if !isQuoted, number(text) != nil { return "the unit is missing" }
    if let hint = hint(text, isQuoted: isQuoted) { return hint }
    let known = units.map(\.name)
    let words = text.split { $0.isASCIIDigit || $0 == "." || $0 == " " || $0 == "-" }.map(
      String.init)
    guard text.first?.isASCIIDigit == true || text.first == "-",
      let unknown = words.first(where: { !known.contains($0) })
    else {
      return words.isEmpty ? nil : "every number has a unit: " + known.joined(separator: ", ")
    }
    if let nearest = Spelling.nearest(to: unknown, among: known) ?? longUnits[unknown.lowercased()],
      known.contains(nearest)
    {
      return "there is no unit `\(unknown)`; did you mean `\(nearest)`?"
    }
    return "there is no unit `\(unknown)`; known units: " + known.joined(separator: ", ")
  }

  /// Units as people spell them out.
  private static let longUnits = [
    "sec": "s", "secs": "s", "second": "s", "seconds": "s", "m": "min", "mins": "min",
    "minute": "min", "minutes": "min", "hr": "h", "hrs": "h", "hour": "h", "hours": "h",
    "day": "d", "days": "d", "msec": "ms", "millisecond": "ms", "milliseconds": "ms",
  ]

  /// A hint about `12:30`, which YAML 1.1 reads as 750 and people as a time of day or a duration.
  private static func clock(_ digits: Substring, _ text: String) -> String? {
    let pieces = digits.split(separator: ":", omittingEmptySubsequences: false)
    guard (2...3).contains(pieces.count), pieces.allSatisfy({ $0.allSatisfy(\.isASCIIDigit) }),
      pieces.allSatisfy({ (1...9).contains($0.count) })
    else { return nil }
    let names = ["h", "min", "s"]
    let parts = zip(pieces, names).compactMap { piece, name in
      Int(piece).flatMap { $0 == 0 ? nil : "\($0) \(name)" }
    }
    let duration = parts.isEmpty ? "0 s" : parts.joined(separator: " ")
    return "YAML 1.2 reads `\(text)` as a text: a duration is written `\(duration)`"
  }
}

extension Character {
  /// Whether this is one of 0…9.
  var isASCIIDigit: Bool { isASCII && isNumber }
}
