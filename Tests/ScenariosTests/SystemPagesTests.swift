import FedSim
import Foundation
import Scenarios
import Schema
import Testing

/// What a page of `docs/systems` names: scenario keys, profiles, policies, scenario files, links.
///
/// A key is in backticks, dotted (`server.trigger.threshold`, and `outbox.capacity` for a key
/// of a fleet group) or before a value (`server: {policy: fedavg}`, `profile: edgeml`). The first
/// cell of a table's row is what the source document says, in its own words: it is not looked at.
struct SystemPage {
  /// Where it is, from the project's folder.
  let path: String
  let text: String

  static let root =
    URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().path + "/"

  /// The pages that are there.
  static var all: [SystemPage] {
    files("docs/systems", ".md").compactMap { path in
      (try? String(contentsOfFile: root + path, encoding: .utf8)).map {
        SystemPage(path: path, text: $0)
      }
    }
  }

  static func files(_ folder: String, _ ending: String) -> [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: root + folder)) ?? []
    return names.filter { $0.hasSuffix(ending) }.sorted().map { "\(folder)/\($0)" }
  }

  /// The lines outside code blocks, without the first cells of tables.
  private var lines: [(number: Int, text: Substring)] {
    var found: [(Int, Substring)] = []
    var isCode = false
    for (place, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
    {
      if line.hasPrefix("```") { isCode.toggle() }
      if isCode { continue }
      var rest = line
      if line.hasPrefix("|"), let end = line.dropFirst().firstIndex(of: "|") {
        rest = line[end...]
      }
      found.append((place + 1, rest))
    }
    return found
  }

  /// What is named and is not there, each with its line.
  func faults() -> [String] {
    var found: [String] = []
    for (number, line) in lines {
      let pieces = line.split(separator: "`", omittingEmptySubsequences: false)
      for (place, piece) in pieces.enumerated() where place % 2 == 1 && place + 1 < pieces.count {
        found += ScenarioKeys.standard.faults(in: String(piece)).map { "\(path):\(number): \($0)" }
      }
    }
    let matches = text.matches(of: /scenarios\/[A-Za-z0-9_\/-]+\.yaml/).map { String($0.output) }
    for file in matches where !FileManager.default.fileExists(atPath: Self.root + file) {
      found.append("\(path): no file \(file)")
    }
    let folder = path.split(separator: "/").dropLast().joined(separator: "/")
    for link in text.matches(of: /\]\(([^)#:]+)(#[^)]*)?\)/).map({ String($0.output.1) })
    where !FileManager.default.fileExists(atPath: "\(Self.root)\(folder)/\(link)") {
      found.append("\(path): no file \(link)")
    }
    return found
  }
}

/// The keys that a scenario may have, by their shapes.
struct ScenarioKeys {
  private let document = ScenarioSettings.descriptions
  private let group = FleetGroupSettings.descriptions
  private let catalog = Registry.standard.catalog

  static let standard = ScenarioKeys()

  private var roots: [FieldDescription] { document + group }

  /// What is wrong with a text in backticks, if it is about keys.
  func faults(in text: String) -> [String] {
    let head = text.prefix { $0 != ":" && $0 != " " }
    let value = text.dropFirst(head.count + 1).drop { $0 == " " }
    let isValued = text.dropFirst(head.count).hasPrefix(":") && !value.isEmpty
    guard head.wholeMatch(of: /[a-z][A-Za-z]*(\.[a-z][A-Za-z0-9-]*)*/) != nil else { return [] }
    let keys = head.split(separator: ".").map(String.init)
    guard keys.count > 1 || isValued, !isFile(keys) else { return [] }
    if head == "profile" || head == "policy" { return unknown(String(head), String(value)) }
    guard let field = roots.first(where: { $0.key == keys[0] }) else {
      guard keys.count > 1, let near = Spelling.nearest(to: keys[0], among: roots.map(\.key)) else {
        return []
      }
      return ["`\(head)`: there is no `\(keys[0])`; is it `\(near)`?"]
    }
    // `task` is an object of the operating system's too.
    if keys[0] == "task", keys.count > 1, !["data", "model", "training"].contains(keys[1]) {
      return []
    }
    var shape = field.shape
    for key in keys.dropFirst() {
      guard let next = inner(shape, key) else { return ["`\(head)`: there is no `\(key)`"] }
      shape = next
    }
    guard isValued, !value.contains("…") else { return [] }
    guard let node = try? YAMLReader.read("x: " + value, file: "page")["x"] else {
      return ["`\(text)`: not YAML"]
    }
    return faults(node, shape).map { "`\(text)`: \($0)" }
  }

  private func isFile(_ keys: [String]) -> Bool {
    ["json", "yaml", "md", "swift", "pt", "h5", "py"].contains(keys[keys.count - 1])
  }

  private func unknown(_ kind: String, _ name: String) -> [String] {
    let known =
      kind == "profile"
      ? FleetProfile.standard.map(\.name) : PolicyPreset.standard.map(\.name)
    return known.contains(name) ? [] : ["there is no \(kind) `\(name)`"]
  }

  /// The shape of what is under a key.
  private func inner(_ shape: Shape, _ key: String) -> Shape? {
    switch shape {
    case .mapping(let fields, _): return fields().first { $0.key == key }?.shape
    case .list(let element): return inner(element, key)
    case .part(let seam, _):
      guard let part = catalog.parts(of: seam).first(where: { $0.name == key }) else { return nil }
      return .mapping({ part.fields }, shorthand: part.shorthand)
    default: return nil
    }
  }

  private func faults(_ node: Node, _ shape: Shape) -> [String] {
    switch (node.content, shape) {
    case (.mapping(let entries), .mapping), (.mapping(let entries), .part):
      return entries.flatMap { entry -> [String] in
        if entry.key == "policy" || entry.key == "profile",
          case .scalar(let name, _) = entry.value.content
        {
          return unknown(entry.key, name)
        }
        guard let next = inner(shape, entry.key) else { return ["there is no `\(entry.key)`"] }
        return faults(entry.value, next)
      }
    case (.sequence(let nodes), .list(let element)):
      return nodes.flatMap { faults($0, element) }
    case (.sequence(let nodes), .part):
      return nodes.flatMap { faults($0, shape) }
    case (.scalar(let word, _), .oneOf(let words)):
      return words.contains(word) ? [] : ["`\(word)` is none of \(words.joined(separator: ", "))"]
    case (.scalar(let name, _), .part(let seam, _)):
      return catalog.parts(of: seam).contains { $0.name == name } ? [] : ["no part `\(name)`"]
    default: return []
    }
  }
}

@Suite("The pages on source systems")
struct SystemPagesTests {
  @Test("name keys, profiles, policies, scenarios and pages that there are")
  func pages() {
    #expect(SystemPage.all.count >= 3)
    for page in SystemPage.all { #expect(page.faults() == []) }
  }

  @Test("are all in the index, and every scenario of a system is on a page")
  func index() throws {
    let pages = SystemPage.all
    let index = try #require(pages.first { $0.path == "docs/systems/README.md" })
    for page in pages where page.path != index.path {
      let name = page.path.split(separator: "/").last!
      #expect(index.text.contains("](\(name))"), "\(page.path)")
    }
    let scenarios = SystemPage.files("scenarios/systems", ".yaml")
    #expect(scenarios.count >= 4)
    for scenario in scenarios {
      #expect(pages.contains { $0.text.contains(scenario) }, "\(scenario)")
    }
  }

  @Test("every scenario of a system is read without a fault")
  func scenarios() throws {
    for path in SystemPage.files("scenarios/systems", ".yaml") {
      _ = try Scenario(contentsOf: SystemPage.root + path)
    }
  }

  @Test(
    "a word that is wrong is found",
    arguments: [
      ("`server.trigger.treshold`", "there is no `treshold`"),
      ("`server.trigger.threshold.count`", "there is no `count`"),
      ("`sever.trigger`", "there is no `sever`; is it `server`?"),
      ("`outbox.capacities`", "there is no `capacities`"),
      ("`server: {payload: gradients}`", "`gradients` is none of weights, delta"),
      ("`participation: {pollEvry: 5 min}`", "there is no `pollEvry`"),
      ("`server.trigger: [threshhold]`", "no part `threshhold`"),
      ("`profile: edgml`", "there is no profile `edgml`"),
      ("`server: {policy: fedavgg}`", "there is no policy `fedavgg`"),
      ("see scenarios/systems/none.yaml", "no file scenarios/systems/none.yaml"),
      ("[page](none.md)", "no file none.md"),
    ])
  func planted(text: String, fault: String) {
    let page = SystemPage(path: "docs/systems/planted.md", text: "| it says | \(text) |\n")
    #expect(page.faults().contains { $0.contains(fault) }, "\(page.faults())")
  }

  @Test("what the documents say in their own words, and in code, is not taken for keys")
  func quoted() {
    let page = SystemPage(
      path: "docs/systems/planted.md",
      text: """
        | `request.httpBody`, `server.start()` | nothing: `task.setTaskCompleted`, `weights` |
        ```swift
        let x = `server.nothing`
        ```
        `outbox.capacity`, `server.trigger.threshold`, `fleet.profile`, `profile: edgeml`,
        `server: {payload: delta, trigger: {threshold: 3}}`, `power: {diurnal: […]}`
        """)
    #expect(page.faults() == [])
  }
}
