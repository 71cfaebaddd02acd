import CKernels

/// The largest value, or the mean, of each window; perhaps with a ReLU behind the largest.
///
/// Windows of images are size×size; those of sequences [time][features] are `size` steps.
struct PoolingLayer: PlacedLayer {
  enum Kind { case largest, mean }

  private let kind: Kind
  private var pooling: fs_pooling
  let outputShape: [Int]

  init(_ kind: Kind, size: Int, stride: Int, inputShape: [Int]) throws(ShapeProblem) {
    let image = try ImageShape(inputShape, window: size)
    guard size > 0 && stride > 0 else { throw ShapeProblem("size and stride are at least 1") }
    guard image.height >= size && image.width >= image.windowWidth else {
      throw ShapeProblem("windows of \(image.window) do not fit into \(inputShape)")
    }
    self.kind = kind
    let outHeight = (image.height - size) / stride + 1
    let outWidth = (image.width - image.windowWidth) / stride + 1
    outputShape = image.shape(height: outHeight, width: outWidth, channels: image.channels)
    pooling = fs_pooling(
      height: image.height, width: image.width, channels: image.channels, out_height: outHeight,
      out_width: outWidth, window_height: size, window_width: image.windowWidth, stride: stride,
      rectified: 0)
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
