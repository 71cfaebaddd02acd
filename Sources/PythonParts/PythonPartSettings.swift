import FedSim
import Schema

/// A seam whose parts can be code in Python.
public protocol PythonSeam: Sendable {
  /// Its name in messages.
  static var name: String { get }
}

/// The aggregator's seam.
public enum AggregatorSeam: PythonSeam { public static let name = "aggregator" }
/// The trigger's seam.
public enum TriggerSeam: PythonSeam { public static let name = "trigger" }
/// The selector's seam.
public enum SelectorSeam: PythonSeam { public static let name = "selector" }
/// The server optimizer's seam.
public enum OptimizerSeam: PythonSeam { public static let name = "optimizer" }

/// A class in Python, as a scenario names it.
public struct CodeName: Sendable {
  /// `module:class`.
  public let text: String
  /// The scenario's folder, where modules are looked for first.
  public let folder: String
}

extension Form where Value == CodeName {
  /// `module:class`.
  static var code: Form {
    let expected = "`module:class`, such as `my_policy:Patient`"
    return Form(
      shape: .text, expected: expected,
      read: { node, reader in
        guard case .scalar(let text, _) = node.content else {
          reader.report(node, expected: expected)
          return nil
        }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty }) else {
          reader.report(node, expected: expected)
          return nil
        }
        return CodeName(text: text, folder: reader.folder)
      }, write: { .quoted($0.text) })
  }
}

/// Which code in Python is a part.
public struct PythonPartSettings<S: PythonSeam>: PartSettings {
  /// `module:class`.
  public var part = CodeName(text: "", folder: ".")
  /// What the class is called with, by the names of its parameters.
  public var settings = Node.mapping([])
  /// How long a call may take.
  public var timeout = SimDuration.minutes(10)
  /// The interpreter; nil: it is looked for.
  public var interpreter: String?

  public init() {}

  /// A bare value is the class.
  public static var shorthand: String? { "part" }

  public static var fields: [Field<Self>] {
    [
      Field(
        "part", \.part, .code, required: true,
        "`module:class`, looked for next to the scenario, then on Python's path"
          + " (docs/own-policy.md)"
      ),
      Field(
        "settings", \.settings, .anyMapping,
        "What the class is called with, by the names of its parameters"),
      Field(
        "timeout", \.timeout, .duration(atLeast: .milliseconds(100)),
        "How long a call may take, in real time; a longer one ends the run"),
      Field(
        "interpreter", \.interpreter, optional: .text,
        "Python's command; absent: `FEDSIM_PYTHON`, that next to the command `fedsim`, or"
          + " `python3`"),
    ]
  }

  /// The class is loaded: what is wrong with it is wrong with the scenario.
  public func contradictions() -> [(key: String, message: String)] {
    code.fault.map { [("part", $0)] } ?? []
  }

  /// The code, shared by all parts with these settings.
  var code: PolicyCode {
    PolicyCode.shared(
      PolicyCode.Key(
        seam: S.name, part: part.text, folder: part.folder, settings: settings.json,
        timeout: timeout, interpreter: interpreter))
  }
}
