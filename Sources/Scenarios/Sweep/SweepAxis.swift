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
  /// Where the path stands.
  public let place: Place
  /// The values.
  public let domain: Domain

  /// Reads what stands beside a path: a list of values, `{choices: […]}`, or a range.
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
          entry.value, expected: "`{choices: [value, …]}` alone, with one value at least")
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
  init(path: String, place: Place, values: [Node]) {
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
      for axis in axes {
        guard case .range(let range) = axis.domain else { continue }
        guard let steps = range.steps else {
          reader.report(
            .missingKey("steps", expected: "how many values to take: nothing is drawn here"),
            at: axis.place, key: axis.path)
          continue
        }
        let values = range.values(steps: steps).map(\.json)
        if Set(values).count < values.count {
          let message = "\(steps) steps give the same value twice, once they are rounded"
          reader.report(.contradiction(message), at: axis.place, key: axis.path)
        }
      }
      guard lockstep, let first = axes.first else { return }
      for axis in axes.dropFirst() where axis.values.count != first.values.count {
        let message =
          "\(axis.values.count) values, and `\(first.path)` has \(first.values.count): a zip goes"
          + " through all its lists in step"
        reader.report(.contradiction(message), at: axis.place, key: axis.path)
      }
    }
  }

  /// Axes that a plan draws values of.
  static var sampledAxes: Form {
    axes("a mapping from paths to ranges {from, to}, or to lists of choices") { axes, reader in
      for axis in axes {
        guard case .range(let range) = axis.domain, range.steps != nil else { continue }
        let message = "`steps` are for grids: here `count` says how many points there are"
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
    let expected = "a list of mappings from paths to values, one a point"
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
        return axes.map { SweepAxis(path: $0.entry.key, place: $0.entry.place, values: $0.values) }
      },
      write: { axes in .mapping(axes.map { ($0.path, Node(.sequence($0.values))) }) })
  }
}
