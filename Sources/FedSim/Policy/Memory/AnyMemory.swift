/// What a part remembers, for somebody who does not know its type: the engine, or a part that is
/// made of others.
///
/// A value: what happens to a copy does not touch the original. `PolicyPart.freshMemory` makes it,
/// and it is changed and read back by parts of the same type alone.
public struct AnyMemory: Sendable {
  /// The value; nil where nothing is remembered.
  private(set) var box: MemoryBox?

  /// A memory of any type.
  public init<Memory: Codable & Sendable>(_ memory: Memory) {
    box = Memory.self == NoMemory.self ? nil : TypedBox(memory)
  }

  /// Changes it in place, as what it is. Complexity: O(1) but for the change; once O(memory) where
  /// it has been copied.
  @inline(__always)
  public mutating func change<Memory: Codable & Sendable, Result>(
    _ type: Memory.Type, _ change: (inout Memory) -> Result
  ) -> Result {
    if Memory.self == NoMemory.self {
      var none = unsafeBitCast(NoMemory(), to: Memory.self)
      return change(&none)
    }
    if !isKnownUniquelyReferenced(&box) { box = box?.copy() }
    return change(&own(type).value)
  }

  /// The memory as the type that it is. Traps where it is of another.
  public func value<Memory: Codable & Sendable>(_ type: Memory.Type) -> Memory {
    if Memory.self == NoMemory.self { return unsafeBitCast(NoMemory(), to: Memory.self) }
    return own(type).value
  }

  private func own<Memory: Codable & Sendable>(_ type: Memory.Type) -> TypedBox<Memory> {
    guard let own = box as? TypedBox<Memory> else {
      preconditionFailure("a part received the memory of another part, not a \(type)")
    }
    return own
  }
}

/// Where a memory of some type is, shared by copies until one of them changes.
class MemoryBox: @unchecked Sendable {
  func copy() -> MemoryBox { preconditionFailure("a box has a type") }
  func encode(into list: inout any UnkeyedEncodingContainer) throws {
    preconditionFailure("a box has a type")
  }
}

/// A memory of known type. Who changes it has made sure that no other memory refers to it.
private final class TypedBox<Memory: Codable & Sendable>: MemoryBox, @unchecked Sendable {
  @exclusivity(unchecked) var value: Memory

  init(_ value: Memory) { self.value = value }

  override func copy() -> MemoryBox { TypedBox(value) }
  override func encode(into list: inout any UnkeyedEncodingContainer) throws {
    try list.encode(value)
  }
}
