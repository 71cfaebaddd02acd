import Schema

/// One key of a scenario that a sweep varies, and the values that it takes.
public struct SweepAxis: Sendable {
  /// Where its values come from.
  public enum Domain: Sendable {
    /// One after the other.
    case values([Node])
    /// Numbers of a range.
    case range(SweepRange)
  }

  /// The path of the key, as after `--set`.
  public let path: String
  /// Where the path is.
  public let place: Place
  /// The values.
  public let domain: Domain

  /// Reads what is next to a path: a list of values, `{choices: […]}`, or a range.
  init?(_ entry: Node.Entry, _ reader: inout Reader) {
    path = entry.key
    place = entry.place
    switch entry.value.content {
    case .sequence(let nodes) where !nodes.isEmpty:
      domain = .values(nodes)
    case .mapping(let entries) where entries.first?.key == "choices":
      guard entries.count == 1, case .sequence(let nodes) = entries[0].value.content,
        !nodes.isEmpty
      else {
        reader.report(
          entry.value, expected: "`{choices: [value, …]}` alone, with at least one value")
        return nil
      }
      domain = .values(nodes)
    case .mapping(let entries) where !entries.isEmpty:
      let before = reader.faults.count
      let range = reader.read(SweepRange.self, from: entry.value)
      guard reader.faults.count == before else { return nil }
      domain = .range(range)
    default:
      reader.report(
        entry.value, expected: "a list of values, a range {from, to}, or {choices: [value, …]}")
      return nil
    }
  }

  /// An axis whose values are written out.
  package init(path: String, place: Place = .none, values: [Node]) {
    self.path = path
    self.place = place
    domain = .values(values)
  }

  /// The value at a point in [0, 1): of a list, each value has an equal share.
  public func value(at point: Double) -> Node {
    switch domain {
    case .values(let nodes): nodes[min(Int(point * Double(nodes.count)), nodes.count - 1)]
    case .range(let range): range.value(at: point)
    }
  }

  /// All values, of an axis that is not sampled.
  public var values: [Node] {
    switch domain {
    case .values(let nodes): nodes
    case .range(let range): range.values(steps: range.steps ?? 2)
    }
  }
}

extension Form where Value == [SweepAxis] {
  /// Axes with values that are listed, or ranges in `steps`; those of a zip are equally long.
  static func steppedAxes(lockstep: Bool) -> Form {
    axes("a mapping from paths to lists of values, or to ranges {from, to, steps}") {
      axes, reader in
      let before = reader.faults.count
      for axis in axes {
        guard case .range(let range) = axis.domain else {
          if !lockstep { reportEqual(axis.values.map { [$0] }, &reader, axis.path) }
          continue
        }
        guard let steps = range.steps else {
          reader.report(
            .missingKey("steps", expected: "a number of values: a grid does not draw values"),
            at: axis.place, key: axis.path)
          continue
        }
        let values = range.values(steps: steps).map(\.json)
        if Set(values).count < values.count {
          let message = "\(steps) steps give the same value twice after rounding"
          reader.report(.contradiction(message), at: axis.place, key: axis.path)
        }
      }
      guard lockstep, let first = axes.first else { return }
      for axis in axes.dropFirst() where axis.values.count != first.values.count {
        let message =
          "\(axis.values.count) values, but `\(first.path)` has \(first.values.count): a zip needs"
          + " lists of equal length"
        reader.report(.contradiction(message), at: axis.place, key: axis.path)
      }
      guard reader.faults.count == before else { return }
      let columns = axes.map(\.values)
      reportEqual(columns[0].indices.map { point in columns.map { $0[point] } }, &reader)
    }
  }

  /// Points that are the same as one before: each would be a second cell with the same result.
  private static func reportEqual(_ points: [[Node]], _ reader: inout Reader, _ path: String? = nil)
  {
    var seen = Set<String>()
    for point in points where !seen.insert(point.map(identity).joined(separator: "\n")).inserted {
      let values = point.map(\.json).joined(separator: ", ")
      let place = point.first { $0.place != .none }?.place ?? .none
      reader.report(
        .contradiction("\(point.count == 1 ? "the value" : "the point") \(values) appears twice"),
        at: place, key: path)
    }
  }

  /// Equal for two equivalent values, such as `1 h` and `60 min`.
  private static func identity(_ node: Node) -> String {
    // Beyond 2⁵³ whole numbers, such as seeds, may share a `Double`.
    guard case .number(let number, let family) = SweepScalar(node), number.magnitude < 0x1p53
    else { return node.json }
    return "\(number) \(family.rawValue)"
  }

  /// Axes that a plan draws values of.
  static var sampledAxes: Form {
    axes("a mapping from paths to ranges {from, to}, or to lists of choices") { axes, reader in
      for axis in axes {
        guard case .range(let range) = axis.domain, range.steps != nil else { continue }
        let message = "`steps` is for grids: here `count` is the number of points"
        reader.report(.contradiction(message), at: axis.place, key: axis.path)
      }
    }
  }

  private static func axes(
    _ expected: String, check: @escaping @Sendable ([SweepAxis], inout Reader) -> Void
  ) -> Form {
    Form(
      shape: .free, expected: expected,
      read: { node, reader in
        guard case .mapping(let entries) = node.content, !entries.isEmpty else {
          reader.report(node, expected: expected)
          return nil
        }
        let before = reader.faults.count
        let axes = entries.compactMap { entry in
          reader.within(entry.key) { SweepAxis(entry, &$0) }
        }
        guard reader.faults.count == before else { return nil }
        check(axes, &reader)
        return axes
      },
      write: { axes in .mapping(axes.map { ($0.path, Node(.sequence($0.values))) }) })
  }

  /// Points that are written out one by one, each with the same keys.
  static var listedPoints: Form {
    let expected = "a list of mappings from paths to values, one per point"
    return Form(
      shape: .list(.free), expected: expected,
      read: { node, reader in
        guard case .sequence(let points) = node.content, !points.isEmpty else {
          reader.report(node, expected: expected)
          return nil
        }
        var axes: [(entry: Node.Entry, values: [Node])] = []
        for (index, point) in points.enumerated() {
          guard case .mapping(let entries) = point.content, !entries.isEmpty else {
            reader.report(point, expected: "a mapping from paths to values")
            return nil
          }
          if index == 0 { axes = entries.map { ($0, []) } }
          for entry in entries where !axes.contains(where: { $0.entry.key == entry.key }) {
            let known = axes.map(\.entry.key)
            let nearest = Spelling.nearest(to: entry.key, among: known)
            reader.report(
              .unknownName(
                entry.key, seam: "path in the first point", nearest: nearest, known: known),
              at: entry.place, key: "[\(index)]")
          }
          for axis in axes.indices {
            guard let value = point[axes[axis].entry.key] else {
              reader.report(
                .missingKey(
                  axes[axis].entry.key, expected: "every point to have the paths of the first"),
                at: point.place, key: "[\(index)]")
              continue
            }
            axes[axis].values.append(value)
          }
        }
        if let count = axes.first?.values.count, axes.allSatisfy({ $0.values.count == count }) {
          reportEqual((0..<count).map { point in axes.map { $0.values[point] } }, &reader)
        }
        return axes.map { SweepAxis(path: $0.entry.key, place: $0.entry.place, values: $0.values) }
      },
      write: { axes in .mapping(axes.map { ($0.path, Node(.sequence($0.values))) }) })
  }
}
