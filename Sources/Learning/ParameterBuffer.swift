import Numerics

/// A flat buffer of parameters that never changes once it is built, so that all threads may read
/// it.
///
/// The storage is aligned to 64 bytes.
public final class ParameterBuffer: @unchecked Sendable {
  /// How many parameters there are.
  public let count: Int
  let storage: UnsafeMutablePointer<Float>

  /// A buffer of `count` floats; the closure gets them as zeros and sets them.
  public init(
    count: Int, initializing fill: (UnsafeMutableBufferPointer<Float>) throws -> Void
  ) rethrows {
    precondition(count >= 0, "a count is not negative")
    self.count = count
    let bytes = max(64, count * MemoryLayout<Float>.stride)
    storage = UnsafeMutableRawPointer.allocate(byteCount: bytes, alignment: 64)
      .bindMemory(to: Float.self, capacity: max(16, count))
    storage.initialize(repeating: 0, count: count)
    try fill(UnsafeMutableBufferPointer(start: storage, count: count))
  }

  /// A buffer of the given values.
  public convenience init(_ values: [Float]) {
    self.init(count: values.count) { target in
      for (index, value) in values.enumerated() { target[index] = value }
    }
  }

  /// A buffer whose every element its maker sets before anyone reads it.
  init(uninitializedCount count: Int, fill: (UnsafeMutablePointer<Float>) -> Void) {
    self.count = count
    let bytes = max(64, count * MemoryLayout<Float>.stride)
    storage = UnsafeMutableRawPointer.allocate(byteCount: bytes, alignment: 64)
      .bindMemory(to: Float.self, capacity: max(16, count))
    fill(storage)
  }

  deinit { UnsafeMutableRawPointer(storage).deallocate() }

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

  /// A copy of the parameters.
  public var values: [Float] { withUnsafeBufferPointer(Array.init) }

  /// A copy of one tensor's elements, the last axis fastest.
  public func values(of tensor: TensorSpec) -> [Float] {
    withUnsafeBufferPointer { Array($0[tensor.range]) }
  }

  /// The buffer's size in bytes.
  public var byteCount: Int { count * MemoryLayout<Float>.stride }

  /// Mixes the count and the bits of every parameter into a digest.
  public func combine(into digest: inout Digest) {
    digest.combine(UInt64(count))
    digest.combine(bytes: UnsafeRawBufferPointer(start: storage, count: byteCount))
  }
}
