import Learning
import Numerics
import Testing

/// A stream for tests.
func testStream(_ slot: UInt64) -> RandomStream {
  StreamKey(seed: 99, purpose: "test").stream(slot: slot)
}

/// A small data set of random bytes, whose classes can be learned: a class brightens its own
/// pixels.
func byteDataset(count: Int, size: Int = 30, classCount: Int = 5, slot: UInt64 = 0) -> Dataset {
  var stream = testStream(slot)
  var bytes: [UInt8] = []
  var labels: [Int32] = []
  for _ in 0..<count {
    let label = Int(stream.below(UInt32(classCount)))
    labels.append(Int32(label))
    for pixel in 0..<size {
      let noise = UInt8(stream.below(100))
      bytes.append(pixel % classCount == label ? noise + 100 : noise)
    }
  }
  return Dataset(
    features: .bytes(bytes), sampleShape: [size], labels: labels, classCount: classCount)
}

/// The kernels of a body; cancels the test case, visibly, where this processor lacks it.
func kernels(_ body: KernelBody) throws -> Kernels {
  guard let kernels = Kernels(body) else { try Test.cancel("this processor has no \(body)") }
  return kernels
}

/// The first place where two buffers differ in a bit.
func firstDifference(_ a: ParameterBuffer, _ b: ParameterBuffer) -> Int? {
  guard a.count == b.count else { return min(a.count, b.count) }
  return (0..<a.count).first { a[$0].bitPattern != b[$0].bitPattern }
}
