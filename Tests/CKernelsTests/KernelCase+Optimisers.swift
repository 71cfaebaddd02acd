import CKernels

extension KernelCase {
  /// Steps of optimisers, in place or not.
  static let optimisers = [
    KernelCase("sgd") { numbers in
      let step = Step(&numbers)
      return Problem(run: { step.run($0, $0.sgd) }, reference: { step.sgd() })
    },
    KernelCase("adam") { numbers in
      let step = Step(&numbers)
      return Problem(
        run: { kernels in
          var second = step.second
          var outcome = step.run(kernels) { count, values, gradient, first, weight, out in
            kernels.adam(count, values, gradient, first, &second, weight, out)
          }
          outcome.floats.append(second)
          return outcome
        }, reference: { step.adam() })
    },
  ]
}

/// What one step of an optimiser begins with.
private struct Step {
  let count: Int
  let values: fs_step
  let gradient: [Float], weight: [Float], first: [Float], second: [Float]
  let isInPlace: Bool

  init(_ numbers: inout TestNumbers) {
    count = numbers.count()
    func share() -> Float { abs(numbers.uniform()) }
    let isSimple = numbers.below(4) == 0
    values = fs_step(
      rate: share(), momentum: isSimple ? 0 : share(), decay: isSimple ? 0 : share(),
      beta1: share(), beta2: share(), epsilon: 1e-8, rest1: share(), rest2: share(),
      correction1: 1 + share(), correction2: 1 + share(), nesterov: numbers.chance() ? 1 : 0)
    gradient = numbers.floats(count)
    weight = numbers.guardedFloats(count)
    first = numbers.guardedFloats(count)
    second = numbers.guardedFloats(count).map(abs)
    isInPlace = numbers.chance()
  }

  func run(
    _ kernels: fs_kernels,
    _ kernel: (
      Int, UnsafePointer<fs_step>, UnsafePointer<Float>, UnsafeMutablePointer<Float>,
      UnsafePointer<Float>, UnsafeMutablePointer<Float>
    ) -> Void
  ) -> Outcome {
    var (values, first, out) = (values, first, isInPlace ? weight : room(count))
    gradient.withUnsafeBufferPointer { gradient in
      weight.withUnsafeBufferPointer { weight in
        out.withUnsafeMutableBufferPointer { out in
          // An empty array may have no address; no element is read then.
          kernel(
            count, &values, gradient.baseAddress ?? weight.baseAddress!, &first,
            isInPlace ? UnsafePointer(out.baseAddress!) : weight.baseAddress!, out.baseAddress!)
        }
      }
    }
    return Outcome(floats: [out, first])
  }

  func sgd() -> Outcome {
    var (velocity, out) = (first, room(count))
    for i in 0..<count {
      let g = gradient[i] + values.decay * weight[i]
      velocity[i] = values.momentum * first[i] + g
      let direction = values.nesterov == 1 ? g + values.momentum * velocity[i] : velocity[i]
      out[i] = weight[i] - values.rate * direction
    }
    return Outcome(floats: [out, velocity])
  }

  func adam() -> Outcome {
    var (m, v, out) = (first, second, room(count))
    for i in 0..<count {
      let g = gradient[i] + values.decay * weight[i]
      m[i] = values.beta1 * first[i] + values.rest1 * g
      v[i] = values.beta2 * second[i] + values.rest2 * (g * g)
      let root = (v[i] * values.correction2).squareRoot()
      let upper = values.rate * (m[i] * values.correction1)
      out[i] = weight[i] - upper / (root + values.epsilon)
    }
    return Outcome(floats: [out, m, v])
  }
}
