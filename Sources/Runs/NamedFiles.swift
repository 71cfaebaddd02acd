import Foundation
import Numerics
import Scenarios
import Schema

/// The files that a scenario names for its devices and its server, such as tables of intervals and
/// traces, with the digests of their bytes. (What the task names has a separate digest.)
enum NamedFiles {
  /// SHA-256 of each file, by the path that the scenario gives.
  static func digests(of scenario: Scenario) -> [String: String] {
    var digests: [String: String] = [:]
    for key in ["fleet", "server"] {
      if let node = scenario.resolvedNode[key] { collect(node, scenario, into: &digests) }
    }
    return digests
  }

  private static func collect(
    _ node: Node, _ scenario: Scenario, into digests: inout [String: String]
  ) {
    switch node.content {
    case .scalar(let text, _):
      guard digests[text] == nil, !text.isEmpty, let bytes = contents(scenario.path(of: text))
      else { return }
      var digest = SHA256()
      digest.update(bytes)
      digests[text] = digest.hexDigest()
    case .mapping(let entries):
      for entry in entries { collect(entry.value, scenario, into: &digests) }
    case .sequence(let nodes):
      for node in nodes { collect(node, scenario, into: &digests) }
    default: break
    }
  }

  /// The bytes of a file; nil: there is no file of this name.
  private static func contents(_ path: String) -> Data? {
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return FileManager.default.contents(atPath: path)
  }
}
