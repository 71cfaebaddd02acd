import Schema

/// A part of the server's policy, and what it remembers from one call to the next.
///
/// The part itself is a value made from settings and never changes; runs share it. What depends on
/// what came before is in its `Memory`, of which every run has its own. It is saved with the run
/// and copied with it, so it is a value, too, and its `Codable` leaves out nothing that counts.
public protocol PolicyPart: Part {
  /// What it remembers; nothing unless it says so.
  associatedtype Memory: Codable & Sendable = NoMemory
  /// What it remembers at the beginning of a run.
  func makeMemory() -> Memory
  /// The parts that it is made of, in the order in which its fields hold their memories.
  var children: [any PolicyPart] { get }
}

/// The memory of a part that remembers nothing.
public struct NoMemory: Codable, Sendable, Equatable {
  /// An empty memory.
  public init() {}

  /// Reads the byte that represents nothing.
  public init(from decoder: any Decoder) throws {
    _ = try decoder.singleValueContainer().decode(UInt8.self)
  }

  /// Writes a byte: what an archive counts takes one each at least.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(UInt8(0))
  }
}

extension PolicyPart where Memory == NoMemory {
  public func makeMemory() -> NoMemory { NoMemory() }
}

extension PolicyPart {
  /// It is not made of others.
  public var children: [any PolicyPart] { [] }
  /// What it remembers at the beginning of a run, for somebody who does not know its type.
  public func freshMemory() -> AnyMemory { AnyMemory(makeMemory()) }
}
