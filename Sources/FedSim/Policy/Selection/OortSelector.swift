import Numerics
import Schema

/// Devices with much to learn from that are fast enough, and some that nobody knows yet.
///
/// Source: Lai et al., "Oort: Efficient federated learning via guided participant selection"
/// (2021), algorithm 1. What *differs* from it, and from the authors' program, is in
/// docs/selection.md.
public struct OortSelector: CohortSelector {
  public static let name = "oort"
  public static let summary =
    "Synchronous rounds: useful and fast devices by their last reports, and unknown devices"

  public struct Settings: CohortSettings {
    public var cohort = 10
    public var overSelection = 1.3
    /// How many devices must wait before a cohort is formed; nil: as many as are chosen.
    public var minimumWaiting: Int?
    /// The share of a cohort that is unknown, before the first round.
    public var exploration = 0.9
    /// What it is multiplied by each round.
    public var explorationDecay = 0.98
    /// Its least value.
    public var explorationMinimum = 0.2
    /// The share of the utility of the last one exploited that suffices.
    public var cutOff = 0.95
    /// The quantile at which utilities are cut.
    public var clip = 0.95
    /// The exponent for devices that are too slow.
    public var penalty = 2.0
    /// The quantile of durations that is fast enough, at first.
    public var pace = 0.3
    /// How much the pacer adds to it.
    public var paceStep = 0.05
    /// How many rounds the pacer compares with as many before.
    public var paceWindow = 20
    /// After this many updates a device is chosen no more; nil: no number.
    public var mostUpdates: Int?
    /// The share of all known devices of which that is so at most.
    public var mostExcluded = 0.3
    public init() {}
    public static var fields: [Field<Settings>] {
      cohortFields + [
        Field(
          "exploration", \.exploration, .fraction,
          "Share of a cohort without reports so far, before the first round (ε)"),
        Field(
          "explorationDecay", \.explorationDecay, .fraction, "Factor on this share after each round"
        ),
        Field("explorationMinimum", \.explorationMinimum, .fraction, "Minimum of this share"),
        Field(
          "cutOff", \.cutOff, .fraction,
          "Devices with at least this share of the last exploited device's utility may be drawn (c)"
        ),
        Field("clip", \.clip, .fraction, "Quantile at which utilities are clipped"),
        Field(
          "penalty", \.penalty, .number(0...100),
          "A device with duration t > T keeps (T / t) to this power of its utility (α)"),
        Field(
          "pace", \.pace, .fraction, "Initial T, as a quantile of known durations; 1: no limit"),
        Field(
          "paceStep", \.paceStep, .fraction, "Step by which the pacer increases the quantile (Δ)"),
        Field(
          "paceWindow", \.paceWindow, .integer(1...1_000_000),
          "Rounds that the pacer compares with the same number of earlier rounds (W)"),
        Field(
          "mostUpdates", \.mostUpdates, optional: .integer(1...1_000_000),
          "Maximum number of updates of a device; then it is not chosen; absent: no limit"),
        Field(
          "mostExcluded", \.mostExcluded, .fraction,
          "Maximum share of known devices excluded in this way"),
      ]
    }
  }

  let settings: Settings
  public init(_ settings: Settings) { self.settings = settings }

  /// It looks at samples, durations and rounds, and at the squares of losses.
  public var needs: SelectorNeeds { [.facts, .lossSquares] }
  /// How many it waits for.
  public var rules: CohortRules { CohortRules(neededWaiting: settings.neededWaiting) }

  /// It has formed no cohort.
  public func makeMemory() -> Pacer { Pacer(settings) }

  /// Draws: one `uniformAboveZero` for each device that may be exploited, then one for each unknown
  /// one, then a `below` for each place that is left. Order: of equal scores the device that is
  /// first in the fleet. Complexity: O(n·log n) in the devices known.
  public func chooseCohort(
    from waiting: [CheckIn], _ server: ServerView, _ stream: inout RandomStream,
    _ memory: inout Pacer
  ) -> Cohort? {
    guard waiting.count >= settings.neededWaiting else { return nil }
    let excluded = excluded(server)
    let places = waiting.indices.filter { !excluded(waiting[$0].device) }
    guard places.count >= settings.neededWaiting else { return nil }
    memory.look(at: server, settings)
    let facts = places.map { server.facts(of: waiting[$0].device) }
    let known = facts.indices.filter { facts[$0].loss != nil }
    let unknown = facts.indices.filter { facts[$0].loss == nil }
    let wanted = min(settings.wanted, places.count)

    let scores = Self.scores(
      known.map { facts[$0] }, round: server.round,
      duration: Self.quantile(
        memory.pace, of: server.known.compactMap { $0.duration?.seconds }), settings)
    let share = unknown.isEmpty ? 0 : memory.exploration
    let exploited = Int(Double(wanted) * (1 - share) + 1e-9)
    var chosen = exploit(min(exploited, known.count), scores, &stream).map { known[$0] }
    memory.exploits(chosen.map { waiting[places[$0]].device }, in: server.round)
    chosen += stream.sample(
      wanted - chosen.count, weights: unknown.map { Double(facts[$0].samples) }
    ).map { unknown[$0] }
    if chosen.count < wanted {
      var isChosen = [Bool](repeating: false, count: places.count)
      for place in chosen { isChosen[place] = true }
      let rest = places.indices.filter { !isChosen[$0] }
      chosen += stream.sample(wanted - chosen.count, below: rest.count).map { rest[Int($0)] }
    }
    return settings.cohort(of: chosen.map { places[$0] })
  }

  /// Places among the scores: drawn by score out of those that are good enough.
  private func exploit(
    _ count: Int, _ scores: [Double], _ stream: inout RandomStream
  ) -> [Int] {
    guard count > 0 else { return [] }
    let order = scores.indices.sorted {
      scores[$0] != scores[$1] ? scores[$0] > scores[$1] : $0 < $1
    }
    let least = scores[order[count - 1]] * settings.cutOff
    let pool = order.filter { scores[$0] >= least }
    return stream.sample(count, weights: pool.map { scores[$0] }).map { pool[$0] }
  }

  /// Whether a device has been in this many versions that it is chosen no more.
  private func excluded(_ server: ServerView) -> (Int) -> Bool {
    guard let most = settings.mostUpdates else { return { _ in false } }
    let known = server.known.indices.filter { server.known[$0].checkIns > 0 }
    let over = known.filter { server.known[$0].timesAggregated > most }.sorted {
      let (a, b) = (server.known[$0].timesAggregated, server.known[$1].timesAggregated)
      return a != b ? a > b : $0 < $1
    }
    var isExcluded = [Bool](repeating: false, count: server.known.count)
    for device in over.prefix(Int(Double(known.count) * settings.mostExcluded + 1e-9)) {
      isExcluded[device] = true
    }
    return { isExcluded.indices.contains($0) && isExcluded[$0] }
  }
}

extension OortSelector {
  /// The element of a sorted list at a share of its length; nil where there is none, or for 1.
  static func quantile(_ share: Double, of values: [Double]) -> Double? {
    guard share < 1, !values.isEmpty else { return nil }
    return values.sorted()[min(Int(Double(values.count) * share), values.count - 1)]
  }

  /// The utility of devices that have reported, of which the last reports are these.
  ///
  /// Uᵢ = nᵢ·√(mean of the squared losses), cut at a quantile and scaled to [0, 1] by the
  /// extremes; plus √(0.1·ln R / Lᵢ) with R the round and Lᵢ that of the report; times (T/tᵢ)^α
  /// where tᵢ > T. Losses that are no finite numbers count as none.
  package static func scores(
    _ facts: [DeviceFacts], round: Int, duration: Double?, _ settings: Settings
  ) -> [Double] {
    let utilities = facts.map { facts in
      let utility = facts.statisticalUtility ?? 0
      return utility.isFinite ? max(0, utility) : 0
    }
    guard let most = utilities.max() else { return [] }
    let least = utilities.min()! * 0.999
    let range = max(most - least, 1e-4)
    let clip = quantile(settings.clip, of: utilities) ?? most
    return zip(facts, utilities).map { facts, utility in
      let age = 0.1 * Portable.log(Double(max(1, round))) / Double(max(1, facts.lossRound))
      let score = (min(utility, clip) - least) / range + age.squareRoot()
      guard let duration, let own = facts.duration?.seconds, own > duration else { return score }
      return score * Portable.exp(settings.penalty * Portable.log(duration / own))
    }
  }
}
