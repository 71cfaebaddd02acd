extension Evaluation {
  /// Evaluates `parameters` on each list of samples by itself; the bits do not depend on the pool's
  /// threads or ranks.
  ///
  /// Shapes: lists [list][its samples], result [list]. Order: in each list as for one evaluation:
  /// sample by sample in chunks of 1,000, then chunk by chunk. A thread takes a chunk at a time, so
  /// one long list does not keep the others waiting.
  public static func each(
    of network: Network, parameters: ParameterBuffer, dataset: Dataset, lists: [[Int32]],
    kernels: Kernels, pool: WorkerPool
  ) -> [Evaluation] {
    precondition(parameters.count == network.layout.count, "parameters fit the network")
    precondition(network.inputCount == dataset.sampleSize, "the network takes the samples")
    var chunks: [(list: Int, samples: ArraySlice<Int32>)] = []
    for (list, samples) in lists.enumerated() {
      for first in stride(from: 0, to: samples.count, by: chunkSize) {
        chunks.append((list, samples[first..<min(first + chunkSize, samples.count)]))
      }
    }
    let found = chunks
    let scores = pool.spread(found.count) { chunk, scratch in
      score(
        found[chunk].samples, network: network, parameters: parameters, dataset: dataset,
        kernels: kernels, scratch: scratch)
    }
    var ofLists = Array(repeating: [Network.Score](), count: lists.count)
    for (chunk, score) in zip(found, scores) { ofLists[chunk.list].append(score) }
    return ofLists.map { Evaluation($0) }
  }
}
