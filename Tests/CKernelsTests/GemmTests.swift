import CKernels
import Testing

/// The matrix product against three readable loops, bit for bit.
@Suite struct GemmTests {
  /// What the chains begin with.
  enum Start: CaseIterable { case zeros, row, matrix, itself }

  /// A product's operands, with gaps at the ends of rows.
  struct Problem {
    let m: Int, n: Int, k: Int
    let start: Start
    let aRow: Int, aColumn: Int, bRow: Int, cRow: Int, startRow: Int
    let a: [Float], b: [Float], c: [Float], begin: [Float]

    init(
      m: Int, n: Int, k: Int, start: Start, isTransposed: Bool, infinities: Bool,
      numbers: inout TestNumbers
    ) {
      (self.m, self.n, self.k, self.start) = (m, n, k, start)
      let gap = numbers.below(3)
      (aRow, aColumn) = isTransposed ? (1, m + gap) : (k + gap, 1)
      (bRow, cRow) = (n + numbers.below(3), n + numbers.below(3))
      startRow = start == .row ? 0 : n + 1
      a = numbers.floats((max(m, k) + gap) * (max(m, k) + gap), infinities: infinities)
      b = numbers.floats(k * bRow, infinities: infinities)
      c = numbers.floats(m * cRow)
      begin = numbers.floats(m * (n + 1), infinities: infinities)
    }

    func reference() -> [Float] {
      var result = c
      for i in 0..<m {
        for j in 0..<n {
          var sum: Float =
            switch start {
            case .zeros: 0
            case .row: begin[j]
            case .matrix: begin[i * startRow + j]
            case .itself: c[i * cRow + j]
            }
          for p in 0..<k {
            sum = fused(a[i * aRow + p * aColumn], b[p * bRow + j], sum)
          }
          result[i * cRow + j] = sum
        }
      }
      return result
    }

    func run(_ kernels: fs_kernels) -> [Float] {
      var result = c
      result.withUnsafeMutableBufferPointer { target in
        begin.withUnsafeBufferPointer { begin in
          let (from, row): (UnsafePointer<Float>?, Int) =
            switch start {
            case .zeros: (nil, 0)
            case .row, .matrix: (begin.baseAddress, startRow)
            case .itself: (UnsafePointer(target.baseAddress), cRow)
            }
          kernels.gemm(m, n, k, a, aRow, aColumn, b, bRow, from, row, target.baseAddress, cRow)
        }
      }
      return result
    }
  }

  @Test("random shapes, strides and starts equal three loops", arguments: Body.allCases)
  func randomShapes(body: Body) throws {
    let kernels = try body.kernels()
    for seed in 0..<400 as Range<UInt64> {
      var numbers = TestNumbers(seed: seed)
      let problem = Problem(
        m: 1 + numbers.below(40), n: 1 + numbers.below(70), k: numbers.below(30),
        start: Start.allCases[numbers.below(4)], isTransposed: numbers.below(2) == 0,
        infinities: numbers.below(8) == 0, numbers: &numbers)
      let difference = firstDifference(problem.run(kernels), problem.reference())
      #expect(
        difference == nil,
        "seed \(seed), \(problem.m)×\(problem.n)×\(problem.k), start \(problem.start)")
    }
  }

  @Test("every ragged edge equals three loops", arguments: Body.allCases)
  func edges(body: Body) throws {
    let kernels = try body.kernels()
    var numbers = TestNumbers(seed: 7)
    for m in 1...16 {
      for n in 1...34 {
        let problem = Problem(
          m: m, n: n, k: 3, start: Start.allCases[(m + n) % 4], isTransposed: n % 2 == 0,
          infinities: false, numbers: &numbers)
        #expect(firstDifference(problem.run(kernels), problem.reference()) == nil, "\(m)×\(n)")
      }
    }
  }

  @Test("a product over nothing is its start, and an empty result touches nothing")
  func empty() throws {
    let kernels = try Body.baseline.kernels()
    var c: [Float] = [5, 6]
    kernels.gemm(1, 2, 0, [1], 1, 1, [1], 2, [3, 4], 0, &c, 2)
    #expect(c == [3, 4])
    kernels.gemm(0, 2, 3, [1], 1, 1, [1], 2, nil, 0, &c, 2)
    kernels.gemm(1, 0, 3, [1], 1, 1, [1], 2, nil, 0, &c, 2)
    #expect(c == [3, 4])
  }

  @Test("a 2×2 product is the one worked out by hand", arguments: Body.allCases)
  func byHand(body: Body) throws {
    var c = [Float](repeating: 0, count: 4)
    // [1 2; 3 4]·[5 6; 7 8] + [10 20] = [19 22; 43 50] + [10 20].
    try body.kernels().gemm(2, 2, 2, [1, 2, 3, 4], 2, 1, [5, 6, 7, 8], 2, [10, 20], 0, &c, 2)
    #expect(c == [29, 42, 53, 70])
  }

  @Test("the chain is fused and ascends in k", arguments: Body.allCases)
  func chain(body: Body) throws {
    let kernels = try body.kernels()
    var c: [Float] = [0]
    // Ascending: 2²⁴ + 1 rounds to 2²⁴, less 2²⁴ is 0. Any other order leaves 1.
    kernels.gemm(1, 1, 3, [0x1p24, 1, -0x1p24], 3, 1, [1, 1, 1], 1, nil, 0, &c, 1)
    #expect(c == [0])
    // Fused: (1+u)² - (1+2u) leaves u², where rounding the product first leaves 0.
    let u = Float.ulpOfOne
    kernels.gemm(1, 1, 1, [1 + u], 1, 1, [1 + u], 1, [-(1 + 2 * u)], 0, &c, 1)
    #expect(c == [u * u])
  }
}
