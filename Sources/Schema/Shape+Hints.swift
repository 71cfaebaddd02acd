extension Shape {
  /// What to write instead of a scalar that this shape refused; nil where the expectation says it
  /// all.
  ///
  /// YAML 1.2, as it is read here, takes `1_000`, `12:30` and `yes` as texts; other readers do not.
  func hint(_ text: String, isQuoted: Bool) -> String? {
    switch self {
    case .integer, .number:
      if isQuoted {
        return Text.number(text) == nil
          ? nil : "a quoted value is a text: write `\(text)` without quotes"
      }
      return Self.numberHint(text)
    case .boolean:
      return Self.flagHint(text, isQuoted: isQuoted)
    case .quantity(let units, _):
      return Self.quantityHint(text, units: units)
    case .text, .path, .oneOf, .list, .mapping, .part, .free, .condition:
      return nil
    }
  }

  private static func flagHint(_ text: String, isQuoted: Bool) -> String? {
    if isQuoted, ["true", "false"].contains(text) {
      return "a quoted value is a text: write `\(text)` without quotes"
    }
    switch text.lowercased() {
    case "yes", "on", "true", "y": return "YAML 1.2 spells it `true`"
    case "no", "off", "false", "n": return "YAML 1.2 spells it `false`"
    default: return nil
    }
  }

  private static func numberHint(_ text: String) -> String? {
    let lowered = text.lowercased()
    let digits = lowered.drop { $0 == "-" || $0 == "+" }
    if [".inf", ".nan", "inf", "nan", "infinity"].contains(digits) {
      return "a number is finite here"
    }
    guard digits.first?.isASCIIDigit == true else { return nil }
    if ["0x", "0o", "0b"].contains(where: digits.hasPrefix) { return "write it in decimal" }
    if digits.contains("_"), Text.number(text.filter { $0 != "_" }) != nil {
      return "YAML 1.2 reads `\(text)` as a text: write `\(text.filter { $0 != "_" })`"
    }
    if digits.contains(","), Text.number(text.filter { $0 != "," }) != nil {
      return "a number has a decimal point and no commas"
    }
    if digits.contains(":") { return "YAML 1.2 reads `\(text)` as a text" }
    if digits.count > 1, digits.first == "0", digits.allSatisfy(\.isASCIIDigit) {
      let rest = digits.drop { $0 == "0" }
      return "a whole number has no leading zeros: write `\(rest.isEmpty ? "0" : rest)`"
    }
    return nil
  }

  private static func quantityHint(_ text: String, units: [String]) -> String? {
    if Text.number(text) != nil { return "the unit is missing" }
    if let duration = clock(text), units.contains("min") {
      return "YAML 1.2 reads `\(text)` as a text: a duration is written `\(duration)`"
    }
    if let hint = numberHint(text) { return hint }
    if text.contains("_") { return "numbers have no `_`: write `\(text.filter { $0 != "_" })`" }
    let words = text.split { $0.isASCIIDigit || $0 == "." || $0 == " " || $0 == "-" }
    guard text.first?.isASCIIDigit == true || text.first == "-", !words.isEmpty else { return nil }
    guard let unknown = words.lazy.map(String.init).first(where: { !units.contains($0) }) else {
      return nil
    }
    let nearest = longUnits[unknown.lowercased()] ?? Spelling.nearest(to: unknown, among: units)
    if let nearest, units.contains(nearest) {
      return "there is no unit `\(unknown)`; did you mean `\(nearest)`?"
    }
    return "there is no unit `\(unknown)`; known units: " + units.joined(separator: ", ")
  }

  /// Units as people spell them out.
  private static let longUnits = [
    "sec": "s", "secs": "s", "second": "s", "seconds": "s", "m": "min", "mins": "min",
    "minute": "min", "minutes": "min", "hr": "h", "hrs": "h", "hour": "h", "hours": "h",
    "day": "d", "days": "d", "msec": "ms", "millisecond": "ms", "milliseconds": "ms",
  ]

  /// `12:30` as a duration, which YAML 1.1 reads as 750.
  private static func clock(_ text: String) -> String? {
    let pieces = text.split(separator: ":", omittingEmptySubsequences: false)
    guard (2...3).contains(pieces.count),
      pieces.allSatisfy({ (1...9).contains($0.count) && $0.allSatisfy(\.isASCIIDigit) })
    else { return nil }
    let parts = zip(pieces, ["h", "min", "s"]).compactMap { piece, name in
      Int(piece).flatMap { $0 == 0 ? nil : "\($0) \(name)" }
    }
    return parts.isEmpty ? "0 s" : parts.joined(separator: " ")
  }
}

extension Character {
  /// Whether this is one of 0…9.
  fileprivate var isASCIIDigit: Bool { isASCII && isNumber }
}
