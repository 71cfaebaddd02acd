import Foundation
import Learning
import Schema
import Synchronization

/// Keeps data sets that were read, for runs of the same process that ask for the same.
///
/// Asked for again are the same source with the same settings and folders, the same seed where the
/// source draws from it, and files that are what they were: same place on the disk, size and time
/// of change. What was used longest ago goes first.
public final class DataCache: Sendable {
  private struct Key: Equatable {
    let source: String
    let settings: String
    let folders: DataFolders
    let seed: UInt64?
  }

  private struct Entry {
    let key: Key
    let files: [FileIdentity]
    let data: TrainAndTest
    let bytes: Int
  }

  private struct State {
    var entries: [Entry] = []
    var hits = 0
  }

  private let mostBytes: Int
  private let mostSets: Int
  private let state = Mutex(State())

  /// A cache of at most this many bytes of samples and labels, and this many sets.
  public init(mostBytes: Int = 1 << 30, mostSets: Int = 4) {
    self.mostBytes = mostBytes
    self.mostSets = mostSets
  }

  /// How often data were there.
  public var hits: Int { state.withLock { $0.hits } }

  /// How many sets are kept.
  public var count: Int { state.withLock { $0.entries.count } }

  /// The data of a source, read only if they are not there.
  ///
  /// Throws: what reading throws.
  public func load(
    _ source: Choice<any DataSource>, folders: DataFolders, seed: UInt64
  ) throws(DataFault) -> TrainAndTest {
    let key = Key(
      source: source.name, settings: source.settings.json, folders: folders,
      seed: source.value.drawsFromSeed ? seed : nil)
    if let entry = found(key) {
      FileWitness.noteAgain(entry.files.map(\.path))
      return entry.data
    }
    let witness = FileWitness()
    let data = try witness.watch { () throws(DataFault) in
      try source.value.load(folders: folders, seed: seed)
    }
    let files = witness.paths.map(FileIdentity.init)
    keep(Entry(key: key, files: files, data: data, bytes: data.train.bytes + data.test.bytes))
    return data
  }

  private func found(_ key: Key) -> Entry? {
    state.withLock { state in
      guard let index = state.entries.firstIndex(where: { $0.key == key }) else { return nil }
      let entry = state.entries.remove(at: index)
      guard entry.files.allSatisfy({ $0 == FileIdentity($0.path) }) else { return nil }
      state.entries.append(entry)
      state.hits += 1
      return entry
    }
  }

  private func keep(_ entry: Entry) {
    state.withLock { state in
      guard entry.bytes <= mostBytes, mostSets > 0 else { return }
      state.entries.append(entry)
      while state.entries.count > mostSets
        || state.entries.reduce(0, { $0 + $1.bytes }) > mostBytes
      {
        state.entries.removeFirst()
      }
    }
  }
}

/// What tells whether a file is the one that was read.
package struct FileIdentity: Equatable, Sendable {
  let path: String
  private let numbers: [Int64]

  /// The file that is under a path now; equal for all files that are not there.
  package init(_ path: String) {
    self.path = path
    var status = stat()
    guard stat(path, &status) == 0 else {
      numbers = []
      return
    }
    #if os(macOS)
      let changed = status.st_mtimespec
    #else
      let changed = status.st_mtim
    #endif
    numbers = [
      Int64(truncatingIfNeeded: status.st_dev), Int64(truncatingIfNeeded: status.st_ino),
      Int64(status.st_size), Int64(changed.tv_sec), Int64(changed.tv_nsec),
    ]
  }
}

extension Dataset {
  /// How much memory samples and labels take.
  fileprivate var bytes: Int {
    let features =
      switch features {
      case .bytes(let bytes): bytes.count
      case .floats(let floats): 4 * floats.count
      }
    return features + 4 * labels.count * (kind == .classes ? 1 : 1 + targets.width)
  }
}
