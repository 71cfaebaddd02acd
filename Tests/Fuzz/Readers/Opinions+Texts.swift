import DataSets
import Foundation
import Scenarios
import Schema
import Yams

extension Opinions {
  private static let columns = ["device", "from", "to", "label"]

  static func csv(_ path: String, _ bytes: [UInt8]) throws {
    var table = try DelimitedTable(
      contentsOf: path,
      columns: [.required("device"), .required("from"), .optional("to"), .optional("label")])
    var rows: [[String]] = []
    while try table.nextRow() {
      rows.append(columns.indices.map { table.text($0) })
      if let time = try? table.microseconds(1), let seconds = Int64(rows.last![1]) {
        try require(time == seconds &* 1_000_000, "CSV: \(time) µs of `\(rows.last![1])`")
      }
      if let number = try? table.number(2) {
        try require(number.isFinite && number == Double(rows.last![2]), "CSV: number \(number)")
      }
      if let number = try? table.integer(3, in: 0...9) {
        try require(
          (0...9).contains(number) && Double(number) == Double(rows.last![3]),
          "CSV: the whole number \(number) of `\(rows.last![3])`")
      }
    }
    guard !bytes.starts(with: [0x1f, 0x8b]) else { return }
    // A comment may be in any encoding, cells may not.
    let cells = Cells(String(decoding: bytes, as: UTF8.self))
    if String(validating: bytes, as: UTF8.self) == nil {
      try require(
        !cells.lines.joined().contains { $0.contains("\u{fffd}") }, "CSV: a cell that is not UTF-8")
    }
    try require(
      !cells.lines.joined().contains { $0.unicodeScalars.contains("\0") }, "CSV: a zero byte")
    try require(cells.areWhole, "CSV: a quote that is not closed, or text behind one")
    guard let header = cells.lines.first else { return try require(false, "CSV: no header") }
    try require(Set(header).isSubset(of: columns), "CSV: an unknown column among \(header)")
    try require(Set(header).count == header.count, "CSV: a column twice in \(header)")
    try require(header.contains("device") && header.contains("from"), "CSV: no device or from")
    let expected = cells.lines.dropFirst().map { line in
      columns.map { name in
        header.firstIndex(of: name).flatMap { $0 < line.count ? line[$0] : nil } ?? ""
      }
    }
    try require(
      cells.lines.allSatisfy { $0.count == header.count }, "CSV: a row with other cells")
    try require(rows == expected, "CSV: \(rows), expected \(expected)")
  }

  static func leaf(_ path: String, _ bytes: [UInt8]) throws {
    let folder = (path as NSString).deletingLastPathComponent
    var settings = LEAFFiles.Settings()
    settings.train = folder
    settings.test = folder
    settings.classes = 3
    let found = try LEAFFiles(settings).load(folders: DataFolders([""]), seed: 1)
    try require(found.train.labels.allSatisfy { 0..<3 ~= $0 }, "LEAF: a label that is no class")
    // Foundation's reader refuses some numbers that this one is meant to take, such as `1.`.
    let parsed = try? JSONSerialization.jsonObject(with: Data(bytes))
    guard let file = parsed as? [String: Any], let users = file["users"] as? [String],
      let counts = file["num_samples"] as? [Double], let data = file["user_data"] as? [String: Any]
    else { return }
    try require(
      Set(users).count == users.count && users.count == counts.count && users.count == data.count,
      "LEAF: \(users.count) users, \(counts.count) counts, \(data.count) users with data")
    let shards = found.users?.shards ?? []
    try require(found.users?.names == users, "LEAF: the users")
    for (place, user) in users.enumerated() {
      let own = data[user] as? [String: Any] ?? [:]
      guard let x = own["x"] as? [Any], let y = own["y"] as? [Double] else {
        return try require(false, "LEAF: `x` and `y` of \(user)")
      }
      try require(
        x.count == y.count && Double(y.count) == counts[place] && shards[place].count == y.count,
        "LEAF: \(x.count) samples, \(y.count) labels, \(counts[place]) announced")
      try require(
        shards[place].map { Double(found.train.labels[Int($0)]) } == y, "LEAF: labels of \(user)")
      for sample in x {
        let size = (sample as? [Any])?.count ?? 1
        guard (sample as? [Any])?.first is NSNumber? else { continue }
        try require(size == found.train.sampleSize, "LEAF: a sample of \(size) numbers")
      }
    }
  }

  private static let words = ["wifi", "4g", "battery_charged_on"]

  static func flash(_ path: String, _ bytes: [UInt8]) throws {
    var found: [(id: String, messages: [FLASHFile.Message])] = []
    try FLASHFile.read(contentsOf: path, words: words) { found.append(($0.id, $0.messages)) }
    try require(Set(found.map(\.id)).count == found.count, "FLASH: an id twice")
    for (id, messages) in found {
      try require(!messages.isEmpty, "FLASH: no message in \(id)")
      try require(
        zip(messages, messages.dropFirst()).allSatisfy { $0.second <= $1.second },
        "FLASH: messages of \(id) out of order")
    }
    let parsed = try? JSONSerialization.jsonObject(with: Data(bytes))
    guard let file = parsed as? [String: [String: Any]], file.count == found.count else { return }
    for (id, messages) in found {
      guard let text = file[id]?["messages"] as? String else { continue }
      let lines = text.components(separatedBy: "\n")
        .map { $0.trimmingCharacters(in: CharacterSet(charactersIn: " \t\r")) }
        .filter { !$0.isEmpty }
      try require(lines.count == messages.count, "FLASH: \(messages.count) messages of \(id)")
      for (line, message) in zip(lines, messages) {
        try require(
          line.hasPrefix(FLASHFile.text(message.second)), "FLASH: a time of `\(line)`")
        let word = line.components(separatedBy: "\t").last!
          .trimmingCharacters(in: CharacterSet(charactersIn: " \t\r"))
        if message.word < words.count {
          try require(word.lowercased() == words[message.word], "FLASH: the word of `\(line)`")
        } else {
          let level = Double(word.dropLast().trimmingCharacters(in: .whitespaces)) ?? -1
          try require(word.hasSuffix("%") && 0...100 ~= level, "FLASH: the level of `\(line)`")
        }
      }
    }
  }

  static func scenario(_ path: String, _ bytes: [UInt8]) throws {
    let text = String(decoding: bytes, as: UTF8.self)
    let files = ScenarioFiles { _ in .failure(.init("no files here")) }
    let found = try Scenario(text: text, files: files)
    try require(bytes.count <= 4 << 20, "scenario: \(bytes.count) bytes")
    let resolved = found.resolvedText
    guard let again = try? Scenario(text: resolved, files: files) else {
      return try require(false, "scenario: its resolved text is refused")
    }
    try require(again.resolvedText == resolved, "scenario: its resolved text resolves otherwise")
    // Yams refuses keys that come twice; merged ones come once.
    let plain: Yams.Node?
    do { plain = try Yams.compose(yaml: text, .basic) } catch {
      return try require(false, "scenario: what is no YAML (\(error))")
    }
    guard let plain else { return try require(false, "scenario: an empty text") }
    var count = 0
    try checkTree(plain, level: 0, &count)
    try checkKeys(plain, found.resolvedNode, path: "")
  }

  /// Bounds that `YAMLReader` documents, and no tags.
  private static func checkTree(_ node: Yams.Node, level: Int, _ count: inout Int) throws {
    count += 1
    try require(count <= 4 << 20, "scenario: more values than bytes may have")
    try require(level <= 100, "scenario: \(level) levels")
    let tag = node.tag.description
    try require(
      ["", "str", "seq", "map"].contains(tag.replacing("tag:yaml.org,2002:", with: "")),
      "scenario: the tag \(tag)")
    switch node {
    case .sequence(let values):
      for value in values { try checkTree(value, level: level + 1, &count) }
    case .mapping(let entries):
      for (_, value) in entries { try checkTree(value, level: level + 1, &count) }
    default: break
    }
  }

  /// Each key of the text is in the resolved scenario, wherever both are mappings.
  private static func checkKeys(
    _ node: Yams.Node, _ resolved: Schema.Node, path: String
  ) throws {
    switch (node, resolved.content) {
    case (.mapping(let written), .mapping(let known)):
      for (key, value) in written {
        guard let name = key.string, !["<<", "base", "sweep", "stress", "expect"].contains(name),
          !name.hasPrefix("x-")
        else { continue }
        guard let entry = known.first(where: { $0.key == name }) else {
          if case .scalar(let scalar) = value, ["", "~", "null"].contains(scalar.string) {
            continue
          }
          // A part by its name with its settings is short for one with `name`.
          try require(!path.isEmpty, "scenario: the unknown key `\(name)`")
          continue
        }
        try checkKeys(value, entry.value, path: "\(path).\(name)")
      }
    default: break
    }
  }
}

/// A comma-separated text in cells, split in the plainest way.
private struct Cells {
  var lines: [[String]] = []
  /// Whether each quote that opens a cell closes it.
  var areWhole = true

  init(_ text: String) {
    let spaces = CharacterSet(charactersIn: " \t")
    var text = text.unicodeScalars[...]
    if text.first?.value == 0xfeff { text = text.dropFirst() }
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      var rest = line
      if rest.last?.value == 13 { rest = rest.dropLast() }
      if rest.isEmpty || rest.first == "#" { continue }
      var cells: [String] = []
      while true {
        rest = rest.drop { $0 == " " || $0 == "\t" }
        var cell = ""
        if rest.first == "\"" {
          rest = rest.dropFirst()
          while true {
            guard let next = rest.popFirst() else {
              areWhole = false
              break
            }
            if next == "\"" {
              guard rest.first == "\"" else { break }
              rest = rest.dropFirst()
            }
            cell.unicodeScalars.append(next)
          }
          rest = rest.drop { $0 == " " || $0 == "\t" }
          if let next = rest.first, next != "," { areWhole = false }
        } else {
          let plain = rest.prefix { $0 != "," }
          if plain.contains("\"") { areWhole = false }
          rest = rest[plain.endIndex...]
          cell = String(plain).trimmingCharacters(in: spaces)
        }
        cells.append(cell)
        guard areWhole, rest.popFirst() != nil else { break }
      }
      if cells == [""] { continue }
      lines.append(cells)
    }
  }
}
