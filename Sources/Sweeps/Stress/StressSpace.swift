import FedSim
import Numerics
import Runs
import Scenarios
import Schema

/// A change of a scenario that makes a world of it.
struct WorldChange: Equatable, Sendable {
  enum Kind: Equatable, Sendable {
    /// Another seed.
    case seed(UInt64)
    /// A value of an axis.
    case value(axis: Int, point: Double)
    /// A scripted event; its number in the world.
    case event(Int)
    /// Simultaneous events in another order, by this key.
    case ties(UInt64)
  }
  var kind: Kind
  /// The scripted event.
  var event: Node?

  static func == (a: Self, b: Self) -> Bool { a.kind == b.kind }
}

/// A world as it is played: a tree of settings, and the key of `--shake-ties`.
struct World: Sendable {
  var node: Node
  var shakeTies: UInt64?
}

/// The worlds among which is searched: what varies, and how the n-th world is drawn.
public struct StressSpace: Sendable {
  /// The scenario; world 0 is this one unchanged.
  public let scenario: Scenario
  /// What every world is held to; nil: the invariants alone.
  let claims: Node?
  /// What varies: first what the scenario says, then what is built in.
  let axes: [SweepAxis]
  /// How many of these the scenario says.
  let ownCount: Int
  /// Whether scripted events and orders of simultaneous ones are drawn.
  let makesBuiltInChanges: Bool
  private let key: StreamKey
  private let variesSeed: Bool

  /// The worlds of a scenario.
  ///
  /// Throws: every fault of the `stress` section that can be found without playing a world.
  public init(_ scenario: Scenario) throws(Faults) {
    let settings = scenario.settings.stress ?? StressSettings()
    let own = settings.vary ?? []
    let faults =
      Sweep.pathFaults(scenario, own, of: "stress") + Self.valueFaults(scenario, own)
    guard faults.isEmpty else { throw Faults(faults) }
    self.scenario = scenario
    claims = scenario.worldClaims
    ownCount = own.count
    makesBuiltInChanges = settings.makesBuiltInChanges
    let taken = own.compactMap { scenario.canonicalPath($0.path) }
    let others = makesBuiltInChanges ? BuiltInChanges.axes(of: scenario) : []
    axes =
      own
      + others.filter { axis in
        guard let steps = scenario.canonicalPath(axis.path) else { return false }
        return !taken.contains { $0.starts(with: steps) || steps.starts(with: $0) }
      }
    variesSeed = !taken.contains(["seed"])
    key = StreamKey(seed: scenario.settings.seed, purpose: "stress.world")
  }

  /// The paths of what varies, for people.
  public var paths: [String] {
    (variesSeed ? ["seed"] : []) + axes.map(\.path)
      + (makesBuiltInChanges ? ["inject", "--shake-ties"] : [])
  }

  /// Values that no world can have, whatever else it has.
  private static func valueFaults(_ scenario: Scenario, _ axes: [SweepAxis]) -> [Fault] {
    var faults: [Fault] = []
    for axis in axes {
      var values = [axis.value(at: 0), axis.value(at: 1.0.nextDown)]
      if case .values(let listed) = axis.domain { values = listed }
      for value in values {
        let value = VariantValue(path: axis.path, place: axis.place, value: value)
        do throws(Faults) { _ = try scenario.laid([value]) } catch {
          for fault in error.faults where !faults.contains(fault) { faults.append(fault) }
          continue
        }
        do throws(Faults) { _ = try scenario.variant([value]) } catch {
          for fault in error.faults where !faults.contains(fault) {
            // With other values it may be right.
            if case .contradiction = fault.problem { continue }
            faults.append(fault)
          }
        }
      }
    }
    return faults
  }

  // MARK: Worlds

  /// The changes of a world, from 1 on.
  ///
  /// Draws: of each axis, of the seed, of the order of ties and of scripted events from separate
  /// their own, slotted by the world; so a world depends neither on others nor on their number.
  /// Throws: every fault of a world that is no valid scenario.
  func changes(of world: Int) throws(Faults) -> [WorldChange] {
    precondition(world > 0, "world 0 is the unmodified scenario")
    let slot = UInt64(world)
    var changes: [WorldChange] = []
    if variesSeed {
      var stream = key.with(ordinal: 0).stream(slot: slot)
      changes.append(WorldChange(kind: .seed(stream.nextUInt64() >> 11)))
    }
    for axis in axes.indices.prefix(ownCount) {
      changes.append(WorldChange(kind: .value(axis: axis, point: ownPoint(axis, slot))))
    }
    _ = try compose(changes)
    guard makesBuiltInChanges else { return changes }
    var more: [WorldChange] = []
    for axis in axes.indices.dropFirst(ownCount) {
      var stream = key.with(ordinal: UInt32(axis) + 8).stream(slot: slot)
      guard stream.uniform() < 0.3 || BuiltInChanges.isAlways(axes[axis].path, scenario) else {
        continue
      }
      more.append(WorldChange(kind: .value(axis: axis, point: stream.uniform())))
    }
    changes = adding(more, to: changes)
    changes = adding(events(in: changes, slot), to: changes)
    var stream = key.with(ordinal: 1).stream(slot: slot)
    if stream.uniform() < 0.25 {
      changes.append(WorldChange(kind: .ties(stream.nextUInt64() >> 11)))
    }
    return changes
  }

  /// Changes with others behind them; what does not go with those before it is left out.
  private func adding(_ more: [WorldChange], to changes: [WorldChange]) -> [WorldChange] {
    if more.isEmpty || (try? compose(changes + more)) != nil { return changes + more }
    return more.reduce(into: changes) { changes, change in
      if (try? compose(changes + [change])) != nil { changes.append(change) }
    }
  }

  /// Where on an axis a world is: at an end of a range more often than chance would have it.
  private func ownPoint(_ axis: Int, _ slot: UInt64) -> Double {
    var stream = key.with(ordinal: UInt32(axis) + 8).stream(slot: slot)
    let (way, point) = (stream.uniform(), stream.uniform())
    guard case .range = axes[axis].domain else { return point }
    return way < 0.125 ? 0 : way < 0.25 ? 1.0.nextDown : point
  }

  /// Scripted events, in half of the worlds.
  private func events(in changes: [WorldChange], _ slot: UInt64) -> [WorldChange] {
    var stream = key.with(ordinal: 2).stream(slot: slot)
    guard stream.uniform() < 0.5, let (_, scenario) = try? compose(changes) else { return [] }
    return (0..<(1 + Int(stream.below(5)))).map { number in
      WorldChange(kind: .event(number), event: BuiltInChanges.event(in: scenario, &stream))
    }
  }

  /// What a world with these changes is.
  ///
  /// Throws: every fault of what is no valid scenario.
  func compose(_ changes: [WorldChange]) throws(Faults) -> (world: World, scenario: Scenario) {
    var values: [VariantValue] = []
    var events: [Node] = []
    var shakeTies: UInt64?
    for change in changes {
      switch change.kind {
      case .seed(let seed):
        values.append(VariantValue(path: "seed", value: .text(String(seed))))
      case .value(let axis, let point):
        let value = axes[axis].value(at: point)
        values.append(VariantValue(path: axes[axis].path, place: axes[axis].place, value: value))
      case .event:
        if let event = change.event { events.append(event) }
      case .ties(let key):
        shakeTies = key
      }
    }
    if !events.isEmpty {
      var all: [Node] = []
      if case .sequence(let written)? = scenario.writtenNode["inject"]?.content { all = written }
      values.append(VariantValue(path: "inject", value: Node(.sequence(all + events))))
    }
    let variant = try scenario.variant(values)
    return (World(node: variant.bareNode(claims: claims), shakeTies: shakeTies), variant)
  }
}

extension StressSpace {
  /// A world as a scenario's text.
  ///
  /// Throws: every fault of a world that is no valid scenario.
  public func text(of world: Int) throws(Faults) -> String {
    try compose(world == 0 ? [] : changes(of: world)).world.node.yaml
  }

  /// A world as an order.
  func order(_ world: World, replays: Bool, most: Int? = nil) -> WorldOrder {
    WorldOrder(
      number: 0, file: scenario.file, text: world.node.yaml, shakeTies: world.shakeTies,
      replays: replays, most: most)
  }

  /// Where a tree has the values of the scenario's own axes.
  func ownPaths() -> [[NodeStep]] {
    axes.prefix(ownCount).compactMap { axis in
      scenario.canonicalPath(axis.path)?.map { step in
        Int(step.dropFirst().dropLast()).flatMap { step.hasPrefix("[") ? .index($0) : nil }
          ?? .key(step)
      }
    }
  }

  /// Points of an axis with simpler values than a point's: of a list the earlier ones, of a range
  /// lower ones, the simplest first.
  func simplerPoints(_ axis: Int, than point: Double) -> [Double] {
    switch axes[axis].domain {
    case .values(let values):
      let place = min(Int(point * Double(values.count)), values.count - 1)
      return (0..<place).map { (Double($0) + 0.5) / Double(values.count) }
    case .range:
      return point > 0 ? [0, point / 4, point / 2, point * 3 / 4] : []
    }
  }
}
