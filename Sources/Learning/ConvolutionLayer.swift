import CKernels
import Numerics

/// Filters over channels-last images, or over the steps of sequences [time][features]: images of
/// width 1.
///
/// Order: outputs over (ky, kx, channel); weight gradients over (y, x), then samples; input
/// gradients over filters, and what the places' taps give over (x, y). With several groups, these
/// are a convolution of the padded gradient with the filters turned around, over (ky, kx, filter)
/// of the turned ones, zeros included. Where `WinogradConvolution` makes the products: in its
/// order.
struct ConvolutionLayer: PlacedLayer {
  private let convolution: fs_convolution
  /// Zeros around the images; nil where there are none.
  private let padding: fs_padding?
  /// The turned convolution that makes the input gradient, and the zeros in and around its input.
  private let turned: fs_convolution
  private let turnedPadding: fs_padding
  /// Fewer multiplications for the same products; nil where the direct ones are as good.
  private let winograd: WinogradConvolution?
  private let hasBias: Bool
  private let isSequence: Bool
  let outputShape: [Int]

  /// A convolution of images [height][width][channels] or of sequences [time][features].
  ///
  /// Throws: the reason why it does not fit.
  init(
    _ layer: Network.Convolution, inputShape: [Int], isSequence: Bool = false
  ) throws(ShapeProblem) {
    guard inputShape.count == (isSequence ? 2 : 3) else {
      throw ShapeProblem(
        "takes \(isSequence ? "[time, features]" : "[height, width, channels]") and gets "
          + "\(inputShape)")
    }
    let image = try ImageShape(inputShape, window: layer.size)
    let (height, width, channels) = (image.height, image.width, image.channels)
    let sizeWide = image.windowWidth
    let (size, stride, groups) = (layer.size, layer.stride, layer.groups)
    guard size > 0 && stride > 0 && groups > 0 && layer.filters > 0 else {
      throw ShapeProblem("filters, size, stride and groups are at least 1")
    }
    guard channels % groups == 0 && layer.filters % groups == 0 else {
      throw ShapeProblem(
        "\(groups) groups do not divide \(channels) channels and \(layer.filters) filters")
    }
    func zeros(_ extent: Int, isAlong: Bool = true) -> (before: Int, total: Int) {
      guard isAlong else { return (0, 0) }
      switch layer.padding {
      case .valid: return (0, 0)
      case .count(let count): return (count, 2 * count)
      case .same:
        let total = max(0, ((extent + stride - 1) / stride - 1) * stride + size - extent)
        return (total / 2, total)
      }
    }
    let (top, vertical) = zeros(height)
    let (left, horizontal) = zeros(width, isAlong: !image.isSequence)
    if case .count(let count) = layer.padding, count < 0 || count >= size {
      throw ShapeProblem("the padding \(count) is not below the filter's size \(size)")
    }
    guard height + vertical >= size && width + horizontal >= sizeWide else {
      throw ShapeProblem("filters of \(image.window) do not fit into \(inputShape)")
    }
    let outHeight = (height + vertical - size) / stride + 1
    let outWidth = (width + horizontal - sizeWide) / stride + 1
    outputShape = image.shape(height: outHeight, width: outWidth, channels: layer.filters)
    self.isSequence = isSequence
    hasBias = layer.hasBias
    convolution = fs_convolution(
      height: height + vertical, width: width + horizontal, channels: channels,
      out_height: outHeight, out_width: outWidth, outputs: layer.filters, kernel_height: size,
      kernel_width: sizeWide, stride: stride, groups: groups)
    padding =
      vertical + horizontal == 0
      ? nil
      : fs_padding(
        height: height, width: width, channels: channels, top: top, left: left, step: 1,
        padded_height: height + vertical, padded_width: width + horizontal)
    turned = fs_convolution(
      height: height + size - 1, width: width + sizeWide - 1, channels: layer.filters,
      out_height: height, out_width: width, outputs: channels, kernel_height: size,
      kernel_width: sizeWide, stride: 1, groups: groups)
    turnedPadding = fs_padding(
      height: outHeight, width: outWidth, channels: layer.filters, top: size - 1 - top,
      left: sizeWide - 1 - left, step: stride, padded_height: height + size - 1,
      padded_width: width + sizeWide - 1)
    winograd = WinogradConvolution(convolution, turned: turned)
  }

  /// Whether `WinogradConvolution` makes its products.
  var filtersMinimally: Bool { winograd != nil }

  var stem: String { "conv" }
  var tensors: [(name: String, shape: [Int])] {
    let channels = convolution.channels / convolution.groups
    let window =
      isSequence
      ? [convolution.kernel_height] : [convolution.kernel_height, convolution.kernel_width]
    return [("weight", window + [channels, convolution.outputs])]
      + (hasBias ? [("bias", [convolution.outputs])] : [])
  }
  var multiplyAdds: Int { convolution.out_height * convolution.out_width * weightCount }

  /// How many values one sample's input has.
  var inputCount: Int { turned.out_height * turned.out_width * turned.outputs }

  private var taps: Int { convolution.kernel_height * convolution.kernel_width }
  private var fan: Int { taps * convolution.channels / convolution.groups }
  private var weightCount: Int { fan * convolution.outputs }
  /// The first part of the scratch.
  private var winogradCount: Int { winograd?.scratchCount ?? 0 }
  /// The turned filters' part of the scratch, behind that; a padded gradient is behind it.
  private var turnedCount: Int { (weightCount + 15) / 16 * 16 }

  func stateCount(_ rows: Int) -> Int {
    padding == nil ? 0 : rows * convolution.height * convolution.width * convolution.channels
  }

  func scratchCount(_ rows: Int, needsInputDelta: Bool) -> Int {
    guard needsInputDelta else { return winogradCount }
    let padded = turned.height * turned.width * turned.channels
    return winogradCount + turnedCount + (addsTaps ? paddedCount + backRoom : padded)
  }

  /// Whether the gradient by the input is added up from what each place's taps give.
  private var addsTaps: Bool { winograd == nil && convolution.groups == 1 }
  /// One padded image, from a multiple of 16 on; none where images have no zeros around them.
  private var paddedCount: Int { padding == nil ? 0 : (stateCount(1) + 15) / 16 * 16 }
  private var backRoom: Int {
    var convolution = convolution
    return fs_back_room(&convolution)
  }

  func initialise(_ target: UnsafeMutablePointer<Float>, _ stream: inout RandomStream) {
    initialiseUniform(target, count: parameterCount, fan: fan, &stream)
  }

  func forward(_ pass: Pass) {
    prepareForward(pass)
    forwardPrepared(pass)
  }

  /// What all samples of a forward pass share.
  func prepareForward(_ pass: Pass) { winograd?.prepare(pass, filters: pass.parameters) }

  /// The forward pass behind `prepareForward`; samples may come in several passes.
  func forwardPrepared(_ pass: Pass) {
    let functions = pass.kernels.functions
    let bias = hasBias ? pass.parameters + weightCount : nil
    if var padding { functions.pad(&padding, pass.rows, pass.input, pass.state) }
    if let winograd {
      winograd.forward(pass, images: images(pass), bias: bias)
    } else {
      var convolution = convolution
      functions.convolve(
        &convolution, pass.rows, images(pass), pass.parameters, bias, pass.output)
    }
  }

  func backward(_ pass: Pass, _ deltas: Deltas) {
    prepareBackward(pass, deltas)
    backwardPrepared(pass, deltas, isFirst: true)
    finishBackward(pass, deltas)
  }

  /// What all samples of a backward pass share; before the filters change.
  func prepareBackward(_ pass: Pass, _ deltas: Deltas) {
    guard deltas.input != nil else { return }
    if addsTaps {
      pass.kernels.functions.transpose(
        fan, convolution.outputs, pass.parameters, convolution.outputs, pass.scratch, fan)
      return
    }
    turnFilters(pass)
    winograd?.prepareTurned(pass, filters: pass.scratch + winogradCount)
  }

  /// The backward pass behind `prepareBackward`; samples may come in several passes, in order.
  func backwardPrepared(_ pass: Pass, _ deltas: Deltas, isFirst: Bool) {
    let functions = pass.kernels.functions
    if let inputDelta = deltas.input { backwardToInput(pass, deltas.output, inputDelta) }
    guard let target = deltas.target else { return }
    let start = isFirst ? deltas.start : UnsafePointer(target)
    if let winograd {
      winograd.collect(pass, images: images(pass), delta: deltas.output, isFirst: isFirst)
    } else {
      var convolution = convolution
      functions.convolve_weights(
        &convolution, pass.rows, images(pass), deltas.output, start, target)
    }
    guard hasBias else { return }
    let (places, bias) = (convolution.out_height * convolution.out_width, target + weightCount)
    for row in 0..<pass.rows {
      functions.add_rows(
        places, convolution.outputs, deltas.output + row * outputCount, convolution.outputs,
        row == 0 ? start.map { $0 + weightCount } : UnsafePointer(bias), bias)
    }
  }

  /// The gradient by the filters, where it is not there yet; behind the last samples.
  func finishBackward(_ pass: Pass, _ deltas: Deltas) {
    guard let target = deltas.target else { return }
    winograd?.gather(pass, start: deltas.start, target: target)
  }

  /// The images with their zeros.
  private func images(_ pass: Pass) -> UnsafeMutablePointer<Float> {
    padding == nil ? pass.input : pass.state
  }

  /// Leaves the filters, turned around, in the scratch.
  private func turnFilters(_ pass: Pass) {
    let groups = convolution.groups
    let (inputs, outputs) = (convolution.channels / groups, convolution.outputs / groups)
    let target = pass.scratch + winogradCount
    for tap in 0..<taps {
      for group in 0..<groups {
        pass.kernels.functions.transpose(
          inputs, outputs,
          pass.parameters + tap * inputs * convolution.outputs + group * outputs,
          convolution.outputs,
          target + (taps - 1 - tap) * outputs * convolution.channels + group * inputs,
          convolution.channels)
      }
    }
  }

  /// Sample by sample, so that the padded gradient stays in a cache.
  private func backwardToInput(
    _ pass: Pass, _ delta: UnsafePointer<Float>, _ inputDelta: UnsafeMutablePointer<Float>
  ) {
    guard !addsTaps else { return addTaps(pass, delta, inputDelta) }
    let functions = pass.kernels.functions
    var turned = turned
    var turnedPadding = turnedPadding
    let filters = pass.scratch + winogradCount
    let padded = filters + turnedCount
    for row in 0..<pass.rows {
      functions.pad(&turnedPadding, 1, delta + row * outputCount, padded)
      let target = inputDelta + row * inputCount
      if let winograd {
        winograd.backwardToInput(pass, padded: padded, target)
      } else {
        functions.convolve(&turned, 1, padded, filters, nil, target)
      }
    }
  }
}

extension ConvolutionLayer {
  /// Likewise sample by sample; of a padded image, what is inside is wanted.
  private func addTaps(
    _ pass: Pass, _ delta: UnsafePointer<Float>, _ inputDelta: UnsafeMutablePointer<Float>
  ) {
    var convolution = convolution
    let image = pass.scratch + turnedCount
    for row in 0..<pass.rows {
      let target = inputDelta + row * inputCount
      pass.kernels.functions.convolve_back(
        &convolution, 1, delta + row * outputCount, pass.scratch, image + paddedCount,
        padding == nil ? target : image)
      guard let padding else { continue }
      let line = padding.width * padding.channels
      for y in 0..<padding.height {
        let place = (padding.top + y) * padding.padded_width + padding.left
        (target + y * line).update(from: image + place * padding.channels, count: line)
      }
    }
  }
}

/// A sample as an image: a sequence [time][features] is `time` high and 1 wide.
struct ImageShape {
  let height: Int
  let width: Int
  let channels: Int
  /// How wide a window is that is as high as the layer says.
  let windowWidth: Int
  let isSequence: Bool
  private let size: Int

  init(_ shape: [Int], window size: Int) throws(ShapeProblem) {
    guard shape.count == 3 || shape.count == 2 else {
      throw ShapeProblem("takes [height, width, channels] or [time, features] and gets \(shape)")
    }
    isSequence = shape.count == 2
    (height, width, channels) =
      isSequence ? (shape[0], 1, shape[1]) : (shape[0], shape[1], shape[2])
    windowWidth = isSequence ? 1 : size
    self.size = size
  }

  /// A window in words.
  var window: String { isSequence ? "\(size) steps" : "\(size)×\(size)" }

  /// The shape of an output.
  func shape(height: Int, width: Int, channels: Int) -> [Int] {
    isSequence ? [height, channels] : [height, width, channels]
  }
}

/// Why a layer does not fit, without its place.
struct ShapeProblem: Error {
  let message: String
  init(_ message: String) { self.message = message }
}
