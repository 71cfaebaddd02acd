extension ResultDocument {
  /// Checks what readers rely on in a document of unknown origin: each name once in its group, an
  /// axis for each dimension, as many values as the axes say, and a word for each code.
  ///
  /// Throws: `ResultFault.notAResult` for the first fault.
  func checkShapes(_ path: String) throws(ResultFault) {
    try Self.checkShapes(root, at: "", path, visible: [])
  }

  private static func checkShapes(
    _ group: Group, at place: String, _ path: String, visible: [Axis]
  ) throws(ResultFault) {
    let axes = group.axes + visible
    var names: [String] = []
    for variable in group.variables {
      let place = "\(place)/\(variable.name)"
      names.append(variable.name)
      var count = 1
      for name in variable.axes {
        guard let axis = axes.first(where: { $0.name == name }) else {
          throw .notAResult(
            path: path, place: place, found: "the axis \(name)", expected: "an axis of the group")
        }
        let (product, isTooMuch) = count.multipliedReportingOverflow(by: axis.length)
        count = isTooMuch ? .max : product
      }
      guard count == variable.values.count else {
        throw .notAResult(
          path: path, place: place, found: "\(variable.values.count) values",
          expected: "\(count), as its axes say")
      }
      try checkCodes(of: variable, at: place, path)
    }
    for group in group.groups {
      names.append(group.name)
      try checkShapes(group, at: "\(place)/\(group.name)", path, visible: axes)
    }
    names += group.texts.map(\.name)
    let sorted = names.sorted()
    for (a, b) in zip(sorted, sorted.dropFirst()) where a == b {
      throw .notAResult(
        path: path, place: place.isEmpty ? "/" : place, found: "the name \(a) twice",
        expected: "it once")
    }
  }

  private static func checkCodes(
    of variable: Variable, at place: String, _ path: String
  ) throws(ResultFault) {
    let words = variable.flagMeanings
    guard !words.isEmpty else { return }
    guard case .int8(let codes) = variable.values,
      case .array(.int8(let known))? = variable[attribute: "flag_values"],
      known.count == words.count, known.elementsEqual(words.indices.map { Int8(clamping: $0) })
    else {
      throw .notAResult(
        path: path, place: place, found: "codes of another type or number than their words",
        expected: "the codes 0, 1, … as bytes")
    }
    if let stray = codes.first(where: { !known.contains($0) }) {
      throw .notAResult(
        path: path, place: place, found: "the code \(stray)", expected: "one of \(known)")
    }
  }
}
