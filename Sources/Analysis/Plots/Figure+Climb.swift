extension Figure {
  /// How much of its way a curve has to make before its plateau begins.
  private static let climb = 0.8
  /// In which share of the horizontal axis it has to be made, and which share of the heights the
  /// rest may need, for the climb to be left out.
  private static let mostWidth = 0.2
  private static let mostHeight = 0.5

  /// Begins the vertical axis where the plateaus of the curves do, so that they are not flat lines
  /// at the top of a steep climb; a note says from where the curves come.
  ///
  /// Nothing is left out where a curve climbs slowly, does not climb, or falls back later.
  mutating func leaveOutClimb() {
    let curves = series.map { $0.mark.climbing }.filter { !$0.isEmpty }
    let places = x.range.map { [$0.lowerBound, $0.upperBound] } ?? curves.flatMap { $0.map(\.x) }
    let values = curves.flatMap { $0 }
    guard let left = places.min(), let right = places.max(),
      let lowest = values.map(\.low).min(), let highest = values.map(\.high).max()
    else { return }
    var low = highest
    for curve in curves {
      let (first, best) = (curve[0].y, curve.map(\.y).max() ?? curve[0].y)
      let goal = first + Self.climb * (best - first)
      guard let start = curve.firstIndex(where: { $0.y >= goal }),
        curve[start].x - left <= Self.mostWidth * (right - left)
      else { return }
      low = min(low, curve[start...].map(\.low).min() ?? low)
    }
    guard highest > low, highest - low <= Self.mostHeight * (highest - lowest) else { return }
    let scale = Scale([low, highest], y.quantity, isRounded: true, from: 0, to: 1)
    guard scale.low > lowest else { return }
    y.range = scale.low...scale.high
    startsBelow = lowest
  }
}

extension Figure.Mark {
  /// The known points of a curve over time, with the range around each.
  fileprivate var climbing: [(x: Double, y: Double, low: Double, high: Double)] {
    switch self {
    case .columns: []
    case .line(let points), .step(let points):
      points.filter { $0.x.isFinite && $0.y.isFinite }.map { ($0.x, $0.y, $0.y, $0.y) }
    case .band(let points):
      points.filter { $0.x.isFinite && $0.low.isFinite && $0.middle.isFinite && $0.high.isFinite }
        .map { ($0.x, $0.middle, $0.low, $0.high) }
    }
  }

  /// Without what is before the last value below an axis that begins at `low`; a curve then comes
  /// from the axis where it crosses it.
  func begun(at low: Double) -> Figure.Mark {
    switch self {
    case .columns: return self
    case .line(let points): return .line(Self.begun(points, at: low))
    case .step(let points): return .step(Self.begun(points, at: low))
    case .band(let points):
      guard let last = points.lastIndex(where: { $0.low < low }) else { return self }
      return .band(Array(points[(last + 1)...]))
    }
  }

  private static func begun(_ points: [Figure.Point], at low: Double) -> [Figure.Point] {
    guard let last = points.lastIndex(where: { $0.y < low }) else { return points }
    guard last + 1 < points.count else { return [] }
    return [.init(points[last + 1].x, low)] + points[(last + 1)...]
  }
}
