import Learning

/// Layers that see a whole batch.
extension DoubleNetwork {
  /// Each sample by itself, but for batch normalisation and what contains it.
  func applyToBatch(
    _ layer: Network.Layer, _ batch: [Values], _ source: inout Source, isFrozen: Bool = false
  ) -> [Values] {
    switch layer {
    case .batchNormalisation(let epsilon, _):
      return normaliseBatch(batch, epsilon, byRunning: isFrozen, &source)
    case .frozen(let inner): return applyToBatch(inner, batch, &source, isFrozen: true)
    case .residual(let layers, let shortcut):
      let main = layers.reduce(batch) { applyToBatch($1, $0, &source, isFrozen: isFrozen) }
      let other = shortcut.reduce(batch) { applyToBatch($1, $0, &source, isFrozen: isFrozen) }
      return zip(main, other).map {
        Values(shape: $0.shape, at: zip($0.at, $1.at).map(+))
      }
    case .tiedEmbedding(let count, let width, let layers):
      return tied(count, width, layers, batch, &source, isFrozen: isFrozen)
    default:
      let start = source
      return batch.map { values in
        source = start
        return apply(layer, to: values, &source)
      }
    }
  }

  /// Layers between an embedding and scores by the same vectors.
  private func tied(
    _ count: Int, _ width: Int, _ layers: [Network.Layer], _ batch: [Values],
    _ source: inout Source, isFrozen: Bool
  ) -> [Values] {
    let table = source.take(count * width)
    let vectors = batch.map { x in
      Values(
        shape: [x.at.count, width],
        at: x.at.flatMap { table[Int($0) * width..<(Int($0) + 1) * width] })
    }
    return layers.reduce(vectors) { applyToBatch($1, $0, &source, isFrozen: isFrozen) }.map { x in
      Values(
        shape: [x.shape[0], count],
        at: stride(from: 0, to: x.at.count, by: width).flatMap { first in
          (0..<count).map { token in
            (0..<width).reduce(0) { $0 + x.at[first + $1] * table[token * width + $1] }
          }
        })
    }
  }

  private func normaliseBatch(
    _ batch: [Values], _ epsilon: Double, byRunning: Bool, _ source: inout Source
  ) -> [Values] {
    let channels = batch[0].shape.last!
    let (scale, shift) = (source.take(channels), source.take(channels))
    var (mean, variance) = (source.take(channels), source.take(channels))
    if !byRunning {
      for c in 0..<channels {
        let all = batch.flatMap { values in
          values.at.indices.filter { $0 % channels == c }.map { values.at[$0] }
        }
        mean[c] = all.reduce(0, +) / Double(all.count)
        variance[c] = all.reduce(0) { $0 + ($1 - mean[c]) * ($1 - mean[c]) } / Double(all.count)
      }
    }
    return batch.map { values in
      Values(
        shape: values.shape,
        at: values.at.enumerated().map { index, value in
          let c = index % channels
          return (value - mean[c]) / (variance[c] + epsilon).squareRoot() * scale[c] + shift[c]
        })
    }
  }
}
