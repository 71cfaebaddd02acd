import CoreMLFormat
import Learning

/// What a Core ML model says of training; nil: nothing.
public struct CoreMLTraining: Equatable, Sendable {
  /// How parameters move.
  public enum Optimizer: Equatable, Sendable {
    case sgd(learningRate: Double, momentum: Double)
    case adam(learningRate: Double, beta1: Double, beta2: Double, epsilon: Double)
  }

  /// Passes over a client's samples.
  public var epochs: Int?
  /// Samples in a batch.
  public var batchSize: Int?
  /// What is lowered.
  public var loss: Network.Loss?
  /// How the parameters move with each batch.
  public var optimizer: Optimizer?

  /// What `updateParams` say.
  ///
  /// Throws: `unsupported` for what FedSim does not do.
  init(_ root: CoreMLRoot) throws(DataFault) {
    guard root.network.hasUpdateParams else { return }
    let parameters = root.network.updateParams
    let place = "\(root.path):updateParams"
    guard parameters.lossLayers.count <= 1 else {
      throw DataFault(
        .unsupported, in: place, found: "\(parameters.lossLayers.count) loss layers",
        expected: "1")
    }
    if let layer = parameters.lossLayers.first { loss = try Self.loss(layer, root, place) }
    if parameters.hasEpochs { epochs = Int(parameters.epochs.defaultValue) }
    guard !parameters.hasShuffle || parameters.shuffle.defaultValue else {
      throw DataFault(
        .unsupported, in: place, found: "shuffle false",
        expected: "true: each epoch is in another order",
        advice: "call set_shuffle() of coremltools, and order batches with task.training.orders")
    }
    guard parameters.hasOptimizer else { return }
    if parameters.optimizer.hasSgdOptimizer {
      let sgd = parameters.optimizer.sgdOptimizer
      if sgd.hasMiniBatchSize { batchSize = Int(sgd.miniBatchSize.defaultValue) }
      optimizer = .sgd(
        learningRate: sgd.learningRate.defaultValue, momentum: sgd.momentum.defaultValue)
    } else if parameters.optimizer.hasAdamOptimizer {
      let adam = parameters.optimizer.adamOptimizer
      if adam.hasMiniBatchSize { batchSize = Int(adam.miniBatchSize.defaultValue) }
      optimizer = .adam(
        learningRate: adam.learningRate.defaultValue, beta1: adam.beta1.defaultValue,
        beta2: adam.beta2.defaultValue, epsilon: adam.eps.defaultValue)
    } else {
      throw DataFault(
        .unsupported, in: place, found: "another optimizer", expected: "SGD or Adam")
    }
  }

  private static func loss(
    _ layer: CoreMLSpecLoss, _ root: CoreMLRoot, _ place: String
  ) throws(DataFault) -> Network.Loss {
    let last = root.network.layers[root.network.layers.count - 1]
    let isCrossEntropy = layer.hasCategoricalCrossEntropyLossLayer
    guard isCrossEntropy || layer.hasMeanSquaredErrorLossLayer else {
      throw DataFault(
        .unsupported, in: place, found: "another loss",
        expected: "categorical cross-entropy or mean squared error")
    }
    let input =
      isCrossEntropy
      ? layer.categoricalCrossEntropyLossLayer.input : layer.meanSquaredErrorLossLayer.input
    guard last.output.first == input else {
      throw DataFault(
        .unsupported, in: place, found: "a loss of '\(input)'",
        expected: "one of the network's output, '\(last.output.first ?? "")'")
    }
    guard isCrossEntropy else { return .meanSquaredError }
    switch last.kind {
    case .softmax, .softmaxNd: return .crossEntropy
    default:
      throw DataFault(
        .unsupported, in: place, found: "cross-entropy behind another layer than a softmax",
        expected: "a softmax as the last layer")
    }
  }
}
