extension Network {
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

  /// What the network gives for the samples: logits, or what its last layer makes of them.
  ///
  /// Shapes: inputs [rows][inputCount], row by row; result [rows][positions][classCount].
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
      UnsafeBufferPointer(start: space.outputs, count: rows * positions * classCount))
  }
}
