import Foundation
import Testing

import FedSim
import Numerics
import Results
import Runs
import Scenarios

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

  @Test("a name is one of one column, of one metric and of one figure of sweeps")
  func names() {
    let names = VersionColumn.all.map(\.name)
    #expect(Set(names).count == names.count)
    #expect(VersionColumn.byWorth.map(\.name).sorted() == names.sorted())
    let metrics = Metric.all.map(\.name)
    #expect(Set(metrics).count == metrics.count)
    let figures = VersionColumn.all.flatMap(\.summaries).map(\.name)
    #expect(Set(figures).count == figures.count)
  }

  @Test("a column without further settings is everywhere, with its words")
  func defaults() throws {
    let column = VersionColumn.number("driftNorm", "norm of the drift") { _ in nil }
    #expect(column.uses == .all && column.unit == "1")
    #expect(column.presence.words == "")
    #expect(column.claim == "Norm of the drift")
    #expect(column.summaries.map(\.name) == ["finalDriftNorm"])
    #expect(column.summaries.map(\.text) == ["last known value: norm of the drift"])
    #expect(column.whyNone(try Self.record(7)) == "version 7 has no driftNorm")
    let metric = Metric(column)
    #expect(metric.name == "driftNorm" && metric.kind == .number && metric.domain == .version)
  }

  @Test("a column of words is a category, and claims are about its words")
  func words() throws {
    let column = VersionColumn.code("mood", "how it is", words: ["good", "bad"]) {
      $0.updates > 5 ? "bad" : "good"
    }
    #expect(column.kind == .code(["good", "bad"]))
    #expect(Metric(column).kind == .word(["good", "bad"]))
    let scenario = try Scenario(
      contentsOf: CheckedFolder.shipped + "/smoke/synchronous.yaml")
    let series = VersionSeries([], of: try scenario.inputs(), at: .start)
    #expect(column.value(try Self.record(0), series) == .code(1))
  }

  @Test("docs/results.md has a row for each column, with its unit and when it is there")
  func page() throws {
    let root = URL(fileURLWithPath: CheckedFolder.shipped).deletingLastPathComponent()
    let page = try String(
      contentsOf: root.appendingPathComponent("docs/results.md"), encoding: .utf8)
    let section = try #require(page.components(separatedBy: "\n## `versions`").last)
    var rows: [String: [String]] = [:]
    for line in section.components(separatedBy: "\n## ")[0].split(separator: "\n") {
      let cells = line.components(separatedBy: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      guard cells.count > 5, cells[2] == "version" else { continue }
      for name in cells[1].split(separator: "`").map(String.init) where name != ", " {
        rows[name] = [cells[3], cells[5]]
      }
    }
    for column in VersionColumn.all {
      #expect(rows[column.name] == [column.unit, column.presence.words], "\(column.name)")
    }
    #expect(rows.count == VersionColumn.all.count)
  }
}
