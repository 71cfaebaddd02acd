/// A figure of the tree that has a limit.
struct Figure: Sendable {
  /// What it is of: a type, or what is counted.
  let name: String
  let value: Int
  let limit: Int
  let path: String
  var line = 1
  /// What to do where it is above the limit.
  let message: String

  func violation(most: Int) -> Violation {
    Violation(path: path, line: line, message: "\(name): \(value), at most \(most); \(message).")
  }
}

extension Rule {
  /// A rule that measures, and forgives the tree what `KnownExceptions` lists. What is planted is
  /// forgiven nothing.
  static func figures(
    _ name: String, known: [String: Int], planted: [[Source]], allowed: [[Source]] = [],
    measure: @escaping @Sendable ([Source]) -> [Figure]
  ) -> Rule {
    var rule = Rule(name, planted: planted, allowed: allowed) { sources in
      measure(sources).filter { $0.value > $0.limit }.map { $0.violation(most: $0.limit) }
    }
    rule.checkTree = { sources in exceeding(measure(sources), known) }
    rule.notes = { sources in shrunk(measure(sources), known) }
    return rule
  }

  /// The violations among figures, of which some may be larger than their limits.
  static func exceeding(_ figures: [Figure], _ known: [String: Int]) -> [Violation] {
    figures.compactMap { figure in
      let most = max(figure.limit, known[figure.name] ?? 0)
      return figure.value > most ? figure.violation(most: most) : nil
    }
  }

  /// What may be struck off the list of known exceptions, or lowered there.
  static func shrunk(_ figures: [Figure], _ known: [String: Int]) -> [String] {
    known.sorted { $0.key < $1.key }.compactMap { name, value in
      let figure = figures.first { $0.name == name }
      let now = figure?.value ?? 0
      guard now < value else { return nil }
      let isOver = now <= figure?.limit ?? 0
      return "\(name) is \(now) now, no longer \(value): "
        + (isOver ? "take it off KnownExceptions" : "lower it in KnownExceptions")
    }
  }
}
