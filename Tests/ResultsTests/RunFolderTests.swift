import Foundation
import Results
import Testing

/// What is next to a result while its run lives.
@Suite struct RunFolderTests {
  @Test func twoCannotHaveIt() throws {
    try Samples.inFolder { folder in
      let result = folder + "/a.h5"
      var first: RunFolder? = try RunFolder(beside: result, for: "a.h5")
      #expect(throws: ResultFault.inUse(path: "a.h5", process: "process \(getpid())")) {
        try RunFolder(beside: result, for: "a.h5")
      }
      _ = try RunFolder(beside: folder + "/b.h5", for: "b.h5")
      #expect(first?.path == result + ".run")
      first = nil
      _ = try RunFolder(beside: result, for: "a.h5")
    }
  }

  @Test func itIsUnfinishedWhileItsCardIsThere() throws {
    try Samples.inFolder { folder in
      let result = folder + "/a.h5"
      #expect(!RunFolder.isUnfinished(beside: result))
      let run = try RunFolder(beside: result, for: result)
      #expect(!RunFolder.isUnfinished(beside: result))
      try run.place([[1]], as: .manifest, through: .newManifest, syncs: false)
      try run.place([[2], [3]], as: .checkpoint, through: .newCheckpoint, syncs: true)
      #expect(RunFolder.isUnfinished(beside: result))
      #expect(try Samples.names(in: result + ".run") == ["checkpoint", "lock", "run.json"])
      #expect(try run.contents(of: .checkpoint) == [2, 3])
      #expect(try run.contents(of: .journal) == nil)
      try run.removeAll()
      #expect(try Samples.names(in: folder) == [])
    }
  }

  @Test func aFileThatIsNotTheRunsStays() throws {
    try Samples.inFolder { folder in
      let result = folder + "/a.h5"
      let run = try RunFolder(beside: result, for: result)
      try Data("note".utf8).write(to: URL(filePath: result + ".run/note"))
      try run.removeAll()
      #expect(try Samples.names(in: result + ".run") == ["note"])
    }
  }

  @Test func whicheverCallFailsAnOldCheckpointStaysWhole() throws {
    var steps: [String] = []
    for n in 1... {
      var step = "none"
      try Samples.inFolder { folder in
        let result = folder + "/a.h5"
        var old: RunFolder? = try RunFolder(beside: result, for: result)
        try old?.place([[1, 1]], as: .checkpoint, through: .newCheckpoint, syncs: true)
        old = nil
        let counter = CallCounter(failing: n)
        var folderOfN: RunFolder?
        do {
          let run = try again(result, counter)
          folderOfN = run
          try run.place([[2], [], [2]], as: .checkpoint, through: .newCheckpoint, syncs: true)
        } catch ResultFault.disk(_, let failed, _) {
          step = failed
        }
        let found = try [UInt8](Samples.bytes(result + ".run/checkpoint"))
        // After the rename it is the new one, and it is whole.
        let isNew = step.hasSuffix("folder") || step == "none"
        #expect(found == (isNew ? [2, 2] : [1, 1]), "call \(n), \(step)")
        _ = folderOfN
      }
      steps.append(step)
      if step == "none" { break }
    }
    // By hand: make the folder, open the lock, cut it, write it; then open, write both
    // pieces with a byte in them, fsync, rename, open the folder and fsync it.
    #expect(
      steps == [
        "mkdir", "open", "ftruncate", "write", "open", "write", "write", "fsync", "rename",
        "open folder", "fsync folder", "none",
      ])
  }

  /// The folder again, by calls that may fail, once its first holder is gone.
  private func again(_ result: String, _ counter: CallCounter) throws -> RunFolder {
    try RunFolder(beside: result, for: result, calls: counter.calls)
  }

  @Test func aCheckpointComesBack() throws {
    let checkpoint = Checkpoint(records: 41, parts: [Array("abc".utf8), [], [9, 9]])
    // By hand: magic, digest, two counts, three lengths, and five bytes.
    #expect(checkpoint.bytes.count == 8 + 8 + 16 + 24 + 5)
    #expect(Checkpoint(checkpoint.bytes) == checkpoint)
  }

  @Test func aCheckpointInPiecesHasTheSameBytes() {
    let parts: [[[UInt8]]] = [[[1, 2, 3], [], [4, 5, 6, 7, 8, 9]], [], [[10]]]
    let pieces = Checkpoint.pieces(records: 7, parts: parts)
    let whole = Checkpoint(records: 7, parts: [[1, 2, 3, 4, 5, 6, 7, 8, 9], [], [10]])
    #expect(pieces.flatMap { $0 } == whole.bytes)
    #expect(Checkpoint(whole.bytes) == whole)
  }

  @Test func aCheckpointThatIsCutOrDamagedIsNone() throws {
    let bytes = Checkpoint(records: 3, parts: [Array("abcdefghij".utf8), [0]]).bytes
    for length in bytes.indices { #expect(Checkpoint(Array(bytes[..<length])) == nil) }
    for place in bytes.indices {
      for bit in 0..<8 {
        var damaged = bytes
        damaged[place] ^= 1 << UInt8(bit)
        #expect(Checkpoint(damaged) == nil, "bit \(bit) of byte \(place)")
      }
    }
    #expect(Checkpoint(bytes + [0]) == nil)
  }
}
