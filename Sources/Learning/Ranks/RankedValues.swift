extension DeferredTraining {
  /// What a value consists of besides its buffers.
  fileprivate struct Outline: BitwiseCopyable {
    var lossSum = 0.0
    var lossSquares: Double?
    var validation: Evaluation?
    /// Parameters of a buffer, and how many buffers are kept and sent besides them.
    var count = 0
    var kept = 0
    var sent = 0
  }

  /// Makes the values of last stretches known to all ranks, each computed by its trainer.
  ///
  /// `trainers` are by training. Every rank calls it, with the same trainings. Shapes: all buffers
  /// of a value have the size of its parameters.
  package static func gather(
    _ trainings: [DeferredTraining], by trainers: [Int], pool: WorkerPool, ranks: any Ranks
  ) {
    let own = trainings.indices.filter { trainers[$0] == ranks.rank }
    // Nobody waits for a training that another thread is at while there are others to do.
    pool.forEach(own.count) { trainings[own[$0]].computeUnlessBusy($1) }
    let scratch = Scratch()
    var values = trainings.map { _ in Value?.none }
    for index in own { values[index] = trainings[index].value(scratch) }
    let outlines = ranks.gather(
      values.map { $0.map { Outline($0) } ?? Outline() }, owners: trainers)
    var (sent, received) = ([RankPiece](), [RankPiece]())
    var buffers = trainings.map { _ in [ParameterBuffer]() }
    for index in trainings.indices {
      let outline = outlines[index]
      buffers[index] =
        values[index].map(\.buffers)
        ?? (0..<1 + outline.kept + outline.sent).map { _ in
          ParameterBuffer(uninitializedCount: outline.count) { _ in }
        }
      let isOwn = trainers[index] == ranks.rank
      for buffer in buffers[index] {
        let memory = UnsafeMutableRawBufferPointer(
          UnsafeMutableBufferPointer(start: buffer.storage, count: buffer.count))
        if isOwn {
          sent += ranks.others.map { RankPiece($0, memory) }
        } else {
          received.append(RankPiece(trainers[index], memory))
        }
      }
    }
    withExtendedLifetime(buffers) { ranks.exchange(sent, received) }
    for (index, training) in trainings.enumerated() {
      if values[index] == nil { training.take(Value(outlines[index], buffers[index])) }
      training.trainer = .all
    }
  }
}

extension DeferredTraining.Outline {
  fileprivate init(_ value: DeferredTraining.Value) {
    (lossSum, lossSquares, validation) = (value.lossSum, value.lossSquares, value.validation)
    count = value.parameters.count
    (kept, sent) = (value.auxiliaryOutput.kept.count, value.auxiliaryOutput.sent.count)
  }
}

extension DeferredTraining.Value {
  /// Its parameters, then what is kept and what is sent.
  fileprivate var buffers: [ParameterBuffer] {
    let buffers = [parameters] + auxiliaryOutput.kept + auxiliaryOutput.sent
    precondition(buffers.allSatisfy { $0.count == parameters.count }, "buffers have one size")
    return buffers
  }

  fileprivate init(_ outline: DeferredTraining.Outline, _ buffers: [ParameterBuffer]) {
    self.init(
      memory: DeviceMemory(parameters: buffers[0]), lossSum: outline.lossSum,
      lossSquares: outline.lossSquares, validation: outline.validation,
      auxiliaryOutput: AuxiliaryOutput(
        kept: Array(buffers[1..<1 + outline.kept]), sent: Array(buffers[(1 + outline.kept)...])))
  }
}
