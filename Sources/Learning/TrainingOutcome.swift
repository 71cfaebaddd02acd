/// What a local training leaves: its memory, which goes out as the update or stays as the
/// checkpoint, and its sums.
public struct TrainingOutcome: Sendable {
  /// The training's state after its last batch.
  public let memory: DeviceMemory
  /// Sum over the samples processed of the loss each had when its batch ran.
  ///
  /// Order: batch by batch, in a batch sample by sample.
  public let lossSum: Double
  /// Samples processed by these batches, repetitions counted.
  public let samplesProcessed: Int

  /// The parameters after the last batch.
  public var parameters: ParameterBuffer { memory.parameters }

  /// What a training of some batches left.
  public init(memory: DeviceMemory, lossSum: Double, samplesProcessed: Int) {
    self.memory = memory
    self.lossSum = lossSum
    self.samplesProcessed = samplesProcessed
  }
}
