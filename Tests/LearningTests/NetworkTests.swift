import Foundation
import Learning
import Testing

/// A network's gradients against a tiny network in `Double`.
@Suite struct NetworkTests {
  /// The mean loss of a batch, written with nothing but loops.
  private func loss(
    widths: [Int], parameters: [Double], inputs: [Float], labels: [Int32]
  ) -> Double {
    var total = 0.0
    for (sample, label) in labels.enumerated() {
      var values = inputs[sample * widths[0]..<(sample + 1) * widths[0]].map { Double($0) }
      var offset = 0
      for layer in 1..<widths.count {
        let (ins, outs) = (widths[layer - 1], widths[layer])
        values = (0..<outs).map { out in
          var sum = parameters[offset + ins * outs + out]
          for i in 0..<ins { sum += values[i] * parameters[offset + i * outs + out] }
          return layer + 1 < widths.count ? max(0, sum) : sum
        }
        offset += ins * outs + outs
      }
      total += log(values.reduce(0) { $0 + exp($1) }) - values[Int(label)]
    }
    return total / Double(labels.count)
  }

  @Test(
    "gradients equal central differences",
    arguments: KernelBody.allCases, [[7, 3], [6, 5, 4], [5, 20, 17, 3]])
  func centralDifferences(body: KernelBody, widths: [Int]) throws {
    let network = Network.multilayerPerceptron(
      inputCount: widths[0], hidden: Array(widths[1..<widths.count - 1]),
      classCount: widths[widths.count - 1])
    let parameters = network.initialParameters(testStream(3))
    var stream = testStream(4)
    let rows = 6
    let inputs = (0..<rows * widths[0]).map { _ in Float(stream.uniform()) }
    let labels = (0..<rows).map { _ in Int32(stream.below(UInt32(network.classCount))) }
    let (gradient, lossSum) = try network.gradient(
      inputs: inputs, labels: labels, parameters: parameters, scale: 1 / Float(rows),
      kernels: kernels(body))
    var point = parameters.values.map { Double($0) }
    let value = loss(widths: widths, parameters: point, inputs: inputs, labels: labels)
    #expect(abs(lossSum / Double(rows) - value) < 1e-6)
    var largest = 0.0
    var worst = 0.0
    for index in point.indices {
      let step = 1e-6
      let kept = point[index]
      point[index] = kept + step
      let above = loss(widths: widths, parameters: point, inputs: inputs, labels: labels)
      point[index] = kept - step
      let below = loss(widths: widths, parameters: point, inputs: inputs, labels: labels)
      point[index] = kept
      let difference = (above - below) / (2 * step)
      largest = max(largest, abs(difference))
      worst = max(worst, abs(difference - Double(gradient[index])))
    }
    #expect(largest > 0.01)
    #expect(worst < 1e-6)
  }

  @Test("one sample's gradient at zero weights is the one worked out by hand")
  func byHand() {
    // Both classes have ½; label 0: δ = (-½, ½); weight gradient x·δ, bias gradient δ.
    let network = Network.softmaxRegression(inputCount: 2, classCount: 2)
    let (gradient, loss) = network.gradient(
      inputs: [1, -3], labels: [0], parameters: ParameterBuffer([0, 0, 0, 0, 0, 0]), scale: 1,
      kernels: .best)
    #expect(gradient.values == [-0.5, 0.5, 1.5, -1.5, -0.5, 0.5])
    #expect(abs(loss - 0.6931471805599453) < 1e-15)
  }
}
