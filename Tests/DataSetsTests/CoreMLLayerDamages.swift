extension CoreMLDamageTests {
  /// What is wrong with a layer, or is no layer of FedSim.
  static let layerDamages: [Damage] = [
    Damage(
      "an unknown layer",
      "m.mlmodel:layer 2 (relu): found a layer `upsample`, expected one that FedSim has "
        + "(docs/models.md)"
    ) {
      $0[403][1, 1].set(130, nil)
      $0[403][1, 1].set(210, .bytes([]))
    },
    Damage(
      "a layer of the future",
      "m.mlmodel:layer 2 (relu): found a layer `field 9999`, expected one that FedSim has "
        + "(docs/models.md)"
    ) {
      $0[403][1, 1].set(130, nil)
      $0[403][1, 1].set(9999, .bytes([]))
    },
    Damage(
      "a layer of no kind",
      "m.mlmodel:layer 2 (relu): found a layer of no kind, expected one that FedSim has "
        + "(docs/models.md)"
    ) {
      $0[403][1, 1].set(130, nil)
    },
    Damage(
      "another activation",
      "m.mlmodel:layer 2 (relu): found another activation, expected linear, ReLU, leaky "
        + "ReLU, tanh or sigmoid"
    ) {
      $0[403][1, 1][130] = ProtobufBytes([0x92, 3, 0])
    },
    Damage(
      "a branch",
      "m.mlmodel:layer 3 (out): found input (x), expected 1 input, 'b2': each layer takes "
        + "what the one before it gives"
    ) {
      $0[403][1, 2].set(2, .bytes(Array("x".utf8)))
    },
    Damage(
      "two inputs of a layer",
      "m.mlmodel:layer 3 (out): found inputs (b2, x), expected 1 input, 'b2': each layer "
        + "takes what the one before it gives"
    ) {
      $0[403][1, 2].fields.append((2, .bytes(Array("x".utf8))))
    },
    Damage("two outputs of a layer", "m.mlmodel:layer 3 (out): found 2 outputs (b3, y), expected 1")
    {
      $0[403][1, 2].fields.append((3, .bytes(Array("y".utf8))))
    },
    Damage(
      "quantised weights",
      "m.mlmodel:layer 1 (hidden): found weights quantised to 4 bits, expected 32-bit or "
        + "16-bit floats; training needs floats: take the model from before its quantisation"
    ) {
      $0[403][1][140][20].set(1, nil)
      $0[403][1][140][20].set(30, .bytes([UInt8](repeating: 0, count: 15)))
      $0[403][1][140][20].set(40, .bytes([8, 4]))
    },
    Damage(
      "weights of one byte",
      "m.mlmodel:layer 1 (hidden): found weights quantised to 8 bits, expected 32-bit or "
        + "16-bit floats; training needs floats: take the model from before its quantisation"
    ) {
      $0[403][1][140][20].set(1, nil)
      $0[403][1][140][20].set(31, .bytes([UInt8](repeating: 0, count: 30)))
    },
    Damage(
      "an odd length of 16-bit floats", of: "words",
      "m.mlmodel:layer 1 (words): found weights of 65 bytes, expected a multiple of 2"
    ) {
      $0[500][1][150][20].set(2, .bytes([UInt8](repeating: 0, count: 65)))
    },
    Damage(
      "16-bit floats that are trained",
      "m.mlmodel:layer 1 (hidden): found weights of 16 bits in an updatable layer, expected "
        + "32-bit floats, as Core ML trains them"
    ) {
      $0[403][1][140][20].set(1, nil)
      $0[403][1][140][20].set(2, .bytes([UInt8](repeating: 0, count: 60)))
    },
    Damage("a weight too few", "m.mlmodel:layer 1 (hidden): found 29 weights, expected 30") {
      $0[403][1][140][20].set(1, .bytes([UInt8](repeating: 0, count: 116)))
    },
    Damage("no weights", "m.mlmodel:layer 1 (hidden): found 0 weights, expected 30") {
      $0[403][1][140][20].set(1, nil)
    },
    Damage(
      "weights that are not finite",
      "m.mlmodel:layer 1 (hidden): found weights that are not all finite, expected finite numbers"
    ) {
      $0[403][1][140][20].set(1, .bytes([UInt8](repeating: 255, count: 120)))
    },
    Damage(
      "more outputs than weights",
      "m.mlmodel:layer 1 (hidden): found weights of shape [6, 268435456], expected at most "
        + "536870912"
    ) {
      $0[403][1][140].set(2, .number(1 << 28))
    },
    Damage(
      "no outputs", "m.mlmodel:layer 1 (hidden): found 0 output channels, expected 1 to 268435456"
    ) {
      $0[403][1][140].set(2, nil)
    },
    Damage(
      "another width",
      "m.mlmodel:layer 1 (hidden): found 7 input channels behind [6], expected as many "
        + "inputs as come"
    ) {
      $0[403][1][140].set(1, .number(7))
    },
    Damage(
      "weights that are not updatable",
      "m.mlmodel:layer 1 (hidden): found weights that are not updatable, expected the same "
        + "as the layer, which is updatable"
    ) {
      $0[403][1][140][20].set(50, nil)
    },
    Damage(
      "a layer without biases",
      "m.mlmodel:layer 1 (hidden): found an updatable layer without biases, expected biases: "
        + "FedSim trains them, and writes them back; give has_bias=True and zeros"
    ) {
      $0[403][1][140].set(10, nil)
    },
    Damage(
      "products of 8 bits",
      "m.mlmodel:layer 1 (hidden): found products of 8 bits (int8DynamicQuantize), expected "
        + "products of floats"
    ) {
      $0[403][1][140].set(22, .number(1))
    },
    Damage(
      "three labels",
      "m.mlmodel:layer 4 (softmax): found 4 outputs, expected one for each of 3 class labels"
    ) {
      $0[403][100].fields.removeLast()
    },
    Damage(
      "nothing updatable",
      "m.mlmodel: found no updatable layer, expected at least one: nothing would be trained; "
        + "mark layers with NeuralNetworkBuilder.make_updatable of coremltools"
    ) {
      $0.set(10, nil)
    },
    Damage(
      "an activation that is updatable",
      "m.mlmodel:layer 2 (relu): found an updatable layer without weights that are trained, "
        + "expected isUpdatable false"
    ) {
      $0[403][1, 1].set(10, .number(1))
    },
    Damage(
      "no shuffling",
      "m.mlmodel:updateParams: found shuffle false, expected true: each epoch is in another "
        + "order; call set_shuffle() of coremltools, and order batches with "
        + "task.training.orders"
    ) {
      $0[403][10].set(10, .bytes([]))
    },
    Damage(
      "another optimiser", "m.mlmodel:updateParams: found another optimizer, expected SGD or Adam"
    ) {
      $0[403][10].set(2, .bytes([0x7a, 0]))
    },
    Damage(
      "a loss of an inner layer",
      "m.mlmodel:updateParams: found a loss of 'b1', expected one of the network's output, 'p'"
    ) {
      $0[403][10][1][10].set(1, .bytes(Array("b1".utf8)))
    },
    Damage("two losses", "m.mlmodel:updateParams: found 2 loss layers, expected 1") {
      $0[403][10].fields.append((1, .bytes([])))
    },
    Damage(
      "a dilated filter", of: "convolutional",
      "m.mlmodel:layer 1 (conv1): found dilation [2, 2], expected 1"
    ) {
      $0[500][1][100].set(40, .bytes([2, 2]))
    },
    Damage(
      "a filter that is not square", of: "convolutional",
      "m.mlmodel:layer 1 (conv1): found kernel [3, 2], expected the same along both axes, "
        + "from 1 to 1000"
    ) {
      $0[500][1][100].set(20, .bytes([3, 2]))
    },
    Damage(
      "a deconvolution", of: "convolutional",
      "m.mlmodel:layer 1 (conv1): found a deconvolution, expected a convolution"
    ) {
      $0[500][1][100].set(60, .number(1))
    },
    Damage(
      "other channels", of: "convolutional",
      "m.mlmodel:layer 1 (conv1): found 2 kernel channels in 3 groups, expected 2 input channels"
    ) {
      $0[500][1][100].set(10, .number(3))
    },
    Damage(
      "windows beyond the image", of: "convolutional",
      "m.mlmodel:layer 4 (pool1): found windows of 9 over 8 pixels, expected smaller ones"
    ) {
      $0[500][1, 3][120].set(10, .bytes([9, 9]))
    },
    Damage(
      "pooling that pads", of: "convolutional",
      "m.mlmodel:layer 4 (pool1): found pooling with padding, expected windows inside the image"
    ) {
      $0[500][1, 3][120].set(30, nil)
      $0[500][1, 3][120].set(31, .bytes([]))
    },
    Damage(
      "a variance below 0", of: "convolutional",
      "m.mlmodel:layer 2 (norm1): found a variance below 0, or 0 without epsilon, expected above 0"
    ) {
      $0[500][1, 1][160][18].set(1, .bytes([UInt8](repeating: 0xbf, count: 16)))
    },
    Damage(
      "a memory read backwards", of: "lstm",
      "m.mlmodel:layer 2 (memory): found a sequence read backwards, expected a plain long "
        + "short-term memory"
    ) {
      $0[500][1, 1][420].set(100, .number(1))
    },
    Damage(
      "a forget gate that is opened", of: "lstm",
      "m.mlmodel:layer 2 (memory): found 1 added to the forget gate (forgetBias), expected a "
        + "plain long short-term memory"
    ) {
      $0[500][1, 1][420][15].set(30, .number(1))
    },
    Damage(
      "a GRU without weights", of: "lstm",
      "m.mlmodel:layer 2 (memory): found other activations of the gates, expected sigmoid and tanh"
    ) {
      $0[500][1, 1].set(420, nil)
      $0[500][1, 1].set(410, .bytes([]))
    },
    Damage(
      "a GRU of another size", of: "gated",
      "m.mlmodel:layer 1 (memory): found 19 recursion weights of a gate, expected 25"
    ) {
      $0[500][1][410][50].set(1, .bytes([UInt8](repeating: 0, count: 76)))
    },
    Damage(
      "a gate of another size", of: "lstm",
      "m.mlmodel:layer 2 (memory): found 4 biases of a gate, expected 5"
    ) {
      $0[500][1, 1][420][20][41].set(1, .bytes([UInt8](repeating: 0, count: 16)))
    },
  ]
}
