import FedSim

/// Words for people.
enum Words {
  /// `a`, `a and b`, `a, b and c`.
  static func list(_ words: [String]) -> String {
    guard let last = words.last, words.count > 1 else { return words.first ?? "" }
    return words.dropLast().joined(separator: ", ") + " and " + last
  }

  /// `1 update`, `3 updates`.
  static func count(_ number: Int, _ noun: String) -> String {
    "\(number) \(noun)\(number == 1 ? "" : noun.hasSuffix("ch") ? "es" : "s")"
  }

  /// A duration such as `3 h 12 min`, to the second from a minute on, to the millisecond below.
  static func duration(_ duration: SimDuration) -> String {
    let micro = duration.microseconds
    if micro < 60_000_000 {
      if micro % 1_000_000 == 0 { return "\(micro / 1_000_000) s" }
      return micro < 1000 ? "\(micro) us" : SimDuration.milliseconds(micro / 1000).description
    }
    return SimDuration.seconds(micro / 1_000_000).description
  }
}

extension SimTime {
  /// In days, hours, minutes and seconds, to the millisecond before it.
  var words: String { SimTime(microseconds: microseconds / 1000 * 1000).description }
}
