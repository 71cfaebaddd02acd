import Foundation
import Results
import Schema

/// A result file that was read, whichever version of FedSim made it.
struct StoredResult {
  let path: String
  /// What is in it.
  let document: ResultDocument
  /// The resolved scenario that it holds.
  let scenarioText: String
  /// The version of FedSim that made it.
  let engineVersion: String

  /// Reads a result.
  ///
  /// Throws: `RunFailure.input` for a file that is no result.
  init(_ path: String) throws(RunFailure) {
    self.path = path
    guard FileManager.default.fileExists(atPath: path) else {
      throw StoredRun.refusal(path, UnfinishedRun.absence(of: path))
    }
    do throws(ResultFault) {
      document = try ResultFile.read(path)
    } catch {
      throw StoredRun.refusal(path, "this is not a result of FedSim (\(Self.reason(error)))")
    }
    guard case .text(ResultDocument.conventions)? = document.root[attribute: "Conventions"],
      let text = document.root[text: "scenario"],
      case .text(let version)? = document.root[attribute: "engineVersion"]
    else {
      throw StoredRun.refusal(path, "this is an HDF5 file, but not a result of FedSim")
    }
    (scenarioText, engineVersion) = (text, version)
  }

  private static func reason(_ fault: ResultFault) -> String {
    switch fault {
    case .hdf5(_, let place, let call, let reason): "\(call) at \(place): \(reason)"
    case .notAResult(_, let place, let found, let expected):
      "\(place): found \(found), expected \(expected)"
    default: fault.description
    }
  }

  /// An attribute of the root, as text; nil: there is none.
  func text(of attribute: String) -> String? {
    document.root[attribute: attribute].map(\.text)
  }

  /// The seed of the run.
  var seed: UInt64? {
    if case .unsigned(let seed)? = document.root[attribute: "seed"] { return seed }
    return nil
  }

  /// What to say where the file does not hold what was written into it; nil: it does.
  var alteration: String? {
    let stored = text(of: ResultDocument.digestAttribute)
    let found = document.contentDigest
    return stored == found
      ? nil
      : "\(path) was changed after it was written: its content has the digest \(found), "
        + "but the file contains \(stored ?? "no digest")"
  }
}
