import CKernels

extension KernelCase {
  /// Normalisation of channels over a whole batch.
  static let batches = [
    KernelCase("batch_moments") { numbers in
      let batch = Batch(&numbers)
      return Problem(
        run: { kernels in
          var (means, squares) = (doubleRoom(batch.channels), doubleRoom(batch.channels))
          kernels.batch_moments(batch.places, batch.channels, batch.input, &means, &squares)
          return Outcome(doubles: means + squares)
        },
        reference: {
          let means = batch.sums { batch.input[$0] }.map { $0 / Double(batch.places) }
          let squares = batch.sums(of: { at, channel in
            let rest = Double(batch.input[at]) - means[channel]
            return rest * rest
          })
          return Outcome(doubles: means + [9] + squares + [9])
        })
    },
    KernelCase("batch_normalise") { numbers in
      let batch = Batch(&numbers)
      return Problem(
        run: { kernels in
          var (normal, out) = (room(batch.input.count), room(batch.input.count))
          kernels.batch_normalise(
            batch.places, batch.channels, batch.input, batch.means, batch.factors, batch.scale,
            batch.shift, &normal, &out)
          return Outcome(floats: [normal, out])
        },
        reference: {
          var (normal, out) = (room(batch.input.count), room(batch.input.count))
          batch.forEach { at, channel in
            let rest = Double(batch.input[at]) - batch.means[channel]
            normal[at] = Float(rest * batch.factors[channel])
            out[at] = normal[at] * batch.scale[channel] + batch.shift[channel]
          }
          return Outcome(floats: [normal, out])
        })
    },
    KernelCase("batch_back") { numbers in
      let batch = Batch(&numbers)
      let isWanted = numbers.chance()
      return Problem(
        run: { kernels in
          var (sums, products) = (doubleRoom(batch.channels), doubleRoom(batch.channels))
          var out = room(batch.input.count)
          out.withUnsafeMutableBufferPointer {
            kernels.batch_back(
              batch.places, batch.channels, batch.input, batch.normal, batch.inverses,
              batch.scale, &sums, &products, isWanted ? $0.baseAddress : nil)
          }
          return Outcome(floats: [out], doubles: sums + products)
        },
        reference: {
          let sums = batch.sums { batch.input[$0] }
          let products = batch.sums(of: { at, _ in
            Double(batch.input[at]) * Double(batch.normal[at])
          })
          var out = room(batch.input.count)
          if isWanted {
            batch.forEach { at, c in
              let common = sums[c] + Double(batch.normal[at]) * products[c]
              let rest = Double(batch.input[at]) - common / Double(batch.places)
              out[at] = Float(rest * Double(batch.scale[c]) * Double(batch.inverses[c]))
            }
          }
          return Outcome(floats: [out], doubles: sums + [9] + products + [9])
        })
    },
  ]
}

/// Room for a result, with a number behind its end that nobody may touch.
private func doubleRoom(_ count: Int) -> [Double] { [Double](repeating: 9, count: count + 1) }

/// Places with channels, and what each channel has.
private struct Batch {
  let places: Int
  let channels: Int
  let input: [Float], normal: [Float], inverses: [Float], scale: [Float], shift: [Float]
  let means: [Double], factors: [Double]

  init(_ numbers: inout TestNumbers) {
    // More than are walked through at once, and channels in all ways of taking them.
    (places, channels) = (1 + numbers.below(40), 1 + numbers.below(80))
    input = numbers.floats(places * channels)
    normal = numbers.floats(places * channels)
    inverses = numbers.floats(channels)
    scale = numbers.floats(channels)
    shift = numbers.floats(channels)
    means = numbers.floats(channels).map { Double($0) / 3 }
    factors = numbers.floats(channels).map { Double($0) / 7 }
  }

  /// Every value, place after place.
  func forEach(_ body: (_ at: Int, _ channel: Int) -> Void) {
    for at in 0..<places * channels { body(at, at % channels) }
  }

  /// Each channel's sum over places.
  func sums(of value: (_ at: Int, _ channel: Int) -> Double) -> [Double] {
    var sums = [Double](repeating: 0, count: channels)
    forEach { at, channel in sums[channel] += value(at, channel) }
    return sums
  }

  /// The same of single values.
  func sums(_ value: (Int) -> Float) -> [Double] { sums(of: { at, _ in Double(value(at)) }) }
}
