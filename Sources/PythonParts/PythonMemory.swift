import Learning
import Numerics

/// What a part in Python remembers: bytes that only it reads.
public struct PythonMemory: Codable, Sendable, Equatable {
  /// The bytes; none at the beginning of a run.
  public var bytes: [UInt8] = []

  init(bytes: [UInt8] = []) { self.bytes = bytes }

  /// Reads them.
  public init(from decoder: any Decoder) throws {
    let archive = try decoder.archive()
    bytes = Array(try archive.read(memory: try archive.readCount()))
  }

  /// Writes them.
  public func encode(to encoder: any Encoder) throws {
    let archive = try encoder.archive(self)
    archive.write(UInt64(bytes.count))
    bytes.withUnsafeBytes { archive.write(memory: $0) }
  }
}
