// What terminals are given.

extension String {
  /// The text as a terminal may show it: control characters but line ends and tabs are written as
  /// `\x1b`, or `\u{9b}` above 0x7f.
  package var withoutControls: String {
    guard unicodeScalars.contains(where: \.isUnprintable) else { return self }
    return unicodeScalars.reduce(into: "") { text, scalar in
      guard scalar.isUnprintable else { return text.unicodeScalars.append(scalar) }
      let code = String(scalar.value, radix: 16)
      text += scalar.value < 0x80 ? "\\x" + (code.count < 2 ? "0" : "") + code : "\\u{\(code)}"
    }
  }
}

extension Unicode.Scalar {
  /// Whether it is a control character that ends no line and is no tab.
  fileprivate var isUnprintable: Bool {
    properties.generalCategory == .control && self != "\n" && self != "\t"
  }
}
