import CKernels

extension KernelCase {
  /// What goes element by element.
  static let elements = [
    unary("relu", { numbers, _ in numbers.any() }, { $0 > 0 ? $0 : 0 }) { $0.relu($1, $2, $3) },
    unary("leaky_relu", { numbers, _ in numbers.any() }, { $0 > 0 ? $0 : 0.1 * $0 }) {
      $0.leaky_relu($1, 0.1, $2, $3)
    },
    unary("tanh", wide, Reference.tangent) { $0.tanh($1, $2, $3) },
    unary("sigmoid", wide, Reference.sigmoid) { $0.sigmoid($1, $2, $3) },
    unary("gelu", wide, { $0 * Reference.normal($0) }) { $0.gelu($1, $2, $3) },
    unary("silu", wide, { $0 * Reference.sigmoid($0) }) { $0.silu($1, $2, $3) },
    unary("exp", { -abs(wide(&$0, $1)) }, Reference.exponential) { $0.exp($1, $2, $3) },
    backward("relu_backward", { a, d in a > 0 ? d : 0 }) { $0.relu_backward($1, $2, $3) },
    backward("leaky_relu_backward", { a, d in a > 0 ? d : 0.1 * d }) {
      $0.leaky_relu_backward($1, 0.1, $2, $3)
    },
    backward("tanh_backward", { a, d in d * (1 - a * a) }) { $0.tanh_backward($1, $2, $3) },
    backward("sigmoid_backward", { a, d in d * (a * (1 - a)) }) {
      $0.sigmoid_backward($1, $2, $3)
    },
    backward("gelu_backward", { x, d in d * Reference.normalSlope(x) }) {
      $0.gelu_backward($1, $2, $3)
    },
    backward("silu_backward", { x, d in d * Reference.siluSlope(x) }) {
      $0.silu_backward($1, $2, $3)
    },
    backward("multiply", { a, d in a * d }) {
      $0.multiply($1, $2, UnsafePointer($3), $3)
    },
    KernelCase("bytes_to_floats") { numbers in
      let count = numbers.count()
      let bytes = (0..<count).map { _ in UInt8(numbers.below(256)) }
      return Problem(
        run: { kernels in
          var out = room(count)
          kernels.bytes_to_floats(count, bytes, &out)
          return Outcome(floats: [out])
        },
        reference: { Outcome(floats: [guarded(bytes.map { Float(Double($0) / 255) })]) })
    },
  ]

  /// All sorts of numbers, most of them where curves bend.
  private static func wide(_ numbers: inout TestNumbers, _ index: Int) -> Float {
    switch numbers.below(4) {
    case 0: numbers.any()
    case 1: numbers.uniform() * 100
    default: numbers.uniform() * 5
    }
  }

  private typealias Floats = UnsafeMutablePointer<Float>

  /// A function of each element, in place or not.
  private static func unary(
    _ name: String, _ input: @escaping @Sendable (inout TestNumbers, Int) -> Float,
    _ definition: @escaping @Sendable (Float) -> Float,
    _ run: @escaping @Sendable (fs_kernels, Int, UnsafePointer<Float>, Floats) -> Void
  ) -> KernelCase {
    KernelCase(name) { numbers in
      let count = numbers.count()
      let values = guarded((0..<count).map { input(&numbers, $0) })
      let isInPlace = numbers.chance()
      return Problem(
        run: { kernels in
          var out = isInPlace ? values : room(count)
          out.withUnsafeMutableBufferPointer { out in
            let to = out.baseAddress!
            if isInPlace { return run(kernels, count, UnsafePointer(to), to) }
            values.withUnsafeBufferPointer { run(kernels, count, $0.baseAddress!, to) }
          }
          return Outcome(floats: [out])
        },
        reference: { Outcome(floats: [guarded(values.prefix(count).map(definition))]) })
    }
  }

  /// A function of two elements, written over the second.
  private static func backward(
    _ name: String, _ definition: @escaping @Sendable (Float, Float) -> Float,
    _ run: @escaping @Sendable (fs_kernels, Int, UnsafePointer<Float>, Floats) -> Void
  ) -> KernelCase {
    KernelCase(name) { numbers in
      let count = numbers.count()
      let (values, delta) = (numbers.guardedFloats(count), numbers.guardedFloats(count))
      return Problem(
        run: { kernels in
          var out = delta
          out.withUnsafeMutableBufferPointer { out in
            values.withUnsafeBufferPointer {
              run(kernels, count, $0.baseAddress!, out.baseAddress!)
            }
          }
          return Outcome(floats: [out])
        },
        reference: {
          Outcome(floats: [guarded((0..<count).map { definition(values[$0], delta[$0]) })])
        })
    }
  }
}
