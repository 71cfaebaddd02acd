import Learning
import Schema

extension ServerSettings {
  /// The fields of sizes on the wire, each a feature that is off unless it is named.
  static var wireFields: [Field<ServerSettings>] {
    [
      Field(
        "payloadFormat", \.payloadFormat, feature: .settings(),
        "Format of parameters, which determines their size; absent: `bytesPerParameter` each"),
      Field(
        "messages", \.messages, feature: .settings(),
        "Sizes of single messages; absent: `messageBytes` each"),
    ]
  }

  /// The size of a message.
  func bytes(of message: Message) -> Int64 { messages?[message] ?? messageBytes }

  /// The tensors that travel between server and devices.
  func travelling(of layout: ParameterLayout, needs: LocalNeeds = LocalNeeds()) -> [TensorSpec] {
    let personal = layout.personalRanges(needs) ?? []
    return layout.tensors.filter { tensor in
      tensor.isUpdatable && (exchange != .weightsOnly || tensor.isPlainWeight)
        && !personal.contains { $0.overlaps(tensor.range) }
    }
  }

  /// The size of a model, or of an update, as it is, without what goes with it.
  func parameterBytes(
    of layout: ParameterLayout, needs: LocalNeeds = LocalNeeds(), isUpload: Bool
  ) -> Int64 {
    let tensors = travelling(of: layout, needs: needs)
    guard let format = payloadFormat else {
      return Int64(tensors.reduce(0) { $0 + $1.count }) * Int64(bytesPerParameter)
    }
    return (isUpload ? format.upload : format.download ?? format.upload)
      .bytes(of: tensors, perNumber: format.bytesPerNumber)
  }
}

/// Sizes of messages on the wire.
enum WireSize {
  /// The size of a message.
  static func bytes(of message: Message, _ cx: borrowing Context) -> Int64 {
    cx.inputs.server.bytes(of: message)
  }

  /// The size of an update with what goes with it.
  static func updateBytes(_ cx: borrowing Context) -> Int64 {
    sized(.submission, isUpload: true, cx)
  }

  /// The size of an answer.
  static func bytes(of response: Response, _ cx: borrowing Context) -> Int64 {
    switch response {
    case .check, .rejected: bytes(of: .checkAnswer, cx)
    case .model: sized(.modelHead, isUpload: false, cx)
    case .modelUnavailable: bytes(of: .modelHead, cx)
    case .receipt: bytes(of: .receipt, cx)
    case .granted: bytes(of: .identityAnswer, cx)
    case .plan: cx.inputs.server.messageBytes.adding(cx.features.admission?.cycle.planBytes ?? 0)
    case .central(.model(let model, _)):
      cx.inputs.server.messageBytes.adding(Collecting.bytes(ofModel: model, cx))
    case .refused, .keyInvalid, .failed, .enrolled, .probed, .noted, .central:
      cx.inputs.server.messageBytes
    }
  }

  /// A message with parameters.
  private static func sized(_ message: Message, isUpload: Bool, _ cx: borrowing Context) -> Int64 {
    bytes(of: message, cx).adding(isUpload ? cx.wireSizes.upload : cx.wireSizes.download)
  }
}
