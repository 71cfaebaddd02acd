extension Network {
  /// A pass's loss, and how many samples it put in the right class.
  struct Score {
    var lossSum = 0.0
    var correct = 0
    /// The sum of the samples' squared losses; nil: nobody asks for it.
    var squares: Double?
  }

  private func pass(
    _ step: Workspace.Step, _ rows: Int, parameters: UnsafePointer<Float>, in space: Workspace,
    kernels: Kernels, noise: BatchNoise?, isTraining: Bool
  ) -> Pass {
    let isFirst = step.input == space.batch
    return Pass(
      kernels: kernels, rows: rows, noise: noise, index: step.place,
      parameters: parameters + step.offset, input: step.input, output: step.output,
      state: step.state, scratch: space.scratch,
      ahead: isFirst ? UnsafePointer(space.ahead) : nil, bytes: isFirst ? space.bytes : nil,
      isTraining: isTraining)
  }

  /// From the batch in the workspace to its logits.
  func forward(
    _ rows: Int, parameters: UnsafePointer<Float>, in space: Workspace, kernels: Kernels,
    noise: BatchNoise? = nil, isTraining: Bool = false
  ) {
    for step in space.steps {
      step.layer.forward(
        pass(
          step, rows, parameters: parameters, in: space, kernels: kernels, noise: noise,
          isTraining: isTraining))
    }
  }

  /// The loss of what the forward pass left, and its gradient by the outputs times `scale`.
  private func loss(
    _ rows: Int, scale: Float, in space: Workspace, kernels: Kernels, score: inout Score
  ) {
    if score.squares != nil { addSquares(rows, in: space, kernels: kernels, score: &score) }
    let outputs = space.outputs
    switch loss {
    case .crossEntropy:
      score.correct += kernels.functions.softmax(
        rows, classCount, outputs, classCount, space.labels, scale, space.deltas.0, classCount,
        &score.lossSum)
    case .meanSquaredError:
      score.correct += kernels.functions.squares(
        rows, classCount, outputs, space.labels, scale, space.deltas.0, &score.lossSum)
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
      let (outputs, labels) = (space.outputs + row * classCount, space.labels + row)
      var own = 0.0
      switch loss {
      case .crossEntropy:
        _ = kernels.functions.softmax(
          1, classCount, outputs, classCount, labels, 1, space.deltas.0, classCount, &own)
      case .meanSquaredError:
        _ = kernels.functions.squares(
          1, classCount, outputs, labels, 1, space.deltas.0, &own)
      }
      sum += own * own
    }
    score.squares = sum
  }

  /// The loss of the batch in the workspace, added to `score` sample by sample.
  func evaluate(
    _ rows: Int, parameters: UnsafePointer<Float>, in space: Workspace, kernels: Kernels,
    score: inout Score
  ) {
    forward(rows, parameters: parameters, in: space, kernels: kernels)
    loss(rows, scale: 1, in: space, kernels: kernels, score: &score)
  }

  /// Adds `scale` times the gradient of the batch's summed loss to the parameters: `target` =
  /// `parameters` + that.
  ///
  /// With scale −rate/rows this is the step of plain SGD. `target` may be `parameters`. Order: a
  /// parameter's gradient is summed from zero in the order of its layer, and added to the
  /// parameter once.
  func step(
    _ rows: Int, scale: Float, parameters: UnsafePointer<Float>,
    target: UnsafeMutablePointer<Float>, in space: Workspace, kernels: Kernels,
    noise: BatchNoise? = nil, score: inout Score
  ) {
    backward(
      rows, scale: scale, parameters: parameters, start: parameters, target: target, in: space,
      kernels: kernels, noise: noise, score: &score)
  }

  /// Sets `target` to `scale` times the gradient of the batch's summed loss.
  func gradient(
    _ rows: Int, scale: Float, parameters: UnsafePointer<Float>,
    target: UnsafeMutablePointer<Float>, in space: Workspace, kernels: Kernels,
    noise: BatchNoise? = nil, score: inout Score
  ) {
    backward(
      rows, scale: scale, parameters: parameters, start: nil, target: target, in: space,
      kernels: kernels, noise: noise, score: &score)
  }

  private func backward(
    _ rows: Int, scale: Float, parameters: UnsafePointer<Float>, start: UnsafePointer<Float>?,
    target: UnsafeMutablePointer<Float>, in space: Workspace, kernels: Kernels,
    noise: BatchNoise?, score: inout Score
  ) {
    forward(
      rows, parameters: parameters, in: space, kernels: kernels, noise: noise, isTraining: true)
    loss(rows, scale: scale, in: space, kernels: kernels, score: &score)
    var (delta, next) = space.deltas
    for index in (firstTrained..<space.steps.count).reversed() {
      let needsInput = index > firstTrained
      let step = space.steps[index]
      let isApart = start != nil && step.isUpdatable && !step.layer.roundsOnce
      let sums = (isApart ? space.gradient : target) + step.offset
      step.layer.backward(
        pass(
          step, rows, parameters: parameters, in: space, kernels: kernels, noise: noise,
          isTraining: true),
        Deltas(
          output: delta, input: needsInput ? next : nil,
          start: isApart ? nil : start.map { $0 + step.offset },
          target: step.isUpdatable ? sums : nil))
      if isApart, let start {
        let count = step.layer.parameterCount
        kernels.functions.add_rows(
          1, count, sums, count, start + step.offset, target + step.offset)
      }
      if !step.layer.deltaInPlace { swap(&delta, &next) }
    }
    keepFrozen(start: start, target: target)
  }

  /// Sets the running statistics in `target` to what they are after the training step that the
  /// workspace was used for, from those in `parameters`; both may be the same.
  func moveStatistics(
    _ rows: Int, parameters: UnsafePointer<Float>, target: UnsafeMutablePointer<Float>,
    in space: Workspace, kernels: Kernels
  ) {
    guard hasStatistics else { return }
    for step in space.steps {
      step.layer.moveStatistics(
        pass(
          step, rows, parameters: parameters, in: space, kernels: kernels, noise: nil,
          isTraining: true),
        to: target + step.offset)
    }
  }

  /// Frozen tensors move along unchanged, or have no gradient.
  func keepFrozen(start: UnsafePointer<Float>?, target: UnsafeMutablePointer<Float>) {
    guard hasFrozen else { return }
    for tensor in layout.tensors where !tensor.isUpdatable {
      guard let start else {
        (target + tensor.offset).update(repeating: 0, count: tensor.count)
        continue
      }
      if start != UnsafePointer(target) {
        (target + tensor.offset).update(from: start + tensor.offset, count: tensor.count)
      }
    }
  }

  /// `fresh` with the frozen tensors of `old`: a mean of equal numbers need not be that number.
  public func keepingFrozen(
    of old: ParameterBuffer, in fresh: ParameterBuffer
  ) -> ParameterBuffer {
    guard hasFrozen else { return fresh }
    return ParameterBuffer(uninitializedCount: layout.count) { target in
      target.update(from: fresh.storage, count: layout.count)
      keepFrozen(start: old.storage, target: target)
    }
  }

  /// `scale` times the gradient of the summed loss of the given samples, and that summed loss.
  ///
  /// Shapes: inputs [labels.count][inputCount], row by row.
  public func gradient(
    inputs: [Float], labels: [Int32], parameters: ParameterBuffer, scale: Float, kernels: Kernels
  ) -> (gradient: ParameterBuffer, lossSum: Double) {
    precondition(parameters.count == layout.count, "parameters fit the layout")
    precondition(inputs.count == labels.count * inputCount, "one label for each sample")
    let space = Workspace(network: self, rows: labels.count)
    inputs.withUnsafeBufferPointer {
      space.batch.update(from: $0.baseAddress!, count: inputs.count)
    }
    labels.withUnsafeBufferPointer {
      space.labels.update(from: $0.baseAddress!, count: labels.count)
    }
    var score = Score()
    let result = ParameterBuffer(count: layout.count) { target in
      gradient(
        labels.count, scale: scale, parameters: parameters.storage, target: target.baseAddress!,
        in: space, kernels: kernels, score: &score)
    }
    return (result, score.lossSum)
  }

  /// What the network gives for the samples: logits, or what its last layer makes of them.
  ///
  /// Shapes: inputs [rows][inputCount], row by row; result [rows][classCount].
  public func outputs(
    inputs: [Float], parameters: ParameterBuffer, kernels: Kernels
  ) -> [Float] {
    precondition(parameters.count == layout.count, "parameters fit the layout")
    precondition(!inputs.isEmpty && inputs.count % inputCount == 0, "whole samples")
    let rows = inputs.count / inputCount
    let space = Workspace(network: self, rows: rows)
    inputs.withUnsafeBufferPointer {
      space.batch.update(from: $0.baseAddress!, count: inputs.count)
    }
    forward(rows, parameters: parameters.storage, in: space, kernels: kernels)
    return Array(
      UnsafeBufferPointer(start: space.outputs, count: rows * classCount))
  }
}
