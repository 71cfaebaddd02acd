extension Network {
  /// A pass's loss, and how many samples it put in the right class.
  struct Score {
    var lossSum = 0.0
    var correct = 0
  }

  /// From the batch in the workspace to its logits.
  func forward(
    _ rows: Int, parameters: UnsafePointer<Float>, in space: Workspace, kernels: Kernels
  ) {
    let functions = kernels.functions
    for (index, layer) in dense.enumerated() {
      let output = space.activations[index + 1]
      functions.gemm(
        rows, layer.outputs, layer.inputs, space.activations[index], layer.inputs, 1,
        parameters + layer.weight, layer.outputs, parameters + layer.bias, 0, output,
        layer.outputs)
      if layer.activation == .relu { functions.relu(rows * layer.outputs, output, output) }
    }
  }

  /// The loss of the batch in the workspace, added to `score` sample by sample.
  func evaluate(
    _ rows: Int, parameters: UnsafePointer<Float>, in space: Workspace, kernels: Kernels,
    score: inout Score
  ) {
    forward(rows, parameters: parameters, in: space, kernels: kernels)
    score.correct += kernels.functions.softmax(
      rows, classCount, space.activations[dense.count], classCount, space.labels, 1,
      space.deltas[0], classCount, &score.lossSum)
  }

  /// Adds `scale` times the gradient of the batch's summed loss to the parameters: `target` =
  /// `parameters` + that.
  ///
  /// With scale −rate/rows this is the step of plain SGD. `target` may be `parameters`. Order:
  /// every weight's chain begins at the weight and goes on sample by sample, fused; a bias's
  /// likewise, by additions.
  func step(
    _ rows: Int, scale: Float, parameters: UnsafePointer<Float>,
    target: UnsafeMutablePointer<Float>, in space: Workspace, kernels: Kernels,
    score: inout Score
  ) {
    backward(
      rows, scale: scale, parameters: parameters, start: parameters, target: target, in: space,
      kernels: kernels, score: &score)
  }

  /// Sets `target` to `scale` times the gradient of the batch's summed loss.
  func gradient(
    _ rows: Int, scale: Float, parameters: UnsafePointer<Float>,
    target: UnsafeMutablePointer<Float>, in space: Workspace, kernels: Kernels,
    score: inout Score
  ) {
    backward(
      rows, scale: scale, parameters: parameters, start: nil, target: target, in: space,
      kernels: kernels, score: &score)
  }

  private func backward(
    _ rows: Int, scale: Float, parameters: UnsafePointer<Float>, start: UnsafePointer<Float>?,
    target: UnsafeMutablePointer<Float>, in space: Workspace, kernels: Kernels,
    score: inout Score
  ) {
    let functions = kernels.functions
    forward(rows, parameters: parameters, in: space, kernels: kernels)
    var delta = space.deltas[0]
    var next = space.deltas[1]
    score.correct += functions.softmax(
      rows, classCount, space.activations[dense.count], classCount, space.labels, scale, delta,
      classCount, &score.lossSum)
    for (index, layer) in dense.enumerated().reversed() {
      let input = space.activations[index]
      if index > 0 {
        // Before the step: the step may overwrite the weight that this needs.
        functions.transpose(
          layer.inputs, layer.outputs, parameters + layer.weight, layer.outputs,
          space.transposed, layer.inputs)
        functions.gemm(
          rows, layer.inputs, layer.outputs, delta, layer.outputs, 1, space.transposed,
          layer.inputs, nil, 0, next, layer.inputs)
        if dense[index - 1].activation == .relu {
          functions.relu_backward(rows * layer.inputs, input, next)
        }
      }
      functions.gemm(
        layer.inputs, layer.outputs, rows, input, 1, layer.inputs, delta, layer.outputs,
        start.map { $0 + layer.weight }, layer.outputs, target + layer.weight, layer.outputs)
      functions.add_rows(
        rows, layer.outputs, delta, layer.outputs, start.map { $0 + layer.bias },
        target + layer.bias)
      swap(&delta, &next)
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
      space.activations[0].update(from: $0.baseAddress!, count: inputs.count)
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
}
