import FedSim
import Schema

/// All that can be written in a scenario: its sections, and the parts of every seam with their
/// settings.
public struct PartListing: Sendable {
  private let sections: [FieldDescription]
  private let catalog: Catalog

  /// A listing of a document with these fields, and of these parts.
  public init(fields: [FieldDescription], catalog: Catalog) {
    sections = fields
    self.catalog = catalog
  }

  // MARK: For people

  /// What is listed besides the parts of seams: values that have a name together.
  public static let presets = ["policy", "profile"]

  /// The names of these values.
  public static var presetNames: [(name: String, seam: String)] {
    PolicyPreset.standard.map { ($0.name, presets[0]) }
      + FleetProfile.standard.map { ($0.name, presets[1]) }
  }

  /// A page of text; `seam` limits it to one seam, or to one of `presets`.
  public func text(seam: String? = nil) -> String {
    var lines: [String] = []
    if seam == nil {
      lines += contents
      lines += ["scenario: the keys of a scenario file", ""]
      lines += fields(sections, indent: 2) + [""]
    }
    for description in catalog.seams where seam == nil || description.name == seam {
      lines += ["\(description.name): \(description.summary)", ""]
      for part in catalog.parts(of: description.name) {
        lines.append("  \(part.name): \(part.summary)")
        if let note = part.note { lines.append("    (\(note))") }
        if let shorthand = part.shorthand {
          lines.append("    (a bare value is its `\(shorthand)`)")
        }
        lines += fields(part.fields, indent: 4) + [""]
      }
    }
    if seam == nil || seam == "policy" { lines += policies() }
    if seam == nil || seam == "profile" { lines += profiles() }
    while lines.last == "" { lines.removeLast() }
    return lines.flatMap(Self.wrapped).joined(separator: "\n") + "\n"
  }

  /// What follows, and how to see a part of it alone.
  private var contents: [String] {
    let names = catalog.seams.map(\.name) + Self.presets + ["kernels"]
    return [
      "The keys of a scenario, then these sections: " + names.joined(separator: ", ") + ".",
      "`fedsim list SECTION` prints one of them, such as `fedsim list partition`.", "",
    ]
  }

  /// The longest line, in characters.
  public static let mostColumns = 120

  /// A line in lines that are not longer, each but the first four blanks further in.
  private static func wrapped(_ line: String) -> [String] {
    guard line.count > mostColumns else { return [line] }
    let margin = String(line.prefix { $0 == " " })
    var lines = [margin]
    for piece in pieces(line.drop { $0 == " " }) {
      let length =
        lines[lines.count - 1].count + (piece.last == " " ? piece.count - 1 : piece.count)
      if length > mostColumns, lines[lines.count - 1].contains(where: { $0 != " " }) {
        lines.append(margin + "    ")
      }
      lines[lines.count - 1] += piece
    }
    return lines.map { $0.last == " " ? String($0.dropLast()) : $0 }
  }

  /// Where a line may be broken: behind blanks, and behind commas in settings and in what has no
  /// blanks. Blanks in settings are inside of values.
  private static func pieces(_ line: Substring) -> [String] {
    let isOfSettings = line.first == "{"
    var pieces = [""]
    for character in line {
      pieces[pieces.count - 1].append(character)
      if character == " ", !isOfSettings { pieces.append("") }
    }
    return pieces.filter { !$0.isEmpty }.flatMap { piece -> [String] in
      guard isOfSettings || piece.count > mostColumns / 2 else { return [piece] }
      let parts = piece.split(separator: ",", omittingEmptySubsequences: false)
      return parts.dropLast().map { $0 + "," } + parts.suffix(1).map(String.init)
    }
  }

  private func policies() -> [String] {
    ["policy: Values for several keys of `server` at once", ""]
      + PolicyPreset.standard.flatMap { preset in
        ["  \(preset.name): \(preset.summary)", "    \(preset.settings.json)", ""]
      }
  }

  private func profiles() -> [String] {
    ["profile: Values for several keys of a group of the fleet at once", ""]
      + FleetProfile.standard.flatMap { profile in
        ["  \(profile.name): \(profile.summary)", "    \(profile.settings.json)", ""]
      }
  }

  private func fields(_ fields: [FieldDescription], indent: Int) -> [String] {
    fields.flatMap { field -> [String] in
      let margin = String(repeating: " ", count: indent)
      var line = "\(margin)\(field.key): \(field.expected)"
      var inner: [String] = []
      if case .mapping(let nested, _) = field.shape {
        inner = self.fields(nested(), indent: indent + 2)
      } else if case .list(.mapping(let nested, _)) = field.shape {
        inner = self.fields(nested(), indent: indent + 2)
      }
      if field.isRequired {
        line += " (required)"
      } else if inner.isEmpty, let value = field.defaultValue.flatMap(PartListing.brief) {
        line += " (default \(value)\(field.isAssumption ? ", an assumption" : ""))"
      }
      return [line, "\(margin)  \(field.summary)"] + inner
    }
  }

  /// A default on one line; nil where there is none worth a word.
  private static func brief(_ node: Node) -> String? {
    switch node.content {
    case .null: return nil
    case .scalar(let text, _): return text.isEmpty ? nil : text
    case .sequence, .mapping: return node.json
    }
  }

  // MARK: For programs

  /// The same as a tree, to be written as JSON; `seam` leaves out the other seams.
  public func node(seam: String? = nil) -> Node {
    .mapping([
      ("scenario", Node(.sequence(sections.map(node)))),
      (
        "seams",
        Node(
          .sequence(
            catalog.seams.filter { seam == nil || $0.name == seam }.map { seam in
              .mapping([
                ("name", .quoted(seam.name)), ("summary", .quoted(seam.summary)),
                ("parts", Node(.sequence(catalog.parts(of: seam.name).map(node)))),
              ])
            }))
      ),
      ("policies", presets(PolicyPreset.standard.map { ($0.name, $0.summary, $0.settings) })),
      ("profiles", presets(FleetProfile.standard.map { ($0.name, $0.summary, $0.settings) })),
    ])
  }

  private func presets(_ all: [(name: String, summary: String, settings: Node)]) -> Node {
    Node(
      .sequence(
        all.map { preset in
          .mapping([
            ("name", .quoted(preset.name)), ("summary", .quoted(preset.summary)),
            ("settings", preset.settings),
          ])
        }))
  }

  private func node(_ part: Catalog.Entry) -> Node {
    .mapping([
      ("name", .quoted(part.name)), ("summary", .quoted(part.summary)),
      ("note", part.note.map { .quoted($0) } ?? Node(.null)),
      ("shorthand", part.shorthand.map { .quoted($0) } ?? Node(.null)),
      ("settings", Node(.sequence(part.fields.map(node)))),
    ])
  }

  private func node(_ field: FieldDescription) -> Node {
    var entries: [(String, Node)] = [
      ("key", .quoted(field.key)), ("summary", .quoted(field.summary)),
      ("expected", .quoted(field.expected)), ("required", flag(field.isRequired)),
      ("default", field.defaultValue ?? Node(.null)), ("assumption", flag(field.isAssumption)),
    ]
    switch field.shape {
    case .quantity(let units, _):
      entries.append(("units", Node(.sequence(units.map { .quoted($0) }))))
    case .oneOf(let words):
      entries.append(("choices", Node(.sequence(words.map { .quoted($0) }))))
    case .part(let seam, let several):
      entries += [("seam", .quoted(seam)), ("several", flag(several))]
    case .mapping(let fields, _), .list(.mapping(let fields, _)):
      entries.append(("settings", Node(.sequence(fields().map(node)))))
    default:
      break
    }
    return .mapping(entries)
  }

  private func flag(_ value: Bool) -> Node { .text(value ? "true" : "false") }
}
