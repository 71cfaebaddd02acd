import CKernels

extension KernelCase {
  /// Sums in double, over updates and over elements.
  static let sums = [
    KernelCase("accumulate") { numbers in
      let count = numbers.count()
      let (x, sum) = (numbers.floats(count), doubles(&numbers, count))
      let weight = Double(numbers.any()) / 3
      return Problem(
        run: { kernels in
          var out = sum
          kernels.accumulate(count, weight, x, &out)
          return Outcome(doubles: out)
        },
        reference: {
          var out = sum
          for i in 0..<count { out[i] += weight * Double(x[i]) }
          return Outcome(doubles: out)
        })
    },
    KernelCase("accumulate_difference") { numbers in
      let count = numbers.count()
      let (x, base) = (numbers.floats(count), numbers.floats(count))
      let (sum, weight) = (doubles(&numbers, count), Double(numbers.any()) / 3)
      return Problem(
        run: { kernels in
          var out = sum
          kernels.accumulate_difference(count, weight, x, base, &out)
          return Outcome(doubles: out)
        },
        reference: {
          var out = sum
          for i in 0..<count { out[i] += weight * (Double(x[i]) - Double(base[i])) }
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
