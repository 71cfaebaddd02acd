/// A dictionary in Python's pickle format, read entry by entry.
///
/// A stack machine for what plain values need: dictionaries, lists, tuples, numbers, texts, flags
/// and None, in protocols 0 to 5. Every other operation, above all those that name or call
/// something, is a fault: nothing is ever looked up or executed. Bounds: containers 8 deep, the
/// stack and what is remembered in number, texts in length.
struct PickleReader: ~Copyable {
  var bytes: PickleBytes
  private var stack: [PickleItem] = []
  /// Heights of the stack at which marks are.
  private var marks: [Int] = []
  private var memo: [PickleItem?] = []
  /// The dictionary whose entries are passed on and not kept.
  private var root: PickleDictionary?

  private static let deepest = 8
  private static let highest = 1 << 20
  private static let mostRemembered = 1 << 23

  private init(path: String) throws(DataFault) { bytes = try PickleBytes(path: path) }

  /// Reads a file that is one dictionary, and passes each entry on once it is complete.
  ///
  /// `body` also has the bytes read so far. Throws: `truncated`, `wrongMagic`, `unsupported` with
  /// the operation's name, `corrupt`, `tooLarge`, `outOfRange`, `trailingBytes`, each at its byte;
  /// and what `body` throws.
  static func read(
    contentsOf path: String,
    _ body: (_ key: PickleItem, _ value: PickleItem, _ bytes: borrowing PickleBytes)
      throws(DataFault) -> Void
  ) throws(DataFault) {
    var reader = try PickleReader(path: path)
    while true {
      let at = reader.bytes.offset
      guard let opcode = try reader.bytes.next() else {
        throw reader.fault(
          .truncated, at: at, found: at == 0 ? "an empty file" : "the end of the file",
          expected: "the rest of the pickle, up to STOP")
      }
      if opcode == UInt8(ascii: ".") { return try reader.stop(at) }
      try reader.step(opcode, at, body)
      guard reader.stack.count <= highest, reader.marks.count <= highest else {
        throw reader.fault(
          .tooLarge, at: at, found: "more than \(highest) values at once", expected: "fewer")
      }
    }
  }

  func fault(
    _ kind: DataFault.Kind, at place: Int, found: String, expected: String, advice: String? = nil
  ) -> DataFault {
    bytes.fault(kind, at: place, found: found, expected: expected, advice: advice)
  }

  private mutating func stop(_ at: Int) throws(DataFault) {
    guard stack.count == 1, marks.isEmpty else {
      throw fault(
        .corrupt, at: at, found: "STOP with \(stack.count) values on the stack", expected: "one")
    }
    guard let root, case .dictionary(let last) = stack[0].value, last === root else {
      throw fault(
        .unsupported, at: stack[0].at, found: stack[0].found, expected: "one dictionary")
    }
    guard try bytes.next() == nil else {
      throw fault(
        .trailingBytes, at: at + 1, found: "more bytes", expected: "the end of the file")
    }
  }

  private mutating func step(
    _ opcode: UInt8, _ at: Int,
    _ body: (PickleItem, PickleItem, borrowing PickleBytes) throws(DataFault) -> Void
  ) throws(DataFault) {
    switch opcode {
    case UInt8(ascii: "("): marks.append(stack.count)
    case UInt8(ascii: "}"), UInt8(ascii: "d"):
      let items = opcode == UInt8(ascii: "d") ? try popMark(at) : []
      let dictionary = PickleDictionary()
      if stack.isEmpty, marks.isEmpty, root == nil { root = dictionary }
      try set(items[...], in: dictionary, at, body)
      push(.dictionary(dictionary), at)
    case UInt8(ascii: "s"):
      let (value, key) = (try pop(at), try pop(at))
      try set([key, value], in: try dictionary(at), at, body)
    case UInt8(ascii: "u"):
      let items = try popMark(at)
      try set(items[...], in: try dictionary(at), at, body)
    case UInt8(ascii: "]"): push(.list(PickleList()), at)
    case UInt8(ascii: "l"): push(.list(try list(popMark(at), at)), at)
    case UInt8(ascii: "a"):
      let item = try pop(at)
      try append([item], to: try topList(at), at)
    case UInt8(ascii: "e"):
      let items = try popMark(at)
      try append(items[...], to: try topList(at), at)
    case UInt8(ascii: ")"): push(.tuple(PickleList()), at)
    case UInt8(ascii: "t"): push(.tuple(try list(popMark(at), at)), at)
    case 0x85...0x87:
      var items: [PickleItem] = []
      for _ in 0...Int(opcode - 0x85) { items.append(try pop(at)) }
      push(.tuple(try list(items.reversed(), at)), at)
    case UInt8(ascii: "p"), UInt8(ascii: "q"), UInt8(ascii: "r"), 0x94:
      try remember(opcode, at)
    case UInt8(ascii: "g"), UInt8(ascii: "h"), UInt8(ascii: "j"): try recall(opcode, at)
    case 0x80:
      let version = try bytes.byte()
      guard version <= 5 else {
        throw fault(
          .unsupported, at: at, found: "pickle protocol \(version)", expected: "0 to 5")
      }
    case 0x95: _ = try bytes.number(8)
    default: push(try scalar(opcode, at), at)
    }
  }

  // MARK: The stack

  private mutating func push(_ value: PickleValue, _ at: Int) {
    stack.append(PickleItem(value: value, at: at))
  }

  private mutating func pop(_ at: Int) throws(DataFault) -> PickleItem {
    guard stack.count > marks.last ?? 0, let item = stack.popLast() else {
      throw fault(.corrupt, at: at, found: "no value on the stack", expected: "one")
    }
    return item
  }

  /// What is above the last mark, which goes.
  private mutating func popMark(_ at: Int) throws(DataFault) -> [PickleItem] {
    guard let mark = marks.popLast() else {
      throw fault(.corrupt, at: at, found: "no mark on the stack", expected: "one")
    }
    let items = Array(stack[mark...])
    stack.removeSubrange(mark...)
    return items
  }

  private func top(_ at: Int) throws(DataFault) -> PickleItem {
    guard stack.count > marks.last ?? 0, let item = stack.last else {
      throw fault(.corrupt, at: at, found: "no value on the stack", expected: "one")
    }
    return item
  }

  private func dictionary(_ at: Int) throws(DataFault) -> PickleDictionary {
    let item = try top(at)
    guard case .dictionary(let dictionary) = item.value else {
      throw fault(.corrupt, at: at, found: item.found, expected: "a dictionary to add to")
    }
    return dictionary
  }

  private func topList(_ at: Int) throws(DataFault) -> PickleList {
    let item = try top(at)
    guard case .list(let list) = item.value else {
      throw fault(.corrupt, at: at, found: item.found, expected: "a list to add to")
    }
    return list
  }

  // MARK: Containers

  /// Puts a value into a container: it is complete then, and both are not too deep.
  private func put(
    _ item: PickleItem, into container: PickleContainer, _ at: Int
  ) throws(DataFault) {
    guard let inner = item.value.container else { return }
    guard inner !== container, inner !== root else {
      throw fault(.corrupt, at: at, found: "a value that contains itself", expected: "plain values")
    }
    inner.isComplete = true
    container.depth = max(container.depth, inner.depth + 1)
    guard container.depth <= Self.deepest else {
      throw fault(
        .tooLarge, at: at, found: "values more than \(Self.deepest) deep", expected: "fewer")
    }
  }

  private func checkOpen(_ container: PickleContainer, _ at: Int) throws(DataFault) {
    guard !container.isComplete else {
      throw fault(
        .corrupt, at: at, found: "a change of a value that is already inside another",
        expected: "values that are complete before they are used")
    }
  }

  private mutating func set(
    _ items: ArraySlice<PickleItem>, in dictionary: PickleDictionary, _ at: Int,
    _ body: (PickleItem, PickleItem, borrowing PickleBytes) throws(DataFault) -> Void
  ) throws(DataFault) {
    guard items.count % 2 == 0 else {
      throw fault(.corrupt, at: at, found: "a key without a value", expected: "pairs")
    }
    try checkOpen(dictionary, at)
    var rest = items
    while let key = rest.popFirst(), let value = rest.popFirst() {
      guard key.value.container == nil else {
        throw fault(
          .corrupt, at: key.at, found: key.found, expected: "a number or a text as key")
      }
      try put(value, into: dictionary, at)
      if dictionary === root {
        try body(key, value, bytes)
      } else {
        dictionary.entries.append((key, value))
      }
    }
  }

  private func append(
    _ items: ArraySlice<PickleItem>, to list: PickleList, _ at: Int
  ) throws(DataFault) {
    try checkOpen(list, at)
    for item in items { try put(item, into: list, at) }
    list.items += items
  }

  private func list(_ items: [PickleItem], _ at: Int) throws(DataFault) -> PickleList {
    let list = PickleList()
    try append(items[...], to: list, at)
    return list
  }

  // MARK: What is remembered

  private mutating func remember(_ opcode: UInt8, _ at: Int) throws(DataFault) {
    let item = try top(at)
    let place: UInt64
    switch opcode {
    case UInt8(ascii: "p"): place = try textIndex(at)
    case UInt8(ascii: "q"): place = try bytes.number(1)
    case UInt8(ascii: "r"): place = try bytes.number(4)
    default: place = UInt64(memo.count)
    }
    // Python counts from 0 or 1 and leaves nothing out.
    guard place <= UInt64(memo.count) + 1, place < Self.mostRemembered else {
      throw fault(
        .outOfRange, at: at, found: "place \(place) to remember a value at",
        expected: "at most \(min(memo.count + 1, Self.mostRemembered - 1))")
    }
    while memo.count <= Int(place) { memo.append(nil) }
    memo[Int(place)] = item
  }

  private mutating func recall(_ opcode: UInt8, _ at: Int) throws(DataFault) {
    let place: UInt64
    switch opcode {
    case UInt8(ascii: "g"): place = try textIndex(at)
    case UInt8(ascii: "h"): place = try bytes.number(1)
    default: place = try bytes.number(4)
    }
    guard place < UInt64(memo.count), let item = memo[Int(place)] else {
      throw fault(
        .corrupt, at: at, found: "place \(place), at which nothing is remembered",
        expected: "one of \(memo.count)")
    }
    push(item.value, at)
  }

  private mutating func textIndex(_ at: Int) throws(DataFault) -> UInt64 {
    guard let place = UInt64(String(decoding: try bytes.line(), as: UTF8.self)) else {
      throw fault(.malformed, at: at, found: "no number", expected: "a place in decimal")
    }
    return place
  }
}
