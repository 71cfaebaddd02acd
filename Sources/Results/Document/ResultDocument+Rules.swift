extension ResultDocument {
  /// Bytes beyond which HDF5's early format takes no attribute (64 KiB with its header).
  static let attributeLimit = 64_000

  /// The most axes of a variable; HDF5 takes 32.
  static let mostAxes = 24

  /// The document as it will be in the file: coordinates first, in the order of the axes, and
  /// group attributes longer than HDF5 allows as texts.
  public var canonical: ResultDocument {
    var copy = self
    copy.root = Self.canonical(root)
    return copy
  }

  private static func canonical(_ group: Group) -> Group {
    var copy = group
    let isCoordinate = { (v: Variable) in group.axes.contains { $0.name == v.name } }
    copy.variables =
      group.axes.compactMap { group[variable: $0.name] }
      + group.variables.filter { !isCoordinate($0) }
    for attribute in group.attributes {
      guard case .text(let text) = attribute.value, text.utf8.count > attributeLimit else {
        continue
      }
      copy.texts.append(Text(attribute.name, text))
      copy.attributes.removeAll { $0.name == attribute.name }
    }
    copy.groups = group.groups.map(canonical)
    return copy
  }

  /// Checks every rule of the layout that a value can break.
  ///
  /// Throws: `ResultFault.malformed` for the first fault, in the document's order.
  public func validate() throws(ResultFault) {
    guard root.name.isEmpty else {
      throw .malformed(place: "/", found: "the name \(root.name)", expected: "no name on the root")
    }
    try Self.validate(canonical.root, at: "", visible: [])
  }

  private static func validate(_ group: Group, at path: String, visible: [Axis])
    throws(ResultFault)
  {
    try validate(group.attributes, at: path.isEmpty ? "/" : path, reserved: [])
    var names: [String] = []
    for axis in group.axes {
      try validate(name: axis.name, at: path)
      guard axis.length >= 0 else {
        throw .malformed(
          place: "\(path)/\(axis.name)", found: "length \(axis.length)", expected: "zero or more")
      }
      names.append(axis.name)
    }
    let axes = group.axes + visible
    for variable in group.variables {
      try validate(variable, at: "\(path)/\(variable.name)", axes: axes)
      let isCoordinate = group.axes.contains { $0.name == variable.name }
      guard !isCoordinate || variable.axes == [variable.name] else {
        throw .malformed(
          place: "\(path)/\(variable.name)", found: "an axis's name and the axes \(variable.axes)",
          expected: "only the axis \(variable.name)")
      }
      if !isCoordinate { names.append(variable.name) }
    }
    for text in group.texts {
      try validate(name: text.name, at: path)
      try validate(text: text.value, at: "\(path)/\(text.name)")
      names.append(text.name)
    }
    for child in group.groups {
      try validate(name: child.name, at: path)
      names.append(child.name)
      try validate(child, at: "\(path)/\(child.name)", visible: axes)
    }
    let coordinates = group.variables.map(\.name).filter { name in
      group.axes.contains { $0.name == name }
    }
    try validate(unique: names, at: path)
    try validate(unique: coordinates, at: path)
  }

  private static func validate(_ variable: Variable, at place: String, axes: [Axis])
    throws(ResultFault)
  {
    try validate(name: variable.name, at: place)
    guard variable.axes.count <= mostAxes else {
      throw .malformed(
        place: place, found: "\(variable.axes.count) axes", expected: "at most \(mostAxes)")
    }
    var count = 1
    for (i, name) in variable.axes.enumerated() {
      guard let axis = axes.first(where: { $0.name == name }) else {
        throw .malformed(
          place: place, found: "the axis \(name)", expected: "an axis of the group or above it")
      }
      guard i == 0 || !axis.isUnlimited else {
        throw .malformed(
          place: place, found: "the unlimited axis \(name) in place \(i)", expected: "it first")
      }
      count *= axis.length
    }
    try validate(unique: variable.axes, at: place)
    guard count == variable.values.count else {
      throw .malformed(
        place: place, found: "\(variable.values.count) values",
        expected: "\(count), as its axes say")
    }
    guard !variable.units.isEmpty, !variable.longName.isEmpty else {
      throw .malformed(place: place, found: "no unit or long name", expected: "both")
    }
    try validate(text: variable.units, at: place)
    try validate(text: variable.longName, at: place)
    try validate(variable.attributes, at: place, reserved: ["units", "long_name"])
    try validate(flagsOf: variable, at: place)
  }

  private static func validate(flagsOf variable: Variable, at place: String) throws(ResultFault) {
    guard variable[attribute: "flag_values"] != nil || !variable.flagMeanings.isEmpty else {
      return
    }
    guard case .int8(let codes) = variable.values,
      case .array(.int8(let values))? = variable[attribute: "flag_values"],
      values.count == variable.flagMeanings.count
    else {
      throw .malformed(
        place: place, found: "flags of another type or number than their meanings",
        expected: "int8 with one word for each value, blanks between words only")
    }
    if let stray = codes.first(where: { !values.contains($0) }) {
      throw .malformed(place: place, found: "the code \(stray)", expected: "one of \(values)")
    }
  }

  private static func validate(_ attributes: [Attribute], at place: String, reserved: [String])
    throws(ResultFault)
  {
    let reserved = reserved + ["CLASS", "NAME", "DIMENSION_LIST", "REFERENCE_LIST"]
    for attribute in attributes {
      try validate(name: attribute.name, at: place)
      let place = "\(place)@\(attribute.name)"
      guard !reserved.contains(attribute.name) else {
        throw .malformed(place: place, found: "a name the layout uses", expected: "another name")
      }
      var size = 8
      switch attribute.value {
      case .text(let text):
        try validate(text: text, at: place)
        size = text.utf8.count
      case .texts(let texts):
        for text in texts { try validate(text: text, at: place) }
        size = texts.isEmpty ? 0 : texts.reduce(1) { $0 + $1.utf8.count + 16 }
        guard size > 0 else { throw .malformed(place: place, found: "no text", expected: "some") }
      case .array(let values):
        size = values.count * values.stride
        guard size > 0 else { throw .malformed(place: place, found: "no number", expected: "some") }
      case .integer, .unsigned, .number: break
      }
      guard size <= attributeLimit else {
        throw .malformed(
          place: place, found: "\(size) bytes",
          expected: "at most \(attributeLimit); longer is for a variable or a text")
      }
    }
    try validate(unique: attributes.map(\.name), at: place)
  }

  private static func validate(text: String, at place: String) throws(ResultFault) {
    guard !text.utf8.contains(0) else {
      throw .malformed(place: place, found: "a zero byte", expected: "text without")
    }
  }

  private static func validate(name: String, at place: String) throws(ResultFault) {
    let isLetter = { (c: UInt8) in (65...90).contains(c) || (97...122).contains(c) }
    let isInner = { (c: UInt8) in isLetter(c) || (48...57).contains(c) || c == 95 }
    guard let first = name.utf8.first, isLetter(first), name.utf8.allSatisfy(isInner),
      name.utf8.count <= 100
    else {
      throw .malformed(
        place: place, found: "the name \"\(name)\"",
        expected: "letters, digits, underscores; a letter first; at most 100")
    }
  }

  private static func validate(unique names: [String], at place: String) throws(ResultFault) {
    let sorted = names.sorted()
    for (a, b) in zip(sorted, sorted.dropFirst()) where a == b {
      throw .malformed(place: place, found: "the name \(a) twice", expected: "it once")
    }
  }
}
