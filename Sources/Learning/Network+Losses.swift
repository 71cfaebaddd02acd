extension Network {
  /// A pass's loss, and how many of its answers are right.
  struct Score: BitwiseCopyable {
    var lossSum = 0.0
    var correct = 0
    /// The sum of the samples' squared losses; nil: nobody asks for it.
    var squares: Double?
    /// What the losses are of: samples, or positions that have a label.
    var count = 0
    /// Of these, what can be right or wrong: none where targets are numbers.
    var answers = 0
  }

  /// How many losses a batch's mean is over: its samples, or their positions that have a label;
  /// 1 where none has.
  func lossCount(_ rows: Int, in space: Workspace) -> Int {
    guard loss == .crossEntropyAtPositions else { return rows }
    var count = 0
    for place in 0..<rows * positions where space.labels[place] >= 0 { count += 1 }
    return max(1, count)
  }

  /// The loss of what the forward pass left, and its gradient by the outputs times `scale`.
  func loss(
    _ rows: Int, scale: Float, in space: Workspace, kernels: Kernels, score: inout Score
  ) {
    if score.squares != nil { addSquares(rows, in: space, kernels: kernels, score: &score) }
    addLoss(from: 0, rows, scale: scale, in: space, kernels: kernels, score: &score)
  }

  /// The same for some of the batch's samples.
  private func addLoss(
    from first: Int, _ rows: Int, scale: Float, in space: Workspace, kernels: Kernels,
    score: inout Score
  ) {
    let width = positions * classCount
    let outputs = space.outputs + first * width
    let deltas = space.deltas.0 + first * width
    let labels = space.labels + first * positions
    switch loss {
    case .crossEntropy:
      score.correct += kernels.functions.softmax(
        rows, classCount, outputs, classCount, labels, scale, deltas, classCount, &score.lossSum)
      score.answers += rows
      score.count += rows
    case .meanSquaredError:
      score.correct += kernels.functions.squares(
        rows, classCount, outputs, labels, scale, deltas, &score.lossSum)
      score.answers += rows
      score.count += rows
    case .squaredDifference:
      differ(rows, outputs, space.values + first * classCount, scale, deltas, &score.lossSum)
      score.count += rows
    case .crossEntropyAtPositions:
      addPositions(
        rows * positions, outputs, labels, unscored: space.unscored, scale, deltas, kernels,
        &score)
    }
  }

  /// Squared differences from numbers. Order: a sample's outputs ascending, in double; every
  /// operation is rounded on its own.
  private func differ(
    _ rows: Int, _ outputs: UnsafePointer<Float>, _ values: UnsafePointer<Float>, _ scale: Float,
    _ deltas: UnsafeMutablePointer<Float>, _ lossSum: inout Double
  ) {
    let factor = 2 / Float(classCount) * scale
    for row in 0..<rows {
      var sum = 0.0
      for place in row * classCount..<(row + 1) * classCount {
        let difference = outputs[place] - values[place]
        sum += Double(difference) * Double(difference)
        deltas[place] = difference * factor
      }
      lossSum += sum / Double(classCount)
    }
  }

  /// Cross-entropy position by position; without a label there is neither loss nor gradient.
  ///
  /// Neighbours of one use go through the kernel together, which changes no bit.
  private func addPositions(
    _ count: Int, _ outputs: UnsafePointer<Float>, _ labels: UnsafePointer<Int32>,
    unscored: Int32?, _ scale: Float, _ deltas: UnsafeMutablePointer<Float>, _ kernels: Kernels,
    _ score: inout Score
  ) {
    /// 0: there is no label; 1: it is learned; 2: it is scored, too.
    func uses(_ label: Int32) -> Int { label < 0 ? 0 : label == unscored ? 1 : 2 }
    var first = 0
    while first < count {
      let use = uses(labels[first])
      var end = first + 1
      while end < count, uses(labels[end]) == use { end += 1 }
      let (rows, start) = (end - first, first * classCount)
      if use > 0 {
        let correct = kernels.functions.softmax(
          rows, classCount, outputs + start, classCount, labels + first, scale, deltas + start,
          classCount, &score.lossSum)
        score.count += rows
        if use == 2 {
          score.correct += correct
          score.answers += rows
        }
      } else {
        (deltas + start).update(repeating: 0, count: rows * classCount)
      }
      first = end
    }
  }

  /// Adds the square of each sample's loss, as the forward pass left it.
  ///
  /// The kernels give sums alone, so each sample is again a separate batch; what that leaves
  /// as its gradient is written again with the whole batch's. Order: sample by sample.
  private func addSquares(
    _ rows: Int, in space: Workspace, kernels: Kernels, score: inout Score
  ) {
    var sum = score.squares ?? 0
    for row in 0..<rows {
      var own = Score()
      addLoss(from: row, 1, scale: 1, in: space, kernels: kernels, score: &own)
      let loss =
        loss == .crossEntropyAtPositions ? own.lossSum / Double(max(1, own.count)) : own.lossSum
      sum += loss * loss
    }
    score.squares = sum
  }

  // MARK: Given batches

  /// `scale` times the gradient of the summed loss of the given samples, and that summed loss.
  ///
  /// Shapes: inputs [rows][inputCount], row by row; labels [rows][positions], −1 where nothing is
  /// learned.
  public func gradient(
    inputs: [Float], labels: [Int32], parameters: ParameterBuffer, scale: Float, kernels: Kernels
  ) -> (gradient: ParameterBuffer, lossSum: Double) {
    precondition(labels.count % positions == 0, "a label for each position")
    return gradient(
      labels.count / positions, inputs: inputs, parameters: parameters, scale: scale, kernels
    ) { space in
      labels.withUnsafeBufferPointer {
        space.labels.update(from: $0.baseAddress!, count: labels.count)
      }
    }
  }

  /// The same for a loss of numbers. Shapes: values [rows][classCount].
  public func gradient(
    inputs: [Float], values: [Float], parameters: ParameterBuffer, scale: Float, kernels: Kernels
  ) -> (gradient: ParameterBuffer, lossSum: Double) {
    precondition(loss == .squaredDifference && values.count % classCount == 0, "whole targets")
    return gradient(
      values.count / classCount, inputs: inputs, parameters: parameters, scale: scale, kernels
    ) { space in
      values.withUnsafeBufferPointer {
        space.values.update(from: $0.baseAddress!, count: values.count)
      }
    }
  }

  private func gradient(
    _ rows: Int, inputs: [Float], parameters: ParameterBuffer, scale: Float, _ kernels: Kernels,
    fill: (Workspace) -> Void
  ) -> (gradient: ParameterBuffer, lossSum: Double) {
    precondition(parameters.count == layout.count, "parameters fit the layout")
    precondition(inputs.count == rows * inputCount, "one label for each sample")
    let space = Workspace(network: self, rows: rows)
    inputs.withUnsafeBufferPointer {
      space.batch.update(from: $0.baseAddress!, count: inputs.count)
    }
    fill(space)
    var score = Score()
    let result = ParameterBuffer(count: layout.count) { target in
      gradient(
        rows, scale: scale, parameters: parameters.storage, target: target.baseAddress!,
        in: space, kernels: kernels, score: &score)
    }
    return (result, score.lossSum)
  }
}
