extension Form where Value == Int {
  /// A whole number in a range.
  public static func integer(_ range: ClosedRange<Int>) -> Form {
    let expected =
      "a whole number"
      + bounds(
        range.lowerBound == .min ? nil : String(range.lowerBound),
        range.upperBound == .max ? nil : String(range.upperBound))
    return Form(
      shape: .integer(minimum: Int64(range.lowerBound), maximum: Int64(range.upperBound)),
      expected: expected,
      parse: { text, isQuoted in
        guard !isQuoted, Text.isInteger(text), let value = Int(text), range.contains(value) else {
          return nil
        }
        return value
      }, write: { .text(String($0)) })
  }
}

extension Form where Value == UInt64 {
  /// A seed: any whole number from 0 to 2⁶⁴ − 1.
  public static var seed: Form {
    Form(
      shape: .integer(minimum: 0, maximum: .max), expected: "a whole number from 0 to 2^64 - 1",
      parse: { text, isQuoted in isQuoted || !Text.isInteger(text) ? nil : UInt64(text) },
      write: { .text(String($0)) })
  }
}

extension Form where Value == Double {
  /// A number in a closed range.
  public static func number(_ range: ClosedRange<Double>) -> Form {
    let expected =
      "a number"
      + bounds(
        range.lowerBound == -.greatestFiniteMagnitude ? nil : Text.shortest(range.lowerBound),
        range.upperBound == .greatestFiniteMagnitude ? nil : Text.shortest(range.upperBound))
    return Form(
      shape: .number(minimum: range.lowerBound, maximum: range.upperBound), expected: expected,
      parse: { text, isQuoted in
        guard !isQuoted, let value = Text.number(text), range.contains(value) else { return nil }
        return value
      }, write: { .text(Text.shortest($0)) })
  }

  /// A number above zero.
  public static var positive: Form {
    Form(
      shape: .number(minimum: 0, maximum: .greatestFiniteMagnitude), expected: "a number above 0",
      parse: { text, isQuoted in
        guard !isQuoted, let value = Text.number(text), value > 0 else { return nil }
        return value
      }, write: { .text(Text.shortest($0)) })
  }

  /// A share between 0 and 1.
  public static var fraction: Form { number(0...1) }
}

extension Form where Value == Int64 {
  /// A quantity with a unit, as a whole multiple of the smallest one.
  ///
  /// Units: the names that may be written, each with its size in the smallest unit; the first is
  /// the one that zero is written in. `noun` is what it is called, such as `a duration`; `example`
  /// shows how it is written.
  public static func quantity(
    _ noun: String, units: [(name: String, size: Int64)], _ range: ClosedRange<Int64>,
    example: String
  ) -> Form {
    func limit(_ value: Int64) -> String? {
      value == .min || value == .max ? nil : Text.quantity(value, units: units)
    }
    let expected =
      "\(noun)\(bounds(limit(range.lowerBound), limit(range.upperBound))), such as `\(example)`"
    return Form(
      shape: .quantity(units: units.map(\.name), example: example), expected: expected,
      parse: { text, _ in
        guard let value = Text.quantity(text, units: units) else { return nil }
        return range.contains(value) ? value : nil
      }, write: { .text(Text.quantity($0, units: units)) })
  }
}

extension Form where Value == Bool {
  /// `true` or `false`.
  public static var flag: Form {
    Form(
      shape: .boolean, expected: "`true` or `false`",
      parse: { text, isQuoted in
        isQuoted ? nil : text == "true" ? true : text == "false" ? false : nil
      }, write: { .text($0 ? "true" : "false") })
  }
}

extension Form where Value == Node {
  /// A mapping that is passed on as it is.
  public static var anyMapping: Form {
    let expected = "a mapping with any keys"
    return Form(
      shape: .free, expected: expected,
      read: { node, reader in
        if case .mapping = node.content { return node }
        reader.report(node, expected: expected)
        return nil
      }, write: { $0 })
  }
}

extension Form where Value == String {
  /// Any text of at least one character.
  public static var text: Form {
    Form(
      shape: .text, expected: "a text", parse: { text, _ in text.isEmpty ? nil : text },
      write: { .quoted($0) })
  }

  /// A file's path, taken from the scenario's own folder.
  public static var path: Form {
    Form(
      shape: .path, expected: "the path of a file, from the scenario's folder",
      parse: { text, _ in text.isEmpty ? nil : text }, write: { .quoted($0) })
  }

  /// A name that may be in a path such as `phones/17`.
  public static var identifier: Form { identifier(shape: .text) }

  /// Such a name, usually one of these; any other is read, too.
  public static func identifier(of words: [String]) -> Form { identifier(shape: .oneOf(words)) }

  private static func identifier(shape: Shape) -> Form {
    Form(
      shape: shape, expected: "a name of letters, digits, `-` and `_`",
      parse: { text, _ in
        let isName = text.unicodeScalars.allSatisfy {
          ("a"..."z").contains($0) || ("A"..."Z").contains($0) || ("0"..."9").contains($0)
            || $0 == "-" || $0 == "_"
        }
        return isName && !text.isEmpty ? text : nil
      }, write: { .text($0) })
  }
}

extension Form
where Value: RawRepresentable & CaseIterable & Sendable, Value.RawValue == String {
  /// One of the words of an enumeration.
  public static var choice: Form {
    let words = Value.allCases.map(\.rawValue)
    let expected = "one of " + words.joined(separator: ", ")
    return Form(
      shape: .oneOf(words), expected: expected,
      read: { node, reader in
        if case .scalar(let text, _) = node.content {
          if let value = Value(rawValue: text) { return value }
          let nearest = Spelling.nearest(to: text, among: words)
          reader.report(
            .unexpected(
              found: node.found,
              expected: expected + (nearest.map { "; did you mean `\($0)`?" } ?? "")),
            at: node.place)
          return nil
        }
        reader.report(node, expected: expected)
        return nil
      }, write: { .text($0.rawValue) })
  }
}

private func bounds(_ low: String?, _ high: String?) -> String {
  switch (low, high) {
  case (let low?, let high?): return " from \(low) to \(high)"
  case (let low?, nil): return " of at least \(low)"
  case (nil, let high?): return " of at most \(high)"
  case (nil, nil): return ""
  }
}
