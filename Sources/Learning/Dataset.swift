import CKernels

/// Samples in memory, kept in the type they came in and made floats as they are gathered.
///
/// Shapes: features [sample][the sample's shape, last axis fastest]; labels [sample].
public final class Dataset: Sendable {
  /// The features of all samples, one behind the other.
  public enum Features: Sendable {
    /// A byte b means b/255.
    case bytes([UInt8])
    /// Values as they are.
    case floats([Float])

    /// How many values there are.
    public var count: Int {
      switch self {
      case .bytes(let bytes): bytes.count
      case .floats(let floats): floats.count
      }
    }
  }

  /// The features of all samples.
  public let features: Features
  /// The extents of one sample, such as [28, 28].
  public let sampleShape: [Int]
  /// The class of each sample, from 0 on.
  public let labels: [Int32]
  /// How many classes there are.
  public let classCount: Int

  /// How many values one sample has.
  public let sampleSize: Int

  /// A data set of these samples.
  ///
  /// Shapes: `features.count` = `labels.count` × product of `sampleShape`; labels in 0 ..<
  /// classCount.
  public init(features: Features, sampleShape: [Int], labels: [Int32], classCount: Int) {
    sampleSize = sampleShape.reduce(1, *)
    precondition(sampleShape.allSatisfy { $0 > 0 } && classCount > 0, "extents are positive")
    precondition(features.count == labels.count * sampleSize, "one label for each sample")
    precondition(labels.allSatisfy { $0 >= 0 && $0 < classCount }, "labels are classes")
    self.features = features
    self.sampleShape = sampleShape
    self.labels = labels
    self.classCount = classCount
  }

  /// How many samples there are.
  public var count: Int { labels.count }

  /// The features of the samples at `indices` as floats, one sample behind the other.
  public func gather(_ indices: some Collection<Int32>, kernels: Kernels) -> [Float] {
    let size = indices.count * sampleSize
    return [Float](unsafeUninitializedCapacity: size) { target, initialized in
      guard let base = target.baseAddress else { return }
      gather(indices, into: base, kernels: kernels)
      initialized = size
    }
  }

  /// Writes the features of the samples at `indices` as floats, one sample behind the other.
  func gather(
    _ indices: some Collection<Int32>, into target: UnsafeMutablePointer<Float>, kernels: Kernels
  ) {
    let (size, count) = (sampleSize, count)
    var to = target
    func forEach<Value>(_ values: [Value], _ body: (UnsafePointer<Value>) -> Void) {
      values.withUnsafeBufferPointer { buffer in
        guard let base = buffer.baseAddress else { return }
        for index in indices {
          precondition(index >= 0 && index < count, "no sample \(index) among \(count)")
          body(base + Int(index) * size)
          to += size
        }
      }
    }
    switch features {
    case .bytes(let bytes):
      let functions = kernels.functions
      forEach(bytes) { functions.bytes_to_floats(size, $0, to) }
    case .floats(let floats): forEach(floats) { to.update(from: $0, count: size) }
    }
  }

  /// Asks for the memory of the samples at `indices`, which will be gathered soon.
  func prefetch(_ indices: UnsafeBufferPointer<Int32>) {
    func forEach<Value>(_ values: [Value]) {
      values.withUnsafeBytes { bytes in
        guard let base = bytes.baseAddress else { return }
        let stride = sampleSize * MemoryLayout<Value>.stride
        for index in indices { fs_prefetch(base + Int(index) * stride, stride) }
      }
    }
    switch features {
    case .bytes(let bytes): forEach(bytes)
    case .floats(let floats): forEach(floats)
    }
  }

  /// Writes the labels of the samples at `indices`.
  func gatherLabels(
    _ indices: some Collection<Int32>, into target: UnsafeMutablePointer<Int32>
  ) {
    var to = target
    for index in indices {
      to.pointee = labels[Int(index)]
      to += 1
    }
  }
}
