import Numerics
import Schema

/// Colluders all send the mean of what they trained, moved by some standard deviations: so little
/// that it stays among the honest.
///
/// Source: Baruch, Baruch, Goldberg, "A little is enough: circumventing defenses for distributed
/// learning" (2019), algorithm 3: of each parameter μ − z·σ, with μ and σ over the colluders' own
/// updates. Of n updates m are theirs: s = ⌊n/2 + 1⌋ − m honest ones must be further out for a
/// majority, and z is the greatest with φ(z) < (n − m − s)/(n − m).
///
/// With `form: flanders` what Flower's baseline of FLANDERS (Gabrielli et al. 2023) runs under this
/// name: μ − z·√σ, with z = Φ((n − m − s)/(n − m)), the distribution function where the paper has
/// its inverse.
public struct LittleIsEnough: Attack {
  public static let name = "a-little-is-enough"
  /// What it does, in one sentence.
  public static let summary = "Colluders send their mean minus a number of standard deviations"

  /// What is sent.
  public enum Form: String, CaseIterable, Sendable {
    /// As in the paper.
    case baruch
    /// As in Flower's baseline of FLANDERS.
    case flanders
  }

  public struct Settings: PartSettings {
    /// How many standard deviations; nil: by how many updates are whose.
    public var z: Double?
    /// Whose trainings are known; nil: the colluders'.
    public var knows: Collusion.Knowledge?
    /// What is sent; nil: as in the paper.
    public var form: Form?
    public init() {}
    public static var shorthand: String? { "z" }
    public static var fields: [Field<Settings>] {
      [
        Field(
          "z", \.z, optional: .number(-1000...1000),
          "Number of standard deviations; absent: the largest number that a majority hides"),
        Collusion.Knowledge.field(\.knows),
        Field(
          "form", \.form, feature: .choice,
          "`baruch` (the default), or `flanders`: as Flower's baseline of FLANDERS computes it"),
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

  /// The z of Flower's baseline: Φ((n − m − s)/(n − m)), where s may be negative; Φ(0) where all
  /// are theirs.
  public static func flandersDeviations(colluders: Int, of updates: Int) -> Double {
    let honest = Double(updates - colluders)
    guard honest > 0 else { return 0.5 }
    let needed = Double(updates / 2 + 1 - colluders)
    let share = (honest - needed) / honest
    return 1 - Portable.exp(Portable.logHalfErfc(share / 2.0.squareRoot()))
  }

  /// μ − z·σ, or μ − z·√σ. Order: of the known updates.
  public func agreement(_ collusion: Collusion, pool: WorkerPool) -> [Double] {
    let (colluders, updates) = (collusion.colluders, collusion.updates)
    let (means, deviations) = collusion.known(settings.knows).moments(pool: pool)
    if settings.form == .flanders {
      let z = settings.z ?? Self.flandersDeviations(colluders: colluders, of: updates)
      return zip(means, deviations).map { $0 - z * $1.squareRoot() }
    }
    let z = settings.z ?? Self.deviations(colluders: colluders, of: updates)
    return zip(means, deviations).map { $0 - z * $1 }
  }

  /// b + what is agreed. Draws: none.
  public func forge(_ update: AttackedUpdate, _ stream: inout RandomStream) -> ParameterBuffer {
    update.sendingAgreement()
  }
}
