import Learning
import Schema

/// Moves the model by a rate times the combined update; at rate 1 `weights` simply replace it.
public struct ServerSGD: ServerOptimizer {
  public static let name = "sgd"
  /// What it does, in one sentence.
  public static let summary = "Adds the combined update times a learning rate to the model"

  public struct Settings: PartSettings {
    /// The rate.
    public var learningRate = 1.0
    public init() {}
    public static var shorthand: String? { "learningRate" }
    public static var fields: [Field<Settings>] {
      [Field("learningRate", \.learningRate, .positive, "Server learning rate")]
    }
  }

  private let settings: Settings
  public init(_ settings: Settings) { self.settings = settings }

  /// Order: element by element, in `Double`, rounded to float once.
  public func step(
    from current: ParameterBuffer, by combined: CombinedUpdate, _ memory: inout NoMemory
  ) -> ParameterBuffer {
    let rate = settings.learningRate
    let isDelta = combined.payload == .delta
    if !isDelta, rate == 1 { return combined.parameters }
    return ParameterBuffer(count: current.count) { target in
      current.withUnsafeBufferPointer { now in
        combined.parameters.withUnsafeBufferPointer { new in
          for i in 0..<target.count {
            let step = isDelta ? Double(new[i]) : Double(new[i]) - Double(now[i])
            target[i] = Float(Double(now[i]) + rate * step)
          }
        }
      }
    }
  }
}
