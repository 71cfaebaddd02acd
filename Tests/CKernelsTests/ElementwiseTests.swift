import CKernels
import Testing

/// Kernels that go element by element, at the values that matter.
@Suite struct ElementwiseTests {
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
}
