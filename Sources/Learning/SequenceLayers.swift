import Numerics

/// A dense layer over the last axis, the same at each place.
///
/// Shapes: [places…][inputs] to [places…][outputs]. Order: a weight's gradient over the places of a
/// sample, fused, from zero; what a sample gives is added to those before.
struct PlacewiseDenseLayer: PlacedLayer {
  private let dense: DenseProduct
  let outputShape: [Int]
  private let places: Int

  init(outputs: Int, inputShape: [Int]) {
    dense = DenseProduct(inputs: inputShape[inputShape.count - 1], outputs: outputs)
    outputShape = inputShape.dropLast() + [outputs]
    places = inputShape.dropLast().reduce(1, *)
  }

  var stem: String { "dense" }
  var tensors: [(name: String, shape: [Int])] {
    [("weight", [dense.inputs, dense.outputs]), ("bias", [dense.outputs])]
  }
  var multiplyAdds: Int { places * dense.inputs * dense.outputs }

  func scratchCount(_ rows: Int, needsInputDelta: Bool) -> Int {
    needsInputDelta ? dense.inputs * dense.outputs : 0
  }

  func initialise(_ target: UnsafeMutablePointer<Float>, _ stream: inout RandomStream) {
    initialiseUniform(target, count: parameterCount, fan: dense.inputs, &stream)
  }

  func forward(_ pass: Pass) {
    dense.forward(
      pass.kernels, pass.rows * places, pass.input, pass.parameters, pass.output)
  }

  func backward(_ pass: Pass, _ deltas: Deltas) {
    if let target = deltas.target {
      dense.addGradient(
        pass.kernels, pass.rows, places, pass.input, deltas.output, start: deltas.start, target)
    }
    guard let input = deltas.input else { return }
    dense.inputGradient(
      pass.kernels, pass.rows * places, deltas.output, pass.parameters, pass.scratch, input)
  }
}

/// The products of a dense layer that is a part of another: a weight [inputs][outputs], and a bias
/// behind it.
struct DenseProduct {
  let inputs: Int
  let outputs: Int

  private var weightCount: Int { inputs * outputs }

  /// out[rows][outputs] = bias + in·weight.
  func forward(
    _ kernels: Kernels, _ rows: Int, _ input: UnsafePointer<Float>,
    _ parameters: UnsafePointer<Float>, _ output: UnsafeMutablePointer<Float>
  ) {
    kernels.functions.gemm(
      rows, outputs, inputs, input, inputs, 1, parameters, outputs, parameters + weightCount, 0,
      output, outputs)
  }

  /// target = start + the gradient by weight and bias, sample by sample.
  func addGradient(
    _ kernels: Kernels, _ rows: Int, _ places: Int, _ input: UnsafePointer<Float>,
    _ delta: UnsafePointer<Float>, start: UnsafePointer<Float>?,
    _ target: UnsafeMutablePointer<Float>
  ) {
    for row in 0..<rows {
      kernels.functions.gemm(
        inputs, outputs, places, input + row * places * inputs, 1, inputs,
        delta + row * places * outputs, outputs, row == 0 ? start : UnsafePointer(target),
        outputs, target, outputs)
    }
    kernels.functions.add_rows(
      rows * places, outputs, delta, outputs, start.map { $0 + weightCount },
      target + weightCount)
  }

  /// in_delta[rows][inputs] = delta·weightᵀ; `turned` holds the transposed weight.
  func inputGradient(
    _ kernels: Kernels, _ rows: Int, _ delta: UnsafePointer<Float>,
    _ parameters: UnsafePointer<Float>, _ turned: UnsafeMutablePointer<Float>,
    _ inputDelta: UnsafeMutablePointer<Float>
  ) {
    kernels.functions.transpose(inputs, outputs, parameters, outputs, turned, inputs)
    kernels.functions.gemm(
      rows, inputs, outputs, delta, outputs, 1, turned, inputs, nil, 0, inputDelta, inputs)
  }
}

/// A learned vector for each place, added to what is there.
///
/// Order: a vector's gradient adds up over samples, in blocks of 64.
struct PositionsLayer: PlacedLayer {
  let outputShape: [Int]

  init(inputShape: [Int]) throws(ShapeProblem) {
    guard inputShape.count == 2 else {
      throw ShapeProblem("takes [time, features] and gets \(inputShape)")
    }
    outputShape = inputShape
  }

  var stem: String { "positions" }
  var tensors: [(name: String, shape: [Int])] { [("weight", outputShape)] }
  var deltaInPlace: Bool { true }

  func initialise(_ target: UnsafeMutablePointer<Float>, _ stream: inout RandomStream) {
    initialiseUniform(target, count: parameterCount, fan: outputShape[1], &stream)
  }

  func forward(_ pass: Pass) {
    let count = outputCount
    for row in 0..<pass.rows {
      pass.kernels.functions.add_rows(
        1, count, pass.parameters, count, pass.input + row * count, pass.output + row * count)
    }
  }

  func backward(_ pass: Pass, _ deltas: Deltas) {
    guard let target = deltas.target else { return }
    pass.kernels.functions.add_rows(
      pass.rows, outputCount, deltas.output, outputCount, deltas.start, target)
  }
}

/// The mean of each channel over all places.
///
/// Shapes: [places…][channels] to [channels]. Order: places ascending in blocks of 64, then a
/// division.
struct GlobalAveragePoolingLayer: PlacedLayer {
  private let places: Int
  private let channels: Int

  init(inputShape: [Int]) throws(ShapeProblem) {
    guard inputShape.count > 1 else {
      throw ShapeProblem("takes [places, channels] or an image and gets \(inputShape)")
    }
    channels = inputShape[inputShape.count - 1]
    places = inputShape.dropLast().reduce(1, *)
  }

  var outputShape: [Int] { [channels] }

  func forward(_ pass: Pass) {
    for row in 0..<pass.rows {
      let output = pass.output + row * channels
      pass.kernels.functions.add_rows(
        places, channels, pass.input + row * places * channels, channels, nil, output)
      for channel in 0..<channels { output[channel] /= Float(places) }
    }
  }

  func backward(_ pass: Pass, _ deltas: Deltas) {
    guard let inputDelta = deltas.input else { return }
    for row in 0..<pass.rows {
      let (delta, first) = (deltas.output + row * channels, inputDelta + row * places * channels)
      for channel in 0..<channels { first[channel] = delta[channel] / Float(places) }
      for place in 1..<places {
        (first + place * channels).update(from: first, count: channels)
      }
    }
  }
}
