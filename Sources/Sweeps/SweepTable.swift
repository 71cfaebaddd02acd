import Foundation
import Runs
import Scenarios
import Schema

/// The outcome of a variant's replica, for the tables.
enum CellOutcome: String, CaseIterable {
  /// It was played to its end.
  case finished
  /// Its variant was given up at a rung; the numbers are those of the rung.
  case stopped
  /// It was given up because its runs failed.
  case failed
  /// A constraint excludes it.
  case excluded
}

/// The tables of a sweep whose cells are all over.
///
/// They depend on the manifest and the results of cells alone: not on workers, order, host or time.
public struct SweepTable {
  let manifest: SweepManifest
  private let rows: [String: CellRow]
  private let failures: [String: CellFailure]
  /// The last rung that each variant played.
  private let lastRung: [Int]

  /// The tables of what a driver has played to the end.
  public init(_ driver: SweepDriver) {
    self.init(
      driver.manifest, rows: driver.rows, failures: driver.failures, played: driver.played)
  }

  /// The tables of these rows; `played` has the variants of each rung.
  package init(
    _ manifest: SweepManifest, rows: [String: CellRow], failures: [String: CellFailure] = [:],
    played: [[Int]]
  ) {
    self.manifest = manifest
    self.rows = rows
    self.failures = failures
    var lastRung = [Int](repeating: 0, count: manifest.variants.count)
    for (rung, variants) in played.enumerated() {
      for variant in variants { lastRung[variant] = rung }
    }
    self.lastRung = lastRung
  }

  /// A variant's replica with its outcome.
  struct Entry {
    let cell: SweepManifest.Cell
    let outcome: CellOutcome
    let row: CellRow?
    let failure: CellFailure?
  }

  /// All of them, by variant, then replica.
  var entries: [Entry] {
    manifest.variants.indices.flatMap { variant in
      (0..<manifest.replicas).map { entry(variant, $0) }
    }
  }

  func entry(_ variant: Int, _ replica: Int) -> Entry {
    let rung = lastRung[variant]
    let cell = manifest.cell(rung: rung, variant: variant, replica: replica)
    let row = rows[cell.id]
    let outcome: CellOutcome =
      row == nil ? .failed : rung < manifest.rungs - 1 ? .stopped : .finished
    return Entry(cell: cell, outcome: outcome, row: row, failure: failures[cell.id])
  }

  /// Cells that failed.
  public var failedCount: Int { entries.count { $0.outcome == .failed } }

  /// Cells that are over, failed ones included.
  public var count: Int { manifest.variants.count * manifest.replicas }

  /// Writes all tables into the sweep's folder.
  ///
  /// Throws: `RunFailure.failed` where the folder does not take them; cells were played, so this
  /// is no bad input.
  public func write(to folder: SweepFolder, versions: Bool = false) throws(RunFailure) {
    do throws(RunFailure) {
      try writeAll(to: folder, versions)
    } catch {
      throw .failed("the tables cannot be written: \(error); the same command continues")
    }
  }

  private func writeAll(to folder: SweepFolder, _ versions: Bool) throws(RunFailure) {
    try SweepFolder.place(Array(csv.utf8), at: folder.tablePath)
    try writeArrays(to: folder.arraysPath)
    if versions {
      try SweepFolder.place(Array(versionsCSV.utf8), at: folder.versionsPath)
    } else {
      unlink(folder.versionsPath)
    }
    if failedCount > 0 {
      try SweepFolder.place(Array(failedCSV.utf8), at: folder.failedPath)
    } else {
      unlink(folder.failedPath)
    }
  }

  /// The metrics of the tables, with their places in rows: one that needs a feature is there if a
  /// cell has a number.
  var metrics: [(place: Int, metric: CellMetric)] {
    CellMetric.all.enumerated().filter { place, metric in
      metric.isAlwaysThere || rows.values.contains { $0.metrics[place] != nil }
    }.map { (place: $0.offset, metric: $0.element) }
  }

  // MARK: Comma-separated

  private var hasSeeds: Bool { !manifest.axes.contains { $0.path == "seed" } }

  private var keys: [String] {
    ["cell", "variant", "replica"] + (hasSeeds ? ["seed"] : []) + manifest.axes.map(\.name)
  }

  private func keys(of entry: Entry) -> [String] {
    let cell = entry.cell
    let seed = manifest.seeds?[cell.replica] ?? manifest.seed
    return [cell.id, String(cell.variant), String(cell.replica)]
      + (hasSeeds ? [String(seed)] : []) + manifest.values(of: cell.variant).map(\.text)
  }

  /// A row per cell.
  package var csv: String {
    let times = manifest.targets.map { "timeToAccuracy_\(Text.shortest($0))" }
    let metrics = self.metrics
    var lines = [
      keys + ["outcome"] + (manifest.halving == nil ? [] : ["rung"]) + metrics.map(\.metric.name)
        + times + ["eventDigest", "contentDigest"]
    ]
    let blank = metrics.count + times.count
    for entry in entries {
      let numbers =
        entry.row.map { row in
          (metrics.map { row.metrics[$0.place] } + row.times).map(Self.number)
        }
        ?? [String](repeating: "", count: blank)
      lines.append(
        keys(of: entry) + [entry.outcome.rawValue]
          + (manifest.halving == nil ? [] : [String(entry.cell.rung)]) + numbers
          + [entry.row?.eventDigest ?? "", entry.row?.contentDigest ?? ""])
    }
    return Self.csv(lines)
  }

  /// A row per version of each cell.
  var versionsCSV: String {
    var lines = [keys + ["version"] + CellRow.curveNames.map(\.name)]
    for entry in entries {
      guard let curves = entry.row?.curves, let first = curves.first else { continue }
      let keys = keys(of: entry)
      for version in first.indices {
        lines.append(
          keys + [String(version)]
            + curves.map { version < $0.count ? Self.number($0[version]) : "" })
      }
    }
    return Self.csv(lines)
  }

  /// A row per cell that failed.
  var failedCSV: String {
    let failed = entries.filter { $0.outcome == .failed }
    return Self.csv(
      [keys + ["attempts", "reason"]]
        + failed.map { entry in
          keys(of: entry) + [
            entry.failure.map { String($0.attempts) } ?? "", entry.failure?.reason ?? "",
          ]
        })
  }

  private static func number(_ value: Double?) -> String { value.map(Text.shortest) ?? "" }

  private static func csv(_ lines: [[String]]) -> String {
    lines.map { $0.map(field).joined(separator: ",") + "\n" }.joined()
  }

  /// A field, in quotes where it needs them.
  ///
  /// Source: RFC 4180, §2.
  package static func field(_ text: String) -> String {
    // By bytes: a carriage return and a line feed are one character, which is neither of them.
    let quote = UInt8(ascii: "\"")
    guard text.utf8.contains(where: { [quote, UInt8(ascii: ","), 10, 13].contains($0) }) else {
      return text
    }
    let doubled = text.utf8.flatMap { $0 == quote ? [quote, quote] : [$0] }
    return "\"" + String(decoding: doubled, as: UTF8.self) + "\""
  }
}
