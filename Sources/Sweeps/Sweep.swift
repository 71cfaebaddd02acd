import Analysis
import Numerics
import Scenarios
import Schema

/// The variants of a scenario that its `sweep` section asks for, before any is composed.
public struct Sweep: Sendable {
  /// The most cells of one sweep.
  public static let mostCells = 50_000

  /// One axis with its name in tables.
  public struct Axis: Sendable {
    /// The path and the values.
    public let axis: SweepAxis
    /// The shortest end of the path that no other axis has, in letters, digits and underscores.
    public let name: String
  }

  /// A factor of the product: one axis of a grid, or all axes of another block.
  public struct Dimension: Sendable {
    /// The axis's name, or the block's.
    public let name: String
    /// Which of the axes it moves along.
    public let axes: Range<Int>
    /// The values at each point. Shapes: [point][axis of the dimension].
    public let points: [[Node]]
  }

  /// One combination of values.
  public struct Variant: Sendable {
    /// The point of each dimension.
    public let place: [Int]
    /// The value of each axis.
    public let values: [Node]
  }

  /// The scenario that is varied.
  public let scenario: Scenario
  /// What is asked for.
  public let settings: SweepSettings
  /// The axes, the slowest first.
  public let axes: [Axis]
  /// The factors, the slowest first.
  public let dimensions: [Dimension]
  /// The combinations that every constraint lets through, the last dimension fastest.
  public let variants: [Variant]
  /// The seeds of the replicas, the same for every variant; nil: no replicas are asked for.
  public let seeds: [UInt64]?

  /// The sweep of a scenario.
  ///
  /// Order: dimensions as the blocks are in `SweepSettings`.
  /// Throws: every fault of the section that can be found without composing a variant.
  public init(_ scenario: Scenario) throws(Faults) {
    guard let settings = scenario.settings.sweep else {
      throw Faults([
        Fault(
          at: Place(file: scenario.file),
          .missingKey("sweep", expected: "what to vary, such as `grid: {seed: [1, 2, 3]}`"))
      ])
    }
    self.scenario = scenario
    self.settings = settings
    let names = SweepNames.names(of: settings.axes.map(\.path))
    axes = zip(settings.axes, names).map { Axis(axis: $0, name: $1) }
    seeds = settings.replicas.map { ReplicaSeeds.seeds($0, of: scenario.settings.seed) }
    var faults = Self.pathFaults(scenario, settings)
    faults += Self.nameFaults(scenario, settings, names)
    faults += HalvingFaults.faults(of: scenario, settings)
    do throws(Faults) {
      dimensions = try Self.dimensions(scenario, settings, names)
    } catch {
      throw Faults(faults + error.faults)
    }
    guard faults.isEmpty else { throw Faults(faults) }
    try Self.checkSize(scenario, dimensions, replicas: seeds?.count ?? 1)
    variants = try Self.variants(scenario, settings, names, dimensions)
    guard !variants.isEmpty else {
      throw Faults([
        Fault(
          at: settings.constraints.first?.place ?? Place(file: scenario.file),
          path: "sweep.constraints", .contradiction("no variant is left: each breaks one of these"))
      ])
    }
  }

  /// How many points the dimensions have together, excluded ones included.
  public var pointCount: Int { dimensions.reduce(1) { $0 * $1.points.count } }

  // MARK: Dimensions

  private static func dimensions(
    _ scenario: Scenario, _ settings: SweepSettings, _ names: [String]
  ) throws(Faults) -> [Dimension] {
    var dimensions: [Dimension] = []
    var first = 0
    for axis in settings.grid ?? [] {
      dimensions.append(
        Dimension(name: names[first], axes: first..<first + 1, points: axis.values.map { [$0] }))
      first += 1
    }
    func add(_ name: String, _ axes: [SweepAxis], _ points: [[Node]]) {
      dimensions.append(Dimension(name: name, axes: first..<first + axes.count, points: points))
      first += axes.count
    }
    for (name, axes) in [("list", settings.list), ("zip", settings.zip)] {
      guard let axes else { continue }
      let count = axes[0].values.count
      let columns = axes.map(\.values)
      add(name, axes, (0..<count).map { point in columns.map { $0[point] } })
    }
    let seed = scenario.settings.seed
    let plans: [(SamplingPlan, Int, [SweepAxis])?] = [
      settings.random.map { (.random(seed: $0.seed ?? seed), $0.count, $0.axes) },
      settings.latinHypercube.map { (.latinHypercube(seed: $0.seed ?? seed), $0.count, $0.axes) },
      settings.sobol.map { (.sobol(skip: $0.skip), $0.count, $0.axes) },
      settings.halton.map { (.halton(skip: $0.skip), $0.count, $0.axes) },
    ]
    var faults: [Fault] = []
    for case let (plan, count, axes)? in plans {
      do throws(SamplingFault) {
        let points = try plan.points(count, axes: axes.count)
        add(plan.name, axes, points.map { point in zip(axes, point).map { $0.value(at: $1) } })
      } catch {
        let path = "sweep.\(plan.name).axes"
        faults.append(Fault(at: axes[0].place, path: path, .contradiction("\(error)")))
      }
    }
    guard faults.isEmpty else { throw Faults(faults) }
    return dimensions
  }

  private static func checkSize(
    _ scenario: Scenario, _ dimensions: [Dimension], replicas: Int
  ) throws(Faults) {
    var cells = replicas
    for dimension in dimensions {
      let (product, overflow) = cells.multipliedReportingOverflow(by: dimension.points.count)
      cells = overflow ? .max : product
    }
    guard cells > mostCells else { return }
    let place = scenario.writtenNode["sweep"]?.place ?? Place(file: scenario.file)
    let count = cells == .max ? "more cells than can be counted" : "\(cells) cells"
    throw Faults([
      Fault(at: place, path: "sweep", .contradiction("\(count), expected at most \(mostCells)"))
    ])
  }

  private static func variants(
    _ scenario: Scenario, _ settings: SweepSettings, _ names: [String], _ dimensions: [Dimension]
  ) throws(Faults) -> [Variant] {
    let filter = try ConstraintFilter(scenario, settings, names)
    var variants: [Variant] = []
    var place = [Int](repeating: 0, count: dimensions.count)
    while true {
      let values = zip(dimensions, place).flatMap { $0.points[$1] }
      if try filter.lets(values) { variants.append(Variant(place: place, values: values)) }
      var last = dimensions.count - 1
      while last >= 0 {
        place[last] += 1
        if place[last] < dimensions[last].points.count { break }
        place[last] = 0
        last -= 1
      }
      if last < 0 { return variants }
    }
  }
}

/// The seeds of replicas.
public enum ReplicaSeeds {
  /// This many seeds: the scenario's own, then drawn ones below 2⁵³, which every tool reads
  /// exactly.
  ///
  /// Draws: two words a seed, from its own stream; so a seed depends neither on the variant
  /// nor on the number of replicas.
  public static func seeds(_ count: Int, of seed: UInt64) -> [UInt64] {
    let key = StreamKey(seed: seed, purpose: "sweep.replica")
    var seeds = [seed]
    var slot: UInt64 = 1
    while seeds.count < count {
      var stream = key.stream(slot: slot)
      let next = stream.nextUInt64() >> 11
      if !seeds.contains(next) { seeds.append(next) }
      slot += 1
    }
    return seeds
  }
}
