import Learning
import Numerics

/// The parts whose memories an archive holds, in the order in which they are there: each reads its
/// own, and then the next is expected.
final class PartCatalog: ArchiveContext {
  /// The next one is the last.
  private var expected: [any PolicyPart]

  init(_ parts: [any PolicyPart]) { expected = parts.reversed() }

  /// Reads the memory of the part that comes next, with those of the parts that it is made of.
  fileprivate func read(from decoder: any Decoder) throws -> AnyMemory {
    guard let part = expected.popLast() else { throw fault("one memory too many", decoder) }
    let others = expected.count
    expected += part.children.reversed()
    let memory = try part.decodedMemory(from: decoder)
    guard expected.count == others else {
      throw fault("the memories of `\(type(of: part).name)`'s parts", decoder)
    }
    return memory
  }

  private func fault(_ what: String, _ decoder: any Decoder) -> DecodingError {
    .dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: what))
  }
}

extension PolicyPart {
  fileprivate func decodedMemory(from decoder: any Decoder) throws -> AnyMemory {
    var list = try decoder.unkeyedContainer()
    return AnyMemory(try list.decode(Memory.self))
  }
}

extension AnyMemory: Codable {
  /// Writes what is remembered.
  public func encode(to encoder: any Encoder) throws {
    // As the one element of a list: of any type it is a byte at least.
    var list = encoder.unkeyedContainer()
    if let box { try box.encode(into: &list) } else { try list.encode(NoMemory()) }
  }

  /// Reads what the part remembers whose turn it is: memories are read where their parts are known,
  /// in a run that is restored.
  public init(from decoder: any Decoder) throws {
    guard let archive = decoder as? ArchiveDecoder, let parts = archive.context(PartCatalog.self)
    else {
      throw DecodingError.dataCorrupted(
        .init(
          codingPath: decoder.codingPath,
          debugDescription: "memories are read with the parts that they belong to"))
    }
    self = try parts.read(from: decoder)
  }

  /// The bytes of this memory alone.
  package func archived() throws -> [UInt8] { try Archive.bytes(of: self) }

  /// The memory of a part, out of its bytes. Throws: `ArchiveFault` where they are of another part.
  package init(archived bytes: [UInt8], of part: any PolicyPart) throws(ArchiveFault) {
    self = try Archive.value(
      AnyMemory.self, from: bytes, types: [ParameterBuffer.self], contexts: [PartCatalog([part])])
  }
}
