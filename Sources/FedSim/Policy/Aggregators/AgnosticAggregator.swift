import Learning
import Schema

/// Updates count by the weight of their domain, and domains gain weight the higher their loss is.
///
/// Source: Mohri, Sivek, Suresh, "Agnostic federated learning" (2019), equation 4 and §4
/// (Stochastic-AFL): the model descends Σ λₖ·Lₖ, and λ ascends it: λ ← Π(λ + γ·L), with L the
/// losses of the model before and Π the projection on the simplex. Domains without an update in a
/// version keep their λ; the others share what they have.
public struct AgnosticAggregator: Aggregator {
  public static let name = "agnostic"
  /// What it does, in one sentence.
  public static let summary = "AFL: domains with a higher loss gain weight"

  /// What a domain is.
  public enum Domain: String, CaseIterable, Sendable {
    /// A group of the fleet.
    case groups
    /// A device.
    case devices
  }

  public struct Settings: PartSettings {
    /// How far λ goes in a step.
    public var rate = 0.1
    /// What a domain is.
    public var domains = Domain.groups
    /// What the updates of a domain count.
    public var weights = UpdateWeights.samples
    public init() {}
    public static var shorthand: String? { "rate" }
    public static var fields: [Field<Settings>] {
      [
        Field(
          "rate", \.rate, .number(0...1000),
          "Rate at which domain weights follow the losses, gamma; 0: equal weights"),
        Field("domains", \.domains, .choice, "What a domain is: a group of the fleet, or a device"),
        Field(
          "weights", \.weights, .choice,
          "Weight of an update in its domain: equal, or by its samples"),
      ]
    }
  }

  private let settings: Settings
  public init(_ settings: Settings) { self.settings = settings }

  public var countsStaleness: Bool { true }
  /// Losses are those of what trainings began with.
  public var needs: AggregatorNeeds { .baseLosses }

  public struct Memory: Codable, Sendable {
    /// λ of each domain; empty before the first version: all weigh the same.
    public internal(set) var weights: [Double] = []
  }

  /// All domains weigh the same.
  public func makeMemory() -> Memory { Memory() }

  /// The combination by the λ of now, and the next λ.
  ///
  /// Order: of the updates. Where all domains of the version have λ = 0 the model stays as it is.
  /// Complexity: O(updates · parameters + domains); 8 bytes a domain are kept.
  public func combine(_ batch: AggregationBatch, _ memory: inout Memory) -> ParameterBuffer {
    let sizes = batch.groupSizes
    let count = settings.domains == .groups ? sizes.count : sizes.reduce(0, +)
    if memory.weights.count != count { memory.weights = Self.equal(count) }
    let runs = runs(of: batch)
    let mixture = runs.map { memory.weights[$0.domain] }
    let shares = Self.shares(mixture)
    let facts = batch.facts
    var weights: [Double] = []
    for (run, share) in zip(runs, shares) {
      weights += settings.weights.of(Array(facts[run.updates])).map { share * $0 }
    }
    raise(&memory.weights, runs, facts, batch)
    guard shares.contains(where: { $0 > 0 }) else {
      return batch.payload == .weights
        ? batch.current : ParameterBuffer(count: batch.current.count) { _ in }
    }
    return batch.weightedSum(weights)
  }

  /// λ, where groups are the domains.
  public func groupWeights(of groups: Int, _ memory: Memory) -> [Double]? {
    guard settings.domains == .groups else { return nil }
    return memory.weights.isEmpty ? Self.equal(groups) : memory.weights
  }

  private static func equal(_ count: Int) -> [Double] {
    Array(repeating: 1 / Double(count), count: count)
  }

  /// The updates of one domain: they follow one another, since devices do.
  private struct Run {
    let domain: Int
    var updates: Range<Int>
  }

  private func runs(of batch: AggregationBatch) -> [Run] {
    var (group, end) = (0, batch.groupSizes[0])
    var runs: [Run] = []
    for (place, update) in batch.updates.enumerated() {
      while update.device >= end {
        group += 1
        end += batch.groupSizes[group]
      }
      let domain = settings.domains == .groups ? group : update.device
      if runs.last?.domain == domain {
        runs[runs.count - 1].updates = runs[runs.count - 1].updates.lowerBound..<place + 1
      } else {
        runs.append(Run(domain: domain, updates: place..<place + 1))
      }
    }
    return runs
  }

  /// λ of the domains that are there, as shares of what they have together: exactly the same where
  /// all are equal. Zeros where they have nothing.
  private static func shares(_ mixture: [Double]) -> [Double] {
    let total = mixture.reduce(0, +)
    guard total > 0 else { return mixture.map { _ in 0 } }
    if mixture.allSatisfy({ $0 == mixture[0] }) {
      return mixture.map { _ in 1 / Double(mixture.count) }
    }
    return mixture.map { $0 / total }
  }

  /// One step of λ, among the domains that are there.
  private func raise(
    _ mixture: inout [Double], _ runs: [Run], _ facts: [UpdateFacts], _ batch: AggregationBatch
  ) {
    guard settings.rate > 0, runs.count > 1 else { return }
    let mass =
      runs.count == mixture.count ? 1 : runs.reduce(0.0) { $0 + mixture[$1.domain] }
    guard mass > 0 else { return }
    let raised = runs.map { run in
      // The loss of a domain is the mean over its samples.
      let shares = UpdateWeights.samples.of(Array(facts[run.updates]))
      let loss = zip(shares, batch.updates[run.updates]).reduce(0.0) { sum, pair in
        sum + pair.0 * Self.finite(pair.1.baseLoss ?? 0)
      }
      return mixture[run.domain] + settings.rate * loss
    }
    for (run, value) in zip(runs, Self.projection(raised, mass: mass)) {
      mixture[run.domain] = value
    }
  }

  /// A loss that is no number counts as the largest float.
  private static func finite(_ loss: Double) -> Double {
    let most = Double(Float.greatestFiniteMagnitude)
    return loss.isNaN ? most : min(max(loss, -most), most)
  }

  /// The nearest point, by Euclid, whose coordinates are 0 or more and add up to `mass`.
  ///
  /// Source: Duchi et al., "Efficient projections onto the ℓ₁-ball for learning in high dimensions"
  /// (2008), figure 1. All coordinates are lowered by the largest first, which changes nothing but
  /// what rounding takes. Complexity: O(n · log n).
  public static func projection(_ point: [Double], mass: Double = 1) -> [Double] {
    guard let top = point.max() else { return [] }
    var (sum, threshold) = (0.0, 0.0)
    for (place, value) in point.map({ $0 - top }).sorted(by: >).enumerated() {
      sum += value
      let candidate = (sum - mass) / Double(place + 1)
      guard value > candidate else { break }
      threshold = candidate
    }
    return point.map { max(0, $0 - top - threshold) }
  }
}
