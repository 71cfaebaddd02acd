/// How an update is written on the wire, and so how large it is: what transforms make of its
/// parameters.
public struct UpdateForm: Sendable, Equatable {
  /// Parameters of each tensor that travels.
  public let tensors: [Int]
  /// How many numbers are sent.
  public var numbers: Int
  /// Bits of each; nil: floats, as the server's format writes them.
  public var bitsPerNumber: Int?
  /// Bits that say where a number belongs; 0: it follows from the order, or from a seed.
  public var bitsPerPlace = 0
  /// Bytes of scales, without which numbers of few bits say nothing.
  public var scaleBytes = 0
  /// Bytes of a seed that says which numbers are sent.
  public var seedBytes = 0
  /// Bytes of what is reported besides the numbers.
  public var reportBytes = 0
  /// Bytes that the server sends with a model, to tell transforms a number.
  public var bytesTold = 0

  /// All parameters of some tensors, as floats.
  public init(tensors: [Int]) {
    self.tensors = tensors
    numbers = tensors.reduce(0, +)
  }

  /// How many parameters travel.
  public var count: Int { tensors.reduce(0, +) }

  /// Bytes besides the numbers and their places.
  public var bytesBeside: Int { scaleBytes + seedBytes + reportBytes }

  /// Whether updates are parameters one behind the other, as models are.
  public var isPlain: Bool {
    numbers == count && bitsPerNumber == nil && bitsPerPlace == 0
  }

  /// The bytes of the numbers and of their places, each packed; a float has `floatBytes`.
  public func packedBytes(floatBytes: Int) -> Int64 {
    let values = Int64(numbers) * Int64(bitsPerNumber ?? 8 * floatBytes)
    let places = Int64(numbers) * Int64(bitsPerPlace)
    return (values + 7) / 8 + (places + 7) / 8
  }
}
