import Numerics

/// A convolution with the pooling behind it, sample by sample, so that what is between them stays
/// in a cache; the bits are those of the two layers one after the other.
struct PooledConvolutionLayer: PlacedLayer {
  let convolution: ConvolutionLayer
  let pooling: PoolingLayer

  var outputShape: [Int] { pooling.outputShape }
  var stem: String { convolution.stem }
  var tensors: [(name: String, shape: [Int])] { convolution.tensors }
  var multiplyAdds: Int { convolution.multiplyAdds }
  var writtenCount: Int { convolution.outputCount }

  func stateCount(_ rows: Int) -> Int {
    convolution.stateCount(rows) + pooling.stateCount(rows)
  }

  /// The convolution's scratch for one sample, and behind it what is between the two.
  func scratchCount(_ rows: Int, needsInputDelta: Bool) -> Int {
    betweenStart + convolution.outputCount
  }

  private var betweenStart: Int {
    (convolution.scratchCount(1, needsInputDelta: true) + 15) / 16 * 16
  }

  func initialise(_ target: UnsafeMutablePointer<Float>, _ stream: inout RandomStream) {
    convolution.initialise(target, &stream)
  }

  func forward(_ pass: Pass) {
    convolution.prepareForward(pass)
    for row in 0..<pass.rows {
      convolution.forwardPrepared(convolutionPass(pass, row))
      pooling.forward(poolingPass(pass, row))
    }
  }

  func backward(_ pass: Pass, _ deltas: Deltas) {
    convolution.prepareBackward(pass, deltas)
    let between = pass.scratch + betweenStart
    for row in 0..<pass.rows {
      pooling.backward(
        poolingPass(pass, row),
        Deltas(output: deltas.output + row * outputCount, input: between, start: nil, target: nil))
      convolution.backwardPrepared(
        convolutionPass(pass, row),
        Deltas(
          output: between, input: deltas.input.map { $0 + row * convolution.inputCount },
          start: deltas.start, target: deltas.target),
        isFirst: row == 0)
    }
    convolution.finishBackward(pass, deltas)
  }

  private func convolutionPass(_ pass: Pass, _ row: Int) -> Pass {
    Pass(
      kernels: pass.kernels, rows: 1, noise: pass.noise, index: pass.index,
      parameters: pass.parameters, input: pass.input + row * convolution.inputCount,
      output: pass.scratch + betweenStart, state: pass.state + row * convolution.stateCount(1),
      scratch: pass.scratch)
  }

  private func poolingPass(_ pass: Pass, _ row: Int) -> Pass {
    Pass(
      kernels: pass.kernels, rows: 1, noise: pass.noise, index: pass.index,
      parameters: pass.parameters, input: pass.scratch + betweenStart,
      output: pass.output + row * outputCount,
      state: pass.state + convolution.stateCount(pass.rows) + row * pooling.stateCount(1),
      scratch: pass.scratch)
  }
}
