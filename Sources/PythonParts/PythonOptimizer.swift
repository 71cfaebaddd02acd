import FedSim
import Learning
import Schema

/// A server optimizer in Python.
public struct PythonOptimizer: ServerOptimizer, PythonPart {
  public static let name = "python"
  public static let summary = "A server optimizer of your own in Python (docs/own-policy.md)"
  public typealias Settings = PythonPartSettings<OptimizerSeam>
  public typealias Memory = PythonMemory

  private let settings: Settings
  public init(_ settings: Settings) { self.settings = settings }
  public func makeMemory() -> PythonMemory { PythonMemory() }
  var code: PolicyCode { settings.code }

  public var needsPlainMean: Bool { settings.code.statement.needs.contains("plainMean") }

  private struct Call: Encodable {
    var call = "step"
    var payload: String
    var count: Int
    var stride: Int
    var updates: Int
    var devices: Int
    var size: Int
  }

  /// Asks the class. Arrays: the result, the current model, the combined update.
  public func step(
    from current: ParameterBuffer, by combined: CombinedUpdate, _ memory: inout PythonMemory
  ) -> ParameterBuffer {
    let call = { (area: ArrayArea) in
      Call(
        payload: combined.payload.rawValue, count: area.count, stride: area.stride,
        updates: combined.updates, devices: combined.devices, size: area.bytes)
    }
    return ArrayArea([current, combined.parameters]).call(settings.code, call, memory: &memory)
  }
}
