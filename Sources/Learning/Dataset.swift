import CKernels

/// Samples in memory, kept in the type they came in and made floats as they are gathered.
///
/// Shapes: features [sample][the sample's shape, last axis fastest]; labels [sample]. Samples whose
/// targets are no classes have 0 as their label, the only one there is.
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
  /// What samples are learned by.
  public let targets: Targets

  /// How many values one sample has.
  public let sampleSize: Int

  /// How many samples there are.
  public let count: Int

  /// Where the features are. An array's memory stays where it is while somebody holds the array and
  /// nobody changes it; threads that share samples need not count references to it.
  private enum Place {
    case bytes(UnsafePointer<UInt8>?)
    case floats(UnsafePointer<Float>?)
  }

  private nonisolated(unsafe) let place: Place
  private nonisolated(unsafe) let labelPlace: UnsafePointer<Int32>?
  private nonisolated(unsafe) let valuePlace: UnsafePointer<Float>?

  /// A data set of these samples.
  ///
  /// Shapes: `features.count` = `labels.count` × product of `sampleShape`; labels in 0 ..<
  /// classCount.
  public convenience init(
    features: Features, sampleShape: [Int], labels: [Int32], classCount: Int
  ) {
    self.init(
      features: features, sampleShape: sampleShape, labels: labels, classCount: classCount,
      targets: .classes)
  }

  /// A data set whose targets are numbers, or tokens.
  public convenience init(features: Features, sampleShape: [Int], targets: Targets) {
    precondition(targets.kind != .classes, "classes come with labels")
    self.init(
      features: features, sampleShape: sampleShape,
      labels: Array(repeating: 0, count: features.count / sampleShape.reduce(1, *)),
      classCount: 1, targets: targets)
  }

  private init(
    features: Features, sampleShape: [Int], labels: [Int32], classCount: Int, targets: Targets
  ) {
    sampleSize = sampleShape.reduce(1, *)
    precondition(sampleShape.allSatisfy { $0 > 0 } && classCount > 0, "extents are positive")
    precondition(features.count == labels.count * sampleSize, "one label per sample")
    precondition(labels.allSatisfy { $0 >= 0 && $0 < classCount }, "labels are classes")
    precondition(targets.fit(samples: labels.count), "targets fit the samples")
    self.targets = targets
    self.features = features
    self.sampleShape = sampleShape
    self.labels = labels
    self.classCount = classCount
    count = labels.count
    place =
      switch features {
      case .bytes(let bytes): .bytes(bytes.withUnsafeBufferPointer { $0.baseAddress })
      case .floats(let floats): .floats(floats.withUnsafeBufferPointer { $0.baseAddress })
      }
    switch targets {
    case .classes:
      labelPlace = labels.withUnsafeBufferPointer { $0.baseAddress }
      valuePlace = nil
    case .values(let values):
      labelPlace = nil
      valuePlace = values.numbers.withUnsafeBufferPointer { $0.baseAddress }
    case .tokens(let tokens):
      labelPlace = tokens.labels.withUnsafeBufferPointer { $0.baseAddress }
      valuePlace = nil
    }
    // Batches take samples from all over.
    switch place {
    case .bytes(let bytes?): HostMemory.makePagesLarge(bytes, features.count)
    case .floats(let floats?):
      HostMemory.makePagesLarge(floats, features.count * MemoryLayout<Float>.stride)
    default: break
    }
  }

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
    var to = target
    for index in indices {
      precondition(index >= 0 && index < count, "no sample \(index) among \(count)")
      let start = Int(index) * sampleSize
      switch place {
      case .bytes(let bytes): kernels.functions.bytes_to_floats(sampleSize, bytes! + start, to)
      case .floats(let floats): to.update(from: floats! + start, count: sampleSize)
      }
      to += sampleSize
    }
  }

  /// Asks for the memory of the samples at `indices`, which will be gathered soon.
  func prefetch(_ indices: UnsafeBufferPointer<Int32>) {
    for index in indices {
      let start = Int(index) * sampleSize
      switch place {
      case .bytes(let bytes): fs_prefetch(bytes! + start, sampleSize)
      case .floats(let floats): fs_prefetch(floats! + start, 4 * sampleSize)
      }
    }
    prefetchLabels(indices)
  }

  /// Asks for the memory of the labels of the samples at `indices`.
  func prefetchLabels(_ indices: UnsafeBufferPointer<Int32>) {
    let width = targets.width
    if let valuePlace {
      for index in indices { fs_prefetch(valuePlace + Int(index) * width, 4 * width) }
    } else {
      for index in indices { fs_prefetch(labelPlace! + Int(index) * width, 4 * width) }
    }
  }

  /// Lists where the samples at `indices` are, if they are bytes; returns whether they are.
  func bytePlaces(
    of indices: UnsafeBufferPointer<Int32>,
    into target: UnsafeMutablePointer<UnsafePointer<UInt8>?>
  ) -> Bool {
    guard case .bytes(.some) = place else { return false }
    for index in indices {
      precondition(index >= 0 && index < count, "no sample \(index) among \(count)")
    }
    _ = places(of: indices, into: target)
    return true
  }

  /// Lists where the samples at `indices` are; returns how many bytes each has.
  func places(
    of indices: UnsafeBufferPointer<Int32>,
    into target: UnsafeMutablePointer<UnsafePointer<UInt8>?>
  ) -> Int {
    let base: UnsafeRawPointer
    let bytes: Int
    switch place {
    case .bytes(let start): (base, bytes) = (UnsafeRawPointer(start!), sampleSize)
    case .floats(let start): (base, bytes) = (UnsafeRawPointer(start!), 4 * sampleSize)
    }
    for (row, index) in indices.enumerated() {
      target[row] = (base + Int(index) * bytes).assumingMemoryBound(to: UInt8.self)
    }
    return bytes
  }

  /// Writes the labels of the samples at `indices`.
  func gatherLabels(
    _ indices: some Collection<Int32>, into target: UnsafeMutablePointer<Int32>
  ) {
    var to = target
    for index in indices {
      to.pointee = labelPlace![Int(index)]
      to += 1
    }
  }

  /// Writes the numbers that the samples at `indices` have as targets.
  func gatherValues(
    _ indices: some Collection<Int32>, into target: UnsafeMutablePointer<Float>
  ) {
    let width = targets.width
    for (row, index) in indices.enumerated() {
      (target + row * width).update(from: valuePlace! + Int(index) * width, count: width)
    }
  }

  /// Writes the labels at the positions of the samples at `indices`.
  func gatherTokens(
    _ indices: some Collection<Int32>, into target: UnsafeMutablePointer<Int32>
  ) {
    let width = targets.width
    for (row, index) in indices.enumerated() {
      (target + row * width).update(from: labelPlace! + Int(index) * width, count: width)
    }
  }
}
