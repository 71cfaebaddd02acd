import Numerics
import Synchronization

/// A flat buffer of parameters that never changes once it is built, so that all threads may read
/// it.
///
/// The storage is aligned to 64 bytes, and goes to a later buffer of the same size.
public final class ParameterBuffer: @unchecked Sendable {
  /// How many parameters there are.
  public let count: Int
  let storage: UnsafeMutablePointer<Float>
  private let block: BufferMemory.Block
  private let finiteness = Atomic<UInt8>(Finiteness.unknown.rawValue)

  private enum Finiteness: UInt8 { case unknown, finite, notFinite }

  /// A buffer of `count` floats; the closure gets them as zeros and sets them.
  public init(
    count: Int, initializing fill: (UnsafeMutableBufferPointer<Float>) throws -> Void
  ) rethrows {
    precondition(count >= 0, "a count is not negative")
    self.count = count
    block = BufferMemory.take(count: count)
    storage = block.floats
    storage.initialize(repeating: 0, count: count)
    try fill(UnsafeMutableBufferPointer(start: storage, count: count))
  }

  /// A copy of some values.
  package convenience init(copying values: UnsafeBufferPointer<Float>) {
    self.init(uninitializedCount: values.count) { target in
      if let start = values.baseAddress { target.update(from: start, count: values.count) }
    }
  }

  /// The values in memory from elsewhere: `start` is a multiple of 64, nobody writes there
  /// until `giveBack` is called, when nobody uses the buffer any more.
  package convenience init(
    adopting start: UnsafeMutablePointer<Float>, count: Int,
    giveBack: @escaping @Sendable () -> Void
  ) {
    self.init(
      uninitializedCount: count,
      in: BufferMemory.foreign(start, count: count, giveBack: giveBack)
    ) { _ in }
  }

  /// Whether the values are in this memory.
  package func isIn(_ memory: UnsafeMutablePointer<Float>) -> Bool { storage == memory }

  /// A buffer of the given values as they are.
  public convenience init(_ values: [Float]) {
    self.init(count: values.count) { target in
      for (index, value) in values.enumerated() { target[index] = value }
    }
  }

  /// A buffer of the given values, tensor by tensor, the last axis of each fastest.
  public convenience init(_ values: [Float], layout: ParameterLayout) {
    precondition(values.count == layout.count, "values fit the layout")
    self.init(count: values.count) { target in
      for tensor in layout.tensors {
        for place in 0..<tensor.count {
          target[tensor.offset + tensor.position(ofElement: place)] = values[tensor.offset + place]
        }
      }
    }
  }

  /// A copy of the parameters, tensor by tensor, the last axis of each fastest.
  public func values(layout: ParameterLayout) -> [Float] {
    layout.tensors.flatMap { values(of: $0) }
  }

  /// A buffer whose every element its maker sets before anyone reads it.
  ///
  /// It is in `block`, where there is one.
  init(
    uninitializedCount count: Int, in block: BufferMemory.Block? = nil,
    fill: (UnsafeMutablePointer<Float>) -> Void
  ) {
    self.count = count
    let block = block ?? BufferMemory.take(count: count)
    self.block = block
    storage = block.floats
    fill(storage)
  }

  deinit { BufferMemory.give(block) }

  /// The parameter at `index`.
  public subscript(index: Int) -> Float {
    precondition(index >= 0 && index < count, "no parameter \(index) among \(count)")
    return storage[index]
  }

  /// Lends the parameters for the time of the call.
  public func withUnsafeBufferPointer<Result>(
    _ body: (UnsafeBufferPointer<Float>) throws -> Result
  ) rethrows -> Result {
    try body(UnsafeBufferPointer(start: storage, count: count))
  }

  /// A copy of the parameters as they are.
  public var values: [Float] { withUnsafeBufferPointer(Array.init) }

  /// A copy of one tensor's elements, the last axis fastest.
  public func values(of tensor: TensorSpec) -> [Float] {
    withUnsafeBufferPointer { floats in
      guard tensor.isTransposed else { return Array(floats[tensor.range]) }
      return (0..<tensor.count).map { floats[tensor.offset + tensor.position(ofElement: $0)] }
    }
  }

  /// Whether no parameter is infinite or not a number. Complexity: O(count) when first asked.
  public var isFinite: Bool {
    if let known = Finiteness(rawValue: finiteness.load(ordering: .relaxed)), known != .unknown {
      return known == .finite
    }
    let isFinite = Self.areFinite(storage, count: count)
    let found = isFinite ? Finiteness.finite : .notFinite
    finiteness.store(found.rawValue, ordering: .relaxed)
    return isFinite
  }

  /// Whether no value is infinite or not a number.
  static func areFinite(_ values: UnsafePointer<Float>, count: Int) -> Bool {
    // An exponent of ones carries into the sign; the loop has no exit, so it becomes vectors.
    var carried: UInt32 = 0
    for index in 0..<count { carried |= (values[index].bitPattern & 0x7f80_0000) &+ 0x0080_0000 }
    return carried & 0x8000_0000 == 0
  }

  /// The buffer's size in bytes.
  public var byteCount: Int { count * MemoryLayout<Float>.stride }

  /// These values, with another buffer's in some ranges.
  public func replacing(_ ranges: [Range<Int>], from other: ParameterBuffer) -> ParameterBuffer {
    precondition(other.count == count, "buffers of one layout")
    if ranges.isEmpty { return self }
    return ParameterBuffer(uninitializedCount: count) { target in
      target.update(from: storage, count: count)
      for range in ranges {
        precondition(range.lowerBound >= 0 && range.upperBound <= count, "a range of the buffer")
        (target + range.lowerBound).update(
          from: other.storage + range.lowerBound, count: range.count)
      }
    }
  }

  /// Mixes the count and the bits of every parameter into a digest.
  public func combine(into digest: inout Digest) {
    digest.combine(UInt64(count))
    digest.combine(bytes: UnsafeRawBufferPointer(start: storage, count: byteCount))
  }
}
