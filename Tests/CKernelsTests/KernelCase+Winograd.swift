import CKernels
import Testing

extension KernelCase {
  /// Convolutions by the values of polynomials.
  static let winograd = [
    KernelCase("winograd_filters") { numbers in
      let problem = Winograd(&numbers)
      return Problem(
        run: { kernels in
          var (out, shape) = (room(problem.filterValues.count), problem.shape)
          kernels.winograd_filters(&shape, problem.weight, &out)
          return Outcome(floats: [problem.withoutGaps(out), Array(out.suffix(3))])
        },
        reference: {
          Outcome(floats: [problem.withoutGaps(problem.filterValues), [9, 9, 9]])
        })
    },
    KernelCase("winograd_convolve") { numbers in
      let problem = Winograd(&numbers)
      return Problem(
        run: { kernels in
          var (out, shape) = (room(problem.delta.count), problem.shape)
          var scratch = problem.scratch
          kernels.winograd_convolve(
            &shape, problem.rows, problem.input, problem.filterValues, problem.bias, &scratch,
            &out)
          return Outcome(floats: [out, Array(scratch.suffix(3))])
        },
        reference: { Outcome(floats: [problem.forward(), [9, 9, 9]]) })
    },
    KernelCase("winograd_collect") { numbers in
      let problem = Winograd(&numbers)
      let before = numbers.floats(problem.filterValues.count)
      let isFirst = numbers.chance()
      return Problem(
        run: { kernels in
          var (sums, shape, scratch) = (before, problem.shape, problem.scratch)
          kernels.winograd_collect(
            &shape, problem.rows, problem.input, problem.delta, isFirst ? 1 : 0, &scratch, &sums)
          return Outcome(floats: [sums, Array(scratch.suffix(3))])
        },
        reference: {
          Outcome(floats: [problem.collected(before, isFirst: isFirst), [9, 9, 9]])
        })
    },
    KernelCase("winograd_weights") { numbers in
      let problem = Winograd(&numbers)
      let sums = numbers.floats(problem.filterValues.count)
      let isInPlace = numbers.chance()
      return Problem(
        run: { Outcome(floats: [problem.runWeights($0, sums, isInPlace: isInPlace)]) },
        reference: { Outcome(floats: [problem.gathered(sums)]) })
    },
  ]
}

/// A convolution of stride 1 with its operands, and what plain loops make of them.
struct Winograd {
  let shape: fs_convolution
  let rows: Int
  let input: [Float], weight: [Float], bias: [Float]?, delta: [Float], start: [Float]?

  /// `isOrdinary`: of numbers between -1 and 1 alone.
  init(_ numbers: inout TestNumbers, isOrdinary: Bool = false) {
    func floats(_ count: Int) -> [Float] {
      isOrdinary ? numbers.ordinaryFloats(count) : numbers.floats(count)
    }
    let size = [3, 5][numbers.below(2)]
    let isLarge = numbers.chance()
    let outHeight = 1 + numbers.below(isLarge ? 13 : 6)
    let outWidth = 1 + numbers.below(isLarge ? 13 : 6)
    let (channels, outputs) = (1 + numbers.below(9), 1 + numbers.below(numbers.chance() ? 9 : 36))
    shape = fs_convolution(
      height: outHeight + size - 1, width: outWidth + size - 1, channels: channels,
      out_height: outHeight, out_width: outWidth, outputs: outputs, kernel_height: size,
      kernel_width: size, stride: 1, groups: 1)
    rows = 1 + numbers.below(2)
    input = floats(rows * shape.height * shape.width * channels)
    weight = floats(size * size * channels * outputs)
    bias = numbers.chance() ? floats(outputs) : nil
    delta = floats(rows * outHeight * outWidth * outputs)
    start = numbers.chance() ? floats(weight.count) : nil
  }

  private var size: Int { shape.kernel_width }
  private var step: Int { side + 1 - size }
  private var wide: Int { (shape.out_width + step - 1) / step }
  private var tiles: Int { tileCount(of: side) }
  private func tileCount(of side: Int) -> Int {
    let step = side + 1 - size
    return (shape.out_height + step - 1) / step * ((shape.out_width + step - 1) / step)
  }
  /// Of a tile: 8 for filters of 5×5, where several take less than two thirds of the products.
  private var side: Int {
    let (small, large) = (36 * tileCount(of: 6), 64 * tileCount(of: 8))
    return size == 5 && large >= 4 * 64 && 3 * large < 2 * small ? 8 : 6
  }
  private var points: Int { side * side }
  private var pairs: Int { shape.channels * shape.outputs }
  /// Planes are an odd number of sixteens apart.
  private var weightPlane: Int { Self.plane(pairs) }
  private static func plane(_ count: Int) -> Int { ((count + 15) / 16 | 1) * 16 }

  var scratch: [Float] {
    room(points * (Self.plane(tiles * shape.channels) + Self.plane(tiles * shape.outputs)))
  }

  /// The values of each pair of a channel and an output, in planes.
  var filterValues: [Float] {
    var values = [Float](repeating: 0, count: points * weightPlane)
    for pair in 0..<pairs {
      let filter = (0..<size).map { y in
        (0..<size).map { x in weight[(y * size + x) * pairs + pair] }
      }
      for (point, value) in Self.twice(filter, { Self.evaluate($0, side) }).enumerated() {
        values[point * weightPlane + pair] = value
      }
    }
    return values
  }

  /// What is between planes is nobody's.
  func withoutGaps(_ values: [Float]) -> [Float] {
    (0..<points).flatMap { values[$0 * weightPlane..<$0 * weightPlane + pairs] }
  }

  func forward() -> [Float] {
    let filters = filterValues
    var out = room(delta.count)
    for row in 0..<rows {
      for tile in 0..<tiles {
        let seen = (0..<shape.channels).map { inputValues(row, tile, $0) }
        for output in 0..<shape.outputs {
          let products = (0..<points).map { point in
            (0..<shape.channels).reduce(Float(0)) { sum, channel in
              Reference.fused(
                seen[channel][point],
                filters[point * weightPlane + channel * shape.outputs + output], sum)
            }
          }
          let results = Self.twice(grid(products), { Self.interpolate($0, step) })
          for (place, value) in results.enumerated() {
            let (y, x) = (tile / wide * step + place / step, tile % wide * step + place % step)
            guard y < shape.out_height, x < shape.out_width else { continue }
            let pixel = (row * shape.out_height + y) * shape.out_width + x
            out[pixel * shape.outputs + output] = (bias?[output] ?? 0) + value
          }
        }
      }
    }
    return out
  }

  func collected(_ before: [Float], isFirst: Bool) -> [Float] {
    var sums = before
    for point in isFirst ? 0..<points : 0..<0 {
      for pair in 0..<pairs { sums[point * weightPlane + pair] = 0 }
    }
    for row in 0..<rows {
      var own = [Float](repeating: 0, count: sums.count)
      for tile in 0..<tiles {
        let seen = (0..<shape.channels).map { inputValues(row, tile, $0) }
        let deltas = (0..<shape.outputs).map { deltaValues(row, tile, $0) }
        for point in 0..<points {
          for pair in 0..<pairs {
            let place = point * weightPlane + pair
            own[place] = Reference.fused(
              seen[pair / shape.outputs][point], deltas[pair % shape.outputs][point], own[place])
          }
        }
      }
      for point in 0..<points {
        for place in point * weightPlane..<point * weightPlane + pairs {
          sums[place] = isFirst && row == 0 ? own[place] : sums[place] + own[place]
        }
      }
    }
    return sums
  }

  func gathered(_ sums: [Float]) -> [Float] {
    var out = room(weight.count)
    for pair in 0..<pairs {
      let values = (0..<points).map { sums[$0 * weightPlane + pair] }
      let gradient = Self.twice(grid(values), { Self.interpolate($0, size) })
      for (tap, value) in gradient.enumerated() {
        out[tap * pairs + pair] = (start?[tap * pairs + pair] ?? 0) + value
      }
    }
    return out
  }

  /// What the kernel makes of sums, over the start where it is in place.
  func runWeights(_ kernels: fs_kernels, _ sums: [Float], isInPlace: Bool) -> [Float] {
    var (out, shape) = (room(weight.count), shape)
    guard isInPlace, let start else {
      kernels.winograd_weights(&shape, sums, start, &out)
      return out
    }
    out = guarded(start)
    out.withUnsafeMutableBufferPointer {
      kernels.winograd_weights(&shape, sums, UnsafePointer($0.baseAddress), $0.baseAddress)
    }
    return out
  }

  private func inputValues(_ row: Int, _ tile: Int, _ channel: Int) -> [Float] {
    let pixels = pixels(side, tile, (shape.height, shape.width)) {
      input[((row * shape.height + $0) * shape.width + $1) * shape.channels + channel]
    }
    return Self.twice(pixels, Self.spread)
  }

  private func deltaValues(_ row: Int, _ tile: Int, _ output: Int) -> [Float] {
    let pixels = pixels(step, tile, (shape.out_height, shape.out_width)) {
      delta[((row * shape.out_height + $0) * shape.out_width + $1) * shape.outputs + output]
    }
    return Self.twice(pixels, { Self.evaluate($0, side) })
  }

  private func pixels(
    _ count: Int, _ tile: Int, _ extent: (height: Int, width: Int), _ at: (Int, Int) -> Float
  ) -> [[Float]] {
    (0..<count).map { dy in
      (0..<count).map { dx in
        let (y, x) = (tile / wide * step + dy, tile % wide * step + dx)
        return y < extent.height && x < extent.width ? at(y, x) : 0
      }
    }
  }

  private func grid(_ values: [Float]) -> [[Float]] {
    (0..<side).map { Array(values[side * $0..<side * $0 + side]) }
  }

  /// A transform along the columns of [y][x], and then along the rows.
  private static func twice(_ grid: [[Float]], _ transform: ([Float]) -> [Float]) -> [Float] {
    let columns = grid[0].indices.map { x in transform(grid.map { $0[x] }) }
    return columns[0].indices.flatMap { y in transform(columns.map { $0[y] }) }
  }

  /// Bᵀ·d for the points 0, 1, -1, 2, -2, of eight 1/2, -1/2, and infinity.
  private static func spread(_ d: [Float]) -> [Float] {
    let fused = Reference.fused
    guard d.count == 8 else {
      let (far, farOdd) = (fused(-4, d[2], d[4]), fused(-4, d[1], d[3]))
      let (near, nearOdd) = (d[4] - d[2], d[3] - d[1])
      return [
        fused(4, d[0], fused(-5, d[2], d[4])), far + farOdd, far - farOdd,
        fused(2, nearOdd, near), fused(-2, nearOdd, near),
        fused(4, d[1], fused(-5, d[3], d[5])),
      ]
    }
    let one = (fused(-4.25, d[4], d[2] + d[6]), fused(-4.25, d[3], d[1] + d[5]))
    let two = (
      fused(-1.25, d[4], fused(0.25, d[2], d[6])),
      fused(2, d[5], fused(-2.5, d[3], 0.5 * d[1]))
    )
    let half = (
      fused(-5, d[4], fused(4, d[2], d[6])), fused(0.5, d[5], fused(-2.5, d[3], d[1] + d[1]))
    )
    return [fused(5.25, d[4] - d[2], d[0] - d[6])]
      + [one, two, half].flatMap { [$0.0 + $0.1, $0.0 - $0.1] }
      + [fused(5.25, d[3] - d[5], d[7] - d[1])]
  }

  /// G·g: sums of even and of odd coefficients, at 1, 2 and 1/2.
  private static func evaluate(_ g: [Float], _ side: Int) -> [Float] {
    func values(at point: Float, times scale: Float) -> [Float] {
      var (even, odd, power) = (g[0], point * g[1], point)
      for (n, value) in g.enumerated().dropFirst(2) {
        power *= point
        if n % 2 == 0 {
          even = Reference.fused(power, value, even)
        } else {
          odd = Reference.fused(power, value, odd)
        }
      }
      return [(even + odd) * scale, (even - odd) * scale]
    }
    return side == 6
      ? [g[0] * 0.25] + values(at: 1, times: -1 / 6) + values(at: 2, times: 1 / 24)
        + [g[g.count - 1]]
      : [g[0]] + values(at: 1, times: -2 / 9) + values(at: 2, times: 1 / 90)
        + values(at: 0.5, times: 32 / 45) + [g[g.count - 1]]
  }

  /// Aᵀ·m.
  private static func interpolate(_ m: [Float], _ count: Int) -> [Float] {
    let pairs = stride(from: 1, to: m.count - 1, by: 2).map { (n: Int) -> (Float, Float) in
      (m[n] + m[n + 1], m[n] - m[n + 1])
    }
    var out: [Float] = []
    for power in 0..<count {
      let parts: [Float] = pairs.map { power % 2 == 0 ? $0.0 : $0.1 }
      var sum: Float = power == 0 ? m[0] + parts[0] : parts[0]
      sum = Reference.fused(Float(1 << power), parts[1], sum)
      if parts.count > 2 { sum = Reference.fused(1 / Float(1 << power), parts[2], sum) }
      out.append(sum)
    }
    out[count - 1] += m[m.count - 1]
    return out
  }
}

/// Whether values at points make the convolution that they are for.
@Suite struct WinogradTests {
  @Test("filters by values of polynomials give the convolution and its gradient")
  func convolution() {
    for slot in 0..<60 as Range<UInt64> {
      var numbers = TestNumbers("winograd against sums", slot: slot)
      let problem = Winograd(&numbers, isOrdinary: true)
      let s = problem.shape
      var out = (0..<problem.delta.count).map { Double(problem.bias?[$0 % s.outputs] ?? 0) }
      var gradient = problem.weight.indices.map { Double(problem.start?[$0] ?? 0) }
      for to in problem.delta.indices {
        let (pixel, output) = (to / s.outputs, to % s.outputs)
        let row = pixel / (s.out_height * s.out_width)
        let (y, x) = (pixel / s.out_width % s.out_height, pixel % s.out_width)
        for by in 0..<problem.weight.count / s.outputs {
          let (tap, channel) = (by / s.channels, by % s.channels)
          let line = row * s.height + y + tap / s.kernel_width
          let seen = Double(
            problem.input[(line * s.width + x + tap % s.kernel_width) * s.channels + channel])
          out[to] += seen * Double(problem.weight[by * s.outputs + output])
          gradient[by * s.outputs + output] += seen * Double(problem.delta[to])
        }
      }
      let sums = problem.collected(problem.filterValues, isFirst: true)
      expectNear(problem.forward(), out, "the convolution of problem \(slot)")
      expectNear(problem.gathered(sums), gradient, "the gradient of problem \(slot)")
    }
  }

  @Test(
    "tiles are of 8×8 for filters of 5×5 where that pays",
    arguments: [
      (5, [14, 14], 8, 16), (5, [8, 8], 8, 4), (5, [5, 7], 8, 4), (5, [6, 7], 8, 4),
      (5, [6, 6], 6, 9), (5, [5, 6], 6, 9), (5, [4, 16], 8, 4), (5, [4, 12], 6, 12),
      (5, [10, 10], 8, 9), (3, [14, 14], 6, 16), (3, [8, 8], 6, 4),
    ])
  func tiling(_ size: Int, _ out: [Int], _ side: Int, _ count: Int) {
    var shape = fs_convolution()
    (shape.kernel_height, shape.kernel_width) = (size, size)
    (shape.out_height, shape.out_width) = (out[0], out[1])
    let tiling = fs_winograd_tiling(&shape)
    #expect(tiling.side == side && tiling.count == count)
  }

  /// Within 10⁻⁵ of the largest.
  private func expectNear(_ values: [Float], _ expected: [Double], _ what: String) {
    let largest = expected.reduce(1e-3) { max($0, abs($1)) }
    let worst = zip(values, expected).map { abs(Double($0) - $1) }.max() ?? 0
    #expect(worst < 1e-5 * largest, "\(what)")
  }
}
