/// What it cost a run to reach an accuracy: the cost is after that of the evaluation before, and
/// at most at that of the first version at or above the target.
public struct TargetTime: Codable, Equatable, Sendable {
  /// One cost, as an interval that is open on the left.
  public struct Reach: Codable, Equatable, Sendable {
    /// What is counted.
    public let cost: VersionCurve.Cost
    /// More than this; where the target was not reached, what the run had cost at its end.
    public let after: Double
    /// At most this; nil: the target was not reached, and it would have cost more than `after`.
    public let by: Double?

    /// A cost that was reached by a value, or not after another.
    public init(cost: VersionCurve.Cost, after: Double, by: Double?) {
      (self.cost, self.after, self.by) = (cost, after, by)
    }
  }

  /// The accuracy.
  public let target: Double
  /// The first evaluated version at or above it; nil: none was.
  public let version: Int?
  /// Each cost that the result knows.
  public let reaches: [Reach]

  /// Whether the target was reached.
  public var isReached: Bool { version != nil }

  /// When a run reached an accuracy.
  public init(_ target: Double, of curve: VersionCurve) {
    let evaluated = curve.accuracy.indices.filter { !curve.accuracy[$0].isNaN }
    let place = evaluated.firstIndex { curve.accuracy[$0] >= target }
    self.target = target
    version = place.map { evaluated[$0] }
    reaches = VersionCurve.Cost.allCases.compactMap { cost in
      guard let values = curve[cost], let end = curve.end(cost) else { return nil }
      guard let place else { return Reach(cost: cost, after: end, by: nil) }
      // The initial model costs nothing, and nothing was before it.
      let before = place == 0 ? values[evaluated[0]] : values[evaluated[place - 1]]
      return Reach(cost: cost, after: before, by: values[evaluated[place]])
    }
  }

  /// One cost; nil where the result does not know it.
  public subscript(cost: VersionCurve.Cost) -> Reach? { reaches.first { $0.cost == cost } }
}

/// What it cost several runs of different seeds to reach an accuracy.
public struct TargetTimes: Equatable, Sendable {
  /// The runs.
  public let runs: [TargetTime]

  /// Of these runs.
  public init(_ runs: [TargetTime]) { self.runs = runs }

  /// How many reached it.
  public var reached: Int { runs.count { $0.isReached } }

  /// Kaplan and Meier's estimate of a cost, each at the upper end of its interval; runs that did
  /// not reach the target count as watched until their end.
  public func estimate(_ cost: VersionCurve.Cost) -> ProductLimit {
    let known = runs.compactMap { $0[cost] }
    return ProductLimit(
      happened: known.compactMap(\.by), notUntil: known.filter { $0.by == nil }.map(\.after))
  }

  /// The cost by which half of the runs had reached it; nil: fewer did, or it is not known.
  public func median(_ cost: VersionCurve.Cost) -> Double? { estimate(cost).median }
}
