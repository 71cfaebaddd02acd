import Learning
import Schema

/// How parameters are written on the wire, and so how large a model or an update is.
public enum PayloadFormat: String, CaseIterable, Sendable {
  /// 32-bit floats one behind the other: 4 bytes a parameter.
  case raw
  /// A NumPy file a tensor: a header of 128 bytes and 4 bytes a parameter.
  case npy
  /// The raw bytes in base64: 4 characters for each 3 bytes begun.
  case base64
  /// Decimal numbers in an array a tensor: `"dense1.weight":[0.10000000149011612,…],`.
  case json

  /// The size of what devices exchange of a model.
  ///
  /// Units: bytes; `perNumber` those of a decimal number with its comma. A JSON array adds its
  /// tensor's name, two quotes, a colon, two brackets and a comma. Source: NumPy's format 1.0 pads
  /// its header to a multiple of 64, 128 for up to four axes; RFC 4648 for base64.
  public func bytes(of layout: ParameterLayout, perNumber: Int = 21) -> Int64 {
    bytes(of: layout.tensors.filter(\.isUpdatable), perNumber: perNumber)
  }

  /// The size of some tensors.
  func bytes(of tensors: [TensorSpec], perNumber: Int) -> Int64 {
    let count = Int64(tensors.reduce(0) { $0 + $1.count })
    switch self {
    case .raw: return 4 * count
    case .npy: return 4 * count + 128 * Int64(tensors.count)
    case .base64: return (4 * count + 2) / 3 * 4
    case .json:
      return Int64(perNumber) * count + tensors.reduce(0) { $0 + Int64($1.name.utf8.count) + 6 }
    }
  }
}

/// How parameters are written on the wire, both ways.
public struct PayloadFormatSettings: PartSettings {
  /// How updates are written.
  public var upload = PayloadFormat.raw
  /// How models are written; nil: as updates are.
  public var download: PayloadFormat?
  /// Size of a decimal number with its comma; 21 B is the mean over models of trained 32-bit
  /// floats written as doubles (`docs/systems/automatic-backend.md`).
  public var bytesPerNumber = 21

  public init() {}
  public static var shorthand: String? { "upload" }
  public static var fields: [Field<PayloadFormatSettings>] {
    [
      Field(
        "upload", \.upload, .choice, required: true,
        "Format of updates: raw 4 B per parameter, npy 128 B more per tensor, base64 a third"
          + " more, json decimal numbers with their tensors' names"),
      Field(
        "download", \.download, optional: .choice,
        "Format of models; absent: the format of updates"),
      Field(
        "bytesPerNumber", \.bytesPerNumber, .integer(2...64), assumption: true,
        "Size of a decimal number in json, including its comma"),
    ]
  }
}

/// A message between device and server, or what goes with parameters in addition to them.
public enum Message: Int, CaseIterable, Sendable {
  case check, checkAnswer, fetch, modelHead, submission, receipt
  case identityRequest, identityAnswer, heartbeat, heartbeatAnswer
}

/// Sizes of messages one by one; what is not named has the size `messageBytes`.
public struct MessageSettings: PartSettings {
  /// A request for news or for work.
  public var check: Int64?
  /// Its answer.
  public var checkAnswer: Int64?
  /// A request for the model.
  public var fetch: Int64?
  /// What comes with a model in addition to its parameters, or instead of them.
  public var modelHead: Int64?
  /// What goes with an update in addition to its parameters.
  public var submission: Int64?
  /// The answer to an update.
  public var receipt: Int64?
  /// A request for tokens.
  public var identityRequest: Int64?
  /// The answer to a request for tokens or a registration.
  public var identityAnswer: Int64?
  /// A heartbeat.
  public var heartbeat: Int64?
  /// Its answer.
  public var heartbeatAnswer: Int64?

  public init() {}
  public static var fields: [Field<MessageSettings>] {
    [
      Field("check", \.check, feature: .bytes, "Size of a request for news or for work"),
      Field(
        "checkAnswer", \.checkAnswer, feature: .bytes,
        "Size of the answer to a request for news or for work"),
      Field("fetch", \.fetch, feature: .bytes, "Size of a request for the model"),
      Field(
        "modelHead", \.modelHead, feature: .bytes,
        "Size of a model's message in addition to its parameters, or instead of them"),
      Field(
        "submission", \.submission, feature: .bytes,
        "Size of an update's message in addition to its parameters"),
      Field("receipt", \.receipt, feature: .bytes, "Size of the answer to an update"),
      Field("identityRequest", \.identityRequest, feature: .bytes, "Size of a request for tokens"),
      Field(
        "identityAnswer", \.identityAnswer, feature: .bytes,
        "Size of the answer to a request for tokens or a registration"),
      Field("heartbeat", \.heartbeat, feature: .bytes, "A heartbeat"),
      Field(
        "heartbeatAnswer", \.heartbeatAnswer, feature: .bytes, "Size of the answer to a heartbeat"),
    ]
  }

  /// The size of a message that was named.
  subscript(message: Message) -> Int64? {
    switch message {
    case .check: check
    case .checkAnswer: checkAnswer
    case .fetch: fetch
    case .modelHead: modelHead
    case .submission: submission
    case .receipt: receipt
    case .identityRequest: identityRequest
    case .identityAnswer: identityAnswer
    case .heartbeat: heartbeat
    case .heartbeatAnswer: heartbeatAnswer
    }
  }
}
