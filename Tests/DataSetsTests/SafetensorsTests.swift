import DataSets
import Foundation
import Testing

@Suite("Files of the safetensors library")
struct SafetensorsTests {
  @Test("numbers of all floating types read as PyTorch wrote them")
  func types() throws {
    let file = try Safetensors(contentsOf: Fixture.path("types.safetensors"))
    #expect(file.metadata == ["axes": "torch", "größe": "ß"])
    #expect(
      Set(file.names) == [
        "float64.weight", "float32.weight", "float16.weight", "bfloat16.weight", "int32.weight",
        "one", "none",
      ])
    // 0.1 to 53, 24, 11 and 8 significant bits; 65504 is 2¹⁶ to 8 bits.
    let numbers: [Double] = [-1, -0.5, 0, 0.1, 65504, 0x1p-24]
    #expect(
      try file.array(named: "float64.weight") == NPYArray(shape: [2, 3], values: .float64(numbers)))
    for (name, tenth, large) in [
      ("float32", 0.1 as Float, 65504 as Float), ("float16", 0x1.998p-4, 65504),
      ("bfloat16", 0x1.9ap-4, 65536),
    ] {
      #expect(
        try file.array(named: "\(name).weight")
          == NPYArray(shape: [2, 3], floats: [-1, -0.5, 0, tenth, large, 0x1p-24]), "\(name)")
    }
    #expect(try file.array(named: "one") == NPYArray(shape: [], floats: [3]))
    #expect(try file.array(named: "none") == NPYArray(shape: [0, 4], floats: []))
    let integers = fault { _ = try file.array(named: "int32.weight") }
    #expect(integers?.kind == .unsupported && integers?.found == "type I32")
    let missing = fault { _ = try file.array(named: "float32.wieght") }
    #expect(missing?.advice == "the nearest name there is 'float32.weight'")
  }

  /// What `read` makes of a file with this header.
  private func write<Found>(
    _ header: String, data: Int = 8, length: UInt64? = nil, _ read: (String) throws -> Found
  ) throws -> Found {
    let folder = try TemporaryFolder()
    let path = folder.path + "/x.safetensors"
    let size = length ?? UInt64(header.utf8.count)
    var bytes = (0..<8).map { UInt8(truncatingIfNeeded: size >> UInt64(8 * $0)) }
    bytes += Array(header.utf8) + [UInt8](repeating: 0, count: data)
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    return try read(path)
  }

  private func read(_ header: String, data: Int = 8, length: UInt64? = nil) throws -> DataFault? {
    try write(header, data: data, length: length) { path in
      fault { _ = try Safetensors(contentsOf: path) }
    }
  }

  @Test(
    "a header that is damaged is a fault",
    arguments: [
      ("{", .malformed), ("[]", .malformed), ("{\"a\": 3}", .malformed),
      ("{\"a\": {\"dtype\": \"F32\", \"shape\": [3], \"data_offsets\": [0, 8]}}", .countMismatch),
      ("{\"a\": {\"dtype\": \"F32\", \"shape\": [2], \"data_offsets\": [4, 12]}}", .outOfRange),
      ("{\"a\": {\"dtype\": \"F32\", \"shape\": [2], \"data_offsets\": [8, 0]}}", .outOfRange),
      ("{\"a\": {\"dtype\": \"F32\", \"shape\": [2], \"data_offsets\": [-8, 0]}}", .outOfRange),
      ("{\"a\": {\"dtype\": \"F32\", \"shape\": [2], \"data_offsets\": [0]}}", .outOfRange),
      ("{\"a\": {\"dtype\": \"F32\", \"shape\": [-2], \"data_offsets\": [0, 8]}}", .outOfRange),
      (
        "{\"a\": {\"dtype\": \"F32\", \"shape\": [4294967296, 4294967296],"
          + " \"data_offsets\": [0, 8]}}", .outOfRange
      ),
      // Numbers that belong to two tensors, or to none, and texts that are no metadata.
      ("{\"a\": {\"dtype\": \"F32\", \"shape\": [1], \"data_offsets\": [4, 8]}}", .outOfRange),
      ("{\"a\": {\"dtype\": \"F32\", \"shape\": [1], \"data_offsets\": [0, 4]}}", .trailingBytes),
      (
        "{\"a\": {\"dtype\": \"F32\", \"shape\": [2], \"data_offsets\": [0, 8]},"
          + " \"b\": {\"dtype\": \"F32\", \"shape\": [1], \"data_offsets\": [4, 8]}}", .outOfRange
      ),
      (
        "{\"a\": {\"dtype\": \"F32\", \"shape\": [2], \"data_offsets\": [0, 8]},"
          + " \"b\": {\"dtype\": \"F32\"}}", .malformed
      ),
      // A field that the format has not.
      (
        "{\"a\": {\"note\": \"x\", \"dtype\": \"F32\", \"shape\": [2],"
          + " \"data_offsets\": [0, 8]}}", .malformed
      ),
      // A tensor, a field and a text twice.
      (
        "{\"a\": {\"dtype\": \"F32\", \"shape\": [2], \"data_offsets\": [0, 8]},"
          + " \"a\": {\"dtype\": \"F32\", \"shape\": [2], \"data_offsets\": [0, 8]}}", .malformed
      ),
      (
        "{\"a\": {\"dtype\": \"F32\", \"shape\": [3], \"shape\": [2],"
          + " \"data_offsets\": [0, 8]}}", .malformed
      ),
      (
        "{\"__metadata__\": {\"b\": \"1\", \"b\": \"2\"},"
          + " \"a\": {\"dtype\": \"F32\", \"shape\": [2], \"data_offsets\": [0, 8]}}", .malformed
      ),
    ] as [(String, DataFault.Kind)])
  func damaged(header: String, kind: DataFault.Kind) throws {
    #expect(try read(header)?.kind == kind)
  }

  @Test("files that were taken once though their header is no JSON are refused")
  func regressions() throws {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../Fuzz/regressions/safetensors").standardized
    let files = try FileManager.default.contentsOfDirectory(
      at: folder, includingPropertiesForKeys: nil)
    #expect(files.count == 4)
    for file in files {
      #expect(fault { _ = try Safetensors(contentsOf: file.path) }?.kind == .malformed, "\(file)")
    }
  }

  @Test("a header longer than its file, and a file without one, are faults")
  func lengths() throws {
    let whole = "{\"a\": {\"dtype\": \"F32\", \"shape\": [2], \"data_offsets\": [0, 8]}}"
    #expect(try write(whole) { try Safetensors(contentsOf: $0).names } == ["a"])
    // Colons, quotes and backslashes in texts are no members.
    let texts = #"{"__metadata__": {":\\": "\"b\": {:"}, "a:": "# + whole.dropFirst(6)
    #expect(try write(texts) { try Safetensors(contentsOf: $0).names } == ["a:"])
    #expect(try read(whole, length: 1 << 40)?.kind == .truncated)
    #expect(try read(whole, length: .max)?.kind == .truncated)
    let folder = try TemporaryFolder()
    try Data([1, 2, 3]).write(to: URL(fileURLWithPath: folder.path + "/x"))
    #expect(fault { _ = try Safetensors(contentsOf: folder.path + "/x") }?.kind == .truncated)
  }
}
