import CKernels
import Numerics
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

/// Random numbers for tests, from a keyed stream: floats of all sorts.
struct TestNumbers {
  private var stream: RandomStream
  /// Whether `floats` has infinities among its numbers.
  var infinities = false

  /// The numbers of one problem; an eighth of the problems has infinities.
  init(_ purpose: String, slot: UInt64 = 0) {
    stream = StreamKey(seed: 1, purpose: Purpose(purpose)).stream(slot: slot)
    infinities = below(8) == 0
  }

  mutating func bits() -> UInt32 { stream.nextUInt32() }

  mutating func below(_ bound: Int) -> Int { Int(stream.below(UInt32(bound))) }

  mutating func chance() -> Bool { below(2) == 0 }

  /// A number of elements: often 0, 1 or near a multiple of a vector's length, up to 70.
  mutating func count() -> Int {
    switch below(8) {
    case 0: below(2)
    case 1: 16 * (1 + below(4)) - 1 + below(3)
    default: below(71)
    }
  }

  /// Uniform in -1 ..< 1.
  mutating func uniform() -> Float { Float(Int32(bitPattern: bits())) * 0x1p-31 }

  /// Mostly ordinary, with zeros, denormals and huge values among them, infinities perhaps.
  mutating func any() -> Float {
    switch below(infinities ? 16 : 15) {
    case 0: 0
    case 1: -0.0
    case 2: uniform() * 0x1p-130
    case 3: uniform() * 0x1p-75
    case 4: uniform() * 0x1p60
    case 15: chance() ? -.infinity : .infinity
    default: uniform()
    }
  }

  /// Numbers of all sorts.
  mutating func floats(_ count: Int) -> [Float] { (0..<count).map { _ in any() } }

  /// Numbers of all sorts, and a few behind the end.
  mutating func guardedFloats(_ count: Int) -> [Float] { guarded(floats(count)) }

  /// Numbers of all sorts, or nothing at all.
  mutating func perhapsFloats(_ count: Int) -> [Float]? { chance() ? floats(count) : nil }

  mutating func ordinaryFloats(_ count: Int) -> [Float] { (0..<count).map { _ in uniform() } }

  mutating func labels(_ rows: Int, below classes: Int) -> [Int32] {
    (0..<rows).map { _ in Int32(below(classes)) }
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
