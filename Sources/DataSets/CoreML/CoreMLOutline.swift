/// Where in a Core ML file what is, without its meaning: it is found before anything is decoded, so
/// that a damaged file is named by its place, and so that weights can be written over the old ones.
struct CoreMLOutline {
  /// A tensor of the file: its layer, from 0, and the field numbers that lead to it.
  struct WeightKey: Hashable {
    var layer: Int
    var path: [Int]
  }

  /// The fields that say what the model is, and those inside it: 500 for a neural network.
  private(set) var types: [Int] = []
  /// The field that says what each layer is; 0: none.
  private(set) var layerKinds: [Int] = []
  /// Where the 32-bit floats of each tensor are.
  private(set) var floats: [WeightKey: Range<Int>] = [:]

  /// What a message is, as far as it matters where its parts are.
  private enum Message {
    case model
    case holder
    case pipeline
    case network
    case layer
    case convolution
    case innerProduct
    case batchNormalisation
    case gru
    case lstm
    case lstmWeights
    case weights
    case other

    /// What a field of the message is; nil: of no matter.
    func child(_ number: Int) -> Message? {
      switch self {
      case .model:
        switch number {
        case 2: .other
        case 200, 201: .holder
        case 202: .pipeline
        case 303, 403, 500: .network
        default: nil
        }
      case .holder: number == 1 ? .pipeline : nil
      case .pipeline: number == 1 ? .model : nil
      case .network: number == 1 ? .layer : number == 10 ? .other : nil
      case .layer: Self.layers[number] ?? (number >= 100 ? .other : nil)
      case .convolution: [90, 91].contains(number) ? .weights : nil
      case .innerProduct: [20, 21].contains(number) ? .weights : nil
      case .batchNormalisation: (15...18).contains(number) ? .weights : nil
      case .gru: (30...72).contains(number) ? .weights : nil
      case .lstm: number == 20 ? .lstmWeights : nil
      case .lstmWeights: (1...62).contains(number) ? .weights : nil
      case .weights, .other: nil
      }
    }

    private static let layers: [Int: Message] = [
      100: .convolution, 140: .innerProduct, 150: .innerProduct, 160: .batchNormalisation,
      410: .gru, 420: .lstm, 1040: .innerProduct,
    ]

    /// Whether a field may come several times.
    func repeats(_ number: Int) -> Bool {
      switch self {
      case .pipeline, .network: number == 1
      default: false
      }
    }
  }

  /// The fields of a model that say what it is.
  private static let typeFields = 200...3000

  private let file: String
  private let bytes: UnsafeRawBufferPointer

  /// The outline of a file's bytes.
  ///
  /// Throws: `truncated` and `corrupt`, with the byte.
  init(_ bytes: UnsafeRawBufferPointer, file: String) throws(DataFault) {
    self.file = file
    self.bytes = bytes
    try walk(.model, 0..<bytes.count, path: [], depth: 0)
  }

  private mutating func walk(
    _ message: Message, _ range: Range<Int>, path: [Int], depth: Int
  ) throws(DataFault) {
    // The decoder's own limit is 100.
    guard depth < 60 else {
      throw fault(
        .init(
          kind: .corrupt, byte: range.lowerBound, found: "models inside of models, 60 deep",
          expected: "a pipeline of one network"))
    }
    var fields = ProtobufFields(bytes, in: range)
    var seen: Set<Int> = []
    var isTyped = false
    if message == .layer { layerKinds.append(0) }
    while let field = try next(&fields) {
      if message == .model, Self.typeFields.contains(field.number) {
        guard !isTyped else { throw second("model", field) }
        isTyped = true
        types.append(field.number)
      }
      if message == .layer, field.number >= 100 {
        layerKinds[layerKinds.count - 1] = field.number
      }
      if message == .weights, field.number == 1 { try note(field, path) }
      guard let child = message.child(field.number) else { continue }
      guard field.type == 2 else { throw wrongType(field) }
      guard message.repeats(field.number) || seen.insert(field.number).inserted else {
        throw second("field \(field.number)", field)
      }
      let below = [Message.layer, .lstm].contains(message) || child == .weights
      try walk(
        child, field.content, path: below ? path + [field.number] : path, depth: depth + 1)
    }
  }

  /// A tensor's floats.
  private mutating func note(
    _ field: ProtobufFields.Field, _ path: [Int]
  ) throws(DataFault) {
    guard field.type == 2 else { throw wrongType(field) }
    let key = WeightKey(layer: layerKinds.count - 1, path: path)
    guard floats.updateValue(field.content, forKey: key) == nil else {
      throw second("list of weights", field)
    }
  }

  private func next(
    _ fields: inout ProtobufFields
  ) throws(DataFault) -> ProtobufFields.Field? {
    do throws(ProtobufFields.Problem) { return try fields.next() } catch { throw fault(error) }
  }

  private func wrongType(_ field: ProtobufFields.Field) -> DataFault {
    fault(
      .init(
        kind: .corrupt, byte: field.start,
        found: "field \(field.number) with wire type \(field.type)", expected: "wire type 2"))
  }

  private func second(_ what: String, _ field: ProtobufFields.Field) -> DataFault {
    fault(
      .init(
        kind: .duplicate, byte: field.start, found: "\(what) a second time",
        expected: "it once"))
  }

  private func fault(_ problem: ProtobufFields.Problem) -> DataFault {
    let layer = layerKinds.isEmpty ? "" : ":layer \(layerKinds.count)"
    return DataFault(
      problem.kind, in: file + layer, at: .byte(problem.byte), found: problem.found,
      expected: problem.expected,
      advice: layerKinds.isEmpty ? "is it a Core ML model (.mlmodel)?" : nil)
  }
}
