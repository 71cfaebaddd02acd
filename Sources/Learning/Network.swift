import Numerics

/// A feed-forward classifier: layers one behind the other, trained on softmax cross-entropy.
///
/// Shapes: a dense layer's weight is [in][out], its bias [out].
public struct Network: Equatable, Sendable {
  /// A kind of layer. More kinds will come.
  public enum Layer: Equatable, Sendable {
    /// Every output sees every input.
    case dense(outputs: Int, activation: Activation)
  }

  /// What follows a layer's sums.
  public enum Activation: Equatable, Sendable {
    /// Nothing.
    case identity
    /// The positive part.
    case relu
  }

  /// One dense layer with its place in the parameters.
  struct Dense: Equatable {
    let inputs: Int
    let outputs: Int
    let activation: Activation
    let weight: Int
    let bias: Int
  }

  /// How many values one sample has.
  public let inputCount: Int
  /// The layers from input to output; the last gives the logits.
  public let layers: [Layer]
  /// Which tensor lies where in the parameters.
  public let layout: ParameterLayout
  let dense: [Dense]

  /// A network of these layers over `inputCount` values a sample.
  ///
  /// Its tensors are `dense1.weight`, `dense1.bias`, `dense2.weight` and so on.
  public init(inputCount: Int, layers: [Layer]) {
    precondition(inputCount > 0 && !layers.isEmpty, "a network has inputs and layers")
    var dense: [Dense] = []
    var shapes: [(name: String, shape: [Int])] = []
    var inputs = inputCount
    var offset = 0
    for (index, layer) in layers.enumerated() {
      let outputs: Int
      let activation: Activation
      switch layer {
      case .dense(let count, let kind): (outputs, activation) = (count, kind)
      }
      precondition(outputs > 0, "a layer has outputs")
      dense.append(
        Dense(
          inputs: inputs, outputs: outputs, activation: activation, weight: offset,
          bias: offset + inputs * outputs))
      shapes.append(("dense\(index + 1).weight", [inputs, outputs]))
      shapes.append(("dense\(index + 1).bias", [outputs]))
      offset += inputs * outputs + outputs
      inputs = outputs
    }
    self.inputCount = inputCount
    self.layers = layers
    self.dense = dense
    layout = ParameterLayout(packing: shapes)
  }

  /// Softmax regression: one dense layer from the inputs to the classes.
  public static func softmaxRegression(inputCount: Int, classCount: Int) -> Network {
    multilayerPerceptron(inputCount: inputCount, hidden: [], classCount: classCount)
  }

  /// Dense layers of the `hidden` sizes, each with ReLU, and a dense layer to the classes.
  public static func multilayerPerceptron(
    inputCount: Int, hidden: [Int], classCount: Int
  ) -> Network {
    Network(
      inputCount: inputCount,
      layers: hidden.map { .dense(outputs: $0, activation: .relu) }
        + [.dense(outputs: classCount, activation: .identity)])
  }

  /// How many classes the network tells apart.
  public var classCount: Int { dense[dense.count - 1].outputs }

  /// Multiply-adds, counted as two operations, of one sample's forward and backward pass.
  ///
  /// Forward, weight gradient, and input gradient of all layers but the first; biases and
  /// activations are not counted.
  public var trainingOperationsPerSample: Int {
    var operations = 0
    for (index, layer) in dense.enumerated() {
      operations += layer.inputs * layer.outputs * (index == 0 ? 4 : 6)
    }
    return operations
  }

  /// Fresh parameters: each layer uniform on ±1/√(its inputs), weight then bias, in layer order.
  ///
  /// Draws: one `uniform()` a parameter, in order of the layout.
  public func initialParameters(_ stream: RandomStream) -> ParameterBuffer {
    var stream = stream
    return ParameterBuffer(count: layout.count) { target in
      var index = 0
      for layer in dense {
        let bound = 1 / Double(layer.inputs).squareRoot()
        for _ in 0..<layer.inputs * layer.outputs + layer.outputs {
          target[index] = Float((2 * stream.uniform() - 1) * bound)
          index += 1
        }
      }
    }
  }
}
