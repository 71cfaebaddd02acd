import Analysis
import FedSim
import Foundation
import Results
import Scenarios
import Schema

/// The result that is under a name already: a run replaces its own, and no other.
enum StandingResult {
  /// Sections of a scenario that ask about runs and change none.
  private static let questions = ["expect", "sweep", "stress"]
  /// How many differing settings a message names.
  private static let mostNamed = 5

  /// Refuses to replace what is at a path, if it is not a result of this very run: of the same
  /// settings, the same seed, the same data and the same order of ties.
  ///
  /// Only the file's attributes and texts are read: no table, and no other file.
  /// Throws: `RunFailure.input`, with what differs and the ways out.
  static func refuseOther(
    _ path: String, than scenario: Scenario, _ inputs: SimulationInputs,
    discardsUnfinished: Bool = false,
    advice: String = "name another file with --output, or replace this one with --force"
  ) throws(RunFailure) {
    var status = stat()
    guard stat(path, &status) == 0, status.st_size > 0 else { return }
    guard let root = try? ResultFile.read(path, groups: []).root,
      let text = root[text: "scenario"]
    else { throw StoredRun.refusal(path, "this HDF5 file is not the result of a run; " + advice) }
    // What there is of a run that is given up goes with it.
    if discardsUnfinished, root[attribute: "isComplete"] != nil { return }
    let found = differences(root, text, scenario, inputs)
    guard !found.isEmpty else { return }
    let named = found.prefix(mostNamed).map { ComparisonText.line($0) }.joined(separator: "; ")
    let rest = found.count - mostNamed
    throw StoredRun.refusal(
      path,
      "the result of another run is here, and is not replaced (that run | this one: \(named)"
        + (rest > 0 ? "; and \(Words.count(rest, "more difference"))" : "") + "); " + advice)
  }

  /// In what the run of a file differs from this one.
  private static func differences(
    _ root: ResultDocument.Group, _ text: String, _ scenario: Scenario, _ inputs: SimulationInputs
  ) -> [DocumentComparison.Difference] {
    var found: [DocumentComparison.Difference] = []
    func compare(_ name: String, _ attribute: String, _ value: String?) {
      let stored = root[attribute: attribute].map(\.text)
      if stored != value { found.append(.init(name, stored, value)) }
    }
    if root[attribute: "scenarioDigest"].map(\.text) != scenario.digest {
      // What came later has its default in a scenario of before.
      guard
        let stored = try? Scenario(text: text, file: scenario.file, registry: scenario.registry)
      else { return [.init("scenario", "of another version of FedSim", "of this one")] }
      found = SettingDifferences.between(stored.resolvedNode, scenario.resolvedNode)
      found.removeAll { difference in
        questions.contains { difference.place == $0 || difference.place.hasPrefix("\($0).") }
      }
    }
    compare("--shake-ties", "shakeTies", inputs.shakeTies.map { "\($0)" })
    compare("digest of the data", "dataDigest", inputs.task.digest.hexDigits)
    return found
  }
}
