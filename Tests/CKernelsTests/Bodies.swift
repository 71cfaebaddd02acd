import CKernels
import Testing

/// The three bodies, by name.
enum Body: UInt32, CaseIterable, CustomTestStringConvertible {
  case avx512
  case avx2
  case baseline

  var testDescription: String { "\(self)" }

  /// The body's kernels; cancels the test case, visibly, where this processor lacks them.
  func kernels() throws -> fs_kernels {
    guard let table = fs_kernels_for(fs_body(rawValue)) else {
      try Test.cancel("this processor has no \(self)")
    }
    return table.pointee
  }
}

/// Random numbers for tests: SplitMix64, and floats of all sorts.
struct TestNumbers {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }

  /// Uniform in -1 ..< 1.
  mutating func uniform() -> Float { Float(Int32(truncatingIfNeeded: next())) * 0x1p-31 }

  /// Mostly ordinary, with zeros, denormals and huge values among them; infinities on request.
  mutating func any(infinities: Bool) -> Float {
    switch below(infinities ? 16 : 15) {
    case 0: 0
    case 1: -0.0
    case 2: uniform() * 0x1p-130
    case 3: uniform() * 0x1p-75
    case 4: uniform() * 0x1p60
    case 15: uniform() < 0 ? -.infinity : .infinity
    default: uniform()
    }
  }

  mutating func floats(_ count: Int, infinities: Bool = false) -> [Float] {
    (0..<count).map { _ in any(infinities: infinities) }
  }

  mutating func ordinaryFloats(_ count: Int) -> [Float] {
    (0..<count).map { _ in uniform() }
  }
}

/// The first place where two lists differ in a bit; all NaNs count as equal.
func firstDifference(_ a: [Float], _ b: [Float]) -> String? {
  guard a.count == b.count else { return "\(a.count) elements against \(b.count)" }
  for index in a.indices where a[index].bitPattern != b[index].bitPattern {
    if a[index].isNaN && b[index].isNaN { continue }
    return "[\(index)]: \(a[index]) against \(b[index])"
  }
  return nil
}

func firstDifference(_ a: [Double], _ b: [Double]) -> String? {
  guard a.count == b.count else { return "\(a.count) elements against \(b.count)" }
  for index in a.indices where a[index].bitPattern != b[index].bitPattern {
    if a[index].isNaN && b[index].isNaN { continue }
    return "[\(index)]: \(a[index]) against \(b[index])"
  }
  return nil
}

/// a·b + c, rounded once, from the standard library: slow, and independent of the kernels.
func fused(_ a: Float, _ b: Float, _ c: Float) -> Float { c.addingProduct(a, b) }
