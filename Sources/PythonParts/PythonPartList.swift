import FedSim

/// A part of a policy that is a class in Python.
protocol PythonPart: PolicyPart {
  /// The class.
  var code: PolicyCode { get }
}

/// The parts of a policy that are classes in Python.
public struct PythonPartList: Sendable {
  /// Each once: its seam, `module:class`, and the SHA-256 of its module's file.
  public private(set) var words: [String] = []
  /// What computes them: the versions of Python and of libraries, and the processor.
  public private(set) var versions: [String] = []

  /// The parts of a server, and the parts that those are made of.
  public init(_ server: ServerSettings) {
    var parts: [any PolicyPart] = [server.selector.value.part]
    parts += server.trigger.map { $0.value as any PolicyPart }
    parts += [server.aggregator.value, server.optimizer.value]
    while let part = parts.popLast() {
      parts += part.children
      guard let code = (part as? any PythonPart)?.code else { continue }
      add(code)
    }
    words.sort()
  }

  private mutating func add(_ code: PolicyCode) {
    if !words.contains(code.words) { words.append(code.words) }
    for version in code.statement.versions.map({ "\($0.name) \($0.version)" })
    where !versions.contains(version) { versions.append(version) }
  }
}
