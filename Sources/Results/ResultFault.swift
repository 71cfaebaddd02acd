/// What can be wrong with a result file: its path, the document meant for it, or the disk under it.
public enum ResultFault: Error, Equatable, Sendable, Codable {
  /// The folder that should hold the file does not exist.
  case missingFolder(path: String, folder: String)
  /// The path is a folder or a device, not a file; `found` says which.
  case notAFile(path: String, found: String)
  /// The operating system refused a step (`open`, `write`, `fsync`, `rename`…), with its reason.
  case disk(path: String, step: String, reason: String)
  /// An HDF5 call failed at a place inside the file (`/rounds/duration`), with HDF5's reason.
  case hdf5(path: String, place: String, call: String, reason: String)
  /// Another process writes this result now; `process` says which.
  case inUse(path: String, process: String)
  /// A file of a living run does not hold what was written into it.
  case damaged(path: String, found: String)
  /// A document breaks a rule of the layout, so nothing was written.
  case malformed(place: String, found: String, expected: String)
  /// A file that can be opened does not have the layout of a result.
  case notAResult(path: String, place: String, found: String, expected: String)
}

extension ResultFault: CustomStringConvertible {
  /// One line for a log or a terminal.
  public var description: String {
    switch self {
    case .missingFolder(let path, let folder):
      return "\(path): the folder \(folder) does not exist"
    case .notAFile(let path, let found):
      return "\(path): expected a path for a file, found \(found)"
    case .disk(let path, let step, let reason):
      return "\(path): \(step) failed: \(reason)"
    case .hdf5(let path, let place, let call, let reason):
      return "\(path): \(place): \(call) failed: \(reason)"
    case .inUse(let path, let process):
      return "\(path): \(process) is writing this result; wait for its end, or name another file"
    case .damaged(let path, let found):
      return "\(path): \(found)"
    case .malformed(let place, let found, let expected):
      return "\(place): found \(found), expected \(expected)"
    case .notAResult(let path, let place, let found, let expected):
      return "\(path): \(place): found \(found), expected \(expected)"
    }
  }
}
