import Foundation

/// Recurrent layers, step by step.
extension DoubleNetwork {
  func lstm(
    _ units: Int, _ all: Bool, _ x: Values, _ source: inout Source, isCoupled: Bool = false,
    projection: Int? = nil
  ) -> Values {
    let features = x.shape.count == 1 ? 1 : x.shape[1]
    let wide = (isCoupled ? 3 : 4) * units
    let inputWeight = source.take(features * wide)
    let recurrentWeight = source.take((projection ?? units) * wide)
    let bias = source.take(wide)
    let narrow = projection.map { source.take(units * $0) }
    var seen = [Double](repeating: 0, count: projection ?? units)
    var hidden = [Double](repeating: 0, count: units)
    var cell = hidden
    var states: [Double] = []
    for t in 0..<x.shape[0] {
      let a = product(Array(x.at[t * features..<(t + 1) * features]), inputWeight, wide)
      let b = product(seen, recurrentWeight, wide)
      let z = bias.indices.map { a[$0] + b[$0] + bias[$0] }
      for j in 0..<units {
        // The last three gates: forget, cell, output.
        let first = wide - 3 * units
        let f = sigmoid(z[first + j])
        let i = isCoupled ? 1 - f : sigmoid(z[j])
        cell[j] = f * cell[j] + i * tanh(z[first + units + j])
        hidden[j] = sigmoid(z[first + 2 * units + j]) * tanh(cell[j])
      }
      seen = narrow.map { product(hidden, $0, seen.count) } ?? hidden
      states += seen
    }
    return all
      ? Values(shape: [x.shape[0], seen.count], at: states)
      : Values(shape: [seen.count], at: seen)
  }

  func gru(
    _ units: Int, _ all: Bool, _ x: Values, _ source: inout Source, first: Bool = false
  ) -> Values {
    let features = x.shape.count == 1 ? 1 : x.shape[1]
    let inputWeight = source.take(features * 3 * units)
    let recurrentWeight = source.take(units * 3 * units)
    let inputBias = source.take(3 * units)
    let recurrentBias = first ? inputBias.map { _ in 0 } : source.take(3 * units)
    var hidden = [Double](repeating: 0, count: units)
    var states: [Double] = []
    for t in 0..<x.shape[0] {
      let a = zip(
        product(Array(x.at[t * features..<(t + 1) * features]), inputWeight, 3 * units), inputBias
      ).map(+)
      let b = zip(product(hidden, recurrentWeight, 3 * units), recurrentBias).map(+)
      let r = (0..<units).map { sigmoid(a[$0] + b[$0]) }
      let left = product(zip(r, hidden).map(*), recurrentWeight, 3 * units)
      hidden = (0..<units).map { j in
        let z = sigmoid(a[units + j] + b[units + j])
        let n = first ? left[2 * units + j] : r[j] * b[2 * units + j]
        return (1 - z) * tanh(a[2 * units + j] + n) + z * hidden[j]
      }
      states += hidden
    }
    return all
      ? Values(shape: [x.shape[0], units], at: states) : Values(shape: [units], at: hidden)
  }
}
