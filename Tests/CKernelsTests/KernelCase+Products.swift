import CKernels

extension KernelCase {
  /// Products of matrices, and what goes with them.
  static let products = [
    KernelCase("gemm") { numbers in
      let product = Product(
        m: numbers.below(41), n: numbers.count(), k: numbers.below(31), numbers: &numbers)
      return Problem(
        run: { Outcome(floats: [product.run($0)]) },
        reference: { Outcome(floats: [product.reference()]) })
    },
    KernelCase("dots") { numbers in
      let (m, n, k) = (numbers.below(13), numbers.below(18), numbers.count())
      let (aRow, bRow) = (k + numbers.below(3), k + numbers.below(3))
      let cRow = n + numbers.below(3)
      let (a, b) = (numbers.floats(m * aRow), numbers.floats(n * bRow))
      let start = numbers.perhapsFloats(n)
      return Problem(
        run: { kernels in
          var out = room(m * cRow)
          if let start {
            kernels.dots(m, n, k, a, aRow, b, bRow, start, &out, cRow, nil)
          } else {
            kernels.dots(m, n, k, a, aRow, b, bRow, nil, &out, cRow, nil)
          }
          return Outcome(floats: [out])
        },
        reference: {
          var out = room(m * cRow)
          for i in 0..<m {
            for j in 0..<n {
              let sum = Reference.dot((0..<k).map { a[i * aRow + $0] }, { b[j * bRow + $0] })
              out[i * cRow + j] = (start?[j] ?? 0) + sum
            }
          }
          return Outcome(floats: [out])
        })
    },
    KernelCase("dots_of_bytes") { numbers in
      let (m, n, k) = (numbers.below(13), numbers.below(18), numbers.count())
      let (aRow, bRow, cRow) = (k + numbers.below(3), k + numbers.below(3), n + numbers.below(3))
      let rows = (0..<m).map { _ in (0..<k).map { _ in UInt8(numbers.below(256)) } }
      let b = numbers.floats(n * bRow)
      let start = numbers.perhapsFloats(n)
      return Problem(
        run: { kernels in
          var (out, a) = (room(m * cRow), room(m * aRow))
          // Rows are apart, each with nothing behind it that may be read.
          let places = rows.map { row in
            let place = UnsafeMutablePointer<UInt8>.allocate(capacity: max(1, k))
            place.initialize(from: row, count: k)
            return place
          }
          defer { for place in places { place.deallocate() } }
          let addresses = places.map { Optional(UnsafePointer($0)) }
          if let start {
            kernels.dots_of_bytes(
              m, n, k, addresses, &a, aRow, b, bRow, start, &out, cRow, nil)
          } else {
            kernels.dots_of_bytes(m, n, k, addresses, &a, aRow, b, bRow, nil, &out, cRow, nil)
          }
          return Outcome(floats: [out, a])
        },
        reference: {
          var (out, a) = (room(m * cRow), room(m * aRow))
          for i in 0..<m {
            let row = rows[i].map { Float(Double($0) / 255) }
            for p in 0..<k { a[i * aRow + p] = row[p] }
            for j in 0..<n {
              out[i * cRow + j] =
                (start?[j] ?? 0) + Reference.dot(row, { b[j * bRow + $0] })
            }
          }
          return Outcome(floats: [out, a])
        })
    },
    KernelCase("transpose") { numbers in
      let (rows, columns) = (numbers.count(), numbers.count())
      let (inRow, outRow) = (columns + numbers.below(3), rows + numbers.below(3))
      let source = numbers.floats(rows * inRow)
      return Problem(
        run: { kernels in
          var out = room(columns * outRow)
          kernels.transpose(rows, columns, source, inRow, &out, outRow)
          return Outcome(floats: [out])
        },
        reference: {
          var out = room(columns * outRow)
          for i in 0..<rows {
            for j in 0..<columns { out[j * outRow + i] = source[i * inRow + j] }
          }
          return Outcome(floats: [out])
        })
    },
    KernelCase("add_rows") { numbers in
      let rows = numbers.below(numbers.chance() ? 12 : 200)
      let columns = numbers.count()
      let pitch = columns + numbers.below(3)
      let delta = numbers.floats(rows * pitch)
      let start = numbers.perhapsFloats(columns)
      let isInPlace = start != nil && numbers.chance()
      return Problem(
        run: { kernels in
          var out = isInPlace ? guarded(start ?? []) : room(columns)
          out.withUnsafeMutableBufferPointer { out in
            let to = out.baseAddress
            if let start, !isInPlace {
              kernels.add_rows(rows, columns, delta, pitch, start, to)
            } else {
              kernels.add_rows(rows, columns, delta, pitch, isInPlace ? to : nil, to)
            }
          }
          return Outcome(floats: [out])
        },
        reference: {
          var out = room(columns)
          for j in 0..<columns {
            var total: Float = 0
            for first in stride(from: 0, to: rows, by: 64) {
              var sum: Float = 0
              for i in first..<min(first + 64, rows) { sum += delta[i * pitch + j] }
              total += sum
            }
            out[j] = start.map { $0[j] + total } ?? total
          }
          return Outcome(floats: [out])
        })
    },
    KernelCase("fma") { numbers in
      let count = numbers.count()
      let (a, b, c) = (numbers.floats(count), numbers.floats(count), numbers.floats(count))
      return Problem(
        run: { kernels in
          var out = room(count)
          kernels.fma(count, a, b, c, &out)
          return Outcome(floats: [out])
        },
        reference: {
          Outcome(floats: [guarded((0..<count).map { Reference.fused(a[$0], b[$0], c[$0]) })])
        })
    },
  ]
}

/// A product's operands, with gaps at the ends of rows.
struct Product {
  /// What the chains begin with.
  enum Start: CaseIterable { case zeros, row, matrix, itself }

  let m: Int, n: Int, k: Int
  let start: Start
  let aRow: Int, aColumn: Int, bRow: Int, cRow: Int, startRow: Int
  let a: [Float], b: [Float], c: [Float], begin: [Float]

  init(m: Int, n: Int, k: Int, start: Start? = nil, numbers: inout TestNumbers) {
    (self.m, self.n, self.k) = (m, n, k)
    self.start = start ?? Start.allCases[numbers.below(4)]
    let gap = numbers.below(3)
    let isTransposed = numbers.chance()
    (aRow, aColumn) = isTransposed ? (1, m + gap) : (k + gap, 1)
    (bRow, cRow) = (n + numbers.below(3), n + numbers.below(3))
    startRow = self.start == .row ? 0 : n + 1
    a = numbers.floats(isTransposed ? k * aColumn : m * aRow)
    b = numbers.floats(k * bRow)
    c = numbers.guardedFloats(m * cRow)
    begin = numbers.floats((m + 1) * (n + 1))
  }

  func reference() -> [Float] {
    var result = c
    for i in 0..<m {
      for j in 0..<n {
        let from: Float =
          switch start {
          case .zeros: 0
          case .row: begin[j]
          case .matrix: begin[i * startRow + j]
          case .itself: c[i * cRow + j]
          }
        // Where a is transposed, the start is added to the end of the chain.
        var sum = aRow == 1 ? 0 : from
        for p in 0..<k {
          sum = Reference.fused(a[i * aRow + p * aColumn], b[p * bRow + j], sum)
        }
        result[i * cRow + j] = aRow == 1 && start != .zeros ? sum + from : sum
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
