import Numerics
import Schema

/// In which direction colluders leave the mean of what they know.
///
/// Source: Shejwalkar, Houmansadr, "Manipulating the Byzantine: optimizing model poisoning attacks
/// and defenses for federated learning" (2021), §IV-B.
public enum Perturbation: String, CaseIterable, Sendable {
  /// −σ of each parameter.
  case std
  /// −μ/‖μ‖.
  case unit
  /// −sign(μ) of each parameter; 0 of 0.
  case sign

  /// The direction; μ and σ are those of the known differences.
  func direction(_ means: [Double], _ deviations: [Double]) -> [Double] {
    switch self {
    case .std: return deviations.map { 0 - $0 }
    case .unit:
      let norm = means.squaredNorm.squareRoot()
      return norm > 0 ? means.map { 0 - $0 / norm } : means
    case .sign: return means.map { $0 > 0 ? -1 : $0 < 0 ? 1 : 0 }
    }
  }
}

/// The settings of `min-max` and `min-sum`.
public struct DistanceAttackSettings: PartSettings {
  /// In which direction; nil: by deviations.
  public var perturbation: Perturbation?
  /// Whose trainings are known; nil: the colluders'.
  public var knows: Collusion.Knowledge?
  public init() {}
  public static var fields: [Field<DistanceAttackSettings>] {
    [
      Field(
        "perturbation", \.perturbation, feature: .choice,
        "Direction: minus the standard deviations (`std`, the default), the `unit` vector or the "
          + "`sign` of the mean"),
      Collusion.Knowledge.field(\.knows),
    ]
  }
}

/// Colluders all send μ + γ·p, as far from the mean as the farthest two known updates are apart.
///
/// Source: Shejwalkar and Houmansadr (2021), §IV-C, equation 8: the greatest γ with maxᵢ ‖μ + γ·p −
/// xᵢ‖ ≤ maxᵢⱼ ‖xᵢ − xⱼ‖ over the known differences x. *Differs*: γ is the root of that, not found
/// by halving.
public struct MinMaxAttack: Attack {
  public static let name = "min-max"
  public static let summary =
    "Colluders move their mean until it is as far from an update as two updates are apart"

  public typealias Settings = DistanceAttackSettings
  private let settings: Settings
  public init(_ settings: Settings) { self.settings = settings }
  /// They do.
  public var colludes: Bool { true }

  /// μ + γ·p. Order: of the known updates.
  public func agreement(_ collusion: Collusion, pool: WorkerPool) -> [Double] {
    let moved = MovedMean(collusion.known(settings.knows), settings.perturbation, pool: pool)
    let bound = moved.pairs.max() ?? 0
    let factors = zip(moved.atMean, moved.products).map { distance, product in
      MovedMean.root(moved.squaredLength, product, distance - bound)
    }
    return moved.at(factors.min() ?? 0)
  }

  /// b + what is agreed. Draws: none.
  public func forge(_ update: AttackedUpdate, _ stream: inout RandomStream) -> ParameterBuffer {
    update.sendingAgreement()
  }
}

/// Colluders all send μ + γ·p, whose squared distances from the known updates add up to no more
/// than those of the update for which they add up to most.
///
/// Source: Shejwalkar and Houmansadr (2021), §IV-C, equation 9: the greatest γ with Σᵢ ‖μ + γ·p −
/// xᵢ‖² ≤ maxᵢ Σⱼ ‖xᵢ − xⱼ‖². *Differs*: γ is the root of that, not found by halving.
public struct MinSumAttack: Attack {
  public static let name = "min-sum"
  public static let summary =
    "Colluders move their mean until it is as far from all updates as the outermost update is"

  public typealias Settings = DistanceAttackSettings
  private let settings: Settings
  public init(_ settings: Settings) { self.settings = settings }
  /// They do.
  public var colludes: Bool { true }

  /// μ + γ·p. Order: of the known updates.
  public func agreement(_ collusion: Collusion, pool: WorkerPool) -> [Double] {
    let moved = MovedMean(collusion.known(settings.knows), settings.perturbation, pool: pool)
    let count = moved.atMean.count
    let sums = (0..<count).map { moved.pairs[$0 * count..<($0 + 1) * count].reduce(0, +) }
    let factor = MovedMean.root(
      Double(count) * moved.squaredLength, moved.products.reduce(0, +),
      moved.atMean.reduce(0, +) - (sums.max() ?? 0))
    return moved.at(factor)
  }

  /// b + what is agreed. Draws: none.
  public func forge(_ update: AttackedUpdate, _ stream: inout RandomStream) -> ParameterBuffer {
    update.sendingAgreement()
  }
}

/// The mean of known updates, and how far places in a direction from it are from the updates.
private struct MovedMean {
  /// ‖xᵢ − xⱼ‖², row by row.
  let pairs: [Double]
  /// ‖μ − xᵢ‖².
  let atMean: [Double]
  /// p·(μ − xᵢ).
  let products: [Double]
  /// ‖p‖².
  let squaredLength: Double
  private let means: [Double]
  private let direction: [Double]

  init(_ known: UpdateValues, _ perturbation: Perturbation?, pool: WorkerPool) {
    let (means, deviations) = known.moments(pool: pool)
    let direction = (perturbation ?? .std).direction(means, deviations)
    let atMean = known.squaredDistances(to: means, pool: pool)
    let squaredLength = direction.squaredNorm
    // ‖μ + p − xᵢ‖² = ‖μ − xᵢ‖² + 2·p·(μ − xᵢ) + ‖p‖².
    let further = known.squaredDistances(to: zip(means, direction).map(+), pool: pool)
    pairs = known.squaredDistances(pool: pool)
    products = zip(further, atMean).map { ($0 - $1 - squaredLength) / 2 }
    (self.means, self.direction) = (means, direction)
    (self.atMean, self.squaredLength) = (atMean, squaredLength)
  }

  /// μ + γ·p.
  func at(_ factor: Double) -> [Double] { zip(means, direction).map { $0 + factor * $1 } }

  /// The greatest γ with a·γ² + 2·b·γ + c ≤ 0, where c ≤ 0; 0 where there is no direction.
  static func root(_ a: Double, _ b: Double, _ c: Double) -> Double {
    guard a > 0 else { return 0 }
    return max(0, (max(0, b * b - a * c).squareRoot() - b) / a)
  }
}

extension [Double] {
  /// The sum of squares, from the first on.
  var squaredNorm: Double { reduce(0) { $0 + $1 * $1 } }
}

extension AttackedUpdate {
  /// b + what colluders have agreed on; what was trained where nobody has agreed on anything.
  func sendingAgreement() -> ParameterBuffer {
    guard let agreed else { return parameters }
    return ParameterBuffer(count: base.count) { target in
      for i in 0..<target.count {
        target[i] = ParameterBuffer.nearest(Double(base[i]) + agreed[i])
      }
    }
  }
}
