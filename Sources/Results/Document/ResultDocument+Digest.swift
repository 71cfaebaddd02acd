import Numerics

extension ResultDocument {
  /// The SHA-256 over all names, shapes, values and remarks, equal for equal documents wherever
  /// written.
  ///
  /// The bytes, in words of 8 little-endian bytes unless said otherwise: a string is its number of
  /// UTF-8 bytes, then these; a list is its number of parts, then these. A document is the string
  /// `FedSim-1` and its root. A group is its name, attributes, axes (name, length, 1 if unlimited),
  /// texts (name, value), variables (name, axes' names, values, units, long name, attributes) and
  /// groups. An attribute is its name, a string for its kind (`text`, `texts`, `integer`,
  /// `unsigned`, `number`, `array`) and what it holds. Values are the type's name, the count, and
  /// the numbers as they are in memory. Every NaN is 0x7FF8000000000000 or 0x7FC00000. The root
  /// attribute `contentDigest` is left out.
  ///
  /// Order: of the document in canonical form (`canonical`).
  public var contentDigest: String {
    var sink = DigestSink()
    var root = canonical.root
    root.attributes.removeAll { $0.name == Self.digestAttribute }
    sink.add("FedSim-1")
    sink.add(root)
    return sink.digest.hexDigest()
  }

  /// Takes in the digest of the document as the root attribute that files have.
  package mutating func keep(digest: String) {
    root.attributes.removeAll { $0.name == Self.digestAttribute }
    root.attributes.append(.init(Self.digestAttribute, .text(digest)))
  }

  /// The SHA-256 over what is measured: the same without attributes, texts and long names, so no
  /// wording changes it.
  package var valuesDigest: String {
    var sink = DigestSink()
    sink.add("FedSim-1")
    sink.add(canonical.root.withoutWords)
    return sink.digest.hexDigest()
  }
}

extension ResultDocument.Group {
  /// The group with the names, axes, values and units of its variables, and nothing else.
  fileprivate var withoutWords: Self {
    ResultDocument.Group(
      name, axes: axes,
      variables: variables.map {
        ResultDocument.Variable($0.name, $0.axes, $0.values, units: $0.units, longName: "")
      }, groups: groups.map(\.withoutWords))
  }
}

/// Turns the parts of a document into the bytes that its digest takes in.
private struct DigestSink {
  var digest = SHA256()

  mutating func add(_ word: UInt64) {
    withUnsafeBytes(of: word.littleEndian) { digest.update($0) }
  }

  mutating func add(_ text: String) {
    add(UInt64(text.utf8.count))
    digest.update(Array(text.utf8))
  }

  mutating func add(_ values: ResultValues) {
    add(values.typeName)
    add(UInt64(values.count))
    values.withOneNaN.withBytes { digest.update($0) }
  }

  mutating func add<Part>(_ parts: [Part], _ body: (inout DigestSink, Part) -> Void) {
    add(UInt64(parts.count))
    for part in parts { body(&self, part) }
  }

  mutating func add(_ attribute: ResultDocument.Attribute) {
    add(attribute.name)
    switch attribute.value {
    case .text(let x):
      add("text")
      add(x)
    case .texts(let x):
      add("texts")
      add(x) { $0.add($1) }
    case .integer(let x):
      add("integer")
      add(UInt64(bitPattern: x))
    case .unsigned(let x):
      add("unsigned")
      add(x)
    case .number(let x):
      add("number")
      add(x.isNaN ? 0x7FF8_0000_0000_0000 : x.bitPattern)
    case .array(let x):
      add("array")
      add(x)
    }
  }

  mutating func add(_ variable: ResultDocument.Variable) {
    add(variable.name)
    add(variable.axes) { $0.add($1) }
    add(variable.values)
    add(variable.units)
    add(variable.longName)
    add(variable.attributes) { $0.add($1) }
  }

  mutating func add(_ group: ResultDocument.Group) {
    add(group.name)
    add(group.attributes) { $0.add($1) }
    add(group.axes) { sink, axis in
      sink.add(axis.name)
      sink.add(UInt64(axis.length))
      sink.add(axis.isUnlimited ? 1 : 0)
    }
    add(group.texts) { sink, text in
      sink.add(text.name)
      sink.add(text.value)
    }
    add(group.variables) { $0.add($1) }
    add(group.groups) { $0.add($1) }
  }
}
