import Results

/// A column of an exported table.
struct ExportColumn {
  /// What is in its cells.
  enum Cells {
    /// Numbers.
    case numbers(ResultValues)
    /// Categories by their codes, as words.
    case words([Int8], meanings: [Int8: String])
    /// The place along an axis that has no coordinates.
    case places
  }

  /// The column's name: its variable's, or its axis's.
  let name: String
  /// The group, `/` for the root.
  let group: String
  /// Whether it says where a row is, and is not itself a variable over the rows.
  let isAxis: Bool
  /// The variable; nil for places along an axis.
  let variable: ResultDocument.Variable?
  /// What is in its cells.
  let cells: Cells
  /// How many rows in a row have the same cell, and after how many cells it repeats: an axis
  /// among several.
  var stride = 1
  /// How many different places it has.
  let count: Int

  /// A column of a variable's numbers or words.
  init(_ variable: ResultDocument.Variable, group: String, isAxis: Bool) {
    name = variable.name
    self.group = group
    self.isAxis = isAxis
    self.variable = variable
    count = variable.values.count
    if let codes = variable.codes, !variable.meaningByCode.isEmpty {
      cells = .words(codes, meanings: variable.meaningByCode)
    } else {
      cells = .numbers(variable.values)
    }
  }

  /// A column of places along an axis.
  init(placesAlong axis: ResultDocument.Axis, group: String) {
    name = axis.name
    self.group = group
    isAxis = true
    variable = nil
    cells = .places
    count = axis.length
  }

  /// Writes the cell of a row.
  func append(row: Int, to text: inout ExportText) {
    let place = row / stride % count
    switch cells {
    case .places: text.append(place)
    case .words(let codes, let meanings):
      if let word = meanings[codes[place]] {
        text.append(field: word)
      } else {
        text.append(Int(codes[place]))
      }
    case .numbers(let values):
      switch values {
      case .double(let x): text.append(x[place])
      case .float(let x): text.append(x[place])
      case .int64(let x): text.append(Int(x[place]))
      case .int32(let x): text.append(Int(x[place]))
      case .int8(let x): text.append(Int(x[place]))
      case .uint8(let x): text.append(Int(x[place]))
      }
    }
  }
}

extension ResultDocument.Variable {
  /// The codes of a variable of bytes.
  var codes: [Int8]? {
    guard case .int8(let codes) = values else { return nil }
    return codes
  }

  /// What each code means, for a variable of categories.
  var meaningByCode: [Int8: String] {
    guard case .array(.int8(let flags))? = self[attribute: "flag_values"] else { return [:] }
    return Dictionary(zip(flags, flagMeanings)) { first, _ in first }
  }

  /// The text of an attribute, "" where there is none.
  func remark(_ name: String) -> String {
    guard case .text(let text)? = self[attribute: name] else { return "" }
    return text
  }
}

/// The bytes of a table: fields between commas, lines that end in a line feed.
struct ExportText {
  private(set) var bytes: [UInt8] = []

  /// Makes room for the bytes to come.
  mutating func reserve(_ count: Int) { bytes.reserveCapacity(count) }

  /// A whole number.
  mutating func append(_ number: Int) { bytes.append(contentsOf: String(number).utf8) }

  /// A number, as the shortest decimal that reads back to the same bits; `NaN`, `inf`, `-inf`.
  mutating func append(_ number: some BinaryFloatingPoint & CustomStringConvertible) {
    bytes.append(contentsOf: (number.isNaN ? "NaN" : number.description).utf8)
  }

  /// A text, in quotes where it needs them.
  ///
  /// Source: RFC 4180, §2.
  mutating func append(field: String) {
    guard field.utf8.contains(where: { [0x22, 0x2C, 0x0A, 0x0D].contains($0) }) else {
      bytes.append(contentsOf: field.utf8)
      return
    }
    bytes.append(0x22)
    for byte in field.utf8 {
      if byte == 0x22 { bytes.append(0x22) }
      bytes.append(byte)
    }
    bytes.append(0x22)
  }

  /// A comma.
  mutating func comma() { bytes.append(0x2C) }

  /// The end of a line.
  mutating func endLine() { bytes.append(0x0A) }

  /// A line of texts.
  mutating func appendLine(_ fields: [String]) {
    for (index, field) in fields.enumerated() {
      if index > 0 { comma() }
      append(field: field)
    }
    endLine()
  }
}
