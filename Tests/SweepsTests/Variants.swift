import Runs
import Scenarios
import Schema
import Sweeps

/// A small scenario with a sweep section, and what comes of it.
struct Variants {
  /// Made-up data, four phones, half a day; 11 lines.
  static let base = """
    seed: 7
    stop: {after: 12 h}
    task:
      data:
        source: {blobs: {classes: 3, features: 4, train: 80, test: 30}}
        partition: {iid: {clients: 4}}
        validationFraction: 0.2
      model: softmax
    fleet:
      - {name: phones, count: 4, background: {processing: {earliestBegin: 1 h}}}
    server: {trigger: {threshold: 2}}

    """

  /// The scenario with a section behind it; its first line is line 12.
  static func scenario(_ sweep: String) throws(Faults) -> Scenario {
    try Scenario(text: base + sweep, file: "s.yaml")
  }

  /// The sweep.
  static func sweep(_ text: String) throws(Faults) -> Sweep { try Sweep(scenario(text)) }

  /// The sweep with all of its cells.
  static func plan(_ text: String) throws -> SweepPlan {
    try SweepPlan(
      sweep(text), build: "", store: "/nowhere", options: RunOptions())
  }

  /// All faults of a section, as they are reported.
  static func faults(_ text: String) -> [String] {
    do {
      _ = try plan(text)
      return []
    } catch let error as Faults {
      return error.faults.map(\.description)
    } catch let error as RunFailure {
      return error.description.split(separator: "\n").map(String.init)
    } catch {
      return ["\(error)"]
    }
  }

  /// The values of each variant, as they are written.
  static func values(_ text: String) throws -> [[String]] {
    try sweep(text).variants.map { variant in variant.values.map(\.json) }
  }
}
