import CKernels
import Testing

/// The kernels that go element by element, against plain loops, bit for bit.
@Suite struct ElementwiseTests {
  private let counts = [0, 1, 3, 4, 7, 8, 15, 16, 17, 31, 33, 100]

  @Test("transposing moves every element to its place", arguments: Body.allCases)
  func transpose(body: Body) throws {
    let kernels = try body.kernels()
    var numbers = TestNumbers(seed: 2)
    for (rows, columns) in [(1, 1), (8, 8), (7, 9), (16, 24), (17, 8), (8, 17), (33, 41), (2, 50)] {
      let (inRow, outRow) = (columns + 2, rows + 1)
      let source = numbers.floats(rows * inRow)
      var out = [Float](repeating: 9, count: columns * outRow)
      var expected = out
      for i in 0..<rows {
        for j in 0..<columns { expected[j * outRow + i] = source[i * inRow + j] }
      }
      kernels.transpose(rows, columns, source, inRow, &out, outRow)
      #expect(firstDifference(out, expected) == nil, "\(rows)×\(columns)")
    }
  }

  @Test("ReLU keeps what is above zero, and its gradient passes there", arguments: Body.allCases)
  func relu(body: Body) throws {
    let kernels = try body.kernels()
    let tiny = Float.leastNonzeroMagnitude
    let values: [Float] = [1, -1, 0, -0.0, .infinity, -.infinity, .nan, tiny, -tiny]
    var out = [Float](repeating: 9, count: values.count)
    kernels.relu(values.count, values, &out)
    #expect(firstDifference(out, [1, 0, 0, 0, .infinity, 0, 0, tiny, 0]) == nil)
    var delta: [Float] = [1, 2, 3, 4, 5, 6, 7, 8, 9]
    kernels.relu_backward(values.count, values, &delta)
    #expect(firstDifference(delta, [1, 0, 0, 0, 5, 0, 0, 8, 0]) == nil)
    var numbers = TestNumbers(seed: 3)
    for count in counts {
      let source = numbers.floats(count, infinities: true)
      var inPlace = source
      kernels.relu(count, source, &inPlace)
      #expect(firstDifference(inPlace, source.map { $0 > 0 ? $0 : 0 }) == nil)
    }
  }

  @Test("rows are added in ascending order from the start", arguments: Body.allCases)
  func addRows(body: Body) throws {
    let kernels = try body.kernels()
    var numbers = TestNumbers(seed: 4)
    for columns in counts {
      for rows in [0, 1, 10] {
        let stride = columns + 1
        let delta = numbers.floats(rows * stride + 1, infinities: true)
        let start = numbers.floats(columns)
        var expected = start
        for i in 0..<rows {
          for j in 0..<columns { expected[j] += delta[i * stride + j] }
        }
        var out = start
        out.withUnsafeMutableBufferPointer {
          kernels.add_rows(rows, columns, delta, stride, $0.baseAddress, $0.baseAddress)
        }
        #expect(firstDifference(out, expected) == nil)
        var sums = [Float](repeating: 0, count: columns)
        for i in 0..<rows {
          for j in 0..<columns { sums[j] += delta[i * stride + j] }
        }
        kernels.add_rows(rows, columns, delta, stride, nil, &out)
        #expect(firstDifference(out, sums) == nil)
      }
    }
  }

  @Test("each byte becomes the float nearest to its 255th", arguments: Body.allCases)
  func bytes(body: Body) throws {
    let kernels = try body.kernels()
    let bytes = (0...255).map { UInt8($0) }
    let expected = bytes.map { Float(Double($0) / 255) }
    for shift in 0..<17 {  // So that every byte meets both the vectors and the rest.
      let source = Array(bytes[shift...])
      var out = [Float](repeating: 9, count: source.count)
      kernels.bytes_to_floats(source.count, source, &out)
      #expect(firstDifference(out, Array(expected[shift...])) == nil)
    }
  }

  @Test("weighted sums are made in double, unfused", arguments: Body.allCases)
  func accumulate(body: Body) throws {
    let kernels = try body.kernels()
    var numbers = TestNumbers(seed: 5)
    for count in counts {
      let (x, base) = (numbers.floats(count), numbers.floats(count))
      let weight = Double(numbers.uniform()) / 3
      var sum = numbers.floats(count).map { Double($0) / 3 }
      var expected = zip(sum, x).map { $0 + weight * Double($1) }
      kernels.accumulate(count, weight, x, &sum)
      #expect(firstDifference(sum, expected) == nil)
      expected = zip(sum, zip(x, base)).map { $0 + weight * (Double($1.0) - Double($1.1)) }
      kernels.accumulate_difference(count, weight, x, base, &sum)
      #expect(firstDifference(sum, expected) == nil)
      var out = [Float](repeating: 9, count: count)
      kernels.round_sum(count, sum, &out)
      #expect(firstDifference(out, sum.map { Float($0) }) == nil)
      kernels.round_step(count, x, weight, sum, &out)
      #expect(firstDifference(out, zip(x, sum).map { Float(Double($0) + weight * $1) }) == nil)
    }
  }
}
