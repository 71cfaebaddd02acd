/// What a device keeps from one batch to the next: the checkpoint of a local training.
public struct DeviceMemory: Sendable, Codable {
  /// The parameters reached so far.
  public let parameters: ParameterBuffer
  /// The optimiser's own state, one buffer a slot; empty for plain SGD.
  public let optimizerSlots: [ParameterBuffer]

  /// A memory that holds `parameters`.
  public init(parameters: ParameterBuffer, optimizerSlots: [ParameterBuffer] = []) {
    self.parameters = parameters
    self.optimizerSlots = optimizerSlots
  }
}
