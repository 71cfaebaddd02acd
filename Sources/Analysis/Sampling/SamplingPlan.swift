import CGSL
import Numerics

/// Points in the unit cube [0, 1)^d, at which a sweep asks its axes for values.
public enum SamplingPlan: Sendable {
  /// Every coordinate drawn independently.
  case random(seed: UInt64)
  /// Each axis has one point in each of as many equal shares as there are points.
  ///
  /// Source: McKay, Beckman, Conover, "A comparison of three methods for selecting values of input
  /// variables" (1979).
  case latinHypercube(seed: UInt64)
  /// Sobol's sequence without its first point, the origin.
  ///
  /// Source: Bratley, Fox, "Algorithm 659" (1988), as GSL has it.
  case sobol(skip: Int)
  /// Halton's sequence from 1: the digits of the point's number mirrored, axis d in the d-th prime.
  case halton(skip: Int)

  /// The most axes that the plan has points for; nil: as many as one likes.
  ///
  /// Beyond these GSL gives zeros and says nothing, so the limits are ours to hold.
  public var mostAxes: Int? {
    switch self {
    case .random, .latinHypercube: nil
    case .sobol: 40
    case .halton: 1229
    }
  }

  /// The name of the plan in a scenario.
  public var name: String {
    switch self {
    case .random: "random"
    case .latinHypercube: "latinHypercube"
    case .sobol: "sobol"
    case .halton: "halton"
    }
  }

  /// A number of points, each with a number of coordinates.
  ///
  /// Shapes: [point][axis]. Draws: those of `random`, two words a coordinate, from a stream an
  /// axis and point; of `latinHypercube`, a shuffle an axis, then the same. So a point of `random`
  /// depends neither on the number of points nor on that of axes.
  /// Throws: `SamplingFault` where the plan has no points of that number of axes.
  public func points(_ count: Int, axes: Int) throws(SamplingFault) -> [[Double]] {
    precondition(count >= 0 && axes >= 0, "counts are not negative")
    if let mostAxes, axes > mostAxes {
      throw SamplingFault(plan: name, axes: axes, mostAxes: mostAxes)
    }
    switch self {
    case .random(let seed):
      let key = StreamKey(seed: seed, purpose: "sweep.random")
      return (0..<count).map { point in
        (0..<axes).map { axis in
          var stream = key.with(ordinal: UInt32(axis)).stream(slot: UInt64(point))
          return stream.uniform()
        }
      }
    case .latinHypercube(let seed):
      return Self.latinHypercube(count, axes, seed)
    case .sobol(let skip):
      return Self.sequence(cgsl_sobol(), count, axes, skip)
    case .halton(let skip):
      return Self.sequence(cgsl_halton(), count, axes, skip)
    }
  }

  private static func latinHypercube(_ count: Int, _ axes: Int, _ seed: UInt64) -> [[Double]] {
    let places = StreamKey(seed: seed, purpose: "sweep.latinHypercube.places")
    let within = StreamKey(seed: seed, purpose: "sweep.latinHypercube.within")
    var points = [[Double]](repeating: [Double](repeating: 0, count: axes), count: count)
    for axis in 0..<axes {
      var stream = places.with(ordinal: UInt32(axis)).stream(slot: 0)
      var shares = Array(0..<count)
      stream.shuffle(&shares)
      for (point, share) in shares.enumerated() {
        var stream = within.with(ordinal: UInt32(axis)).stream(slot: UInt64(point))
        // The sum may round up to the next share.
        let upper = (Double(share + 1) / Double(count)).nextDown
        points[point][axis] = min((Double(share) + stream.uniform()) / Double(count), upper)
      }
    }
    return points
  }

  private static func sequence(
    _ type: UnsafePointer<gsl_qrng_type>?, _ count: Int, _ axes: Int, _ skip: Int
  ) -> [[Double]] {
    guard axes > 0 else { return [[Double]](repeating: [], count: count) }
    guard let generator = gsl_qrng_alloc(type, UInt32(axes)) else {
      preconditionFailure("GSL has no memory for \(axes) axes")
    }
    defer { gsl_qrng_free(generator) }
    var point = [Double](repeating: 0, count: axes)
    var points: [[Double]] = []
    for number in 0..<(skip + count) {
      guard gsl_qrng_get(generator, &point) == 0 else {
        preconditionFailure("GSL gives no point \(number)")
      }
      if number >= skip { points.append(point) }
    }
    return points
  }
}

/// A plan that has no points of that number of axes.
public struct SamplingFault: Error, Equatable, Sendable, CustomStringConvertible {
  /// The plan's name in a scenario.
  public let plan: String
  /// The axes that were asked for.
  public let axes: Int
  /// The most that there can be.
  public let mostAxes: Int

  /// A plan that was asked for too many axes.
  public init(plan: String, axes: Int, mostAxes: Int) {
    self.plan = plan
    self.axes = axes
    self.mostAxes = mostAxes
  }

  /// One line.
  public var description: String {
    "\(axes) axes, and `\(plan)` has points of at most \(mostAxes)"
  }
}
