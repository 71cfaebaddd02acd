/// Text of XML and HTML, escaped, and numbers in fixed forms: the same bytes for the same values.
package enum Markup {
  /// A text as content or as an attribute's value.
  package static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "'": result += "&#39;"
      case "\t", "\n": result.unicodeScalars.append(scalar)
      // XML has no place for other control characters.
      case let other where other.value < 32 || other.value == 127: result += "\u{FFFD}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// A coordinate: at most two decimals, no trailing zeros.
  static func coordinate(_ value: Double) -> String {
    guard value.isFinite, value.magnitude < 1e12 else { return "0" }
    return trimmed(fixed(value, decimals: 2))
  }

  /// A number with exactly this many decimals, half away from zero.
  package static func fixed(_ value: Double, decimals: Int) -> String {
    guard value.isFinite else { return value.isNaN ? "–" : value < 0 ? "−∞" : "∞" }
    var factor = 1.0
    for _ in 0..<decimals { factor *= 10 }
    let scaled = (value.magnitude * factor).rounded(.toNearestOrAwayFromZero)
    guard scaled < 9e15 else { return "\(value)" }
    let whole = Int64(scaled)
    let unit = Int64(factor)
    let sign = value < 0 && whole > 0 ? "-" : ""
    guard decimals > 0 else { return "\(sign)\(whole)" }
    let rest = "\(whole % unit)"
    let zeros = String(repeating: "0", count: decimals - rest.count)
    return "\(sign)\(whole / unit).\(zeros)\(rest)"
  }

  /// A number with about this many significant digits, no trailing zeros, no exponent between 10⁻⁶
  /// and 10¹⁵.
  package static func significant(_ value: Double, _ digits: Int) -> String {
    guard value.isFinite, value != 0 else { return value == 0 ? "0" : fixed(value, decimals: 0) }
    if value.magnitude < 1e-6 || value.magnitude >= 1e15 { return "\(value)" }
    var exponent = 0
    var rest = value.magnitude
    while rest >= 10 {
      rest /= 10
      exponent += 1
    }
    while rest < 1 {
      rest *= 10
      exponent -= 1
    }
    return trimmed(fixed(value, decimals: max(0, digits - 1 - exponent)))
  }

  /// A whole number with its thousands apart.
  package static func grouped(_ value: Double) -> String {
    let text = fixed(value, decimals: 0)
    guard value.isFinite, value.magnitude >= 1000, value.magnitude < 9e15 else { return text }
    let isNegative = text.hasPrefix("-")
    let digits = Array(isNegative ? text.dropFirst() : text[...])
    var result = ""
    for (place, digit) in digits.enumerated() {
      if place > 0, (digits.count - place) % 3 == 0 { result += "," }
      result.append(digit)
    }
    return isNegative ? "-" + result : result
  }

  private static func trimmed(_ text: String) -> String {
    guard text.contains(".") else { return text }
    var end = text.endIndex
    while text[text.index(before: end)] == "0" { end = text.index(before: end) }
    if text[text.index(before: end)] == "." { end = text.index(before: end) }
    let result = String(text[..<end])
    return result == "-0" ? "0" : result
  }

  /// How wide a text may become in a sans-serif type of a size, in the same units; rather too much
  /// than too little.
  package static func width(_ text: String, size: Double) -> Double {
    var sum = 0.0
    for character in text {
      switch character {
      case "i", "j", "l", "'", ".", ",", ":", ";", "|", "!", " ", "(", ")", "[", "]", "f", "t", "r":
        sum += 0.42
      case "m", "w", "M", "W", "%", "@", "…", "→", "≥": sum += 1.0
      case "A"..."Z": sum += 0.76
      default: sum += character.isASCII ? 0.65 : 0.9
      }
    }
    return sum * size
  }

  /// A text cut to a width, with an ellipsis where something is missing.
  package static func cut(_ text: String, to limit: Double, size: Double) -> String {
    if width(text, size: size) <= limit { return text }
    var kept = ""
    for character in text {
      if width(kept + String(character) + "…", size: size) > limit { break }
      kept.append(character)
    }
    return kept + "…"
  }
}
