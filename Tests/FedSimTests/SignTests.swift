import FedSim
import Learning
import Numerics
import Schema
import Testing

private func make(feedback: Bool = true) -> SignCompression {
  var settings = SignCompression.Settings()
  settings.feedback = feedback
  return SignCompression(settings)
}

/// An update with this difference from zeros.
private func update(
  _ difference: [Float], tensors: [Range<Int>], residual: ParameterBuffer? = nil
) -> OutgoingUpdate {
  OutgoingUpdate(
    parameters: ParameterBuffer(difference), base: ParameterBuffer(difference.map { _ in 0 }),
    tensors: tensors, stream: StreamKey(seed: 5, purpose: "sign-test").stream(slot: 0),
    residual: residual)
}

@Suite("Signs in place of updates")
struct SignTests {
  private let parts = [0..<10, 10..<24]

  private func isNear(_ found: [Float], _ expected: some Sequence<Double>) -> Bool {
    zip(found, expected).allSatisfy { (Double($0) - $1).magnitude < 1e-6 }
  }

  @Test("Signs and magnitudes with what was left before are those of NumPy over four updates")
  func numbers() {
    var rest: ParameterBuffer?
    for turn in 0..<4 {
      var sent = update(signUpdates.row(turn, of: 24), tensors: parts, residual: rest)
      make().apply(&sent)
      #expect(isNear(sent.parameters.values, signSent[turn * 24..<(turn + 1) * 24]))
      rest = sent.residual
    }
    #expect(isNear(rest!.values, signRest))
  }

  @Test("Without feedback nothing is left, and each update is separate")
  func alone() {
    for turn in 0..<4 {
      var sent = update(signUpdates.row(turn, of: 24), tensors: parts)
      make(feedback: false).apply(&sent)
      #expect(isNear(sent.parameters.values, signAlone[turn * 24..<(turn + 1) * 24]))
      #expect(sent.residual == nil)
    }
    #expect((make().keepsResidual, make(feedback: false).keepsResidual) == (true, false))
  }

  @Test("By hand: zeros count as positive, and what does not travel stays as it is")
  func byHand() {
    // |3| + |−1| + |0| + |0| over four is 1; what is left is (2, 0, −1, −1).
    var sent = update([7, 3, -1, 0, 0, 8], tensors: [1..<5])
    make().apply(&sent)
    #expect(sent.parameters.values == [7, 1, -1, 1, 1, 8])
    #expect(sent.residual?.values == [0, 2, 0, -1, -1, 0])
    // Then of (0, 2, 0, 0) + (2, 0, −1, −1): the magnitude is 6/4.
    var next = update([0, 0, 2, 0, 0, 0], tensors: [1..<5], residual: sent.residual)
    make().apply(&next)
    #expect(next.parameters.values == [0, 1.5, 1.5, -1.5, -1.5, 0])
    #expect(next.residual?.values == [0, 0.5, 0.5, 0.5, 0.5, 0])
  }

  @Test("An update of one magnitude a tensor is sent as it is, and leaves nothing")
  func exact() {
    let difference: [Float] = [0.5, -0.5, 0.5, -2, 2]
    var sent = update(difference, tensors: [0..<3, 3..<5])
    make().apply(&sent)
    #expect(sent.parameters.values == difference)
    #expect(sent.residual?.values == [0, 0, 0, 0, 0])
    var none = update([0, 0], tensors: [0..<2])
    make().apply(&none)
    #expect(none.parameters.values == [0, 0])
  }

  @Test("Numbers that are not finite are left alone, the largest ones are sent")
  func extremes() {
    let rest = ParameterBuffer([1, 2])
    var wrong = update([.nan, 1], tensors: [0..<2], residual: rest)
    make().apply(&wrong)
    #expect(!wrong.parameters.isFinite)
    #expect(wrong.residual === rest)
    let most = Float.greatestFiniteMagnitude
    var large = update(
      [most, -most], tensors: [0..<2], residual: ParameterBuffer([most, -most]))
    make().apply(&large)
    #expect(large.parameters.values == [most, -most])
    #expect(large.residual!.isFinite)
  }

  @Test("A bit a parameter and four bytes a tensor travel, by hand")
  func bytes() {
    let layout = ParameterLayout([
      TensorSpec(name: "a", shape: [30, 30], offset: 0),
      TensorSpec(name: "f", shape: [7], offset: 900, isUpdatable: false),
      TensorSpec(name: "b", shape: [101], offset: 907),
    ])
    func bytes(_ before: [Choice<any UpdateTransform>] = [], _ format: PayloadFormat? = nil)
      -> Int64
    {
      var server = ServerSettings()
      server.transforms = before + [Choice(SignCompression.self) { $0 }]
      if let format {
        server.payloadFormat = PayloadFormatSettings()
        server.payloadFormat!.upload = format
      }
      return server.updateBytes(of: layout)
    }
    // 1,001 bits are 126 B; two magnitudes.
    #expect(bytes() == 126 + 8)
    // A choice before it is undone: with what was left, or as +0, all have a sign.
    #expect(bytes([Choice(TopK.self) { $0 }]) == 126 + 8)
    #expect(bytes([Choice(ByteQuantisation.self) { $0 }]) == 126 + 8)
    // 134 B are 44 times 3 and 2 over; a file a tensor.
    #expect(bytes([], .base64) == 180)
    #expect(bytes([], .npy) == 134 + 256)
  }
}
