import Learning

/// Samples and their targets from two arrays, checked against each other.
struct LabelledArrays {
  /// As many classes as labels may tell apart where nobody says how many there are.
  static let mostClasses = 1 << 20

  /// Samples as read. Shapes: [sample][shape].
  var features: Dataset.Features
  /// The extents of one sample.
  var shape: [Int]
  /// The classes, or tokens, of each sample. Shapes: [sample][width].
  var labels: [Int] = []
  /// The numbers of each sample, where targets are numbers. Shapes: [sample][width].
  var values: [Float] = []
  /// How many targets a sample has.
  let width: Int
  /// What the labels mean.
  let targets: TargetSettings
  /// The place of the samples, for faults.
  let samplesPlace: String
  /// The place of the labels, for faults.
  let labelsPlace: String

  /// How many samples there are.
  var count: Int { features.count / shape.reduce(1, *) }

  /// Checks an array of samples, [n, axes…], against one of labels, [n] or [n, 1]; of numbers,
  /// [n] or [n, width]; of tokens, [n, positions].
  ///
  /// Bytes stay bytes; 64-bit floats are rounded to 32 bits; other whole numbers become floats
  /// where that is exact. Throws: `countMismatch` for shapes that do not fit each other,
  /// `truncated` without a sample, `unsupported` for a type, `outOfRange` for what is not finite
  /// or not exact.
  init(
    samples: NPYArray, at samplesPlace: String, labels: NPYArray, at labelsPlace: String,
    targets: TargetSettings = TargetSettings()
  ) throws(DataFault) {
    self.samplesPlace = samplesPlace
    self.labelsPlace = labelsPlace
    self.targets = targets
    let count = try Self.count(samples, at: samplesPlace)
    let fits =
      targets.kind == .tokens
      ? labels.shape.count == 2
      : labels.shape.count == 1
        || labels.shape.count == 2
          && (targets.kind == .values || labels.shape[1] == 1)
    guard fits, labels.shape[0] == count, labels.shape.last! > 0 else {
      let expected =
        switch targets.kind {
        case .values: "[\(count)] or [\(count), outputs], the targets"
        case .tokens: "[\(count), positions], a label for each position"
        case .classes, .nextToken: "[\(count)], a label for each sample"
        }
      throw DataFault(
        .countMismatch, in: labelsPlace, found: "shape \(labels.shape)",
        expected: "\(expected) of \(samplesPlace)")
    }
    width = labels.shape.count == 2 ? labels.shape[1] : 1
    shape = Array(samples.shape.dropFirst())
    features = try Self.features(samples, at: samplesPlace)
    if targets.kind == .values {
      values = try Self.values(labels, at: labelsPlace)
    } else if let classes = labels.integers {
      self.labels = classes
    } else {
      throw DataFault(
        .unsupported, in: labelsPlace, found: "type \(labels.values.descriptor)",
        expected: "whole numbers as labels",
        advice: "numbers to learn are named by `targets: values`")
    }
  }

  /// Samples of tokens [n, positions + 1], each of whose targets is the next token.
  ///
  /// Throws: `countMismatch` for another shape, `truncated` without a sample, `unsupported` for
  /// what is no whole number, `outOfRange` for one that a float does not hold.
  init(
    sequences: NPYArray, at place: String, targets: TargetSettings
  ) throws(DataFault) {
    (samplesPlace, labelsPlace, self.targets) = (place, place, targets)
    let count = try Self.count(sequences, at: place)
    guard sequences.shape.count == 2, sequences.shape[1] >= 2 else {
      throw DataFault(
        .countMismatch, in: place, found: "shape \(sequences.shape)",
        expected: "[samples, positions + 1], to learn each token's next one")
    }
    guard let tokens = sequences.integers else {
      throw DataFault(
        .unsupported, in: place, found: "type \(sequences.values.descriptor)",
        expected: "whole numbers as tokens")
    }
    width = sequences.shape[1] - 1
    shape = [width]
    var inputs: [Float] = []
    inputs.reserveCapacity(count * width)
    labels.reserveCapacity(count * width)
    for sample in 0..<count {
      let first = sample * (width + 1)
      for token in tokens[first...first + width] where token < 0 || token >= Self.mostClasses {
        throw DataFault(
          .outOfRange, in: place, found: "token \(token) of sample \(sample)",
          expected: "a token from 0 to \(Self.mostClasses - 1)")
      }
      inputs += tokens[first..<first + width].map { Float($0) }
      labels += tokens[first + 1...first + width]
    }
    features = .floats(inputs)
  }

  /// How many samples an array has. Throws: `countMismatch`, `truncated`.
  private static func count(_ samples: NPYArray, at place: String) throws(DataFault) -> Int {
    guard samples.shape.count >= 2, samples.shape.dropFirst().allSatisfy({ $0 > 0 }) else {
      throw DataFault(
        .countMismatch, in: place, found: "shape \(samples.shape)",
        expected: "[samples, numbers of a sample] or more axes, none of length 0")
    }
    guard samples.shape[0] > 0 else {
      throw DataFault(
        .truncated, in: place, found: "shape \(samples.shape)", expected: "a sample")
    }
    return samples.shape[0]
  }

  /// Numbers as they are, bytes too.
  private static func values(
    _ array: NPYArray, at place: String
  ) throws(DataFault) -> [Float] {
    switch try features(array, at: place) {
    case .bytes(let bytes): return bytes.map { Float($0) }
    case .floats(let floats): return floats
    }
  }

  private static func features(
    _ array: NPYArray, at place: String
  ) throws(DataFault) -> Dataset.Features {
    func fault(_ offset: Int, _ found: String, _ expected: String) -> DataFault {
      var index: [Int] = []
      var rest = offset
      for axis in array.shape.reversed() {
        index.insert(rest % axis, at: 0)
        rest /= axis
      }
      return DataFault(
        .outOfRange, in: place, found: "\(found) at index \(index)", expected: expected)
    }
    switch array.values {
    case .uint8(let bytes): return .bytes(bytes)
    case .float32(let floats):
      if let wrong = floats.firstIndex(where: { !$0.isFinite }) {
        throw fault(wrong, "\(floats[wrong])", "a finite number")
      }
      return .floats(floats)
    case .float64(let doubles):
      let floats = doubles.map { Float($0) }
      if let wrong = floats.firstIndex(where: { !$0.isFinite }) {
        throw fault(wrong, "\(doubles[wrong])", "a finite number in the range of 32 bits")
      }
      return .floats(floats)
    case .bool:
      throw DataFault(
        .unsupported, in: place, found: "type |b1", expected: "bytes, floats or whole numbers")
    case .int8, .int32, .int64, .uint16, .uint32:
      let integers = array.integers ?? []
      if let wrong = integers.firstIndex(where: { $0.magnitude > 1 << 24 }) {
        throw fault(wrong, "\(integers[wrong])", "a whole number that a float holds, up to 2^24")
      }
      return .floats(integers.map { Float($0) })
    }
  }

  private var areBytes: Bool {
    if case .bytes = features { true } else { false }
  }

  private var kindOfSamples: String { areBytes ? "bytes" : "numbers that are not bytes" }

  /// Throws: `outOfRange` for the first label that is no class, nor padding.
  func checkLabels(classes: Int) throws(DataFault) {
    let padding = targets.padding
    if let wrong = labels.firstIndex(where: { ($0 < 0 || $0 >= classes) && $0 != padding }) {
      throw fault(label: wrong, expected: "a label from 0 to \(classes - 1)")
    }
  }

  private func fault(label place: Int, expected: String) -> DataFault {
    let position = width > 1 ? ", position \(place % width)" : ""
    return DataFault(
      .outOfRange, in: labelsPlace,
      found: "label \(labels[place]) of sample \(place / width)\(position)", expected: expected)
  }

  /// Puts further samples behind these. Throws: `countMismatch` for samples of another shape,
  /// `unsupported` for bytes among floats.
  mutating func append(_ other: LabelledArrays) throws(DataFault) {
    guard shape == other.shape else {
      throw DataFault(
        .countMismatch, in: other.samplesPlace, found: "samples of shape \(other.shape)",
        expected: "\(shape), as in \(samplesPlace)")
    }
    switch (features, other.features) {
    case (.bytes(var bytes), .bytes(let more)):
      features = .floats([])
      bytes += more
      features = .bytes(bytes)
    case (.floats(var floats), .floats(let more)):
      features = .bytes([])
      floats += more
      features = .floats(floats)
    default:
      throw DataFault(
        .unsupported, in: other.samplesPlace, found: other.kindOfSamples,
        expected: "\(kindOfSamples), as in \(samplesPlace)")
    }
    guard width == other.width else {
      throw DataFault(
        .countMismatch, in: other.labelsPlace, found: "\(other.width) targets a sample",
        expected: "\(width), as in \(labelsPlace)")
    }
    labels += other.labels
    values += other.values
  }

  /// As a data set. Throws: `outOfRange` for the first label that is no class, `truncated` where
  /// padding alone is there.
  func dataset(classes: Int) throws(DataFault) -> Dataset {
    try checkLabels(classes: classes)
    switch targets.targetKind {
    case .classes:
      return Dataset(
        features: features, sampleShape: shape, labels: labels.map { Int32($0) },
        classCount: classes)
    case .values:
      return Dataset(
        features: features, sampleShape: shape, targets: .values(.init(values, width: width)))
    case .tokens:
      let tokens = Dataset.Tokens(
        labels.map { $0 == targets.padding ? -1 : Int32($0) }, positions: width, count: classes,
        unscored: targets.outOfVocabulary.map { Int32($0) })
      guard tokens.answers > 0 else {
        throw DataFault(
          .truncated, in: labelsPlace, found: "no label that counts",
          expected: "a label that is neither padding nor out of vocabulary")
      }
      return Dataset(features: features, sampleShape: shape, targets: .tokens(tokens))
    }
  }

  /// Two sets as training pool and test set.
  ///
  /// Without `classes` there are as many as the largest label says, over both sets. Throws:
  /// `countMismatch` where the samples differ in shape, `unsupported` where some are bytes, which
  /// represent fractions, and others numbers as they are, `outOfRange` for a label.
  static func trainAndTest(
    _ train: LabelledArrays, _ test: LabelledArrays, classes: Int?, users: DataUsers?
  ) throws(DataFault) -> TrainAndTest {
    guard train.shape == test.shape else {
      throw DataFault(
        .countMismatch, in: test.samplesPlace, found: "samples of shape \(test.shape)",
        expected: "\(train.shape), as in \(train.samplesPlace)")
    }
    guard train.areBytes == test.areBytes else {
      throw DataFault(
        .unsupported, in: test.samplesPlace, found: test.kindOfSamples,
        expected: "\(train.kindOfSamples), as in \(train.samplesPlace)",
        advice: "a byte b means b/255, other numbers are used unchanged")
    }
    guard train.width == test.width else {
      throw DataFault(
        .countMismatch, in: test.labelsPlace, found: "\(test.width) targets a sample",
        expected: "\(train.width), as in \(train.labelsPlace)")
    }
    var count = classes ?? 1
    if classes == nil {
      for set in [train, test] {
        for (place, label) in set.labels.enumerated() where label >= count {
          guard label < mostClasses else {
            throw set.fault(label: place, expected: "a label below \(mostClasses)")
          }
          count = label + 1
        }
        if set.targets.kind == .nextToken {
          // Padding and first tokens are tokens of the network's, too.
          for case .floats(let tokens) in [set.features] {
            count = max(count, 1 + Int(tokens.max() ?? 0))
          }
        }
      }
    }
    return TrainAndTest(
      train: try train.dataset(classes: count), test: try test.dataset(classes: count),
      users: users)
  }
}
