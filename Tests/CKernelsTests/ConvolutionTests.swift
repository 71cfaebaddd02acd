import CKernels
import Testing

/// Convolution and pooling against readable loops, bit for bit.
@Suite struct ConvolutionTests {
  /// A convolution of random shape with its operands.
  struct Problem {
    var shape: fs_convolution
    let rows: Int
    let input: [Float], weight: [Float], bias: [Float]?, delta: [Float], start: [Float]?

    init(numbers: inout TestNumbers) {
      let groups = [1, 1, 2, 3][numbers.below(4)]
      let size = 1 + numbers.below(4)
      let stride = 1 + numbers.below(3)
      let (outHeight, outWidth) = (1 + numbers.below(5), 1 + numbers.below(17))
      shape = fs_convolution(
        height: (outHeight - 1) * stride + size + numbers.below(stride),
        width: (outWidth - 1) * stride + size + numbers.below(stride),
        channels: groups * (1 + numbers.below(5)), out_height: outHeight, out_width: outWidth,
        outputs: groups * (1 + numbers.below(groups == 1 ? 40 : 7)), kernel_height: size,
        kernel_width: size, stride: stride, groups: groups)
      rows = 1 + numbers.below(3)
      let infinities = numbers.below(8) == 0
      input = numbers.floats(
        rows * shape.height * shape.width * shape.channels, infinities: infinities)
      weight = numbers.floats(
        size * size * shape.channels / groups * shape.outputs, infinities: infinities)
      bias = numbers.below(2) == 0 ? nil : numbers.floats(shape.outputs)
      delta = numbers.floats(rows * outHeight * outWidth * shape.outputs)
      start = numbers.below(2) == 0 ? nil : numbers.floats(weight.count)
    }

    /// Every (row, y, x, output, ky, kx, channel in the group) with its places, in that order.
    func forEach(
      _ body: (_ from: Int, _ by: Int, _ to: Int) -> Void
    ) {
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
                    let pixel =
                      (row * s.height + y * s.stride + ky) * s.width + x * s.stride + kx
                    let from = pixel * s.channels + output / outputs * inputs + c
                    let by =
                      ((ky * s.kernel_width + kx) * inputs + c) * s.outputs + output
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
      var out = (0..<delta.count).map { bias?[$0 % shape.outputs] ?? 0 }
      forEach { from, by, to in out[to] = fused(input[from], weight[by], out[to]) }
      return out
    }

    func weightGradient() -> [Float] {
      var out = start ?? [Float](repeating: 0, count: weight.count)
      forEach { from, by, to in out[by] = fused(input[from], delta[to], out[by]) }
      return out
    }
  }

  @Test("convolutions of random shapes equal seven loops", arguments: Body.allCases)
  func convolutions(body: Body) throws {
    let kernels = try body.kernels()
    for seed in 0..<1000 as Range<UInt64> {
      var numbers = TestNumbers(seed: seed)
      var problem = Problem(numbers: &numbers)
      var out = [Float](repeating: 9, count: problem.delta.count)
      kernels.convolve(
        &problem.shape, problem.rows, problem.input, problem.weight, problem.bias, &out)
      let difference = firstDifference(out, problem.forward())
      #expect(difference == nil, "seed \(seed), \(problem.shape)")
      var gradient = problem.start ?? [Float](repeating: 9, count: problem.weight.count)
      if problem.start == nil {
        kernels.convolve_weights(
          &problem.shape, problem.rows, problem.input, problem.delta, nil, &gradient)
      } else {
        gradient.withUnsafeMutableBufferPointer {
          kernels.convolve_weights(
            &problem.shape, problem.rows, problem.input, problem.delta, $0.baseAddress,
            $0.baseAddress)
        }
      }
      let other = firstDifference(gradient, problem.weightGradient())
      #expect(other == nil, "seed \(seed), \(problem.shape)")
      if difference != nil || other != nil { return }
    }
  }

  @Test("padding puts images where they belong, zeros elsewhere", arguments: Body.allCases)
  func padding(body: Body) throws {
    let kernels = try body.kernels()
    for seed in 0..<200 as Range<UInt64> {
      var numbers = TestNumbers(seed: seed)
      let (height, width, channels) = (
        1 + numbers.below(5), 1 + numbers.below(5), 1 + numbers.below(20)
      )
      let (top, left, step) = (numbers.below(3), numbers.below(3), 1 + numbers.below(3))
      var shape = fs_padding(
        height: height, width: width, channels: channels, top: top, left: left, step: step,
        padded_height: top + (height - 1) * step + 1 + numbers.below(3),
        padded_width: left + (width - 1) * step + 1 + numbers.below(3))
      let input = numbers.floats(2 * height * width * channels)
      var out = [Float](
        repeating: 9, count: 2 * shape.padded_height * shape.padded_width * channels)
      var expected = [Float](repeating: 0, count: out.count)
      for (index, value) in input.enumerated() {
        let (pixel, channel) = (index / channels, index % channels)
        let (row, y, x) = (pixel / (height * width), pixel / width % height, pixel % width)
        let line = row * shape.padded_height + top + y * step
        expected[(line * shape.padded_width + left + x * step) * channels + channel] = value
      }
      kernels.pad(&shape, 2, input, &out)
      #expect(firstDifference(out, expected) == nil)
    }
  }

  @Test("pooling and its gradients equal plain loops", arguments: Body.allCases)
  func pooling(body: Body) throws {
    let kernels = try body.kernels()
    for seed in 0..<1000 as Range<UInt64> {
      var numbers = TestNumbers(seed: seed)
      let (size, stride) = (1 + numbers.below(3), 1 + numbers.below(3))
      let (outHeight, outWidth) = (1 + numbers.below(4), 1 + numbers.below(4))
      let channels = 1 + numbers.below(40)
      var shape = fs_pooling(
        height: (outHeight - 1) * stride + size + numbers.below(stride),
        width: (outWidth - 1) * stride + size + numbers.below(stride), channels: channels,
        out_height: outHeight, out_width: outWidth, size: size, stride: stride)
      let rows = 1 + numbers.below(3)
      let input = numbers.floats(rows * shape.height * shape.width * channels)
      let count = rows * outHeight * outWidth * channels
      let delta = numbers.floats(count)
      var (largest, mean) = (
        [Float](repeating: 0, count: count), [Float](repeating: 0, count: count)
      )
      var places = [Int32](repeating: 0, count: count)
      var (toLargest, toMean) = (
        [Float](repeating: 0, count: input.count), [Float](repeating: 0, count: input.count)
      )
      for at in 0..<count {
        let (pixel, channel) = (at / channels, at % channels)
        let (row, y, x) = (
          pixel / (outHeight * outWidth), pixel / outWidth % outHeight, pixel % outWidth
        )
        let window = (0..<size * size).map { p in
          let line = row * shape.height + y * stride + p / size
          return (line * shape.width + x * stride + p % size) * channels + channel
        }
        var best = 0
        for p in window.indices where input[window[p]] > input[window[best]] { best = p }
        places[at] = Int32(best)
        largest[at] = input[window[best]]
        mean[at] = window.reduce(0) { $0 + input[$1] } / Float(size * size)
        for p in window.indices { toLargest[window[p]] += p == best ? delta[at] : 0 }
        for p in window { toMean[p] += delta[at] / Float(size * size) }
      }
      var out = [Float](repeating: 9, count: count)
      var from = [Int32](repeating: 9, count: count)
      var gradient = [Float](repeating: 9, count: input.count)
      kernels.max_pool(&shape, rows, input, &out, &from)
      #expect(firstDifference(out, largest) == nil && from == places, "seed \(seed)")
      kernels.max_pool_backward(&shape, rows, delta, from, &gradient)
      #expect(firstDifference(gradient, toLargest) == nil, "seed \(seed)")
      kernels.average_pool(&shape, rows, input, &out)
      #expect(firstDifference(out, mean) == nil, "seed \(seed)")
      kernels.average_pool_backward(&shape, rows, delta, &gradient)
      #expect(firstDifference(gradient, toMean) == nil, "seed \(seed)")
    }
  }
}
