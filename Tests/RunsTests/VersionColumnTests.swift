import Testing

import FedSim
import Numerics
import Results

@Suite("Columns of versions")
struct VersionColumnTests {
  /// A record of which no two fields are equal.
  private static func record(_ version: Int) throws -> VersionRecord {
    try CountingDecoder(first: version, then: 1000 * (version + 1)).make(VersionRecord.self)
  }

  private static func bytes(_ value: some Encodable) throws -> [UInt8] {
    try Archive.bytes(of: value)
  }

  @Test("the log and the journal give back all of a record, whatever its fields are")
  func stored() throws {
    var log = VersionLog()
    for version in 0..<3 { log.append(try Self.record(version)) }
    let saved = try Archive.value(VersionLog.self, from: Self.bytes(log))
    for version in 0..<3 {
      let record = try Self.record(version)
      #expect(record.version == version && record.labelCounts.count == 8)
      let bytes = try Self.bytes(record)
      #expect(try Self.bytes(log[version]) == bytes)
      #expect(try Self.bytes(saved[version]) == bytes)
      guard case .version(let read)? = JournalRecord(JournalRecord.version(record).bytes) else {
        Issue.record("the journal's record is none of a version")
        continue
      }
      #expect(try Self.bytes(read) == bytes)
    }
  }

  @Test("a version's numbers take little room")
  func room() {
    // By hand: 64 bytes of progress, 8 wide ones, 5 of four bytes, and room for a few more.
    #expect(MemoryLayout<VersionFigures>.size >= 64 + 8 * 8 + 5 * 4)
    #expect(MemoryLayout<VersionFigures>.size <= 192)
  }
}
