import CKernels

/// A convolution's three products by minimal filtering (Winograd; Lavin and Gray 2016, arXiv
/// 1509.09308), which takes a sixth to a third of the multiplications for filters of 5×5 and a
/// quarter for 3×3, in addition to additions.
///
/// Sums of more than one pass begin at the first one's; the gradient by the filters is there once
/// they are gathered. Rounding is that of values at points from 1/2 to 2: up to some 10⁻⁵ of the
/// largest result. A gradient that direct sums would find to be 0 may become such an error.
struct WinogradConvolution {
  private let convolution: fs_convolution
  /// The convolution that makes the gradient by the input.
  private let turned: fs_convolution

  /// Nil where the direct products are as good: for strides and groups, other filters, channels
  /// that leave vectors empty, images of few or mostly empty tiles, filters or images whose values
  /// are larger than a cache.
  init?(_ convolution: fs_convolution, turned: fs_convolution) {
    let size = convolution.kernel_height
    guard convolution.stride == 1 && convolution.groups == 1 && (size == 3 || size == 5),
      convolution.kernel_width == size,
      convolution.channels >= 16 && convolution.outputs >= 16,
      // Else some weights would see nothing but zeros.
      min(turned.out_height, turned.out_width) >= size,
      Self.pays(convolution) && Self.pays(turned)
    else { return nil }
    self.convolution = convolution
    self.turned = turned
  }

  /// Whether there are tiles enough, full enough, for values of filters that are not too many. Four
  /// tiles of 8×8 have as many results as sixteen of 6×6 for filters of 5×5.
  private static func pays(_ shape: fs_convolution) -> Bool {
    let tiling = tiling(shape)
    let tiles = tiling.count
    let taps = shape.out_height * shape.out_width * shape.kernel_height * shape.kernel_width
    return tiles >= 4 && 9 * points(shape) * tiles <= 5 * taps
      && shape.channels * shape.outputs <= (tiles < 9 && tiling.side == 6 ? 1 << 13 : 1 << 14)
      && between(shape) <= 1 << 22
  }

  private static func tiling(_ shape: fs_convolution) -> fs_tiling {
    var shape = shape
    return fs_winograd_tiling(&shape)
  }

  /// At how many points the values of a tile are known.
  private static func points(_ shape: fs_convolution) -> Int {
    let side = tiling(shape).side
    return side * side
  }

  /// Floats of scratch, from a multiple of 16: the filters' values, sums, and what is between.
  var scratchCount: Int { betweenStart + max(Self.between(convolution), Self.between(turned)) }

  private var valueCount: Int {
    max(Self.points(convolution), Self.points(turned))
      * fs_winograd_plane(1, convolution.channels * convolution.outputs)
  }
  private var betweenStart: Int { 2 * valueCount }

  /// Floats for the values of an image's tiles and of their products.
  private static func between(_ shape: fs_convolution) -> Int {
    let tiles = tiling(shape).count
    return points(shape)
      * (fs_winograd_plane(tiles, shape.channels) + fs_winograd_plane(tiles, shape.outputs))
  }

  /// Leaves the values of filters in the scratch, for `forward`.
  func prepare(_ pass: Pass, filters: UnsafePointer<Float>) {
    var shape = convolution
    pass.kernels.functions.winograd_filters(&shape, filters, pass.scratch)
  }

  /// Leaves the values of turned filters in the scratch, for `backwardToInput`.
  func prepareTurned(_ pass: Pass, filters: UnsafePointer<Float>) {
    var shape = turned
    pass.kernels.functions.winograd_filters(&shape, filters, pass.scratch)
  }

  /// From padded images to the pass's output.
  func forward(_ pass: Pass, images: UnsafePointer<Float>, bias: UnsafePointer<Float>?) {
    var shape = convolution
    pass.kernels.functions.winograd_convolve(
      &shape, pass.rows, images, pass.scratch, bias, pass.scratch + betweenStart, pass.output)
  }

  /// From one padded gradient to that by one sample's input.
  func backwardToInput(
    _ pass: Pass, padded: UnsafePointer<Float>, _ inputDelta: UnsafeMutablePointer<Float>
  ) {
    var shape = turned
    pass.kernels.functions.winograd_convolve(
      &shape, 1, padded, pass.scratch, nil, pass.scratch + betweenStart, inputDelta)
  }

  /// Adds the samples of this pass to the sums of the gradient by the filters.
  func collect(
    _ pass: Pass, images: UnsafePointer<Float>, delta: UnsafePointer<Float>, isFirst: Bool
  ) {
    var shape = convolution
    pass.kernels.functions.winograd_collect(
      &shape, pass.rows, images, delta, isFirst ? 1 : 0, pass.scratch + betweenStart,
      pass.scratch + valueCount)
  }

  /// The gradient by the filters, added to `start`, from the sums.
  func gather(
    _ pass: Pass, start: UnsafePointer<Float>?, target: UnsafeMutablePointer<Float>
  ) {
    var shape = convolution
    pass.kernels.functions.winograd_weights(&shape, pass.scratch + valueCount, start, target)
  }
}

extension Network {
  /// For each convolution, from the input on, whether its products are made by minimal filtering.
  package var filtersMinimally: [Bool] {
    nodes.flatMap(\.leaves).compactMap { node in
      let pooled = node.layer as? PooledConvolutionLayer
      return (pooled?.convolution ?? node.layer as? ConvolutionLayer)?.filtersMinimally
    }
  }
}
