import Results
import Schema

/// Why a run gave no result.
public enum RunFailure: Error, Sendable {
  /// What the user wrote, or a file that it names, is wrong; nothing was begun.
  case input([Fault])
  /// The result cannot be written where the user wants it; nothing was begun.
  case output(ResultFault)
  /// An unfinished run is next to the result; nothing was begun. With its folder and when it was
  /// begun.
  case unfinished(result: String, folder: String, since: String?)
  /// The run itself failed.
  case failed(String)
}

extension RunFailure: CustomStringConvertible {
  /// How many faults are described.
  public static let mostShown = 20

  /// One line a fault, of the first ones.
  public var description: String {
    switch self {
    case .input(let faults):
      faults.prefix(Self.mostShown).map(\.description).joined(separator: "\n")
    case .output(.missingFolder(let path, let folder)):
      "\(path): the folder \(folder) does not exist; create it, or give another path"
    case .output(let fault): fault.description
    case .unfinished(let result, let folder, let since):
      "\(result): there is an unfinished run\(since.map { " of \($0)" } ?? "") of this result "
        + "(\(folder)); resume it: `fedsim resume \(result)`, recover a partial result: "
        + "`fedsim recover \(result)`, or discard it: --restart"
    case .failed(let reason): reason
    }
  }

  /// How many things are wrong.
  public var count: Int {
    if case .input(let faults) = self { return faults.count }
    return 1
  }

  /// Whether the user can correct it by another scenario, argument or file.
  public var isBadInput: Bool {
    switch self {
    case .failed: false
    case .output(let fault): !fault.isOfTheDisk
    case .input, .unfinished: true
    }
  }

  /// The same of a run that can be resumed.
  func advising(_ result: String) -> RunFailure {
    guard case .failed(let reason) = self else { return self }
    return .failed("\(reason); nothing is lost: `fedsim resume \(result)` continues the run")
  }
}
