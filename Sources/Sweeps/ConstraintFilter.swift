import Scenarios
import Schema

/// Keeps the variants that every constraint lets through.
struct ConstraintFilter {
  private let constraints: [SweepExpression]
  private let paths: [String]
  private let scenario: Scenario
  /// The axes that names represent.
  private var axes: [String: Int] = [:]
  /// The values of the names that are not varied.
  private var constants: [String: SweepScalar] = [:]

  /// Throws: names that are neither an axis nor a single value of the scenario.
  init(_ scenario: Scenario, _ settings: SweepSettings, _ names: [String]) throws(Faults) {
    self.scenario = scenario
    constraints = settings.constraints
    paths = settings.axes.map(\.path)
    // By the last key where only one axis has it, then by the tables' name, then by the path.
    let keys = paths.map(SweepNames.key(of:))
    for (index, key) in keys.enumerated() where keys.count(where: { $0 == key }) == 1 {
      axes[key] = index
    }
    for (index, path) in paths.enumerated() {
      axes[names[index]] = index
      axes[path] = index
    }
    var faults: [Fault] = []
    for (index, constraint) in constraints.enumerated() {
      for name in constraint.names {
        guard let message = resolve(name.text, settings, names) else { continue }
        faults.append(
          constraint.fault(
            .init(column: name.column, message: message), path: "sweep.constraints[\(index)]"))
      }
    }
    guard faults.isEmpty else { throw Faults(faults) }
  }

  /// Finds what a name represents; what is wrong with it, if anything is.
  private mutating func resolve(
    _ name: String, _ settings: SweepSettings, _ names: [String]
  ) -> String? {
    if axes[name] == nil, let steps = scenario.canonicalPath(name) {
      for (index, path) in paths.enumerated() {
        guard let varied = scenario.canonicalPath(path) else { continue }
        if varied == steps {
          axes[name] = index
        } else if varied.starts(with: steps) || steps.starts(with: varied) {
          return
            "`\(path)` is varied, and this name is "
            + "\(varied.count < steps.count ? "below" : "above")"
            + " it: name the axis"
        }
      }
    }
    if let axis = axes[name] {
      guard case .values(let values) = settings.axes[axis].domain,
        let value = values.first(where: { scenario.comparedValue($0, at: paths[axis]) == nil })
      else { return nil }
      return "a value of `\(name)` is \(value.found), but only single values can be compared"
    }
    guard let value = scenario.resolvedValue(at: name) else {
      let nearest = Spelling.nearest(to: name, among: paths + names)
      let end = nearest.map { "did you mean `\($0)`?" }
      return "there is no axis or value `\(name)`; "
        + (end ?? "axes: " + paths.joined(separator: ", "))
    }
    guard let constant = scenario.comparedValue(value, at: name) else {
      return "`\(name)` is \(value.found), but only single values can be compared"
    }
    constants[name] = constant
    return nil
  }

  func lets(_ values: [Node]) throws(Faults) -> Bool {
    for (index, constraint) in constraints.enumerated() {
      do throws(SweepExpression.Problem) {
        let holds = try constraint.holds { name in
          axes[name].flatMap { scenario.comparedValue(values[$0], at: paths[$0]) }
            ?? constants[name]
        }
        if !holds { return false }
      } catch {
        throw Faults([constraint.fault(error, path: "sweep.constraints[\(index)]")])
      }
    }
    return true
  }
}
