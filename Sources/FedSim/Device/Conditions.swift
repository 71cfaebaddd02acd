/// A set of conditions, in the order in which they are looked at.
public struct Conditions: Hashable, Sendable, ExpressibleByArrayLiteral {
  /// A bit for each, by its raw value.
  private var bits: UInt32 = 0

  /// These conditions.
  public init(arrayLiteral conditions: Condition...) { self.init(conditions) }

  /// These conditions.
  public init(_ conditions: some Sequence<Condition>) { for one in conditions { insert(one) } }

  /// Whether there is none.
  public var isEmpty: Bool { bits == 0 }
  /// How many there are.
  public var count: Int { bits.nonzeroBitCount }

  /// Whether a condition is among them.
  public func contains(_ condition: Condition) -> Bool { bits & 1 << condition.rawValue != 0 }

  /// Adds a condition.
  public mutating func insert(_ condition: Condition) { bits |= 1 << condition.rawValue }

  /// Those of either.
  public func union(_ other: Conditions) -> Conditions {
    var both = self
    both.bits |= other.bits
    return both
  }

  /// Those of both.
  @inline(__always)
  func intersection(_ other: Conditions) -> Conditions {
    var both = self
    both.bits &= other.bits
    return both
  }

  /// Whether all of the other ones are among these.
  public func isSuperset(of other: Conditions) -> Bool { bits & other.bits == other.bits }

  /// The first that does not hold at a time for a device in this view; nil: all hold.
  @inline(__always)
  package func firstUnmet(_ view: ConditionView, at now: SimTime) -> Condition? {
    var rest = bits
    while rest != 0 {
      let condition = Condition.at(UInt8(truncatingIfNeeded: rest.trailingZeroBitCount))
      if !condition.holds(view, at: now) { return condition }
      rest &= rest &- 1
    }
    return nil
  }

  /// Those of them that hold at a time for a device in this view.
  package func held(_ view: ConditionView, at now: SimTime) -> Conditions {
    var held: Conditions = []
    for condition in Condition.allCases where contains(condition) {
      if condition.holds(view, at: now) { held.insert(condition) }
    }
    return held
  }

  // MARK: Whose they are

  /// Conditions that are cheap to look at, and that only a change opens. Before the last of them
  /// the list has no condition that time can open: if one of these does not hold, the first
  /// condition that does not hold is opened by a change, whichever it is.
  package static let first: Conditions = [.charging, .online, .wifi, .unmetered]

  /// What someone looks at for devices of a group.
  package init(askedBy asker: Condition.Asker, of group: FleetGroupSettings) {
    self.init(Condition.allCases.filter { $0.isAsked(by: asker, of: group) })
  }

  /// What a device of a group needs to begin to train, as far as the world decides it.
  package init(ofTheWorldFor group: FleetGroupSettings) {
    let start: Condition.Asker = group.background.processing != nil ? .processing : .window
    self.init(
      Condition.allCases.filter {
        $0.isOfTheWorld
          && ($0.isAsked(by: start, of: group) || $0.isAsked(by: .app, of: group))
      })
  }

  // MARK: In reports

  /// The order of reports, in which the first of equals is named; others follow as they are looked
  /// at.
  private static let reported: [Condition] = [
    .idle, .charging, .online, .wifi, .unmetered, .window, .refreshOn, .on, .energy, .cool, .used,
    .notSwiped, .runTime, .startsLeft, .request, .due,
  ]

  /// One by one, in the order of reports.
  public var inReports: [Condition] {
    (Self.reported + Condition.allCases.filter { !Self.reported.contains($0) }).filter(contains)
  }

  /// The fewest of these conditions that never held at once, the first in the order of reports;
  /// empty if all of them once did. `held` lists what held at each moment.
  package func missing(in held: [Conditions]) -> Conditions {
    let held = held.reduce(into: [Conditions]()) { if !$0.contains($1) { $0.append($1) } }
    let all = inReports
    var best: Conditions = []
    for choice in 1..<(1 << all.count) where best.isEmpty || choice.nonzeroBitCount < best.count {
      let subset = Conditions(all.indices.filter { choice >> $0 & 1 == 1 }.map { all[$0] })
      if !held.contains(where: { $0.isSuperset(of: subset) }) { best = subset }
    }
    return best
  }
}
