import Scenarios
import Schema

/// Names of axes in tables.
enum SweepNames {
  /// Names that tables use themselves.
  static let reserved =
    [
      "cell", "variant", "replica", "seed", "outcome", "rung", "version", "target", "list", "zip",
      "random", "latinHypercube", "sobol", "halton", "attempts", "reason", "publishedAt",
      "centralAccuracy", "centralLoss", "centralValidationAccuracy", "timeToAccuracy",
    ] + CellMetric.all.map(\.name)

  /// The last key of a path.
  static func key(of path: String) -> String { keys(of: path).last ?? path }

  /// A name for each path: the fewest of its last keys that no other path ends in.
  static func names(of paths: [String]) -> [String] {
    let keys = paths.map(keys(of:))
    return keys.indices.map { index in
      for count in 1...max(1, keys[index].count) {
        let name = word(keys[index].suffix(count))
        let others = keys.indices.filter { $0 != index }
        if !reserved.contains(name),
          !others.contains(where: { word(keys[$0].suffix(count)) == name })
        {
          return name
        }
      }
      // `seed` itself, which the tables have no column for where it is an axis.
      let whole = word(keys[index][...])
      return reserved.contains(whole) ? "axis_" + whole : whole
    }
  }

  private static func keys(of path: String) -> [String] {
    path.split { $0 == "." || $0 == "[" || $0 == "]" }.map(String.init)
  }

  /// Keys as a name that files and programs take.
  private static func word(_ keys: ArraySlice<String>) -> String {
    let text = keys.joined(separator: "_")
    let clean = text.unicodeScalars.map { scalar -> Character in
      let isPlain =
        ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar)
        || ("0"..."9").contains(scalar)
      return isPlain ? Character(scalar) : "_"
    }
    let word = String(clean.prefix(80))
    let startsWithLetter = word.first?.isLetter ?? false
    return startsWithLetter ? word : "axis_" + word
  }
}

extension Sweep {
  /// Paths that no sweep can vary, are repeated, or are below one another.
  static func pathFaults(_ scenario: Scenario, _ settings: SweepSettings) -> [Fault] {
    pathFaults(scenario, settings.axes, of: "sweep", hasHalving: settings.halving != nil)
  }

  /// The same of the axes of any section.
  static func pathFaults(
    _ scenario: Scenario, _ axes: [SweepAxis], of section: String, hasHalving: Bool = false
  ) -> [Fault] {
    var faults: [Fault] = []
    var seen: [(path: String, steps: [String])] = []
    for axis in axes {
      guard let steps = scenario.canonicalPath(axis.path), let first = steps.first else { continue }
      func report(_ message: String) {
        faults.append(
          Fault(at: axis.place, path: section, .contradiction("`\(axis.path)`: \(message)")))
      }
      if ["sweep", "stress", "base", "version", "name"].contains(first) {
        report("a \(section == "sweep" ? "sweep" : "search") cannot vary this")
      }
      if let other = seen.first(where: { $0.steps == steps }) {
        report("this key is varied by `\(other.path)` already")
      } else if let other = seen.first(where: {
        $0.steps.starts(with: steps) || steps.starts(with: $0.steps)
      }) {
        report("one is below the other: `\(other.path)`")
      }
      if hasHalving, first == "stop" {
        report("the rungs of `halving` determine how long variants are played")
      }
      seen.append((axis.path, steps))
    }
    return faults
  }

  /// Names of tables that are equal nevertheless.
  static func nameFaults(
    _ scenario: Scenario, _ settings: SweepSettings, _ names: [String]
  ) -> [Fault] {
    names.indices.filter { names[..<$0].contains(names[$0]) }.map { index in
      let axis = settings.axes[index]
      let message = "`\(axis.path)`: tables would call it `\(names[index])`, as another axis"
      return Fault(at: axis.place, path: "sweep", .contradiction(message))
    }
  }
}
