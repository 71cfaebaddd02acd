import Foundation
import Results
import Schema

/// A result file that was read, whichever version of FedSim made it.
struct StoredResult {
  /// The path for messages.
  let path: String
  /// Where the file is.
  let location: String
  /// What is in it.
  let document: ResultDocument
  /// The resolved scenario that it holds.
  let scenarioText: String
  /// The version of FedSim that made it.
  let engineVersion: String
  /// Whether the file is as FedSim wrote it.
  private let isAsWritten: Bool

  /// Reads a result; messages name it `path`, and it is at `location`, where one is given.
  ///
  /// Throws: `RunFailure.input` for a file that is no result.
  init(_ path: String, at location: String? = nil) throws(RunFailure) {
    self.path = path
    self.location = location ?? path
    guard FileManager.default.fileExists(atPath: self.location) else {
      throw StoredRun.refusal(path, UnfinishedRun.absence(of: path))
    }
    do throws(ResultFault) {
      let reading = try ResultFile.reading(self.location)
      (document, isAsWritten) = (reading.document, reading.isAsWritten)
    } catch {
      throw StoredRun.refusal(
        path,
        "this is not a result of FedSim"
          + (Self.kind(of: self.location) ?? " (\(Self.reason(error)))"))
    }
    guard case .text(ResultDocument.conventions)? = document.root[attribute: "Conventions"],
      let text = document.root[text: "scenario"],
      case .text(let version)? = document.root[attribute: "engineVersion"]
    else {
      throw StoredRun.refusal(path, "this is an HDF5 file, but not a result of FedSim")
    }
    (scenarioText, engineVersion) = (text, version)
  }

  /// What a file is that has nothing of HDF5, and what can be done with it; nil: it may be HDF5.
  private static func kind(of path: String) -> String? {
    var isFolder: ObjCBool = false
    if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue {
      return ", but a folder"
    }
    let signature: [UInt8] = [0x89, 0x48, 0x44, 0x46, 0x0D, 0x0A, 0x1A, 0x0A]
    guard let head = StandingFile.head(path), !head.starts(with: signature) else { return nil }
    if head.isEmpty { return ": the file is empty" }
    guard path.hasSuffix(".yaml") || path.hasSuffix(".yml") else {
      return ": it does not begin as an HDF5 file does"
    }
    return ", but a scenario: `fedsim run` plays it and writes its result"
  }

  /// What is wrong, without the path.
  static func reason(_ fault: ResultFault) -> String {
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
    isAsWritten ? nil : Self.alteration(of: document, path)
  }

  /// The same of a document whose file is not as FedSim wrote it.
  static func alteration(of document: ResultDocument, _ path: String) -> String {
    let stored = document.root[attribute: ResultDocument.digestAttribute]?.text
    return "\(path) is not as FedSim wrote it: its content has the digest "
      + "\(document.contentDigest), but the file contains \(stored ?? "no digest")"
  }
}
