import Numerics

extension ParameterBuffer: ArchivedObject {
  /// Its name in archives.
  public static var archiveName: String { "parameters" }
  /// It refers to nothing.
  public static var isLeaf: Bool { true }

  /// Writes the count and the bits of all parameters.
  public func encode(to encoder: any Encoder) throws {
    let archive = try encoder.archive(self)
    archive.write(UInt64(count))
    archive.write(memory: UnsafeRawBufferPointer(start: storage, count: byteCount))
  }

  /// Reads them.
  public convenience init(from decoder: any Decoder) throws {
    let archive = try decoder.archive()
    let count = try archive.readCount()
    let (bytes, overflow) = count.multipliedReportingOverflow(by: MemoryLayout<Float>.stride)
    guard !overflow else { throw archive.damage("a count of \(count)") }
    let memory = try archive.read(memory: bytes)
    self.init(count: count) { UnsafeMutableRawBufferPointer($0).copyMemory(from: memory) }
  }
}

extension Encoder {
  /// The archive that is written; objects go into nothing else.
  package func archive(_ value: Any) throws -> ArchiveEncoder {
    guard let archive = self as? ArchiveEncoder else {
      throw EncodingError.invalidValue(
        value, .init(codingPath: codingPath, debugDescription: "only archives take objects"))
    }
    return archive
  }
}

extension Decoder {
  /// The archive that is read.
  package func archive() throws -> ArchiveDecoder {
    guard let archive = self as? ArchiveDecoder else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: codingPath, debugDescription: "only archives give objects"))
    }
    return archive
  }
}
