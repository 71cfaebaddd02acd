import Results
import Runs
import Scenarios
import Schema

extension SweepTable {
  /// The most numbers of one curve; longer ones are left to `versions.csv`.
  private static let mostNumbers = 1 << 26

  func writeArrays(to path: String) throws(RunFailure) {
    do throws(ResultFault) {
      try ResultFile.prepare(path).write(document)
    } catch {
      throw .output(error)
    }
  }

  /// The table with the sweep's dimensions as axes.
  ///
  /// Shapes: [a dimension of the sweep, …, replica], curves with [version] behind it; NaN where
  /// there is no number.
  package var document: ResultDocument {
    let dimensions = manifest.dimensions
    var axes = dimensions.map { ResultDocument.Axis($0.name, length: $0.length) }
    axes.append(.init("replica", length: manifest.replicas))
    var variables = dimensions.flatMap(coordinates)
    variables.append(
      .init(
        "replica", ["replica"], .int64((0..<manifest.replicas).map { Int64($0) }), units: "1",
        longName: "replica, from 0"))
    if !manifest.axes.contains(where: { $0.path == "seed" }) {
      let seeds = manifest.seeds ?? [manifest.seed]
      variables.append(
        .init(
          "seed", ["replica"], .int64(seeds.map { Int64(bitPattern: $0) }), units: "1",
          longName: "seed of the replica, as signed bits"))
    }
    let names = axes.map(\.name)
    let entries = places()
    variables.append(
      .init(
        "outcome", names, codes: entries.map { code($0?.outcome ?? .excluded) },
        meanings: CellOutcome.allCases.map(\.rawValue), longName: "outcome of the cell"))
    if manifest.halving != nil {
      variables.append(
        .init(
          "rung", names, .int64(entries.map { Int64($0?.cell.rung ?? -1) }), units: "1",
          longName: "last rung to which the variant was played, -1: none"))
    }
    for (index, metric) in metrics {
      variables.append(
        .init(
          metric.name, names, .double(entries.map { $0?.row?.metrics[index] ?? .nan }),
          units: metric.unit, longName: metric.text))
    }
    if !manifest.targets.isEmpty {
      axes.append(.init("target", length: manifest.targets.count))
      variables += times(names, entries)
    }
    let curves = curves(names, entries)
    if let curves {
      axes.append(curves.axis)
      variables += curves.variables
    }
    return ResultDocument(
      attributes: attributes(hasCurves: curves != nil), axes: axes, variables: variables)
  }

  private func attributes(hasCurves: Bool) -> [ResultDocument.Attribute] {
    let comment =
      "The cells of a sweep. NaN where a cell failed or was excluded; cells that were stopped early"
      + " have the numbers of their last rung."
      + (hasCurves ? "" : " Columns by version are left out: there are too many.")
    return [
      .init("Conventions", .text("CF-1.10 FedSim-sweep-1")), .init("title", .text(manifest.name)),
      .init("engineVersion", .text(manifest.engineVersion)), .init("comment", .text(comment)),
    ]
  }

  /// The entry at each point of the product and each replica; nil where it is excluded.
  private func places() -> [Entry?] {
    let lengths = manifest.dimensions.map(\.length)
    let points = lengths.reduce(1, *)
    var entries = [Entry?](repeating: nil, count: points * manifest.replicas)
    for (variant, place) in manifest.variants.enumerated() {
      let point = zip(lengths, place).reduce(0) { $0 * $1.0 + $1.1 }
      for replica in 0..<manifest.replicas {
        entries[point * manifest.replicas + replica] = entry(variant, replica)
      }
    }
    return entries
  }

  private func code(_ outcome: CellOutcome) -> Int8 {
    Int8(CellOutcome.allCases.firstIndex(of: outcome) ?? 0)
  }

  // MARK: Axes

  /// A dimension's own coordinate, and the values of its axes where it has several.
  private func coordinates(_ dimension: SweepManifest.Dimension) -> [ResultDocument.Variable] {
    let columns = dimension.axes.indices.map { axis in
      variable(manifest.axes[dimension.axes[axis]], dimension, dimension.points.map { $0[axis] })
    }
    // An axis of a grid is a dimension with the axis's name.
    if dimension.axes.count == 1, columns[0].name == dimension.name { return columns }
    let number = ResultDocument.Variable(
      dimension.name, [dimension.name], .int64((0..<dimension.length).map { Int64($0) }),
      units: "1", longName: "point of `\(dimension.name)`, from 0")
    return [number] + columns
  }

  /// An axis's values: numbers where all are of one kind, else places in a list of words.
  private func variable(
    _ axis: SweepManifest.Axis, _ dimension: SweepManifest.Dimension,
    _ values: [SweepManifest.Value]
  ) -> ResultDocument.Variable {
    let path = ResultDocument.Attribute("path", .text(axis.path))
    let unit = values.first?.unit
    if let unit, values.allSatisfy({ $0.unit == unit && $0.number != nil }) {
      return .init(
        axis.name, [dimension.name], .double(values.map { $0.number ?? .nan }), units: unit,
        longName: "value of \(axis.path)", attributes: [path])
    }
    var words: [String] = []
    let places = values.map { value -> Int in
      if let place = words.firstIndex(of: value.text) { return place }
      words.append(value.text)
      return words.count - 1
    }
    let meanings = words.map(Self.meaning)
    let named = ResultDocument.Attribute("values", .texts(words))
    if words.count <= 128, Set(meanings).count == meanings.count {
      return .init(
        axis.name, [dimension.name], codes: places.map { Int8($0) }, meanings: meanings,
        longName: "value of \(axis.path)", attributes: [path] + fitting(named))
    }
    return .init(
      axis.name, [dimension.name], .int64(places.map { Int64($0) }), units: "1",
      longName: "value of \(axis.path), by its place in `values`",
      attributes: [path] + fitting(named))
  }

  /// A list of words where HDF5 takes it; sweep.json has it in any case.
  private func fitting(_ attribute: ResultDocument.Attribute) -> [ResultDocument.Attribute] {
    guard case .texts(let words) = attribute.value,
      words.reduce(1, { $0 + $1.utf8.count + 16 }) <= 60_000
    else { return [] }
    return [attribute]
  }

  /// A value as a word without blanks.
  private static func meaning(_ text: String) -> String {
    let word = text.map { $0.isWhitespace ? "_" : $0 }
    return word.isEmpty ? "_" : String(word)
  }

  // MARK: Further axes

  private func times(_ names: [String], _ entries: [Entry?]) -> [ResultDocument.Variable] {
    let count = manifest.targets.count
    let none = [Double](repeating: .nan, count: count)
    let times = entries.flatMap { entry in
      entry?.row.map { $0.times.map { $0 ?? .nan } } ?? none
    }
    return [
      .init(
        "target", ["target"], .double(manifest.targets), units: "1", longName: "target accuracy"),
      .init(
        "timeToAccuracy", names + ["target"], .double(times), units: "s",
        longName: "simulated time of the first evaluated version with at least this accuracy"),
    ]
  }

  private func curves(
    _ names: [String], _ entries: [Entry?]
  ) -> (axis: ResultDocument.Axis, variables: [ResultDocument.Variable])? {
    let versions = entries.compactMap { $0?.row?.curves.map(\.count).max() }.max() ?? 0
    guard versions > 0, versions * entries.count <= Self.mostNumbers else { return nil }
    var variables: [ResultDocument.Variable] = [
      .init(
        "version", ["version"], .int64((0..<versions).map { Int64($0) }), units: "1",
        longName: "version, 0 for the initial model")
    ]
    for (index, curve) in CellRow.curveNames.enumerated() {
      var values = [Double](repeating: .nan, count: versions * entries.count)
      for (place, entry) in entries.enumerated() {
        guard let curve = entry?.row?.curves[index] else { continue }
        for (version, value) in curve.enumerated() {
          values[place * versions + version] = value ?? .nan
        }
      }
      variables.append(
        .init(
          curve.name, names + ["version"], .double(values), units: curve.unit,
          longName: curve.text))
    }
    return (.init("version", length: versions), variables)
  }
}
