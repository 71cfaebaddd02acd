import Learning
import Schema

/// What was made of many updates, by which the model moves.
public struct CombinedUpdate: Sendable {
  /// The combined parameters or differences.
  public let parameters: ParameterBuffer
  /// Which of both they are.
  public let payload: Payload
  /// How many updates went into it.
  public let updates: Int
  /// How many devices the fleet has.
  public let devices: Int

  /// This many updates of so large a fleet, combined; unless it is said, one of one device.
  public init(
    _ parameters: ParameterBuffer, _ payload: Payload, updates: Int = 1, devices: Int = 1
  ) {
    precondition(updates > 0 && devices > 0, "an aggregation has an update, a fleet a device")
    self.parameters = parameters
    self.payload = payload
    self.updates = updates
    self.devices = devices
  }

  /// The pseudo-gradient's opposite: what it would change of the model, Δ.
  public func difference(from current: ParameterBuffer) -> ParameterBuffer {
    switch payload {
    case .delta: parameters
    case .weights: .combining(current, parameters) { $1 - $0 }
    }
  }

  /// The combined model.
  public func model(from current: ParameterBuffer) -> ParameterBuffer {
    switch payload {
    case .delta: .combining(current, parameters) { $0 + $1 }
    case .weights: parameters
    }
  }
}

/// Moves the model by the combined update.
public protocol ServerOptimizer: PolicyPart {
  /// The local algorithm without which it makes no sense, by name; nil: any will do.
  var neededAlgorithm: String? { get }
  /// Whether it makes sense only where every update counts the same.
  var needsPlainMean: Bool { get }
  /// Whether running statistics of batches move as all parameters do; if not, they become the
  /// combined ones.
  var movesStatistics: Bool { get }
  /// The next model.
  func step(
    from current: ParameterBuffer, by combined: CombinedUpdate, _ memory: inout Memory
  ) -> ParameterBuffer
}

extension ServerOptimizer {
  /// Any will do.
  public var neededAlgorithm: String? { nil }
  /// However they count.
  public var needsPlainMean: Bool { false }
  /// They are averages and no gradients.
  public var movesStatistics: Bool { false }

  /// The next model, for somebody who does not know the type of its memory.
  public func step(
    from current: ParameterBuffer, by combined: CombinedUpdate, with memory: inout AnyMemory
  ) -> ParameterBuffer {
    memory.change(Memory.self) { step(from: current, by: combined, &$0) }
  }
}

extension Seam where Value == any ServerOptimizer {
  /// How that one moves the model.
  public static var serverOptimizer: Seam {
    Seam("server optimizer", "How does the server apply the combined update to the model?")
  }
}
