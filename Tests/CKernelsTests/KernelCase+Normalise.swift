import CKernels

extension KernelCase {
  /// Normalisation by groups of channels.
  static let normalisation = [
    KernelCase("normalise") { numbers in
      let problem = Normalisation(&numbers)
      return Problem(
        run: { kernels in
          var shape = problem.shape
          var (normal, out) = (room(problem.input.count), room(problem.input.count))
          var inverses = room(problem.groupCount)
          kernels.normalise(
            &shape, problem.input, problem.scale, problem.shift, &normal, &inverses, &out)
          return Outcome(floats: [normal, inverses, out])
        },
        reference: { problem.forward() })
    },
    KernelCase("normalise_back") { numbers in
      let problem = Normalisation(&numbers)
      let isWanted = numbers.chance()
      return Problem(
        run: { kernels in
          var (shape, out) = (problem.shape, room(problem.input.count))
          var sums = [Double](repeating: 9, count: 2 * shape.channels + 1)
          out.withUnsafeMutableBufferPointer {
            kernels.normalise_back(
              &shape, problem.input, problem.normal, problem.inverses, problem.scale, &sums,
              isWanted ? $0.baseAddress : nil)
          }
          return Outcome(floats: [out], doubles: sums)
        },
        reference: { problem.backward(isWanted: isWanted) })
    },
  ]
}

/// Places with channels of groups, and what a backward pass gets.
private struct Normalisation {
  let shape: fs_normalisation
  let input: [Float], normal: [Float], inverses: [Float], scale: [Float], shift: [Float]
  var groupCount: Int { shape.pieces * shape.groups }
  private var width: Int { shape.channels / shape.groups }

  init(_ numbers: inout TestNumbers) {
    let groups = 1 + numbers.below(4)
    shape = fs_normalisation(
      pieces: numbers.below(4), places: 1 + numbers.below(6),
      channels: groups * (1 + numbers.below(20)), groups: groups, epsilon: 0.25)
    let count = shape.pieces * shape.places * shape.channels
    input = numbers.floats(count)
    normal = numbers.floats(count)
    inverses = numbers.floats(shape.pieces * groups)
    scale = numbers.floats(shape.channels)
    shift = numbers.floats(shape.channels)
  }

  /// A group's sum of what each channel has: eight lanes, then these.
  private func folded(_ group: Int, _ value: (Int) -> Double) -> Double {
    var lanes = [Double](repeating: 0, count: 8)
    for index in 0..<width { lanes[index % 8] += value(group * width + index) }
    for half in [4, 2, 1] {
      for lane in 0..<half { lanes[lane] += lanes[lane + half] }
    }
    return lanes[0]
  }

  private func place(_ piece: Int, _ place: Int, _ channel: Int) -> Int {
    (piece * shape.places + place) * shape.channels + channel
  }

  /// A channel's sum over the places of a piece.
  private func sum(_ piece: Int, _ channel: Int, _ value: (Int) -> Float) -> Double {
    (0..<shape.places).reduce(0.0) { $0 + Double(value(place(piece, $1, channel))) }
  }

  /// Every value of a piece's group.
  private func forEach(_ piece: Int, _ group: Int, _ body: (_ at: Int, _ channel: Int) -> Void) {
    for place in 0..<shape.places {
      for channel in group * width..<(group + 1) * width {
        body(self.place(piece, place, channel), channel)
      }
    }
  }

  func forward() -> Outcome {
    var (normal, out) = (room(input.count), room(input.count))
    var inverses = room(groupCount)
    let count = Double(shape.places * width)
    for piece in 0..<shape.pieces {
      for group in 0..<shape.groups {
        let mean = Float(folded(group) { sum(piece, $0) { input[$0] } } / count)
        func square(_ at: Int) -> Float { (input[at] - mean) * (input[at] - mean) }
        let variance = folded(group) { sum(piece, $0, square) } / count
        let inverse = Float(1 / (variance + shape.epsilon).squareRoot())
        inverses[piece * shape.groups + group] = inverse
        forEach(piece, group) { at, channel in
          normal[at] = (input[at] - mean) * inverse
          out[at] = normal[at] * scale[channel] + shift[channel]
        }
      }
    }
    return Outcome(floats: [normal, inverses, out])
  }

  func backward(isWanted: Bool) -> Outcome {
    var out = room(input.count)
    let channels = shape.channels
    var sums = [Double](repeating: 0, count: 2 * channels) + [9]
    let count = Double(shape.places * width)
    for piece in 0..<shape.pieces {
      func plain(_ channel: Int) -> Double { sum(piece, channel) { input[$0] } }
      func weighted(_ channel: Int) -> Double { sum(piece, channel) { input[$0] * normal[$0] } }
      for channel in 0..<channels {
        sums[channel] += weighted(channel)
        sums[channels + channel] += plain(channel)
      }
      for group in 0..<shape.groups where isWanted {
        let a = Float(folded(group) { Double(scale[$0]) * plain($0) } / count)
        let b = Float(folded(group) { Double(scale[$0]) * weighted($0) } / count)
        forEach(piece, group) { at, channel in
          let rest = input[at] * scale[channel] - (normal[at] * b + a)
          out[at] = rest * inverses[piece * shape.groups + group]
        }
      }
    }
    return Outcome(floats: [out], doubles: sums)
  }
}
