import CKernels
import Testing

/// The matrix product against three readable loops, bit for bit.
@Suite struct GemmTests {
  @Test("every ragged edge equals three loops", arguments: Body.allCases)
  func edges(body: Body) throws {
    let kernels = try body.kernels()
    var numbers = TestNumbers("edges")
    for m in 1...16 {
      for n in 1...34 {
        let problem = Product(
          m: m, n: n, k: 3, start: Product.Start.allCases[(m + n) % 4], numbers: &numbers)
        #expect(firstDifference(problem.run(kernels), problem.reference()) == nil, "\(m)×\(n)")
      }
    }
  }

  @Test(
    "rows one behind the other, which share lines of the cache, equal three loops",
    arguments: Body.allCases, [72, 88, 200])
  func sharedLines(body: Body, n: Int) throws {
    let kernels = try body.kernels()
    var numbers = TestNumbers("shared lines")
    for m in 1...19 {
      for within in [0, 4, 8, 12] {
        let k = 1 + (m + within) % 10
        let (a, b) = (numbers.floats(k * (m + 1)), numbers.floats(k * n))
        let (before, begin) = (numbers.floats(m * n), numbers.floats(m * n))
        let memory = UnsafeMutableRawPointer.allocate(byteCount: 4 * (m * n + 32), alignment: 64)
          .bindMemory(to: Float.self, capacity: m * n + 32)
        defer { memory.deallocate() }
        let c = memory + within
        for start in [nil, before, begin] {
          memory.initialize(repeating: 77, count: m * n + 32)
          c.update(from: before, count: m * n)
          let from = start == before ? UnsafePointer(c) : nil
          if let start, from == nil {
            kernels.gemm(m, n, k, a, 1, m + 1, b, n, start, n, c, n)
          } else {
            kernels.gemm(m, n, k, a, 1, m + 1, b, n, from, n, c, n)
          }
          for place in 0..<m * n {
            var sum: Float = 0
            for p in 0..<k {
              sum = Reference.fused(a[place / n + p * (m + 1)], b[p * n + place % n], sum)
            }
            if let start { sum += start[place] }
            let isEqual = sum.bitPattern == c[place].bitPattern || sum.isNaN && c[place].isNaN
            #expect(isEqual, "\(m) rows at \(within), \(k) terms, place \(place)")
          }
          let around = (0..<within).map { memory[$0] } + (m * n..<m * n + 16).map { c[$0] }
          #expect(around.allSatisfy { $0 == 77 })
        }
      }
    }
  }

  /// More than two tiles, more than one panel, and more terms than are copied at once.
  @Test(
    "factors that are copied first give the bits of three loops", arguments: Body.allCases,
    [(130, 150, false), (300, 70, false), (512, 9, false), (100, 90, true), (300, 40, true)])
  func copies(body: Body, shape: (k: Int, n: Int, isTurned: Bool)) throws {
    let kernels = try body.kernels()
    var numbers = TestNumbers("copies")
    let (m, k, n) = (45, shape.k, shape.n)
    let (row, column) = shape.isTurned ? (1, m + 3) : (512, 1)
    let a = numbers.floats(shape.isTurned ? k * (m + 3) : 512 * m)
    let (b, start) = (numbers.floats(k * (n + 20)), numbers.floats(m * n))
    for begins in [false, true] {
      var c = room(m * n)
      kernels.gemm(m, n, k, a, row, column, b, n + 20, begins ? start : nil, n, &c, n)
      let expected = (0..<m * n).map { place in
        var sum: Float = begins && !shape.isTurned ? start[place] : 0
        for p in 0..<k {
          sum = Reference.fused(a[place / n * row + p * column], b[p * (n + 20) + place % n], sum)
        }
        return begins && shape.isTurned ? sum + start[place] : sum
      }
      #expect(firstDifference(c, guarded(expected)) == nil, "\(shape), start: \(begins)")
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
    kernels.gemm(1, 1, 1, [1 + u], 2, 1, [1 + u], 1, [-(1 + 2 * u)], 0, &c, 1)
    #expect(c == [u * u])
    // Where a is transposed, the product is rounded, and the start added to that.
    kernels.gemm(1, 1, 1, [1 + u], 1, 2, [1 + u], 1, [-(1 + 2 * u)], 0, &c, 1)
    #expect(c == [0])
  }
}
