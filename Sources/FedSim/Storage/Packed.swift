/// A whole number that takes four bytes where a run keeps it very often; it stays below 2³¹.
@propertyWrapper
public struct Packed: Sendable, Codable {
  private var stored: Int32

  /// A number.
  public init(wrappedValue: Int) { stored = Int32(wrappedValue) }

  /// The number in an archive.
  public init(from decoder: any Decoder) throws {
    stored = try decoder.singleValueContainer().decode(Int32.self)
  }

  /// Writes the number alone.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(stored)
  }

  /// The number.
  public var wrappedValue: Int {
    get { Int(stored) }
    set { stored = Int32(newValue) }
  }
}
