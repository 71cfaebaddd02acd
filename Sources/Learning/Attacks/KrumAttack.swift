import Numerics
import Schema

/// Colluders all send −λ·s, as far against the direction of learning as Krum still chooses it.
///
/// Source: Fang, Cao, Jia, Gong, "Local model poisoning attacks to Byzantine-robust federated
/// learning" (2020), §4.2 and theorem 1: s is the sign of the mean difference before the attack. Of
/// m updates c are theirs. λ begins at √(minᵢ Σₗ ‖xᵢ − xₗ‖² / ((m − 2c − 1)·d)) + maxᵢ ‖xᵢ‖/√d
/// over the honest differences x, where l are the m − c − 2 nearest to i and d parameters have a
/// sign, and is halved until Krum (f = c) chooses one of theirs, or λ is 10⁻⁵ or less.
///
/// With `knows: colluders` the paper's partial knowledge: their own trainings take the place of
/// the honest ones, and forged updates are added to these, one more each time that no λ is
/// found, up to c.
///
/// *Differs*: all forged updates are equal, where the paper's are 0.01 apart at most. Differences
/// from their own bases take the place of models less the received one.
public struct KrumAttack: Attack {
  public static let name = "fang-krum"
  public static let summary =
    "Colluders move against the direction of learning as far as Krum still chooses them"

  public struct Settings: PartSettings {
    /// Whose trainings are known; nil: the colluders'.
    public var knows: Collusion.Knowledge?
    public init() {}
    public static var fields: [Field<Settings>] { [Collusion.Knowledge.field(\.knows)] }
  }

  /// The least λ that is tried is above this.
  private static let threshold = 1e-5

  private let settings: Settings
  public init(_ settings: Settings) { self.settings = settings }
  /// They do.
  public var colludes: Bool { true }

  /// −λ·s; where nothing is chosen with the last λ.
  ///
  /// Order: of the known updates; the nearest neighbours' distances from the least on.
  public func agreement(_ collusion: Collusion, pool: WorkerPool) -> [Double] {
    let signs = collusion.known(settings.knows).moments(pool: pool).means.map {
      $0 > 0 ? 1.0 : $0 < 0 ? -1.0 : 0
    }
    var factor = 0.0
    if settings.knows == .all, let honest = collusion.honest {
      let field = KrumField(honest, signs, pool: pool)
      factor = Self.factor(field, forged: collusion.colluders, among: collusion.updates).value
    } else {
      let field = KrumField(collusion.trained, signs, pool: pool)
      for forged in 1...collusion.colluders {
        let found = Self.factor(
          field, forged: forged, among: collusion.trained.updates + forged)
        factor = found.value
        if found.isChosen { break }
      }
    }
    return signs.map { 0 - factor * $0 }
  }

  /// The first λ with which Krum chooses a forged update, else the last that was tried.
  private static func factor(
    _ field: KrumField, forged: Int, among updates: Int
  ) -> (value: Double, isChosen: Bool) {
    var value = field.greatest(forged: forged, among: updates)
    while true {
      if field.chooses(value, forged: forged, among: updates) { return (value, true) }
      guard value / 2 > threshold else { return (value, false) }
      value /= 2
    }
  }

  /// b − λ·s. Draws: none.
  public func forge(_ update: AttackedUpdate, _ stream: inout RandomStream) -> ParameterBuffer {
    update.sendingAgreement()
  }
}

/// How far honest updates are from one another and from −λ·s.
private struct KrumField {
  /// ‖xᵢ − xⱼ‖², row by row.
  let pairs: [Double]
  /// ‖xᵢ‖².
  let norms: [Double]
  /// s·xᵢ.
  let products: [Double]
  /// ‖s‖², the number of parameters that have a sign.
  let size: Double

  init(_ honest: UpdateValues, _ signs: [Double], pool: WorkerPool) {
    let size = signs.squaredNorm
    let norms = honest.squaredNorms(pool: pool)
    // ‖xᵢ − s‖² = ‖xᵢ‖² − 2·s·xᵢ + ‖s‖².
    let distances = honest.squaredDistances(to: signs, pool: pool)
    pairs = honest.squaredDistances(pool: pool)
    products = zip(norms, distances).map { ($0 - $1 + size) / 2 }
    (self.norms, self.size) = (norms, size)
  }

  /// The squared distances of an honest update from the other honest ones, from the least on.
  private func nearest(_ place: Int) -> [Double] {
    let count = norms.count
    var row = Array(pairs[place * count..<(place + 1) * count])
    row.remove(at: place)
    return row.sorted()
  }

  /// The λ of theorem 1; an honest update has no more neighbours than there are.
  func greatest(forged: Int, among updates: Int) -> Double {
    guard size > 0 else { return 0 }
    let neighbours = max(1, updates - forged - 2)
    let least = norms.indices.map { nearest($0).prefix(neighbours).reduce(0, +) }.min() ?? 0
    let others = Double(max(1, updates - 2 * forged - 1))
    return (least / (others * size)).squareRoot() + ((norms.max() ?? 0) / size).squareRoot()
  }

  /// Whether Krum chooses a forged update: its score is below that of each honest one.
  func chooses(_ factor: Double, forged: Int, among updates: Int) -> Bool {
    let neighbours = max(1, updates - forged - 2)
    let distances = norms.indices.map {
      max(0, norms[$0] + 2 * factor * products[$0] + factor * factor * size)
    }
    let forgedScore = (Array(repeating: 0, count: forged - 1) + distances.sorted())
      .prefix(neighbours).reduce(0, +)
    return norms.indices.allSatisfy { place in
      let all = (nearest(place) + Array(repeating: distances[place], count: forged)).sorted()
      return forgedScore < all.prefix(neighbours).reduce(0, +)
    }
  }
}
