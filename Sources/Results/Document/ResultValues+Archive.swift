import Numerics

extension ResultValues: Codable {
  private static let types = ["double", "float", "int64", "int", "byte", "ubyte"]

  /// Reads them from an archive.
  public init(from decoder: any Decoder) throws {
    guard let decoder = decoder as? ArchiveDecoder else { throw ArchiveFault.noArchive }
    let (type, count) = (try decoder.readWord(), try decoder.readUnsigned(Int.self))
    func array<T: BitwiseCopyable>(_ zero: T) throws -> [T] {
      let (size, isTooLong) = count.multipliedReportingOverflow(by: MemoryLayout<T>.stride)
      guard !isTooLong else { throw ArchiveFault.noArchive }
      let memory = try decoder.read(memory: size)
      var values = [T](repeating: zero, count: count)
      values.withUnsafeMutableBytes { $0.copyMemory(from: memory) }
      return values
    }
    switch Self.types.firstIndex(of: type) {
    case 0: self = .double(try array(0))
    case 1: self = .float(try array(0))
    case 2: self = .int64(try array(0))
    case 3: self = .int32(try array(0))
    case 4: self = .int8(try array(0))
    case 5: self = .uint8(try array(0))
    default: throw ArchiveFault.noArchive
    }
  }

  /// Writes them into an archive: the type, the count, and the memory.
  public func encode(to encoder: any Encoder) throws {
    guard let encoder = encoder as? ArchiveEncoder else { throw ArchiveFault.noArchive }
    encoder.write(typeName)
    encoder.write(UInt64(count))
    withBytes { encoder.write(memory: $0) }
  }
}
