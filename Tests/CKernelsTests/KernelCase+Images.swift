import CKernels

extension KernelCase {
  /// Convolution, pooling and what goes with them.
  static let images = [
    KernelCase("pad") { numbers in
      let padding = Padding(&numbers)
      return Problem(
        run: { Outcome(floats: [padding.run($0)]) },
        reference: { Outcome(floats: [padding.reference()]) })
    },
    KernelCase("convolve") { numbers in
      let convolution = Convolution(&numbers)
      return Problem(
        run: { kernels in
          var (out, shape) = (room(convolution.delta.count), convolution.shape)
          kernels.convolve(
            &shape, convolution.rows, convolution.input, convolution.weight, convolution.bias,
            &out)
          return Outcome(floats: [out])
        },
        reference: { Outcome(floats: [convolution.forward()]) })
    },
    KernelCase("convolve_weights") { numbers in
      let convolution = Convolution(&numbers)
      let isInPlace = numbers.chance()
      return Problem(
        run: { Outcome(floats: [convolution.runWeightGradient($0, isInPlace: isInPlace)]) },
        reference: { Outcome(floats: [convolution.weightGradient()]) })
    },
    KernelCase("convolve_back") { numbers in
      let convolution = Convolution(&numbers, isOneGroup: true)
      return Problem(
        run: { Outcome(floats: [convolution.runInputGradient($0)]) },
        reference: { Outcome(floats: [convolution.inputGradient()]) })
    },
    KernelCase("max_pool") { numbers in
      let pooling = Pooling(&numbers)
      return Problem(
        run: { kernels in
          var (out, shape) = (room(pooling.count), pooling.shape)
          var from = [Int32](repeating: 9, count: pooling.count + 1)
          kernels.max_pool(&shape, pooling.rows, pooling.input, &out, &from)
          return Outcome(floats: [out], integers: from.map(Int.init))
        },
        reference: {
          var out = room(pooling.count)
          pooling.forEach { at, window in
            let place = Int(pooling.places[at])
            out[at] = place < 0 ? 0 : pooling.input[window[place]]
          }
          return Outcome(floats: [out], integers: pooling.places.map(Int.init) + [9])
        })
    },
    KernelCase("max_pool_backward") { numbers in
      let pooling = Pooling(&numbers)
      return Problem(
        run: { kernels in
          var (out, shape) = (room(pooling.input.count), pooling.shape)
          kernels.max_pool_backward(&shape, pooling.rows, pooling.delta, pooling.places, &out)
          return Outcome(floats: [out])
        },
        reference: {
          var out = guarded([Float](repeating: 0, count: pooling.input.count))
          pooling.forEach { at, window in
            let place = Int(pooling.places[at])
            if place >= 0 { out[window[place]] += pooling.delta[at] }
          }
          return Outcome(floats: [out])
        })
    },
    KernelCase("average_pool") { numbers in
      let pooling = Pooling(&numbers)
      return Problem(
        run: { kernels in
          var (out, shape) = (room(pooling.count), pooling.shape)
          kernels.average_pool(&shape, pooling.rows, pooling.input, &out)
          return Outcome(floats: [out])
        },
        reference: {
          var out = room(pooling.count)
          pooling.forEach { at, window in
            var sum: Float = 0
            for place in window { sum += pooling.input[place] }
            out[at] = sum / Float(window.count)
          }
          return Outcome(floats: [out])
        })
    },
    KernelCase("average_pool_backward") { numbers in
      let pooling = Pooling(&numbers)
      return Problem(
        run: { kernels in
          var (out, shape) = (room(pooling.input.count), pooling.shape)
          kernels.average_pool_backward(&shape, pooling.rows, pooling.delta, &out)
          return Outcome(floats: [out])
        },
        reference: {
          var out = guarded([Float](repeating: 0, count: pooling.input.count))
          pooling.forEach { at, window in
            for place in window { out[place] += pooling.delta[at] / Float(window.count) }
          }
          return Outcome(floats: [out])
        })
    },
  ]
}

/// Images that are put into larger ones of zeros.
private struct Padding {
  let shape: fs_padding
  let rows: Int
  let input: [Float]
  private var count: Int { rows * shape.padded_height * shape.padded_width * shape.channels }

  init(_ numbers: inout TestNumbers) {
    let (height, width) = (1 + numbers.below(5), 1 + numbers.below(5))
    let (top, left, step) = (numbers.below(3), numbers.below(3), 1 + numbers.below(3))
    shape = fs_padding(
      height: height, width: width, channels: 1 + numbers.below(20), top: top, left: left,
      step: step, padded_height: top + (height - 1) * step + 1 + numbers.below(3),
      padded_width: left + (width - 1) * step + 1 + numbers.below(3))
    rows = numbers.below(4)
    input = numbers.floats(rows * height * width * shape.channels)
  }

  func run(_ kernels: fs_kernels) -> [Float] {
    var (out, shape) = (room(count), shape)
    kernels.pad(&shape, rows, input, &out)
    return out
  }

  func reference() -> [Float] {
    var out = guarded([Float](repeating: 0, count: count))
    for (index, value) in input.enumerated() {
      let (pixel, channel) = (index / shape.channels, index % shape.channels)
      let row = pixel / (shape.height * shape.width)
      let (y, x) = (pixel / shape.width % shape.height, pixel % shape.width)
      let line = row * shape.padded_height + shape.top + y * shape.step
      let to = line * shape.padded_width + shape.left + x * shape.step
      out[to * shape.channels + channel] = value
    }
    return out
  }
}

/// A convolution of random shape with its operands.
private struct Convolution {
  let shape: fs_convolution
  let rows: Int
  let input: [Float], weight: [Float], bias: [Float]?, delta: [Float], start: [Float]?

  init(_ numbers: inout TestNumbers, isOneGroup: Bool = false) {
    // A quarter are a few filters of 5×5 over one channel.
    let isFirst = numbers.below(4) == 0
    let groups = isOneGroup || isFirst ? 1 : [1, 1, 2, 3][numbers.below(4)]
    let (high, wide) = isFirst ? (5, 5) : (1 + numbers.below(4), 1 + numbers.below(4))
    let stride = isFirst ? 1 : 1 + numbers.below(3)
    let (outHeight, outWidth) = (1 + numbers.below(4), 1 + numbers.below(17))
    let most = isFirst ? 9 : groups == 1 ? 36 : 7
    shape = fs_convolution(
      height: (outHeight - 1) * stride + high + numbers.below(stride),
      width: (outWidth - 1) * stride + wide + numbers.below(stride),
      channels: isFirst ? 1 : groups * (1 + numbers.below(4)), out_height: outHeight,
      out_width: outWidth, outputs: groups * (1 + numbers.below(most)), kernel_height: high,
      kernel_width: wide, stride: stride, groups: groups)
    rows = 1 + numbers.below(2)
    input = numbers.floats(rows * shape.height * shape.width * shape.channels)
    weight = numbers.floats(high * wide * shape.channels / groups * shape.outputs)
    bias = numbers.perhapsFloats(shape.outputs)
    delta = numbers.floats(rows * outHeight * outWidth * shape.outputs)
    start = numbers.perhapsFloats(weight.count)
  }

  /// Every (row, y, x, output, ky, kx, channel in the group) with its places, in that order.
  private func forEach(_ body: (_ from: Int, _ by: Int, _ to: Int) -> Void) {
    let s = shape
    let (inputs, outputs) = (s.channels / s.groups, s.outputs / s.groups)
    for row in 0..<rows {
      for y in 0..<s.out_height {
        for x in 0..<s.out_width {
          for output in 0..<s.outputs {
            let to = ((row * s.out_height + y) * s.out_width + x) * s.outputs + output
            for ky in 0..<s.kernel_height {
              for kx in 0..<s.kernel_width {
                for c in 0..<inputs {
                  let pixel = (row * s.height + y * s.stride + ky) * s.width + x * s.stride + kx
                  let from = pixel * s.channels + output / outputs * inputs + c
                  let by = ((ky * s.kernel_width + kx) * inputs + c) * s.outputs + output
                  body(from, by, to)
                }
              }
            }
          }
        }
      }
    }
  }

  func forward() -> [Float] {
    // Where pixels are neighbours in memory, the bias is added to the sum.
    let isLast = shape.stride * shape.channels == 1
    var out = guarded((0..<delta.count).map { isLast ? 0 : bias?[$0 % shape.outputs] ?? 0 })
    forEach { from, by, to in out[to] = Reference.fused(input[from], weight[by], out[to]) }
    if isLast, let bias {
      for place in 0..<delta.count { out[place] += bias[place % shape.outputs] }
    }
    return out
  }

  func weightGradient() -> [Float] {
    var out = guarded(start ?? [Float](repeating: 0, count: weight.count))
    let places = delta.count / rows
    for row in 0..<rows {
      var sums = [Float](repeating: 0, count: weight.count)
      forEach { from, by, to in
        guard to / places == row else { return }
        sums[by] = Reference.fused(input[from], delta[to], sums[by])
      }
      let isBegun = row > 0 || start != nil
      for by in weight.indices { out[by] = isBegun ? out[by] + sums[by] : sums[by] }
    }
    return out
  }

  func runWeightGradient(_ kernels: fs_kernels, isInPlace: Bool) -> [Float] {
    var shape = shape
    guard let start else {
      var out = room(weight.count)
      kernels.convolve_weights(&shape, rows, input, delta, nil, &out)
      return out
    }
    var out = isInPlace ? guarded(start) : room(weight.count)
    out.withUnsafeMutableBufferPointer { out in
      start.withUnsafeBufferPointer {
        let from = isInPlace ? UnsafePointer(out.baseAddress) : $0.baseAddress
        kernels.convolve_weights(&shape, rows, input, delta, from, out.baseAddress)
      }
    }
    return out
  }
}

extension Convolution {
  /// The weight of each tap and channel, as [output][ky][kx][channel].
  private var turned: [Float] {
    let taps = weight.count / shape.outputs
    return (0..<weight.count).map { weight[$0 % taps * shape.outputs + $0 / taps] }
  }

  func runInputGradient(_ kernels: fs_kernels) -> [Float] {
    var (out, shape) = (room(input.count), shape)
    var scratch = room(fs_back_room(&shape))
    kernels.convolve_back(&shape, rows, delta, turned, &scratch, &out)
    return out
  }

  /// What each place gives to its taps, place after place: down the columns, from left to right.
  func inputGradient() -> [Float] {
    var out = guarded([Float](repeating: 0, count: input.count))
    let (s, taps) = (shape, weight.count / shape.outputs)
    let places = s.out_height * s.out_width
    for row in 0..<rows {
      for place in 0..<places {
        let (x, y) = (place / s.out_height, place % s.out_height)
        let from = ((row * s.out_height + y) * s.out_width + x) * s.outputs
        for tap in 0..<taps {
          let (ky, rest) = (
            tap / (s.kernel_width * s.channels), tap % (s.kernel_width * s.channels)
          )
          let line = row * s.height + y * s.stride + ky
          let to = (line * s.width + x * s.stride) * s.channels + rest
          var product: Float = 0
          for output in 0..<s.outputs {
            product = Reference.fused(
              delta[from + output], weight[tap * s.outputs + output], product)
          }
          out[to] += product
        }
      }
    }
    return out
  }
}

/// Pooling of random shape with its operands.
private struct Pooling {
  let shape: fs_pooling
  let rows: Int
  let input: [Float], delta: [Float]
  /// The first place of the largest value in each window; -1 where it is rectified.
  private(set) var places: [Int32] = []
  var count: Int { delta.count }

  init(_ numbers: inout TestNumbers) {
    let (size, stride) = (1 + numbers.below(3), 1 + numbers.below(3))
    // A quarter are sequences: images and windows that are one wide.
    let isSequence = numbers.below(4) == 0
    let wide = isSequence ? 1 : size
    let (outHeight, outWidth) = (1 + numbers.below(4), isSequence ? 1 : 1 + numbers.below(4))
    var shape = fs_pooling()
    shape.height = (outHeight - 1) * stride + size + numbers.below(stride)
    shape.width = isSequence ? 1 : (outWidth - 1) * stride + size + numbers.below(stride)
    shape.channels = max(1, numbers.below(4) == 0 ? numbers.count() : numbers.below(10))
    (shape.out_height, shape.out_width) = (outHeight, outWidth)
    (shape.window_height, shape.window_width, shape.stride) = (size, wide, stride)
    shape.rectified = Int32(numbers.below(2))
    self.shape = shape
    rows = numbers.below(4)
    input = numbers.floats(rows * shape.height * shape.width * shape.channels)
    delta = numbers.floats(rows * outHeight * outWidth * shape.channels)
    var places = [Int32](repeating: 0, count: delta.count)
    let isRectified = shape.rectified != 0
    forEach { [input] at, window in
      let best = Reference.largest(window.map { input[$0] })
      places[at] = isRectified && !(input[window[best]] > 0) ? -1 : Int32(best)
    }
    self.places = places
  }

  /// Calls for every output with the places of its window, row by row.
  func forEach(_ body: (_ at: Int, _ window: [Int]) -> Void) {
    for at in 0..<count {
      let (pixel, channel) = (at / shape.channels, at % shape.channels)
      let row = pixel / (shape.out_height * shape.out_width)
      let (y, x) = (pixel / shape.out_width % shape.out_height, pixel % shape.out_width)
      let window = (0..<shape.window_height * shape.window_width).map { p in
        let line = row * shape.height + y * shape.stride + p / shape.window_width
        let column = x * shape.stride + p % shape.window_width
        return (line * shape.width + column) * shape.channels + channel
      }
      body(at, window)
    }
  }
}
