import Scenarios
import Schema

/// A small schema of everything that forms can be, for tests of reading and merging.
struct ToySettings: PartSettings {
  var title = "none"
  var count = 1
  var rate = 0.5
  var isOn = false
  var wait: Int64 = 60
  var model = Choice<any ToyModel>(ToyLinear.self) { $0 }
  var steps: [Choice<any ToyModel>] = []
  var file: String?
  var groups: [ToyGroup] = []
  var inner = ToyInner()

  static var fields: [Field<ToySettings>] {
    [
      Field("title", \.title, .text, "A title"),
      Field(
        reserved: "base", .list(.path), expected: "the path of a file, or a list of them",
        "What it is laid over"),
      Field("count", \.count, .integer(1...100), "A count"),
      Field("rate", \.rate, .fraction, assumption: true, "A share"),
      Field("isOn", \.isOn, .flag, "A flag"),
      Field("wait", \.wait, .toyDuration, "A duration"),
      Field("model", \.model, .part(.toyModel), "A model"),
      Field("steps", \.steps, .parts(.toyModel), "Models in a row"),
      Field("file", \.file, optional: .path, "A file"),
      Field("groups", \.groups, .list(of: .settings()), "Groups"),
      Field("inner", \.inner, .settings(), "Something inside"),
    ]
  }
}

extension Form where Value == Int64 {
  static var toyDuration: Form {
    .quantity(
      "a duration with a unit", units: [("s", 1), ("min", 60), ("h", 3_600)], 1...86_400,
      example: "30 min")
  }
}

struct ToyGroup: PartSettings {
  var name = ""
  var count = 1
  var inner = ToyInner()
  static var fields: [Field<ToyGroup>] {
    [
      Field("name", \.name, .identifier, required: true, "Its name"),
      Field("count", \.count, .integer(0...1_000), "How many"),
      Field("inner", \.inner, .settings(), "Something inside"),
    ]
  }
}

struct ToyInner: PartSettings {
  var low = 1
  var high = 9
  static var shorthand: String? { "low" }
  static var fields: [Field<ToyInner>] {
    [
      Field("low", \.low, .integer(0...99), "The lower end"),
      Field("high", \.high, .integer(0...99), assumption: true, "The upper end"),
    ]
  }
  func contradictions() -> [(key: String, message: String)] {
    low > high ? [("low", "`low` is above `high`")] : []
  }
}

protocol ToyModel: Part {
  var size: Int { get }
}

extension Seam where Value == any ToyModel {
  static var toyModel: Seam { Seam("model", "What is trained?") }
}

struct ToyLinear: ToyModel {
  static let name = "linear"
  static let summary = "A line"
  typealias Settings = NoSettings
  init(_ settings: NoSettings) {}
  var size: Int { 1 }
}

struct ToyMLP: ToyModel {
  static let name = "mlp"
  static let summary = "Hidden layers"
  struct Settings: PartSettings {
    var hidden = [10]
    var scale = 1.0
    var weights: String?
    static var shorthand: String? { "hidden" }
    static var fields: [Field<Settings>] {
      [
        Field("hidden", \.hidden, .list(of: .integer(1...1_000), minimum: 1), "Widths"),
        Field("scale", \.scale, .positive, "A scale"),
        Field("weights", \.weights, optional: .path, "A file of weights"),
      ]
    }
  }
  let settings: Settings
  init(_ settings: Settings) { self.settings = settings }
  var size: Int { settings.hidden.reduce(0, +) }
}

enum Toy {
  static let registry = Registry()
    .adding(ToyLinear.self, to: .toyModel) { $0 }
    .adding(ToyMLP.self, to: .toyModel) { $0 }

  /// Files of a test by name.
  static func files(_ texts: [String: String]) -> ScenarioFiles {
    ScenarioFiles { path in
      texts[path].map { .success(Array($0.utf8)) } ?? .failure(.init("No such file or directory"))
    }
  }

  /// The tree of a text laid over its bases and under its overrides.
  static func tree(
    _ text: String, _ overrides: [String] = [], files: [String: String] = [:],
    file: String = "toy.yaml"
  ) throws(Faults) -> Node {
    let composition = Composition(
      fields: ToySettings.descriptions, catalog: registry.catalog, files: Toy.files(files))
    return try composition.tree(text: text, file: file, overrides: overrides)
  }

  /// The settings of a text.
  static func settings(
    _ text: String, _ overrides: [String] = [], files: [String: String] = [:]
  ) throws(Faults) -> ToySettings {
    let node = try tree(text, overrides, files: files)
    var reader = Reader(catalog: registry.catalog)
    let settings = reader.read(ToySettings.self, from: node)
    guard reader.faults.isEmpty else { throw Faults(reader.faults) }
    return settings
  }

  /// The messages about a text, one per line; empty where it is valid.
  static func faults(
    _ text: String, _ overrides: [String] = [], files: [String: String] = [:]
  ) -> [String] {
    do throws(Faults) {
      _ = try settings(text, overrides, files: files)
      return []
    } catch {
      return error.faults.map(\.description)
    }
  }
}
