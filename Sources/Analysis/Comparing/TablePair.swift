import Results

/// The same variable of two results.
struct VariablePair {
  let a: ResultDocument.Variable
  let b: ResultDocument.Variable
  private let groups: (a: ResultDocument.Group, b: ResultDocument.Group)
  private let lengths: (a: [Int], b: [Int])
  private let meanings: (a: [String], b: [String])

  /// nil: the bits are the same, and what they mean.
  init?(
    _ a: ResultDocument.Variable, _ b: ResultDocument.Variable, _ inA: ResultDocument.Group,
    _ inB: ResultDocument.Group
  ) {
    func lengths(_ v: ResultDocument.Variable, _ group: ResultDocument.Group) -> [Int] {
      // An axis of a group above is found by what is left.
      var known = v.axes.map { name in group.axes.first { $0.name == name }?.length }
      let rest = known.reduce(1) { $0 * ($1 ?? 1) }
      if let place = known.firstIndex(of: nil) {
        known[place] = rest == 0 ? 0 : v.values.count / rest
      }
      return known.map { $0 ?? 1 }
    }
    (self.a, self.b) = (a, b)
    groups = (inA, inB)
    meanings = (a.flagMeanings, b.flagMeanings)
    self.lengths = (lengths(a, inA), lengths(b, inB))
    if a.values == b.values, meanings.a == meanings.b,
      self.lengths.a == self.lengths.b
    {
      return nil
    }
  }

  /// The numbers of a row: all that share a place on the first axis.
  var width: (a: Int, b: Int) {
    (lengths.a.dropFirst().reduce(1, *), lengths.b.dropFirst().reduce(1, *))
  }

  /// Rows, or 1 for a single number.
  var rows: (a: Int, b: Int) { (lengths.a.first ?? 1, lengths.b.first ?? 1) }

  private func isSame(_ i: Int, _ j: Int) -> Bool {
    if meanings.a != meanings.b, !meanings.a.isEmpty, !meanings.b.isEmpty {
      return word(a, i) == word(b, j)
    }
    switch (a.values, b.values) {
    case (.double(let x), .double(let y)):
      return x[i].bitPattern == y[j].bitPattern || (x[i].isNaN && y[j].isNaN)
    case (.float(let x), .float(let y)):
      return x[i].bitPattern == y[j].bitPattern || (x[i].isNaN && y[j].isNaN)
    case (.int64(let x), .int64(let y)): return x[i] == y[j]
    case (.int32(let x), .int32(let y)): return x[i] == y[j]
    case (.int8(let x), .int8(let y)): return x[i] == y[j]
    default: return a.values.text(at: i) == b.values.text(at: j)
    }
  }

  /// The place within a row at which it first differs; nil: it does not.
  func firstDifference(inRow row: Int) -> Int? {
    guard row < rows.a, row < rows.b else { return 0 }
    let width = width
    guard width.a == width.b else { return 0 }
    return (0..<width.a).first { !isSame(row * width.a + $0, row * width.b + $0) }
  }

  /// What is at a place of a row, in words; nil where there is no such row.
  func texts(row: Int, place: Int) -> (a: String?, b: String?) {
    let width = width
    return (
      row < rows.a && place < width.a ? word(a, row * width.a + place) : nil,
      row < rows.b && place < width.b ? word(b, row * width.b + place) : nil
    )
  }

  private func word(_ variable: ResultDocument.Variable, _ index: Int) -> String {
    if variable.name.hasSuffix("igest"), case .int64(let bits) = variable.values {
      return Self.hex(UInt64(bitPattern: bits[index]))
    }
    let words = variable.flagMeanings
    if !words.isEmpty, case .int8(let codes) = variable.values, codes[index] >= 0,
      Int(codes[index]) < words.count
    {
      return words[Int(codes[index])]
    }
    return variable.values.text(at: index)
  }

  private static func hex(_ bits: UInt64) -> String {
    let digits = String(bits, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  /// A place on an axis by its coordinate, where the axis has any.
  private func label(_ axis: String, _ index: Int) -> String {
    for group in [groups.a, groups.b] {
      guard let coordinate = group[variable: axis], index < coordinate.values.count else {
        continue
      }
      return "\(axis) \(word(coordinate, index))"
    }
    return "\(axis) \(index)"
  }

  /// The name of a place of a row; "" in a table of one axis.
  func inner(_ place: Int) -> String {
    guard a.axes.count > 1 else { return "" }
    var rest = place
    var indices: [Int] = []
    for length in lengths.a.dropFirst().reversed() {
      indices.insert(length == 0 ? 0 : rest % length, at: 0)
      rest = length == 0 ? 0 : rest / length
    }
    return zip(a.axes.dropFirst(), indices).map { label($0, $1) }.joined(separator: ", ")
  }

  /// The first cell that differs, with its place; nil: all words are equal.
  func firstCell(_ path: String) -> DocumentComparison.Difference? {
    for row in 0..<max(rows.a, rows.b) {
      guard let place = firstDifference(inRow: row) else { continue }
      let texts = texts(row: row, place: place)
      var cell = a.axes.isEmpty ? "" : " [" + label(a.axes[0], row)
      let inner = inner(place)
      if !inner.isEmpty { cell += ", \(inner)" }
      return .init(path + cell + (a.axes.isEmpty ? "" : "]"), texts.a, texts.b)
    }
    return a.axes == b.axes ? nil : .init(path, "axes \(a.axes)", "axes \(b.axes)")
  }
}

/// The same table of two results: the variables of a group over its first axis.
struct TablePair {
  private let rows: (a: Int, b: Int)
  private let numbers: [Double]
  private let columns: [VariablePair]
  private let common: [String]

  /// nil: one of the two has no such table.
  init?(_ a: ResultDocument, _ b: ResultDocument, _ path: String) {
    guard let first = a[path], let second = b[path], let axis = first.axes.first,
      let other = second.axes.first, axis.name == other.name
    else { return nil }
    rows = (axis.length, other.length)
    let longer = axis.length >= other.length ? first : second
    numbers = longer[variable: axis.name]?.values.asDoubles ?? []
    let shared = first.variables.filter { variable in
      variable.axes.first == axis.name && second[variable: variable.name]?.axes == variable.axes
    }
    common = shared.map(\.name)
    columns = shared.compactMap {
      VariablePair($0, second[variable: $0.name]!, first, second)
    }
  }

  /// Whether both have a column.
  func shares(_ column: String) -> Bool { common.contains(column) }

  /// The first row that differs, in these columns or in any.
  func firstRow(deciding names: [String]? = nil) -> DocumentComparison.Row? {
    let deciding = columns.filter { names?.contains($0.a.name) ?? true }
    for row in 0..<max(rows.a, rows.b) {
      let number = row < numbers.count ? Int(numbers[row]) : row
      if row >= min(rows.a, rows.b) {
        let texts = ("there are \(rows.a)", "there are \(rows.b)")
        return .init(row: row, number: number, columns: [.init("", texts.0, texts.1)])
      }
      guard deciding.contains(where: { $0.firstDifference(inRow: row) != nil }) else { continue }
      let differing = columns.compactMap { pair -> DocumentComparison.Difference? in
        guard let place = pair.firstDifference(inRow: row) else { return nil }
        let texts = pair.texts(row: row, place: place)
        let inner = pair.inner(place)
        return .init(inner.isEmpty ? pair.a.name : "\(pair.a.name) [\(inner)]", texts.a, texts.b)
      }
      return .init(row: row, number: number, columns: differing)
    }
    return nil
  }
}
