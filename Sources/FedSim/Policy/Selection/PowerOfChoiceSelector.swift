import Numerics
import Schema

/// Candidates are drawn by samples, and those with the highest loss train.
///
/// Source: Cho, Wang, Joshi, "Client selection in federated learning: convergence analysis and
/// power-of-choice selection strategies" (2020), §4. With `reported` losses the variant π_rpow-d: a
/// candidate's loss is the mean over the samples that its last training processed, and without
/// bound for one that has not reported any. With `current` ones π_pow-d: the mean loss of the model
/// of now over all of the candidate's samples. *Differs*: there candidates compute it and tell it;
/// here an oracle does, which takes no time, no energy and no bytes.
public struct PowerOfChoiceSelector: CandidateSelector {
  public static let name = "power-of-choice"
  public static let summary =
    "Synchronous rounds: the devices with the highest loss among candidates drawn by samples"

  /// Which losses decide.
  public enum Losses: String, CaseIterable, Sendable {
    /// Those of the last trainings.
    case reported
    /// Those of the model of now.
    case current
  }

  public struct Settings: CohortSettings {
    public var cohort = 6
    /// How many candidates are drawn.
    public var candidates = 12
    /// Which losses decide.
    public var losses = Losses.reported
    public var overSelection = 1.0
    /// How many devices must wait before a cohort is formed; nil: as many as there are candidates.
    public var minimumWaiting: Int?
    public init() {}
    public static var fields: [Field<Settings>] {
      [
        cohortFields[0],
        Field(
          "candidates", \.candidates, .integer(1...10_000_000), "Number of candidates, d"),
        Field(
          "losses", \.losses, .choice,
          "Losses of each candidate's last training (π_rpow-d), or of the current model (π_pow-d),"
            + " which the simulator evaluates without time, energy or bytes"),
        cohortFields[1],
        Field(
          "minimumWaiting", \.minimumWaiting, optional: .integer(1...10_000_000),
          "Waiting devices needed to form a cohort; absent: the number of candidates"),
      ]
    }
    public func contradictions() -> [(key: String, message: String)] {
      candidates < wanted
        ? [("candidates", "\(wanted) members cannot be chosen among \(candidates) candidates")]
        : []
    }
  }

  private let settings: Settings
  public init(_ settings: Settings) { self.settings = settings }

  private var neededWaiting: Int { settings.minimumWaiting ?? settings.candidates }

  /// It looks at samples and losses: of now, unless those that were reported will do.
  public var needs: SelectorNeeds {
    [.facts, settings.losses == .current ? .currentLosses : .losses]
  }
  /// How many it waits for.
  public var rules: CohortRules { CohortRules(neededWaiting: neededWaiting) }

  /// Those drawn by samples, in the order drawn. Draws: one `uniformAboveZero` for each device that
  /// waits.
  public func chooseCandidates(
    from waiting: [CheckIn], _ server: ServerView, _ stream: inout RandomStream,
    _ memory: inout NoMemory
  ) -> [Int]? {
    guard waiting.count >= neededWaiting else { return nil }
    return stream.sample(
      settings.candidates,
      weights: waiting.map { Double(server.facts(of: $0.device).samples) })
  }

  /// Those with the highest losses. One that is no number is without bound. Order: of equal losses
  /// the candidate that was drawn first.
  public func chooseCohort(
    of candidates: [Int], losses: [Double], _ server: ServerView, _ memory: inout NoMemory
  ) -> Cohort? {
    let known = losses.map { $0.isNaN ? .infinity : $0 }
    let ranked = candidates.indices.sorted { a, b in
      known[a] != known[b] ? known[a] > known[b] : a < b
    }
    return settings.cohort(of: ranked.prefix(settings.wanted).map { candidates[$0] })
  }
}
