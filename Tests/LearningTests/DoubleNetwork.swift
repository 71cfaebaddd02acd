import Foundation
import Learning

/// A network's mean loss in `Double`, written with nothing but loops, as it is read in books.
struct DoubleNetwork {
  let sampleShape: [Int]
  let layers: [Network.Layer]
  let loss: Network.Loss

  struct Values {
    var shape: [Int]
    var at: [Double]
    /// Whether no layer has been there yet.
    var isSample = false
  }

  /// Parameters in the order in which layers take them.
  struct Source {
    let values: [Double]
    var next = 0
    mutating func take(_ count: Int) -> [Double] {
      next += count
      return Array(values[next - count..<next])
    }
  }

  /// Labels of all positions, where they have some; numbers where the loss is of such.
  func meanLoss(
    parameters: [Double], inputs: [Float], labels: [Int32], numbers: [Float] = []
  ) -> Double {
    let size = sampleShape.reduce(1, *)
    let samples = inputs.count / size
    var (total, count) = (0.0, 0)
    var source = Source(values: parameters)
    var batch = (0..<samples).map { sample in
      Values(
        shape: sampleShape, at: inputs[sample * size..<(sample + 1) * size].map { Double($0) },
        isSample: true)
    }
    for (index, layer) in layers.enumerated() {
      let isPartOfLoss =
        loss != .meanSquaredError && layer == .softmax && index == layers.count - 1
      if !isPartOfLoss { batch = applyToBatch(layer, batch, &source) }
    }
    for (sample, values) in batch.enumerated() {
      let own = Array(
        labels[sample * labels.count / samples..<(sample + 1) * labels.count / samples])
      switch loss {
      case .crossEntropy:
        total += entropy(values.at, own[0])
        count += 1
      case .crossEntropyAtPositions:
        let classes = values.shape.last!
        for (position, label) in own.enumerated() where label >= 0 {
          let first = position * classes
          total += entropy(Array(values.at[first..<first + classes]), label)
          count += 1
        }
      case .squaredDifference:
        let targets = numbers[sample * values.at.count..<(sample + 1) * values.at.count]
        total +=
          zip(values.at, targets).map { ($0 - Double($1)) * ($0 - Double($1)) }
          .reduce(0, +) / Double(values.at.count)
        count += 1
      case .meanSquaredError:
        let squares = values.at.enumerated().map { index, value in
          let error = value - (index == Int(own[0]) ? 1 : 0)
          return error * error
        }
        total += squares.reduce(0, +) / Double(squares.count)
        count += 1
      }
    }
    return total / Double(count)
  }

  private func entropy(_ logits: [Double], _ label: Int32) -> Double {
    log(logits.reduce(0) { $0 + exp($1) }) - logits[Int(label)]
  }

  func apply(
    _ layer: Network.Layer, to x: Values, _ source: inout Source
  ) -> Values {
    switch layer {
    case .dense(let outputs, let activation):
      let weight = source.take(x.at.count * outputs)
      let bias = source.take(outputs)
      let sums = (0..<outputs).map { out in
        x.at.indices.reduce(bias[out]) { $0 + x.at[$1] * weight[$1 * outputs + out] }
      }
      return Values(shape: [outputs], at: sums.map { squash($0, activation) })
    case .placewiseDense(let outputs, let activation):
      return eachPlace(
        x, outputs, activation, source.take(x.shape.last! * outputs), source.take(outputs))
    case .globalAveragePooling:
      let channels = x.shape.last!
      let places = x.at.count / channels
      return Values(
        shape: [channels],
        at: (0..<channels).map { c in
          (0..<places).reduce(0) { $0 + x.at[$1 * channels + c] } / Double(places)
        })
    case .convolution(let convolution): return convolve(convolution, x, &source)
    case .sequenceConvolution(let convolution): return slide(convolution, x, &source)
    case .maxPooling(let size, let stride):
      return pool(x, size, stride) { $0.max() ?? 0 }
    case .averagePooling(let size, let stride):
      return pool(x, size, stride) { $0.reduce(0, +) / Double($0.count) }
    case .flatten: return Values(shape: [x.at.count], at: x.at)
    case .activation(let activation):
      return Values(shape: x.shape, at: x.at.map { squash($0, activation) })
    case .softmax:
      let sum = x.at.reduce(0) { $0 + exp($1) }
      return Values(shape: x.shape, at: x.at.map { exp($0) / sum })
    case .dropout: return x
    case .groupNormalisation(let groups): return normalise(groups, x, &source)
    case .batchNormalisation: preconditionFailure("it takes a batch")
    case .layerNormalisation:
      let channels = x.shape.last!
      let parameters = source.take(2 * channels)
      return Values(
        shape: x.shape,
        at: stride(from: 0, to: x.at.count, by: channels).flatMap { first in
          var own = Source(values: parameters)
          let place = Values(shape: [channels], at: Array(x.at[first..<first + channels]))
          return normalise(1, place, &own).at
        })
    case .lowRank(let layer):
      let base: Network.Layer =
        layer.eachPlace
        ? .placewiseDense(outputs: layer.outputs, activation: .identity)
        : .dense(outputs: layer.outputs, activation: .identity)
      let sums = apply(base, to: x, &source)
      let inputs = layer.eachPlace ? x.shape.last! : x.at.count
      let down = source.take(inputs * layer.rank)
      let up = source.take(layer.rank * layer.outputs)
      let added = stride(from: 0, to: x.at.count, by: inputs).flatMap { first in
        product(product(Array(x.at[first..<first + inputs]), down, layer.rank), up, layer.outputs)
      }
      return Values(
        shape: sums.shape,
        at: zip(sums.at, added).map {
          squash($0 + layer.alpha / Double(layer.rank) * $1, layer.activation)
        })
    case .positions:
      return Values(shape: x.shape, at: zip(x.at, source.take(x.at.count)).map(+))
    case .attention(let heads, let isCausal): return attend(heads, isCausal, x, &source)
    case .residual: preconditionFailure("its layers take a batch")
    case .embedding(let count, let width):
      let table = source.take(count * width)
      return Values(
        shape: [x.at.count, width],
        at: x.at.flatMap { table[Int($0) * width..<(Int($0) + 1) * width] })
    case .tiedEmbedding: preconditionFailure("its layers take a batch")
    case .lstm(let units, let all): return lstm(units, all, x, &source)
    case .coupledLSTM(let units, let all): return lstm(units, all, x, &source, isCoupled: true)
    case .projectedLSTM(let units, let width, let isCoupled, let all):
      return lstm(units, all, x, &source, isCoupled: isCoupled, projection: width)
    case .gru(let units, let all): return gru(units, all, x, &source)
    case .resetFirstGRU(let units, let all): return gru(units, all, x, &source, first: true)
    case .frozen: preconditionFailure("its layer takes a batch")
    }
  }

  func sigmoid(_ x: Double) -> Double { 1 / (1 + exp(-x)) }

  private func squash(_ x: Double, _ activation: Network.Activation) -> Double {
    switch activation {
    case .identity: x
    case .relu: max(0, x)
    case .relu6: min(6, max(0, x))
    case .leakyReLU(let slope): x > 0 ? x : Double(slope) * x
    case .tanh: tanh(x)
    case .sigmoid: sigmoid(x)
    case .gelu: 0.5 * x * erfc(-x / 2.0.squareRoot())
    case .silu: x * sigmoid(x)
    }
  }

  private func image(_ shape: [Int]) -> [Int] { shape.count == 2 ? shape + [1] : shape }

  private func convolve(
    _ layer: Network.Convolution, _ x: Values, _ source: inout Source
  ) -> Values {
    let shape = image(x.shape)
    let (height, width, channels) = (shape[0], shape[1], shape[2])
    let (inputs, outputs) = (channels / layer.groups, layer.filters / layer.groups)
    let size = layer.size
    let weight = source.take(size * size * inputs * layer.filters)
    let bias =
      layer.hasBias ? source.take(layer.filters) : [Double](repeating: 0, count: layer.filters)
    func extent(_ count: Int) -> (out: Int, before: Int) {
      switch layer.padding {
      case .valid: return ((count - size) / layer.stride + 1, 0)
      case .count(let zeros): return ((count + 2 * zeros - size) / layer.stride + 1, zeros)
      case .same:
        let out = Int((Double(count) / Double(layer.stride)).rounded(.up))
        return (out, max(0, (out - 1) * layer.stride + size - count) / 2)
      }
    }
    let (outHeight, top) = extent(height)
    let (outWidth, left) = extent(width)
    var out: [Double] = []
    for y in 0..<outHeight {
      for x0 in 0..<outWidth {
        for filter in 0..<layer.filters {
          var sum = bias[filter]
          for ky in 0..<size {
            for kx in 0..<size {
              let (row, column) = (y * layer.stride + ky - top, x0 * layer.stride + kx - left)
              guard (0..<height).contains(row), (0..<width).contains(column) else { continue }
              for c in 0..<inputs {
                let channel = filter / outputs * inputs + c
                sum +=
                  x.at[(row * width + column) * channels + channel]
                  * weight[((ky * size + kx) * inputs + c) * layer.filters + filter]
              }
            }
          }
          out.append(squash(sum, layer.activation))
        }
      }
    }
    return Values(shape: [outHeight, outWidth, layer.filters], at: out)
  }

  /// A convolution along the steps of a sequence, as its definition has it.
  private func slide(
    _ layer: Network.Convolution, _ x: Values, _ source: inout Source
  ) -> Values {
    let (time, channels) = (x.shape[0], x.shape.count > 1 ? x.shape[1] : 1)
    let (inputs, outputs) = (channels / layer.groups, layer.filters / layer.groups)
    let weight = source.take(layer.size * inputs * layer.filters)
    let bias =
      layer.hasBias ? source.take(layer.filters) : [Double](repeating: 0, count: layer.filters)
    let (before, out): (Int, Int)
    switch layer.padding {
    case .valid: (before, out) = (0, (time - layer.size) / layer.stride + 1)
    case .count(let zeros):
      (before, out) = (zeros, (time + 2 * zeros - layer.size) / layer.stride + 1)
    case .same:
      out = Int((Double(time) / Double(layer.stride)).rounded(.up))
      before = max(0, (out - 1) * layer.stride + layer.size - time) / 2
    }
    var values: [Double] = []
    for step in 0..<out {
      for filter in 0..<layer.filters {
        var sum = bias[filter]
        for tap in 0..<layer.size {
          let at = step * layer.stride + tap - before
          guard (0..<time).contains(at) else { continue }
          for c in 0..<inputs {
            sum +=
              x.at[at * channels + filter / outputs * inputs + c]
              * weight[(tap * inputs + c) * layer.filters + filter]
          }
        }
        values.append(squash(sum, layer.activation))
      }
    }
    return Values(shape: [out, layer.filters], at: values)
  }

  private func pool(
    _ x: Values, _ size: Int, _ stride: Int, _ summary: ([Double]) -> Double
  ) -> Values {
    // What another layer gives of two axes is a sequence: an image of width 1.
    let isSequence = x.shape.count == 2 && !x.isSample
    let shape = isSequence ? [x.shape[0], 1, x.shape[1]] : image(x.shape)
    let wide = isSequence ? 1 : size
    let (outHeight, outWidth) = ((shape[0] - size) / stride + 1, (shape[1] - wide) / stride + 1)
    var out: [Double] = []
    for y in 0..<outHeight {
      for x0 in 0..<outWidth {
        for c in 0..<shape[2] {
          var window: [Double] = []
          for ky in 0..<size {
            for kx in 0..<wide {
              let pixel = (y * stride + ky) * shape[1] + x0 * stride + kx
              window.append(x.at[pixel * shape[2] + c])
            }
          }
          out.append(summary(window))
        }
      }
    }
    return Values(
      shape: isSequence ? [outHeight, shape[2]] : [outHeight, outWidth, shape[2]], at: out)
  }

  private func normalise(_ groups: Int, _ x: Values, _ source: inout Source) -> Values {
    let channels = x.shape[x.shape.count - 1]
    let scale = source.take(channels)
    let shift = source.take(channels)
    var out = x
    for group in 0..<groups {
      let members = x.at.indices.filter { $0 % channels / (channels / groups) == group }
      let mean = members.reduce(0) { $0 + x.at[$1] } / Double(members.count)
      let variance =
        members.reduce(0) { $0 + (x.at[$1] - mean) * (x.at[$1] - mean) } / Double(members.count)
      for index in members {
        out.at[index] =
          (x.at[index] - mean) / (variance + 1e-5).squareRoot() * scale[index % channels]
          + shift[index % channels]
      }
    }
    return out
  }

  private func eachPlace(
    _ x: Values, _ outputs: Int, _ activation: Network.Activation, _ weight: [Double],
    _ bias: [Double]
  ) -> Values {
    let inputs = x.shape[x.shape.count - 1]
    return Values(
      shape: x.shape.dropLast() + [outputs],
      at: stride(from: 0, to: x.at.count, by: inputs).flatMap { first in
        let sums = product(Array(x.at[first..<first + inputs]), weight, outputs)
        return zip(sums, bias).map { squash($0 + $1, activation) }
      })
  }

  /// Attention as its paper has it: softmax(Q·Kᵀ/√d)·V for each head, heads side by side.
  private func attend(
    _ heads: Int, _ isCausal: Bool, _ x: Values, _ source: inout Source
  ) -> Values {
    let (time, width) = (x.shape[0], x.shape[1])
    let inner = eachPlace(
      x, 3 * width, .identity, source.take(width * 3 * width), source.take(3 * width))
    let depth = width / heads
    var mixed = [Double](repeating: 0, count: time * width)
    for head in 0..<heads {
      func part(_ t: Int, _ which: Int, _ i: Int) -> Double {
        inner.at[t * 3 * width + which * width + head * depth + i]
      }
      for t in 0..<time {
        let others = 0..<(isCausal ? t + 1 : time)
        let powers = others.map { other in
          exp(
            (0..<depth).reduce(0) { $0 + part(t, 0, $1) * part(other, 1, $1) }
              / Double(depth).squareRoot())
        }
        let sum = powers.reduce(0, +)
        for i in 0..<depth {
          mixed[t * width + head * depth + i] = others.reduce(0) {
            $0 + powers[$1] / sum * part($1, 2, i)
          }
        }
      }
    }
    return eachPlace(
      Values(shape: x.shape, at: mixed), width, .identity, source.take(width * width),
      source.take(width))
  }

  func product(_ x: [Double], _ weight: [Double], _ width: Int) -> [Double] {
    (0..<width).map { j in x.indices.reduce(0) { $0 + x[$1] * weight[$1 * width + j] } }
  }
}
