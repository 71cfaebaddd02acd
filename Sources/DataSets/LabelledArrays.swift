import Learning

/// Samples and labels from two arrays, checked against each other.
struct LabelledArrays {
  /// As many classes as labels may tell apart where nobody says how many there are.
  static let mostClasses = 1 << 20

  /// Samples as read. Shapes: [sample][shape].
  var features: Dataset.Features
  /// The extents of one sample.
  var shape: [Int]
  /// The class of each sample.
  var labels: [Int]
  /// The place of the samples, for faults.
  let samplesPlace: String
  /// The place of the labels, for faults.
  let labelsPlace: String

  /// Checks an array of samples, [n, axes…], against one of labels, [n] or [n, 1].
  ///
  /// Bytes stay bytes; 64-bit floats are rounded to 32 bits; other whole numbers become floats
  /// where that is exact. Throws: `countMismatch` for shapes that do not fit each other,
  /// `truncated` without a sample, `unsupported` for a type, `outOfRange` for what is not finite
  /// or not exact.
  init(
    samples: NPYArray, at samplesPlace: String, labels: NPYArray, at labelsPlace: String
  ) throws(DataFault) {
    self.samplesPlace = samplesPlace
    self.labelsPlace = labelsPlace
    guard samples.shape.count >= 2, samples.shape.dropFirst().allSatisfy({ $0 > 0 }) else {
      throw DataFault(
        .countMismatch, in: samplesPlace, found: "shape \(samples.shape)",
        expected: "[samples, numbers of a sample] or more axes, none of length 0")
    }
    let count = samples.shape[0]
    guard count > 0 else {
      throw DataFault(
        .truncated, in: samplesPlace, found: "shape \(samples.shape)", expected: "a sample")
    }
    guard labels.shape == [count] || labels.shape == [count, 1] else {
      throw DataFault(
        .countMismatch, in: labelsPlace, found: "shape \(labels.shape)",
        expected: "[\(count)], a label for each sample of \(samplesPlace)")
    }
    guard let classes = labels.integers else {
      throw DataFault(
        .unsupported, in: labelsPlace, found: "type \(labels.values.descriptor)",
        expected: "whole numbers as labels")
    }
    shape = Array(samples.shape.dropFirst())
    features = try Self.features(samples, at: samplesPlace)
    self.labels = classes
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

  /// Throws: `outOfRange` for the first label that is no class.
  func checkLabels(classes: Int) throws(DataFault) {
    if let wrong = labels.firstIndex(where: { $0 < 0 || $0 >= classes }) {
      throw DataFault(
        .outOfRange, in: labelsPlace, found: "label \(labels[wrong]) of sample \(wrong)",
        expected: "a label from 0 to \(classes - 1)")
    }
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
    labels += other.labels
  }

  /// As a data set. Throws: `outOfRange` for the first label that is no class.
  func dataset(classes: Int) throws(DataFault) -> Dataset {
    try checkLabels(classes: classes)
    return Dataset(
      features: features, sampleShape: shape, labels: labels.map { Int32($0) },
      classCount: classes)
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
    var count = classes ?? 1
    if classes == nil {
      for set in [train, test] {
        for (sample, label) in set.labels.enumerated() where label >= count {
          guard label < mostClasses else {
            throw DataFault(
              .outOfRange, in: set.labelsPlace, found: "label \(label) of sample \(sample)",
              expected: "a label below \(mostClasses)")
          }
          count = label + 1
        }
      }
    }
    return TrainAndTest(
      train: try train.dataset(classes: count), test: try test.dataset(classes: count),
      users: users)
  }
}
