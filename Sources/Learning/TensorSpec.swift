/// A named tensor's place in the flat parameter buffer.
public struct TensorSpec: Equatable, Sendable {
  /// The tensor's name, unique in its layout, such as `dense1.weight`.
  public let name: String
  /// The tensor's extents; the last varies fastest.
  public let shape: [Int]
  /// Index of the tensor's first element in the flat buffer.
  public let offset: Int
  /// Whether devices train and exchange the tensor.
  public let isUpdatable: Bool
  /// Whether the flat buffer has the tensor's two axes exchanged, the first fastest.
  public let isTransposed: Bool
  /// Whether it is a running statistic: moved by batches, not by gradients, and exchanged with the
  /// rest.
  public let isStatistic: Bool

  /// A tensor at `offset`.
  public init(
    name: String, shape: [Int], offset: Int, isUpdatable: Bool = true, isTransposed: Bool = false,
    isStatistic: Bool = false
  ) {
    precondition(offset >= 0 && shape.allSatisfy { $0 > 0 }, "extents are positive")
    precondition(!isTransposed || shape.count == 2, "two axes are swapped")
    self.name = name
    self.shape = shape
    self.offset = offset
    self.isUpdatable = isUpdatable
    self.isTransposed = isTransposed
    self.isStatistic = isStatistic
  }

  /// How many elements the tensor has.
  public var count: Int { shape.reduce(1, *) }

  /// Where the element at a place, counted with the last axis fastest, is behind the offset.
  public func position(ofElement place: Int) -> Int {
    guard isTransposed else { return place }
    return place % shape[1] * shape[0] + place / shape[1]
  }

  /// Whether it is the weight of a dense layer or of a convolution.
  public var isPlainWeight: Bool {
    name.hasSuffix(".weight") && (name.hasPrefix("dense") || name.hasPrefix("conv"))
  }

  /// Where the tensor is in the flat buffer.
  public var range: Range<Int> { offset..<offset + count }
}
