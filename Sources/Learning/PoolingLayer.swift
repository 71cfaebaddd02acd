import CKernels

/// The largest value, or the mean, of each window; perhaps with a ReLU behind the largest.
struct PoolingLayer: PlacedLayer {
  enum Kind { case largest, mean }

  private let kind: Kind
  private var pooling: fs_pooling
  let outputShape: [Int]

  init(_ kind: Kind, size: Int, stride: Int, inputShape: [Int]) throws(ShapeProblem) {
    guard inputShape.count == 3 else {
      throw ShapeProblem("takes [height, width, channels] and gets \(inputShape)")
    }
    guard size > 0 && stride > 0 else { throw ShapeProblem("size and stride are at least 1") }
    let (height, width, channels) = (inputShape[0], inputShape[1], inputShape[2])
    guard height >= size && width >= size else {
      throw ShapeProblem("windows of \(size)×\(size) do not fit into \(inputShape)")
    }
    self.kind = kind
    outputShape = [(height - size) / stride + 1, (width - size) / stride + 1, channels]
    pooling = fs_pooling(
      height: height, width: width, channels: channels, out_height: outputShape[0],
      out_width: outputShape[1], size: size, stride: stride, rectified: 0)
  }

  /// The same with a ReLU behind it; nil where that needs its own layer.
  var rectified: PoolingLayer? {
    guard kind == .largest, pooling.rectified == 0 else { return nil }
    var result = self
    result.pooling.rectified = 1
    return result
  }

  func stateCount(_ rows: Int) -> Int { kind == .largest ? rows * outputCount : 0 }

  /// The state as whole numbers: the place of each largest value in its window.
  private func places(_ pass: Pass) -> UnsafeMutablePointer<Int32> {
    UnsafeMutableRawPointer(pass.state).bindMemory(
      to: Int32.self, capacity: pass.rows * outputCount)
  }

  func forward(_ pass: Pass) {
    var pooling = pooling
    switch kind {
    case .largest:
      pass.kernels.functions.max_pool(
        &pooling, pass.rows, pass.input, pass.output, places(pass))
    case .mean:
      pass.kernels.functions.average_pool(&pooling, pass.rows, pass.input, pass.output)
    }
  }

  func backward(_ pass: Pass, _ deltas: Deltas) {
    guard let inputDelta = deltas.input else { return }
    var pooling = pooling
    switch kind {
    case .largest:
      pass.kernels.functions.max_pool_backward(
        &pooling, pass.rows, deltas.output, places(pass), inputDelta)
    case .mean:
      pass.kernels.functions.average_pool_backward(
        &pooling, pass.rows, deltas.output, inputDelta)
    }
  }
}
