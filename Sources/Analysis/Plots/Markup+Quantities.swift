extension Markup {
  /// The words of a name in camel case: `rejectedLate` is "rejected late".
  package static func words(_ name: String) -> String {
    var text = ""
    for character in name {
      if character.isUppercase {
        text += " " + character.lowercased()
      } else {
        text.append(character)
      }
    }
    return text
  }

  /// A share in percent, with one decimal.
  package static func percent(_ share: Double) -> String {
    guard share.isFinite else { return "–" }
    return share > 0 && share < 0.0005 ? "<0.1%" : fixed(share * 100, decimals: 1) + "%"
  }

  /// An amount with about three digits.
  package static func amount(_ value: Double) -> String {
    value >= 1000 ? grouped(value) : significant(value, 3)
  }

  /// An amount of bytes in words.
  package static func bytes(_ value: Double) -> String {
    for (prefix, factor) in [("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)] where value >= factor
    {
      return significant(value / factor, 3) + " \(prefix)B"
    }
    return fixed(value, decimals: 0) + " B"
  }

  /// A duration in words: days and hours, hours and minutes, or seconds.
  package static func duration(_ seconds: Double) -> String {
    guard seconds.isFinite else { return "–" }
    let whole = Int(seconds.rounded())
    let (days, hours) = (whole / 86_400, whole / 3600 % 24)
    let (minutes, rest) = (whole / 60 % 60, whole % 60)
    if days > 0 { return hours > 0 ? "\(days) d \(hours) h" : "\(days) d" }
    if hours > 0 { return minutes > 0 ? "\(hours) h \(minutes) min" : "\(hours) h" }
    if minutes > 0 { return rest > 0 ? "\(minutes) min \(rest) s" : "\(minutes) min" }
    return significant(seconds, 3) + " s"
  }

  /// A text with code between back quotes.
  package static func prose(_ text: String) -> String {
    text.split(separator: "`", omittingEmptySubsequences: false).enumerated().map { place, piece in
      let text = escaped(String(piece))
      return place % 2 == 1 ? "<code>\(text)</code>" : text
    }.joined()
  }
}
