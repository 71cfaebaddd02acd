import CKernels

extension KernelCase {
  /// Sums in double, over updates and over elements.
  static let sums = [
    KernelCase("accumulate") { numbers in
      let (count, terms) = (numbers.count() * (numbers.chance() ? 1 : 7), numbers.below(6))
      let (x, base) = (numbers.floats(count * terms), numbers.perhapsFloats(count * terms))
      let (sum, weights) = (doubles(&numbers, count), doubles(&numbers, terms))
      return Problem(
        run: { kernels in
          var out = sum
          withTerms(x, count, terms) { x in
            guard let base else { return kernels.accumulate(count, terms, weights, x, nil, &out) }
            withTerms(base, count, terms) { kernels.accumulate(count, terms, weights, x, $0, &out) }
          }
          return Outcome(doubles: out)
        },
        reference: {
          var out = sum
          for t in 0..<terms {
            for i in 0..<count {
              let value = Double(x[t * count + i]) - (base.map { Double($0[t * count + i]) } ?? 0)
              out[i] += weights[t] * value
            }
          }
          return Outcome(doubles: out)
        })
    },
    KernelCase("round_sum") { numbers in
      let count = numbers.count()
      let sum = doubles(&numbers, count)
      return Problem(
        run: { kernels in
          var out = room(count)
          kernels.round_sum(count, sum, &out)
          return Outcome(floats: [out])
        },
        reference: { Outcome(floats: [guarded(sum.prefix(count).map { Float($0) })]) })
    },
    KernelCase("round_step") { numbers in
      let count = numbers.count()
      let (now, sum) = (numbers.floats(count), doubles(&numbers, count))
      let rate = Double(numbers.uniform()) / 3
      return Problem(
        run: { kernels in
          var out = guarded(now)
          out.withUnsafeMutableBufferPointer {
            kernels.round_step(count, $0.baseAddress, rate, sum, $0.baseAddress)
          }
          return Outcome(floats: [out])
        },
        reference: {
          Outcome(floats: [
            guarded((0..<count).map { Float(Double(now[$0]) + rate * sum[$0]) })
          ])
        })
    },
    KernelCase("sum_of_squares") { numbers in
      let count = numbers.count()
      let x = numbers.floats(count)
      let sum = (0..<16).map { _ in Double(abs(numbers.uniform())) / 3 }
      return Problem(
        run: { kernels in
          var out = sum
          kernels.sum_of_squares(count, x, &out)
          return Outcome(doubles: out)
        },
        reference: {
          var out = sum
          for i in 0..<count { out[i % 16] += Double(x[i]) * Double(x[i]) }
          return Outcome(doubles: out)
        })
    },
  ]

  /// Numbers with more bits than a float has, and two behind the end.
  private static func doubles(_ numbers: inout TestNumbers, _ count: Int) -> [Double] {
    (0..<count + 2).map { _ in Double(numbers.any()) / 3 }
  }
}

/// Lends the places where each of some lists of one size begins, one list behind the other.
private func withTerms(
  _ values: [Float], _ count: Int, _ terms: Int,
  _ body: (UnsafePointer<UnsafePointer<Float>?>) -> Void
) {
  values.withUnsafeBufferPointer { buffer in
    body((0..<max(1, terms)).map { term in buffer.baseAddress.map { $0 + term * count } })
  }
}
