/// How the learning rate changes over a device's own steps.
///
/// A device does not know the server's round: steps are the batches of one local training, from 0
/// on, and every training begins at the schedule's start again.
public enum LearningRateSchedule: Equatable, Sendable, Codable {
  /// The same all the time.
  case constant
  /// Times `factor` after each `every` steps.
  case step(every: Int, factor: Double)
  /// Times `factor` after each step.
  case exponential(factor: Double)
  /// Half a cosine from 1 down to `minimum`, which the step after the last would have.
  case cosine(minimum: Double)

  /// What the learning rate is multiplied with at `step` of `count`.
  public func factor(step: Int, of count: Int) -> Double {
    switch self {
    case .constant: 1
    case .step(let every, let factor): Self.power(factor, step / every)
    case .exponential(let factor): Self.power(factor, step)
    case .cosine(let minimum):
      minimum + (1 - minimum) * (1 + Self.cosineOfHalfTurns(Double(step) / Double(count))) / 2
    }
  }

  /// One multiplication after the other.
  private static func power(_ base: Double, _ exponent: Int) -> Double {
    var result = 1.0
    for _ in 0..<exponent { result *= base }
    return result
  }

  /// cos πx for x in 0...1, by its power series around 0 for x ≤ ½; portable, to 10⁻¹⁵.
  private static func cosineOfHalfTurns(_ x: Double) -> Double {
    if x > 0.5 { return -cosineOfHalfTurns(1 - x) }
    let square = -(x * Double.pi) * (x * Double.pi)
    var sum = 1.0
    for n in stride(from: 22.0, through: 2, by: -2) { sum = 1 + sum * square / (n * (n - 1)) }
    return sum
  }
}
