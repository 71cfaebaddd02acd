/// An element that may be missing: a byte before it says whether it is there.
///
/// A field that may be missing needs none of this; `Optional`'s own `Codable` writes no such sign.
protocol ArchivedOptional {
  static func write(_ value: some Encodable, to encoder: ArchiveEncoder) throws
  static func read<Value>(_ type: Value.Type, from decoder: ArchiveDecoder) throws -> Value
}

extension Optional: ArchivedOptional where Wrapped: Codable {
  static func write(_ value: some Encodable, to encoder: ArchiveEncoder) throws {
    try encoder.writeOptional(value as! Wrapped?)
  }

  static func read<Value>(_ type: Value.Type, from decoder: ArchiveDecoder) throws -> Value {
    let value: Wrapped? = try decoder.readBool() ? decoder.read(Wrapped.self) : nil
    return value as! Value
  }
}

/// A value that is made from a run's inputs and is not saved: the code that restores a run puts it
/// back.
@propertyWrapper
public struct Rebuilt<Value>: Codable {
  private var value: Value?

  /// A value.
  public init(wrappedValue: Value) { value = wrappedValue }

  /// Nothing is there until it is put back.
  public init(from decoder: any Decoder) {}

  /// Nothing is written.
  public func encode(to encoder: any Encoder) {}

  /// The value. It has been put back where it was restored.
  @inline(__always)
  public var wrappedValue: Value {
    get { value! }
    set { value = newValue }
  }

  /// Whether it is there.
  public var isThere: Bool { value != nil }
}

extension Rebuilt: Sendable where Value: Sendable {}

/// What tells whether it has been put back.
package protocol Rebuildable {
  /// Whether it is there.
  var isThere: Bool { get }
}

extension Rebuilt: Rebuildable {}
