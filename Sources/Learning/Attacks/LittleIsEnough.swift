import Numerics
import Schema

/// Colluders all send the mean of what they trained, moved by some standard deviations: so little
/// that it stays among the honest.
///
/// Source: Baruch, Baruch, Goldberg, "A little is enough: circumventing defenses for distributed
/// learning" (2019), algorithm 3: of each parameter μ − z·σ, with μ and σ over the colluders' own
/// updates. Of n updates m are theirs: s = ⌊n/2 + 1⌋ − m honest ones must be further out for a
/// majority, and z is the greatest with φ(z) < (n − m − s)/(n − m).
public struct LittleIsEnough: Attack {
  public static let name = "a-little-is-enough"
  /// What it does, in one sentence.
  public static let summary = "Colluders send their mean minus a number of standard deviations"

  public struct Settings: PartSettings {
    /// How many standard deviations; nil: by how many updates are whose.
    public var z: Double?
    public init() {}
    public static var shorthand: String? { "z" }
    public static var fields: [Field<Settings>] {
      [
        Field(
          "z", \.z, optional: .number(-1000...1000),
          "Number of standard deviations; absent: the largest number that a majority hides")
      ]
    }
  }

  private let settings: Settings
  public init(_ settings: Settings) { self.settings = settings }

  /// They do.
  public var colludes: Bool { true }

  /// The z of the paper, exact and not from a table: of `updates` in a version `colluders` are
  /// theirs. s is 1 at least, z is 0 at least, and 0 where all are theirs.
  public static func deviations(colluders: Int, of updates: Int) -> Double {
    let honest = updates - colluders
    guard honest > 0 else { return 0 }
    let needed = max(1, updates / 2 + 1 - colluders)
    return max(0, Portable.normalQuantile(above: Double(needed) / Double(honest)))
  }

  /// μ − z·σ. Order: of the colluders.
  public func agreement(_ collusion: Collusion, pool: WorkerPool) -> [Double] {
    let z =
      settings.z ?? Self.deviations(colluders: collusion.colluders, of: collusion.updates)
    let (means, deviations) = collusion.trained.moments(pool: pool)
    return zip(means, deviations).map { $0 - z * $1 }
  }

  /// b + μ − z·σ; what was trained where nobody has agreed on anything. Draws: none.
  public func forge(
    _ update: AttackedUpdate, _ stream: inout RandomStream
  ) -> ParameterBuffer {
    guard let agreed = update.agreed else { return update.parameters }
    return ParameterBuffer(count: update.base.count) { target in
      for i in 0..<target.count {
        target[i] = ParameterBuffer.nearest(Double(update.base[i]) + agreed[i])
      }
    }
  }
}
