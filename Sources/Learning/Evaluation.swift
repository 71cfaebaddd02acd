/// Loss and accuracy of parameters on a list of samples.
public struct Evaluation: Equatable, Sendable, Codable, BitwiseCopyable {
  /// Samples evaluated together; sums of chunks are added in the order of the chunks.
  public static let chunkSize = 1000

  /// How many samples were evaluated; where each position has a label, how many positions.
  public let count: Int
  /// Of these, those that are right or wrong: all but out-of-vocabulary tokens; 0 where targets
  /// are numbers.
  public let answers: Int
  /// How many of these have their largest logit at their label; the lowest index wins a tie.
  public let correct: Int
  /// Sum of the losses.
  public let lossSum: Double

  /// What was found on this many samples or positions; without `answers`, each is right or wrong.
  public init(count: Int, correct: Int, lossSum: Double, answers: Int? = nil) {
    let answers = answers ?? count
    precondition(
      correct >= 0 && correct <= answers && answers <= count,
      "of \(answers) answers \(correct) are right")
    self.count = count
    self.answers = answers
    self.correct = correct
    self.lossSum = lossSum
  }

  init(_ scores: some Collection<Network.Score>) {
    self.init(
      count: scores.reduce(0) { $0 + $1.count }, correct: scores.reduce(0) { $0 + $1.correct },
      lossSum: scores.reduce(0) { $0 + $1.lossSum },
      answers: scores.reduce(0) { $0 + $1.answers })
  }

  /// Both together.
  public static func += (sum: inout Evaluation, other: Evaluation) {
    sum = Evaluation(
      count: sum.count + other.count, correct: sum.correct + other.correct,
      lossSum: sum.lossSum + other.lossSum, answers: sum.answers + other.answers)
  }

  /// The share of answers that are right; NaN for none.
  public var accuracy: Double { Double(correct) / Double(answers) }

  /// The mean loss; NaN for no samples.
  public var meanLoss: Double { lossSum / Double(count) }

  /// The root of the mean squared error, where that is the loss; NaN for no samples.
  public var rmse: Double { meanLoss.squareRoot() }

  /// What samples of such targets are scored by: the accuracy, or the RMSE where they are numbers.
  public func score(_ targets: Dataset.TargetKind) -> Double {
    targets == .values ? rmse : accuracy
  }

  /// Evaluates `parameters` on the samples at `indices`; the bits do not depend on the pool's
  /// threads or ranks.
  ///
  /// Order: in a chunk of 1,000 sample by sample; then chunk by chunk, in `Double`.
  public init(
    of network: Network, parameters: ParameterBuffer, dataset: Dataset, indices: [Int32],
    kernels: Kernels, pool: WorkerPool
  ) {
    precondition(parameters.count == network.layout.count, "parameters fit the network")
    precondition(network.inputCount == dataset.sampleSize, "the network takes the samples")
    let chunks = (indices.count + Self.chunkSize - 1) / Self.chunkSize
    let scores = pool.spread(chunks) { chunk, scratch in
      let first = chunk * Self.chunkSize
      let samples = indices[first..<min(first + Self.chunkSize, indices.count)]
      return Self.score(
        samples, network: network, parameters: parameters, dataset: dataset, kernels: kernels,
        scratch: scratch)
    }
    self.init(scores)
  }

  /// Evaluates on this thread alone; the same bits as with a pool.
  ///
  /// Order: as above.
  public init(
    of network: Network, parameters: ParameterBuffer, dataset: Dataset, samples: [Int32],
    kernels: Kernels, scratch: Scratch
  ) {
    var scores: [Network.Score] = []
    for first in stride(from: 0, to: samples.count, by: Self.chunkSize) {
      scores.append(
        Self.score(
          samples[first..<min(first + Self.chunkSize, samples.count)], network: network,
          parameters: parameters, dataset: dataset, kernels: kernels, scratch: scratch))
    }
    self.init(scores)
  }

  /// One chunk, in small passes that stay in the caches; the loss continues from pass to pass.
  static func score(
    _ samples: ArraySlice<Int32>, network: Network, parameters: ParameterBuffer,
    dataset: Dataset, kernels: Kernels, scratch: Scratch
  ) -> Network.Score {
    if let foreign = network.foreign {
      return Network.Score(foreign.evaluate(samples, of: dataset, by: parameters))
    }
    let passSize = network.evaluationRows
    let space = scratch.workspace(for: network, rows: passSize)
    var score = Network.Score()
    var rest = samples
    while !rest.isEmpty {
      let pass = rest.prefix(passSize)
      rest = rest.dropFirst(passSize)
      pass.withUnsafeBufferPointer { space.gather($0, of: dataset, kernels: kernels) }
      network.evaluate(
        pass.count, parameters: parameters.storage, in: space, kernels: kernels, score: &score)
    }
    return score
  }
}
