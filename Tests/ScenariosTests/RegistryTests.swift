import Foundation
import Testing

import FedSim
import Learning
import Scenarios
import Schema

/// An aggregator as another package would write one.
private struct FirstUpdate: Aggregator {
  static let name = "first-update"
  static let summary = "Takes the update of the first device: for the test alone."
  struct Settings: PartSettings {
    var scale = 1.0
    static var shorthand: String? { "scale" }
    static var fields: [Field<Settings>] { [Field("scale", \.scale, .fraction, "A scale.")] }
  }
  let settings: Settings
  init(_ settings: Settings) { self.settings = settings }
  func combine(_ batch: AggregationBatch, _ memory: inout NoMemory) -> ParameterBuffer {
    batch.updates[0].parameters
  }
}

@Suite("Registry")
struct RegistryTests {
  private static let parts = Registry.standard.catalog.entries

  @Test("an aggregator from outside is one line, and is read, listed and described like any other")
  func addingAnAggregator() throws {
    let registry = Registry.standard.adding(FirstUpdate.self)
    let text = "fleet: [{name: a, count: 1}]\nserver: {aggregator: {first-update: 0.5}}\n"
    let scenario = try Scenario(text: text, registry: registry)
    let aggregator = scenario.settings.server.aggregator.value as? FirstUpdate
    #expect(aggregator?.settings.scale == 0.5)
    #expect(scenario.resolvedText.contains("first-update:\n      scale: 0.5"))
    #expect(throws: Faults.self) { try Scenario(text: text) }
    do throws(Faults) {
      _ = try Scenario(
        text: text, overrides: ["server.aggregator.frist-update=1"], registry: registry)
    } catch {
      #expect(
        error.description
          == "--set server.aggregator.frist-update=1: column 19: server.aggregator: "
          + "there is no aggregator `frist-update`; did you mean `first-update`?")
    }
    #expect(registry.listing.text(seam: "aggregator").contains("first-update: Takes the update"))
    #expect(registry.jsonSchema.json.contains("first-update"))
  }

  @Test(
    "every part has a kebab-case name, words, and settings with words", arguments: parts.indices)
  func words(index: Int) {
    let part = Self.parts[index]
    let letters = part.name.unicodeScalars.allSatisfy {
      ("a"..."z").contains($0) || ("0"..."9").contains($0) || $0 == "-"
    }
    #expect(letters && !part.name.hasPrefix("-") && !part.name.hasSuffix("-"), "\(part.name)")
    #expect(part.summary.count > 10, "\(part.name)")
    #expect(part.fields.allSatisfy { $0.summary.count > 3 && !$0.expected.isEmpty }, "\(part.name)")
    let keys = part.fields.map(\.key)
    #expect(keys.indices.allSatisfy { keys.firstIndex(of: keys[$0]) == $0 }, "\(keys)")
    #expect(part.shorthand.map(keys.contains) ?? true, "\(part.name)")
  }

  @Test("every part's defaults, resolved, read back to the same", arguments: parts.indices)
  func defaults(index: Int) throws {
    let part = Self.parts[index]
    var reader = Reader(catalog: Registry.standard.catalog)
    let settings = part.resolved(Node(.null), &reader)
    guard reader.faults.isEmpty else {
      let needsSome = part.fields.contains { $0.isRequired }
      #expect(needsSome, "\(part.name): \(reader.faults)")
      return
    }
    let text = Node.mapping([("settings", settings)]).yaml
    let back = try YAMLReader.read(text, file: part.name)
    let again = part.resolved(try #require(back["settings"]), &reader)
    #expect(reader.faults.isEmpty, "\(part.name): \(reader.faults)")
    #expect(again.hasSameContent(as: settings), "\(part.name)")
  }

  @Test("every part refuses a key that it does not have", arguments: parts.indices)
  func unknownKeys(index: Int) {
    let part = Self.parts[index]
    var reader = Reader(catalog: Registry.standard.catalog)
    _ = part.resolved(.mapping([("zzzzzzzz", .text("1"))]), &reader)
    let isReported = reader.faults.contains {
      if case .unknownKey("zzzzzzzz", nearest: nil, _) = $0.problem { true } else { false }
    }
    #expect(isReported, "\(part.name)")
  }

  @Test("the listing names every seam, part and setting, with defaults and assumptions")
  func listing() throws {
    let listing = Registry.standard.listing
    let text = listing.text()
    for seam in Registry.standard.catalog.seams { #expect(text.contains("\n\(seam.name): ")) }
    for part in Self.parts { #expect(text.contains("\n  \(part.name): \(part.summary)\n")) }
    #expect(
      text.contains("every: ") && text.contains("period: ") && text.contains("(default 30 min)"))
    #expect(text.contains(", an assumption)"))
    #expect(text.contains("required"))
    let json = try JSONSerialization.jsonObject(with: Data(listing.node().prettyJSON.utf8))
    let seams = (json as? [String: Any])?["seams"] as? [[String: Any]]
    #expect(seams?.count == Registry.standard.catalog.seams.count)
  }
}

extension RegistryTests {
  private static func validator(_ registry: Registry = .standard) throws -> SchemaValidator {
    let json = try JSONSerialization.jsonObject(with: Data(registry.jsonSchema.json.utf8))
    return SchemaValidator(root: try #require(json as? [String: Any]))
  }

  private func problems(_ node: Node) throws -> [String] {
    let json = try JSONSerialization.jsonObject(with: Data(node.json.utf8))
    return try Self.validator().problems(json)
  }

  @Test("editors complete the name of a policy: the schema lists all")
  func policies() throws {
    var place: Any? = try Self.validator().root
    for step in "properties server anyOf 0 properties policy anyOf 0 enum".split(separator: " ") {
      place = Int(step).map { (place as? [Any])?[$0] } ?? (place as? [String: Any])?[String(step)]
    }
    let names = try #require(place as? [String])
    #expect(names == PolicyPreset.standard.map(\.name) && names.contains("fedbuff"))
  }

  @Test("scenarios, written and resolved, keep the exported JSON Schema")
  func jsonSchemaAccepts() throws {
    let scenario = try Scenario(text: ScenarioTests.text)
    #expect(try problems(scenario.writtenNode) == [])
    #expect(try problems(scenario.resolvedNode) == [])
    #expect(try problems(YAMLReader.read("x-a: 1\nfleet: [{name: a, count: 1}]\n", file: "")) == [])
    // A word for settings.
    let words = "task: none\nfleet: [{name: a, count: 1}]\nexpect: [{at: end, updates: 3}]\n"
    #expect(try problems(YAMLReader.read(words, file: "")) == [])
    #expect(try problems(YAMLReader.read("task: nobody\nfleet: []\n", file: "")) != [])
  }

  private static let shipped: [String] = {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("scenarios")
    let names = FileManager.default.enumerator(atPath: root.path)?.compactMap { $0 as? String }
    return (names ?? []).filter { $0.hasSuffix(".yaml") }.sorted().map { root.path + "/" + $0 }
  }()

  @Test("there are shipped scenarios to look at")
  func thereAreScenarios() {
    #expect(Self.shipped.count >= 5)
  }

  @Test(
    "a shipped scenario is valid, keeps the JSON Schema, and resolves to itself", arguments: shipped
  )
  func shippedScenario(path: String) throws {
    let scenario = try Scenario(contentsOf: path)
    #expect(try problems(scenario.writtenNode) == [])
    #expect(try problems(scenario.resolvedNode) == [])
    let again = try Scenario(text: scenario.resolvedText, file: path)
    #expect(again.digest == scenario.digest)
  }

  @Test(
    "the exported JSON Schema refuses what the reader refuses",
    arguments: [
      "seed: 1\n", "fleet: []\nsead: 1\n", "fleet: [{name: a}]\n",
      "fleet: [{name: a, count: -1}]\n",
      "fleet: [{name: a, count: 1}]\nserver: {aggregator: mean}\n",
      "fleet: [{name: a, count: 1}]\ntask: {model: {mlp: {}, softmax: {}}}\n",
      "fleet: [{name: a, count: 1}]\ntask: {training: {epochs: 1.5}}\n",
      "fleet: [{name: a, count: 1}]\nrecord: {finalModel: 1}\n",
      "fleet: [{name: a, count: 1}]\nserver: {payload: gradients}\n",
      "fleet: [{name: a, count: 1}]\nserver: {policy: fedbuf}\n",
    ])
  func jsonSchemaRefuses(text: String) throws {
    #expect(throws: Faults.self) { try Scenario(text: text) }
    let found = try problems(YAMLReader.read(text, file: "f"))
    #expect(!found.isEmpty)
  }
}

/// The part of JSON Schema draft 7 that the export uses, written from the specification.
private struct SchemaValidator {
  let root: [String: Any]

  func problems(_ value: Any) -> [String] { problems(value, root, "$") }

  private func problems(_ value: Any, _ schema: [String: Any], _ path: String) -> [String] {
    if let reference = schema["$ref"] as? String {
      let name = String(reference.dropFirst("#/definitions/".count))
      let definitions = root["definitions"] as? [String: [String: Any]]
      guard let target = definitions?[name] else { return ["\(path): no \(reference)"] }
      return problems(value, target, path)
    }
    var found: [String] = []
    for part in schema["allOf"] as? [[String: Any]] ?? [] { found += problems(value, part, path) }
    if let choices = schema["anyOf"] as? [[String: Any]],
      !choices.contains(where: { problems(value, $0, path).isEmpty })
    {
      found.append("\(path): none of \(choices.count)")
    }
    if let type = schema["type"] as? String, !isOf(type, value) {
      return found + ["\(path): not of type \(type)"]
    }
    if let words = schema["enum"] as? [String], !words.contains(value as? String ?? "\u{0}") {
      found.append("\(path): none of \(words)")
    }
    if let constant = schema["const"] as? NSNumber, constant != value as? NSNumber {
      found.append("\(path): not \(constant)")
    }
    if let number = value as? NSNumber, !isFlag(number) {
      if let least = schema["minimum"] as? NSNumber, number.doubleValue < least.doubleValue {
        found.append("\(path): below \(least)")
      }
      if let most = schema["maximum"] as? NSNumber, number.doubleValue > most.doubleValue {
        found.append("\(path): above \(most)")
      }
    }
    if let text = value as? String, let pattern = schema["pattern"] as? String,
      text.range(of: pattern, options: .regularExpression) == nil
    {
      found.append("\(path): does not match \(pattern)")
    }
    if let list = value as? [Any], let items = schema["items"] as? [String: Any] {
      for (i, element) in list.enumerated() { found += problems(element, items, "\(path)[\(i)]") }
    }
    if let object = value as? [String: Any] { found += members(object, schema, path) }
    return found
  }

  private func members(
    _ object: [String: Any], _ schema: [String: Any], _ path: String
  ) -> [String] {
    var found: [String] = []
    let properties = schema["properties"] as? [String: [String: Any]] ?? [:]
    let patterns = schema["patternProperties"] as? [String: Any] ?? [:]
    for key in object.keys.sorted() {
      if let property = properties[key] {
        found += problems(object[key] ?? NSNull(), property, path + "." + key)
      } else if schema["additionalProperties"] as? Bool == false,
        !patterns.keys.contains(where: { key.range(of: $0, options: .regularExpression) != nil })
      {
        found.append("\(path): unknown \(key)")
      }
    }
    for key in schema["required"] as? [String] ?? [] where object[key] == nil {
      found.append("\(path): no \(key)")
    }
    if let least = schema["minProperties"] as? Int, object.count < least { found.append(path) }
    if let most = schema["maxProperties"] as? Int, object.count > most { found.append(path) }
    return found
  }

  private func isFlag(_ number: NSNumber) -> Bool { String(cString: number.objCType) == "c" }

  private func isOf(_ type: String, _ value: Any) -> Bool {
    switch type {
    case "null": value is NSNull
    case "boolean": (value as? NSNumber).map(isFlag) ?? false
    case "integer":
      (value as? NSNumber).map { !isFlag($0) && $0.doubleValue.rounded() == $0.doubleValue }
        ?? false
    case "number": (value as? NSNumber).map { !isFlag($0) } ?? false
    case "string": value is String
    case "array": value is [Any]
    default: value is [String: Any]
    }
  }
}
