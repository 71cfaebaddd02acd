import CKernels
import Testing

/// A kernel with random problems, and what plain loops make of them.
///
/// A new kernel of the table needs one more of these, in `all`; a test counts.
struct KernelCase: CustomTestStringConvertible, Sendable {
  /// The kernel's name in `fs_kernels`.
  let name: String
  /// A problem of any small shape, sizes of 0 and 1 among them.
  let draw: @Sendable (inout TestNumbers) -> Problem

  /// Operands, bound to a kernel and to its reference.
  struct Problem {
    let run: (fs_kernels) -> Outcome
    let reference: () -> Outcome
  }

  init(_ name: String, _ draw: @escaping @Sendable (inout TestNumbers) -> Problem) {
    self.name = name
    self.draw = draw
  }

  var testDescription: String { name }

  static let all =
    products + elements + sums + losses + images + optimisers + recurrent + wide
    + winograd + normalisation + batches
}

/// Everything that a kernel wrote, with what was in the gaps and behind the end.
struct Outcome {
  var floats: [[Float]] = []
  var doubles: [Double] = []
  var integers: [Int] = []

  /// The first place where the other differs in a bit; all NaNs count as equal.
  func firstDifference(_ other: Outcome) -> String? {
    guard floats.count == other.floats.count else { return "another number of results" }
    for (number, pair) in zip(floats, other.floats).enumerated() {
      if let place = CKernelsTests.firstDifference(pair.0, pair.1) {
        return "result \(number) \(place)"
      }
    }
    if let place = CKernelsTests.firstDifference(doubles, other.doubles) { return place }
    return integers == other.integers ? nil : "\(integers) against \(other.integers)"
  }
}

/// An array with a few numbers behind its end that nobody may touch.
func guarded(_ values: [Float]) -> [Float] { values + [9, 9, 9] }

/// Room for a result, with a few numbers behind its end that nobody may touch.
func room(_ count: Int) -> [Float] { [Float](repeating: 9, count: count + 3) }

@Suite struct KernelCaseTests {
  @Test(
    "1,000 random problems of every kernel give the bits of plain loops",
    arguments: KernelCase.all, Body.allCases)
  func problems(kernel: KernelCase, body: Body) throws {
    let kernels = try body.kernels()
    for slot in 0..<1000 as Range<UInt64> {
      var numbers = TestNumbers(kernel.name, slot: slot)
      let problem = kernel.draw(&numbers)
      if let difference = problem.run(kernels).firstDifference(problem.reference()) {
        Issue.record("\(kernel.name), problem \(slot): \(difference)")
        return
      }
    }
  }

  @Test("every kernel of the table has its case")
  func completeness() {
    let names = KernelCase.all.map(\.name)
    #expect(Set(names).count == names.count)
    #expect(names.count == MemoryLayout<fs_kernels>.size / MemoryLayout<UnsafeRawPointer>.size)
  }
}
