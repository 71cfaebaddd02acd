import FedSim
import Foundation
import Results
import Scenarios
import Schema

/// A run as its result file tells it: enough to play it again.
struct StoredRun {
  /// The result file.
  let path: String
  /// What is in it.
  let document: ResultDocument
  /// The scenario that it holds.
  let scenario: Scenario
  /// What to say where the file is not as FedSim wrote it.
  let alteration: String?

  /// Reads a result.
  ///
  /// `folder` is where paths in the scenario start; nil: where the scenario was when it was run,
  /// as the provenance next to the result says, or else the result's own folder.
  /// Throws: `RunFailure.input` for a file that is no result, or that another version made.
  init(_ path: String, folder: String?, registry: Registry) throws(RunFailure) {
    try self.init(StoredResult(path), folder: folder, registry: registry)
  }

  /// The run of a result that was read.
  init(_ result: StoredResult, folder: String?, registry: Registry) throws(RunFailure) {
    (path, document, alteration) = (result.path, result.document, result.alteration)
    guard result.engineVersion == FedSimVersion.current else {
      throw Self.refusal(
        path,
        "this is a result of FedSim \(result.engineVersion), but this is "
          + "\(FedSimVersion.current), which could simulate it differently; use the version of "
          + "the result"
      )
    }
    guard document.root[attribute: "isComplete"] == nil else {
      throw Self.refusal(
        path,
        "this result is incomplete: its run is still running, or was interrupted and can be resumed"
          + " (`fedsim resume`)")
    }
    let place = folder.map { $0 + "/" } ?? Self.folder(of: path)
    do throws(Faults) {
      scenario = try Scenario(
        text: result.scenarioText, file: place + "scenario.yaml", registry: registry)
    } catch {
      throw .input(error.faults)
    }
  }

  /// A fault of a file that is no good.
  static func refusal(_ path: String, _ message: String) -> RunFailure {
    .input([Fault(at: Place(file: path), .file(message))])
  }

  /// Where the scenario was, with a `/` at its end.
  private static func folder(of path: String) -> String {
    func folder(_ path: String) -> String {
      path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
    }
    struct Beside: Decodable { var scenario: String? }
    if let data = FileManager.default.contents(atPath: Provenance.path(for: path)),
      let scenario = (try? JSONDecoder().decode(Beside.self, from: data))?.scenario,
      !scenario.isEmpty
    {
      return folder(scenario)
    }
    return folder(path)
  }

  /// The rounds that the run had, the one that was open at its end included.
  var roundCount: Int { document["rounds"]?[variable: "round"]?.values.count ?? 0 }

  /// All that the run depends on, read again.
  ///
  /// Throws: `RunFailure.input` for files that are missing, wrong, or not as they were.
  func inputs(_ options: RunOptions) throws(RunFailure) -> SimulationInputs {
    var options = options
    if case .unsigned(let key)? = document.root[attribute: "shakeTies"] { options.shakeTies = key }
    let inputs: SimulationInputs
    do throws(Faults) { inputs = try scenario.inputs(options) } catch { throw .input(error.faults) }
    let digest = inputs.task.digest.hexDigits
    guard case .text(digest)? = document.root[attribute: "dataDigest"] else {
      throw Self.refusal(
        path,
        "the run's data have changed since the run: their digest is now \(digest)")
    }
    return inputs
  }

  /// Whether a run that was played again is the one of the file: all its events, and how everything
  /// ended.
  func isSame(_ simulation: Simulation) -> Bool {
    guard
      case .text(simulation.eventDigest.value.hexDigits)? = document.root[attribute: "eventDigest"]
    else { return false }
    let ledgers = simulation.books.ledgers
    func counts(_ name: String) -> [Int64]? {
      guard case .int64(let counts)? = document["ledger"]?[variable: name]?.values else {
        return nil
      }
      return counts
    }
    return counts("attempts") == LedgerTable.counts(ledgers.attempts, AttemptOutcome.rare)
      && counts("updates") == LedgerTable.counts(ledgers.updates, UpdateOutcome.rare)
      && counts("transmissions")
        == LedgerTable.counts(ledgers.transmissions, TransmissionOutcome.rare)
  }
}
