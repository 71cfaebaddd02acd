import Foundation
import Testing

import DataSets
import Schema
import Scenarios

/// Data sets that are kept for the next run.
@Suite final class DataCacheTests {
  private let folder = NSTemporaryDirectory() + "fedsim-cache-\(UUID().uuidString)"

  init() throws {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  private func source(_ data: String) throws -> Choice<any DataSource> {
    let text = """
      stop: 1 d
      fleet: [{name: a, count: 1}]
      task: {data: {source: \(data)}}

      """
    return try Scenario(text: text, file: folder + "/s.yaml").settings.task.data.source
  }

  private var folders: DataFolders { DataFolders([folder], includesInstalled: false) }

  private func write(_ rows: Int) throws {
    let lines = (0..<rows).map { "\($0).5,\($0 % 2)" }
    try (["x,label"] + lines).joined(separator: "\n").appending("\n")
      .write(toFile: folder + "/d.csv", atomically: true, encoding: .utf8)
  }

  @Test("made-up data are kept by seed and settings, and files by what they are")
  func keys() throws {
    let cache = DataCache()
    let blobs = try source("{blobs: {train: 50, test: 10}}")
    let first = try cache.load(blobs, folders: folders, seed: 1)
    #expect(try cache.load(blobs, folders: folders, seed: 1).train === first.train)
    #expect(try cache.load(blobs, folders: folders, seed: 2).train !== first.train)
    let others = try source("{blobs: {train: 51, test: 10}}")
    #expect(try cache.load(others, folders: folders, seed: 1).train.count == 51)
    #expect(cache.hits == 1)
  }

  @Test("a file is read once whatever the seed, and again when it has changed")
  func files() throws {
    try write(40)
    let cache = DataCache()
    let csv = try source("{csv: {train: d.csv, test: d.csv, label: label}}")
    let first = try cache.load(csv, folders: folders, seed: 1)
    #expect(try cache.load(csv, folders: folders, seed: 2).train === first.train)
    #expect(cache.hits == 1)
    try write(80)
    let second = try cache.load(csv, folders: folders, seed: 1)
    #expect(second.train.count == 2 * first.train.count)
    #expect(cache.hits == 1)
  }

  @Test("what was used longest ago goes first, and what is too large is not kept")
  func bounds() throws {
    let cache = DataCache(mostBytes: 1 << 20, mostSets: 2)
    let blobs = try source("{blobs: {train: 50, test: 10}}")
    for seed in [1, 2, 1, 3, 1, 2] as [UInt64] {
      _ = try cache.load(blobs, folders: folders, seed: seed)
    }
    // Kept after each: 1; 1 2; 2 1 (a hit); 1 3; 3 1 (a hit); 1 2.
    #expect(cache.hits == 2)
    #expect(cache.count == 2)
    let small = DataCache(mostBytes: 100)
    _ = try small.load(blobs, folders: folders, seed: 1)
    #expect(small.count == 0)
  }

  @Test("a witness sees the files behind data, from the disk or from the cache")
  func witness() throws {
    try write(40)
    let cache = DataCache()
    let csv = try source("{csv: {train: d.csv, test: d.csv, label: label}}")
    for _ in 0..<2 {
      let witness = FileWitness()
      _ = try witness.watch { try cache.load(csv, folders: folders, seed: 1) }
      #expect(witness.paths == [folder + "/d.csv"])
    }
    #expect(cache.hits == 1)
  }
}
