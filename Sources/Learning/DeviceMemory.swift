/// What a device keeps from one batch to the next: the checkpoint of a local training.
public struct DeviceMemory: Sendable, Codable {
  /// The parameters reached so far.
  public let parameters: ParameterBuffer
  /// The optimiser's own state, one buffer a slot; empty for plain SGD.
  public let optimizerSlots: [ParameterBuffer]
  /// What the training began with, where its algorithm asks for it.
  public let origin: ParameterBuffer?
  /// What came with the model; empty at first, and where nothing comes.
  public let received: [ParameterBuffer]
  /// What the device's training before this one left; empty for a first one.
  public let kept: [ParameterBuffer]
  /// The sum of the squared losses of all samples processed since the training began; nil where no
  /// batch ran yet, or nobody asks for it.
  public let lossSquares: Double?

  /// A memory that holds `parameters`.
  public init(
    parameters: ParameterBuffer, optimizerSlots: [ParameterBuffer] = [],
    origin: ParameterBuffer? = nil, received: [ParameterBuffer] = [],
    kept: [ParameterBuffer] = [], lossSquares: Double? = nil
  ) {
    self.parameters = parameters
    self.optimizerSlots = optimizerSlots
    self.origin = origin
    self.received = received
    self.kept = kept
    self.lossSquares = lossSquares
  }

  /// The same training some batches later.
  func moved(
    to parameters: ParameterBuffer, optimizerSlots: [ParameterBuffer], lossSquares: Double?
  ) -> DeviceMemory {
    DeviceMemory(
      parameters: parameters, optimizerSlots: optimizerSlots, origin: origin, received: received,
      kept: kept, lossSquares: lossSquares)
  }
}
