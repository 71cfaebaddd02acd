/// One figure: a title, two axes and marks on them.
///
/// `svg` depends on the values alone: the same bytes every time. Units on the page are CSS pixels.
public struct Figure: Sendable {
  /// An axis.
  public struct Axis: Sendable {
    /// Its title, with its unit where the numbers do not show it.
    public var label: String
    /// What its numbers are.
    public var quantity: Quantity
    /// Whether it reaches down to zero whatever the data.
    public var includesZero: Bool
    /// Its range where that does not follow from the data.
    public var range: ClosedRange<Double>?

    /// An axis.
    public init(
      _ label: String, _ quantity: Quantity = .number, includesZero: Bool = false,
      range: ClosedRange<Double>? = nil
    ) {
      (self.label, self.quantity) = (label, quantity)
      (self.includesZero, self.range) = (includesZero, range)
    }
  }

  /// What is drawn; later curves cover earlier ones.
  public enum Mark: Sendable {
    /// A line through points.
    case line([Point])
    /// A line that keeps its value until the next point.
    case step([Point])
    /// The area between two values at each place, with a line between them.
    case band([BandPoint])
    /// A bar from zero at each place, so wide in the axis's units.
    case columns([Point], width: Double)
  }

  /// A place and a value.
  public struct Point: Sendable, Equatable {
    /// Along the horizontal axis.
    public var x: Double
    /// Along the vertical axis; NaN: a gap.
    public var y: Double
    /// A point.
    public init(_ x: Double, _ y: Double) { (self.x, self.y) = (x, y) }
  }

  /// A place with a value and a range around it.
  public struct BandPoint: Sendable, Equatable {
    /// Along the horizontal axis.
    public var x: Double
    /// The lower end, the middle and the upper end.
    public var low: Double, middle: Double, high: Double
    /// A point with a range.
    public init(_ x: Double, low: Double, middle: Double, high: Double) {
      (self.x, self.low, self.middle, self.high) = (x, low, middle, high)
    }
  }

  /// A mark with its name in the legend.
  public struct Series: Sendable {
    /// Its label in the legend.
    public var name: String
    /// What is drawn.
    public var mark: Mark
    /// Its look, from 0 to 7; nil: by its place in the figure.
    public var look: Int?
    /// A series.
    public init(_ name: String, _ mark: Mark, look: Int? = nil) {
      (self.name, self.mark, self.look) = (name, mark, look)
    }
  }

  /// What is seen.
  public var title: String
  /// The horizontal axis.
  public var x: Axis
  /// The vertical axis.
  public var y: Axis
  /// What is drawn.
  public var series: [Series]
  /// Whether a series that is alone has its name above it too.
  public var namesOne = false
  /// The value, below the vertical axis, at which curves start that are drawn from the axis on;
  /// nil: all is drawn.
  public var startsBelow: Double?
  /// The width; the height follows from the legend.
  public var width = 440.0
  /// The height of the plot itself.
  public var plotHeight = 190.0

  /// A figure.
  public init(_ title: String, x: Axis, y: Axis, _ series: [Series]) {
    (self.title, self.x, self.y, self.series) = (title, x, y, series)
  }

  /// Whether any series has a number to show.
  public var isEmpty: Bool {
    series.allSatisfy { $0.mark.points.allSatisfy { !$0.y.isFinite || !$0.x.isFinite } }
  }

  /// Whether all that is shown is at one place, so that nothing can be seen along the axis.
  public var isOfOnePlace: Bool {
    let known = series.flatMap { one in
      if case .columns = one.mark { return one.mark.places.filter(\.isFinite) }
      return one.mark.points.filter { $0.x.isFinite && $0.y.isFinite }.map(\.x)
    }
    return known.allSatisfy { $0 == known[0] }
  }
}

extension Figure.Mark {
  /// The points that can be read off it: of a band, its middle.
  var points: [Figure.Point] {
    switch self {
    case .line(let points), .step(let points), .columns(let points, _): points
    case .band(let points): points.map { .init($0.x, $0.middle) }
    }
  }

  /// All values that the vertical axis has to hold.
  var heights: [Double] {
    switch self {
    case .band(let points): points.flatMap { [$0.low, $0.middle, $0.high] }
    case .columns(let points, _): points.map(\.y) + [0]
    default: points.map(\.y)
    }
  }

  /// All places that the horizontal axis has to hold.
  var places: [Double] {
    switch self {
    case .columns(let points, let width):
      points.flatMap { [$0.x - width / 2, $0.x + width / 2] }
    default: points.map(\.x)
    }
  }
}
