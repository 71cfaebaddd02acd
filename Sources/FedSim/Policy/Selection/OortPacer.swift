extension OortSelector {
  /// What Oort remembers from one cohort to the next: how much it explores, which durations are
  /// fast enough, whom it exploited, and what came of that.
  public struct Pacer: Codable, Sendable {
    /// The share of a cohort that is unknown.
    public private(set) var exploration: Double
    /// The quantile of durations that is fast enough.
    public private(set) var pace: Double
    /// The mean utility of those exploited in each round, of the last rounds; the newest last.
    private var history: [Double] = []
    /// The round of the cohort before, and those of it that were exploited.
    private var lastRound = 0
    private var exploited: [Int] = []
    /// How many cohorts were formed.
    private var cohorts = 0

    /// The beginning.
    init(_ settings: Settings) { (exploration, pace) = (settings.exploration, settings.pace) }

    /// Takes in what came of the cohort before, and moves the pace.
    ///
    /// Order: of those exploited. Source: algorithm 1, lines 5 and 6: where the last W rounds
    /// brought less than the W before, slower devices are taken; here it is looked at once in W
    /// rounds, as in the authors' program.
    mutating func look(at server: ServerView, _ settings: Settings) {
      exploration = max(exploration * settings.explorationDecay, settings.explorationMinimum)
      if cohorts > 0 {
        var (sum, count) = (0.0, 0)
        for device in exploited {
          let facts = server.facts(of: device)
          guard facts.lossRound == lastRound, let utility = facts.statisticalUtility,
            utility.isFinite
          else { continue }
          sum += utility
          count += 1
        }
        history.append(count > 0 ? sum / Double(count) : 0)
      }
      cohorts += 1
      let window = settings.paceWindow
      if history.count > 2 * window { history.removeFirst(history.count - 2 * window) }
      guard history.count == 2 * window, (cohorts - 1) % window == 0 else { return }
      let before = history.prefix(window).reduce(0, +)
      let now = history.suffix(window).reduce(0, +)
      if before > now { pace = min(1, pace + settings.paceStep) }
    }

    /// These are exploited in a round.
    mutating func exploits(_ devices: [Int], in round: Int) {
      lastRound = round
      exploited = devices
    }
  }
}
