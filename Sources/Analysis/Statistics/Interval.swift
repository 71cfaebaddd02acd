/// An interval for an unknown quantity, with the confidence that is claimed for it.
public struct Interval: Codable, Equatable, Sendable {
  /// Its lower end.
  public var low: Double
  /// Its upper end.
  public var high: Double
  /// The confidence, such as 0.95.
  public var level: Double

  /// An interval.
  public init(low: Double, high: Double, level: Double) {
    (self.low, self.high, self.level) = (low, high, level)
  }

  /// Whether a number is in it, ends included.
  public func contains(_ value: Double) -> Bool { low <= value && value <= high }
}
