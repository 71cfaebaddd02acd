import CKernels
import Foundation
import Testing

/// The exponential, and softmax with cross-entropy.
@Suite struct SoftmaxTests {
  private func exponentials(_ x: [Float], _ kernels: fs_kernels) -> [Float] {
    var out = [Float](repeating: 9, count: x.count)
    kernels.exp(x.count, x, &out)
    return out
  }

  @Test(
    "the exponential is its definition and within an ulp of the truth", arguments: Body.allCases)
  func exponential(body: Body) throws {
    let x = stride(from: Float(0), through: 90, by: 0.0004).map { -$0 }
    let out = try exponentials(x, body.kernels())
    #expect(firstDifference(out, x.map(Reference.exponential)) == nil)
    var worst = 0.0
    for (x, result) in zip(x, out) where x > -87.3 {
      let truth = Foundation.exp(Double(x))
      worst = max(worst, abs(Double(result) - truth) / Double(Float(truth).ulp))
    }
    #expect(worst < 0.9)
  }

  @Test("the exponential's ends are 1, 0 and NaN", arguments: Body.allCases)
  func ends(body: Body) throws {
    let x: [Float] = [0, -0.0, -1e-30, -87.4, -1000, -.infinity, .nan]
    let out = try exponentials(x, body.kernels())
    #expect(firstDifference(out, [1, 1, 1, 0, 0, 0, .nan]) == nil)
  }

  struct Result: Equatable {
    var delta: [Float]
    var loss: Double
    var correct: Int
  }

  private func run(
    _ kernels: fs_kernels, _ logits: [Float], _ labels: [Int32], scale: Float, loss: Double = 0
  ) -> Result {
    let classes = logits.count / labels.count
    var result = Result(delta: logits, loss: loss, correct: 0)
    result.correct = kernels.softmax(
      labels.count, classes, logits, classes, labels, scale, &result.delta, classes, &result.loss)
    var inPlace = logits
    var again = loss
    inPlace.withUnsafeMutableBufferPointer {
      _ = kernels.softmax(
        labels.count, classes, $0.baseAddress, classes, labels, scale, $0.baseAddress, classes,
        &again)
    }
    #expect(firstDifference(inPlace, result.delta) == nil)
    #expect(firstDifference([again], [result.loss]) == nil)
    return result
  }

  @Test("equal logits share the probability, and the lowest index wins", arguments: Body.allCases)
  func byHand(body: Body) throws {
    // Three rows of [0 0]: each class has ½; of the labels 0, 1, 0 the first and the last are
    // right.
    let result = try run(body.kernels(), [0, 0, 0, 0, 0, 0], [0, 1, 0], scale: 2, loss: 1)
    #expect(result.delta == [-1, 1, 1, -1, -1, 1])
    #expect(abs(result.loss - (1 + 3 * 0.6931471805599453)) < 1e-15)
    #expect(result.correct == 2)
  }

  @Test("large logits neither overflow nor lose the loss", arguments: Body.allCases)
  func large(body: Body) throws {
    let result = try run(body.kernels(), [1000, 0, -1000], [2], scale: 1)
    #expect(result == Result(delta: [1, 0, -1], loss: 2000, correct: 0))
  }

  @Test("the loss of random rows is near the truth", arguments: Body.allCases)
  func random(body: Body) throws {
    let kernels = try body.kernels()
    for slot in 0..<200 as Range<UInt64> {
      var numbers = TestNumbers("loss", slot: slot)
      let (rows, classes) = (1 + numbers.below(12), 1 + numbers.below(40))
      let logits = numbers.ordinaryFloats(rows * classes).map { $0 * 20 }
      let labels = numbers.labels(rows, below: classes)
      var truth = 0.0
      for (row, label) in labels.enumerated() {
        let z = Array(logits[row * classes..<(row + 1) * classes])
        truth += Foundation.log(z.reduce(0) { $0 + Foundation.exp(Double($1)) })
        truth -= Double(z[Int(label)])
      }
      let loss = run(kernels, logits, labels, scale: 1).loss
      #expect(abs(loss - truth) < 1e-5 * Double(rows), "problem \(slot)")
    }
  }

  @Test("the loss of n equal logits is log n", arguments: Body.allCases)
  func logarithm(body: Body) throws {
    for classes in [1, 2, 3, 5, 7, 10, 26, 100, 1000] {
      let logits = [Float](repeating: 3, count: classes)
      let loss = try run(body.kernels(), logits, [0], scale: 1).loss
      #expect(abs(loss - Foundation.log(Double(classes))) <= 1e-15 * max(1, loss))
    }
  }

  @Test(
    "a NaN or infinite logit gives NaN, not a number that looks right", arguments: Body.allCases)
  func broken(body: Body) throws {
    for logits: [Float] in [[.nan, 0], [0, .nan], [.infinity, 0]] {
      #expect(try run(body.kernels(), logits, [0], scale: 1).loss.isNaN)
    }
  }
}
