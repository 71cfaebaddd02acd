import FedSim
import Results

extension ResultDocument.Group {
  /// Says of a table of a run that has not ended which time it is of, and takes back what it says
  /// of whole runs.
  mutating func mark(asOf time: SimTime) {
    attributes.append(.init("asOf", .number(time.seconds)))
    guard let comment = Self.unfinished[name] else { return }
    attributes.removeAll { $0.name == "comment" }
    attributes.insert(.init("comment", .text(comment)), at: 0)
  }

  /// Comments of tables whose sums do not balance while something is under way.
  private static let unfinished: [String: String] = [
    "ledger":
      "Work in progress as of `asOf` has no outcome yet: the sum of the counts is at most "
      + "`opened`.",
    "effort":
      "Work is booked when it ends: work in progress as of `asOf` is in no row of `outcome`.",
    "central":
      "Training at the server on files that devices sent. Files in progress as of `asOf` have no "
      + "outcome yet. Accuracies are computed without virtual time.",
    "identity":
      "heartbeatsDue, as counted by devices, may be more than withheld + unsent + succeeded + "
      + "failed as of `asOf`; accepted, unauthorised and forbidden are the server's counts.",
  ]
}
