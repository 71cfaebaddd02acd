/// The text at the head of an NPY file: a Python dictionary with exactly three keys.
///
/// Source: NumPy, "A simple file format for NumPy arrays" (NEP 1).
struct NPYHeader: Equatable {
  var descriptor: String
  var isFortranOrder: Bool
  var shape: [Int]

  /// Parses the dictionary. Throws: `malformed`, `missingName`, `unknownName`, `duplicate`.
  init(parsing text: ArraySlice<UInt8>, file: String) throws(DataFault) {
    var scanner = Scanner(text: text, file: file)
    var descriptor: String?
    var isFortranOrder: Bool?
    var shape: [Int]?
    try scanner.take("{")
    while !scanner.takeIfPresent("}") {
      let place = scanner.place
      let key = try scanner.quoted()
      try scanner.take(":")
      let isRepeated: Bool
      switch key {
      case "descr":
        isRepeated = descriptor != nil
        descriptor = try scanner.quoted()
      case "fortran_order":
        isRepeated = isFortranOrder != nil
        isFortranOrder = try scanner.boolean()
      case "shape":
        isRepeated = shape != nil
        shape = try scanner.tuple()
      default:
        throw DataFault(
          .unknownName, in: file, at: place, found: "'\(key)'",
          expected: "'descr', 'fortran_order' or 'shape'")
      }
      guard !isRepeated else {
        throw DataFault(
          .duplicate, in: file, at: place, found: "'\(key)' again", expected: "each key once")
      }
      if !scanner.takeIfPresent(",") {
        try scanner.take("}")
        break
      }
    }
    try scanner.end()
    guard let descriptor, let isFortranOrder, let shape else {
      let missing = descriptor == nil ? "descr" : shape == nil ? "shape" : "fortran_order"
      throw DataFault(
        .missingName, in: file, at: .byte(text.startIndex), found: "no '\(missing)'",
        expected: "'descr', 'fortran_order' and 'shape'")
    }
    self.descriptor = descriptor
    self.isFortranOrder = isFortranOrder
    self.shape = shape
  }
}

/// Reads the few Python literals that the header is made of.
private struct Scanner {
  var text: ArraySlice<UInt8>
  let file: String

  var place: DataFault.Place { .byte(text.startIndex) }

  func fault(_ expected: String) -> DataFault {
    let rest = text.prefix(12)
    return DataFault(
      .malformed, in: file, at: place,
      found: rest.isEmpty ? "the end of the header" : "`\(String(decoding: rest, as: UTF8.self))`",
      expected: expected)
  }

  mutating func skipSpace() {
    text = text.drop(while: { $0 == 0x20 || $0 == 0x0a })
  }

  mutating func takeIfPresent(_ character: Unicode.Scalar) -> Bool {
    skipSpace()
    guard text.first == UInt8(ascii: character) else { return false }
    text.removeFirst()
    return true
  }

  mutating func take(_ character: Unicode.Scalar) throws(DataFault) {
    guard takeIfPresent(character) else { throw fault("`\(character)`") }
  }

  mutating func quoted() throws(DataFault) -> String {
    skipSpace()
    guard let quote = text.first, quote == UInt8(ascii: "'") || quote == UInt8(ascii: "\"") else {
      throw fault("a quoted word; structured types are not read")
    }
    guard let close = text.dropFirst().firstIndex(of: quote) else { throw fault("a closed quote") }
    let word = String(decoding: text[text.startIndex + 1..<close], as: UTF8.self)
    text = text[(close + 1)...]
    return word
  }

  mutating func boolean() throws(DataFault) -> Bool {
    skipSpace()
    for (word, value) in [("True", true), ("False", false)] where text.starts(with: word.utf8) {
      text.removeFirst(word.utf8.count)
      return value
    }
    throw fault("True or False")
  }

  mutating func tuple() throws(DataFault) -> [Int] {
    try take("(")
    var numbers: [Int] = []
    while !takeIfPresent(")") {
      skipSpace()
      let digits = text.prefix(while: { $0 >= 0x30 && $0 <= 0x39 })
      guard let number = Int(String(decoding: digits, as: UTF8.self)) else {
        throw fault("a whole number of at most 18 digits")
      }
      text = text[digits.endIndex...]
      numbers.append(number)
      if !takeIfPresent(",") {
        try take(")")
        break
      }
    }
    return numbers
  }

  mutating func end() throws(DataFault) {
    skipSpace()
    guard text.isEmpty else { throw fault("the end of the header") }
  }
}
