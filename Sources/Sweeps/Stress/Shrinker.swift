import Runs
import Scenarios
import Schema

/// Makes a world that fails smaller, as long as it fails in the same way.
///
/// An invariant has to hold in every world, so any smaller world will do. A claim holds where its
/// author says, so changes are taken back and values moved within their ranges; keys are left out
/// where the run stays the same; and the run is shortened and its fleet made smaller only if the
/// claim holds of a run in which nothing happens, so that it is not broken by that alone.
///
/// Order: candidates are tried in an order that is fixed, and the first that fails is taken,
/// however many are played at once.
struct Shrinker {
  /// How much may be tried.
  struct Budget {
    var trials: Int
    var deadline: ContinuousClock.Instant?
  }

  let space: StressSpace
  let player: any WorldPlayer
  let target: Trial.Finding
  private(set) var best: World
  /// The value of the best one.
  private(set) var finding: Trial.Finding
  private(set) var trials = 0
  private var digests: [String]
  /// Turns with which a candidate is given up: what is smaller to read may not take longer to play.
  private let most: Int?
  private let budget: Budget
  private let replays: Bool

  init(
    _ space: StressSpace, _ player: any WorldPlayer, _ world: World, _ answer: WorldAnswer,
    _ target: Trial.Finding, _ budget: Budget, replays: Bool
  ) {
    (self.space, self.player, self.target, best, finding) = (space, player, target, world, target)
    (self.budget, self.replays) = (budget, replays)
    digests = Self.digests(answer)
    most = answer.trial?.turns.map { max(1000, 2 * $0) }
  }

  private static func digests(_ answer: WorldAnswer) -> [String] {
    answer.trial.map { [$0.eventDigest, $0.modelDigest] } ?? []
  }

  private var isOver: Bool {
    trials >= budget.trials || player.isInterrupted || budget.deadline.map { $0 <= .now } ?? false
  }

  // MARK: Trying

  /// Takes the first world that still fails; its number, nil where none does.
  private mutating func take(
    first worlds: [World], keepsRun: Bool = false
  ) throws(RunFailure) -> Int? {
    var start = 0
    while start < worlds.count, !isOver {
      let batch = worlds[start..<min(start + player.width, worlds.count)]
      trials += batch.count
      let answers = try player.play(
        batch.map { space.order($0, replays: replays, most: most) }, until: budget.deadline)
      for (offset, answer) in answers.enumerated() {
        guard let answer, let found = answer.findings.first(where: { $0.kind == target.kind })
        else { continue }
        if keepsRun, Self.digests(answer) != digests { continue }
        best = worlds[start + offset]
        finding = found
        digests = Self.digests(answer)
        return start + offset
      }
      start += batch.count
    }
    return nil
  }

  /// Whether a claim holds of a run in which nothing happens.
  private mutating func holdsOfNothing() throws(RunFailure) -> Bool {
    let stop = Node.mapping([("after", .text("1 ms"))])
    var nothing = best
    nothing.node = nothing.node.with(stop, at: [.key("stop")]).with(nil, at: [.key("inject")])
    trials += 1
    let answer = try player.play([space.order(nothing, replays: false)], until: nil)[0]
    guard let answer, answer.trial != nil else { return false }
    return !answer.findings.contains { $0.kind == target.kind }
  }

  // MARK: Changes

  /// All of it, for a world that was drawn with these changes.
  mutating func shrink(_ changes: [WorldChange]) throws(RunFailure) {
    let changes = try takeBack(changes)
    if target.isClaim {
      try moveValues(changes)
      if try holdsOfNothing() { try makeSmaller(sparing: space.ownPaths()) }
      try leaveOut(keepsRun: true)
    } else {
      if space.claims != nil {
        try replace([.key("expect")], by: nil)
      }
      try makeSmaller(sparing: [])
      // For times alone, if that is enough.
      try replace([.key("task")], by: .text("none"))
      try leaveOut(keepsRun: false)
      try makeSmaller(sparing: [])
      try roundNumbers()
      try leaveOut(keepsRun: false)
    }
  }

  /// Takes changes back, many at once first; those that are left.
  private mutating func takeBack(_ changes: [WorldChange]) throws(RunFailure) -> [WorldChange] {
    var left = changes
    var size = left.count
    while size > 0, !isOver {
      var start = 0
      while start < left.count, !isOver {
        var fewer: [[WorldChange]] = []
        for first in stride(from: start, to: left.count, by: size) {
          fewer.append(Array(left[..<first]) + Array(left.dropFirst(first + size)))
        }
        let worlds = fewer.map { try? space.compose($0).world }
        let valid = worlds.indices.filter { worlds[$0] != nil }
        guard let hit = try take(first: valid.compactMap { worlds[$0] }) else { break }
        left = fewer[valid[hit]]
        start += valid[hit] * size
      }
      size /= 2
    }
    return left
  }

  /// Moves values towards the first of a list, and the lower end of a range.
  private mutating func moveValues(_ changes: [WorldChange]) throws(RunFailure) {
    var changes = changes
    for place in changes.indices {
      guard case .value(let axis, var point) = changes[place].kind else { continue }
      for _ in 0..<4 where !isOver {
        let points = space.simplerPoints(axis, than: point)
        var moved: [(World, Double)] = []
        for simpler in points {
          var other = changes
          other[place].kind = .value(axis: axis, point: simpler)
          if let world = try? space.compose(other).world { moved.append((world, simpler)) }
        }
        guard let hit = try take(first: moved.map(\.0)) else { break }
        point = moved[hit].1
        changes[place].kind = .value(axis: axis, point: point)
        if case .values = space.axes[axis].domain { break }
      }
    }
  }

  // MARK: The tree

  private mutating func replace(
    _ path: [NodeStep], by value: Node?
  ) throws(RunFailure) {
    var world = best
    world.node = world.node.with(value, at: path[...])
    _ = try take(first: [world])
  }

  /// What bounds the cost of a run: the defaults are 30 days of a network on 60,000 images.
  private static let bounds: [[NodeStep]] = [
    ["stop"], ["stop", "after"], ["task"], ["task", "data"], ["task", "data", "source"],
    ["task", "model"],
  ].map { $0.map { .key($0) } }

  /// Leaves out keys and entries of lists, the large ones first, until nothing more can go; what
  /// bounds the run stays.
  private mutating func leaveOut(keepsRun: Bool) throws(RunFailure) {
    var isSmaller = true
    while isSmaller, !isOver {
      isSmaller = false
      var start = 0
      while !isOver {
        let paths = best.node.paths.filter {
          ($0.first != .key("expect") || (2...3).contains($0.count)) && !Self.bounds.contains($0)
        }
        guard start < paths.count else { break }
        let worlds = paths[start...].map { path in
          World(node: best.node.with(nil, at: path[...]), shakeTies: best.shakeTies)
        }
        guard let hit = try take(first: worlds, keepsRun: keepsRun) else { break }
        isSmaller = true
        start += hit
      }
    }
  }

  /// A shorter run, and fewer devices, of keys whose paths are not among these.
  private mutating func makeSmaller(sparing spared: [[NodeStep]]) throws(RunFailure) {
    if best.node["stop"] == nil { try replace([.key("stop")], by: .text("1 d")) }
    var paths: [[NodeStep]] = [[.key("stop"), .key("after")], [.key("stop")]]
    if case .sequence(let groups)? = best.node["fleet"]?.content {
      paths += groups.indices.map { [.key("fleet"), .index($0), .key("count")] }
    }
    for path in paths where !spared.contains(path) { try lower(path) }
  }

  /// Simpler numbers, one after the other.
  private mutating func roundNumbers() throws(RunFailure) {
    for path in best.node.paths where path.first != .key("expect") && !isOver {
      try lower(path)
    }
  }

  /// Lowers a number as far as it goes: to the least values first, then by halves.
  private mutating func lower(_ path: [NodeStep]) throws(RunFailure) {
    for _ in 0..<16 where !isOver {
      guard let number = best.node.at(path)?.number else { return }
      let worlds = number.lower.map { value in
        World(node: best.node.with(value.node, at: path[...]), shakeTies: best.shakeTies)
      }
      guard let hit = try take(first: worlds) else { return }
      if hit == 0 { return }
    }
  }
}

extension SweepNumber {
  /// Simpler numbers below this one, the simplest first.
  fileprivate var lower: [SweepNumber] {
    var values: [Double] = family == .number ? [0, 1, 2] : []
    if family == .duration { values = [1e6, 60e6, 3600e6] }
    var half = (value / 2).rounded(.down)
    // Whole minutes, where there are many.
    if family == .duration, half > 600e6 { half = (half / 60e6).rounded(.down) * 60e6 }
    let isWhole = value == value.rounded()
    if isWhole { values += [half, (value * 3 / 4).rounded(.down)] }
    if isWhole, family == .number { values.append(value - 1) }
    var seen: [Double] = []
    for value in values where value < self.value && value >= 0 && !seen.contains(value) {
      seen.append(value)
    }
    return seen.map { SweepNumber($0, family) }
  }
}
