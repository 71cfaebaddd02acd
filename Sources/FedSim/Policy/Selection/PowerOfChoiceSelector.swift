import Numerics
import Schema

/// Candidates are drawn by samples, and those with the highest loss train.
///
/// Source: Cho, Wang, Joshi, "Client selection in federated learning: convergence analysis and
/// power-of-choice selection strategies" (2020), §4, the variant π_rpow-d: a candidate's loss is
/// the mean over the samples that its last training processed, and without bound for one that has
/// not reported any. Nothing is asked of candidates, so it takes no time and no bytes. *Differs*
/// from π_pow-d, where candidates evaluate the model of now.
public struct PowerOfChoiceSelector: ClientSelector {
  /// Its name in a scenario.
  public static let name = "power-of-choice"
  /// What it does, in one sentence.
  public static let summary =
    "Synchronous rounds: of candidates drawn by samples, those that last reported the highest loss"

  /// What can be set.
  public struct Settings: CohortSettings {
    /// How many updates a round wants.
    public var cohort = 6
    /// How many candidates are drawn.
    public var candidates = 12
    /// How many members are chosen for each update wanted.
    public var overSelection = 1.0
    /// How many devices must wait before a cohort is formed; nil: as many as there are candidates.
    public var minimumWaiting: Int?
    /// The defaults.
    public init() {}
    /// The fields, in the order in which they are documented and written.
    public static var fields: [Field<Settings>] {
      [
        cohortFields[0],
        Field(
          "candidates", \.candidates, .integer(1...10_000_000), "How many candidates are drawn, d"),
        cohortFields[1],
        Field(
          "minimumWaiting", \.minimumWaiting, optional: .integer(1...10_000_000),
          "How many must wait before a cohort is formed; absent: as many as there are candidates"),
      ]
    }
    /// What is wrong with values that are each in range.
    public func contradictions() -> [(key: String, message: String)] {
      candidates < wanted
        ? [("candidates", "\(wanted) members cannot be chosen among \(candidates) candidates")]
        : []
    }
  }

  private let settings: Settings
  /// Made from its settings.
  public init(_ settings: Settings) { self.settings = settings }

  /// It does.
  public var formsCohorts: Bool { true }
  /// How many devices must wait before a cohort is formed.
  public var neededWaiting: Int? { settings.minimumWaiting ?? settings.candidates }
  /// It looks at samples.
  public var needsFacts: Bool { true }
  /// And at losses.
  public var needsLosses: Bool { true }

  /// What a device that asks for work is told.
  public func admit(_ checkIn: CheckIn, _ server: ServerView) -> Admission { .wait }

  /// Draws: one `uniformAboveZero` for each device that waits. Order: of equal losses the candidate
  /// that was drawn first.
  public func cohort(
    from waiting: [CheckIn], _ server: ServerView, _ stream: inout RandomStream
  ) -> Cohort? {
    guard waiting.count >= neededWaiting! else { return nil }
    let facts = waiting.map { server.facts(of: $0.device) }
    let candidates = stream.sample(
      settings.candidates, weights: facts.map { Double($0.samples) })
    let losses = candidates.map { facts[$0].loss ?? .infinity }
    let ranked = candidates.indices.sorted { a, b in
      losses[a] != losses[b] ? losses[a] > losses[b] : a < b
    }
    return settings.cohort(of: ranked.prefix(settings.wanted).map { candidates[$0] })
  }
}
