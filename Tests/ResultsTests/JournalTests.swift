import Foundation
import Results
import Testing

/// A journal outlives whatever cuts it, and never tells what was not written.
@Suite struct JournalTests {
  /// Records of several lengths, an empty one among them.
  private static let records: [[UInt8]] = [
    Array("first".utf8), [], [0], Array(repeating: 7, count: 40), Array("last".utf8),
  ]

  /// The bytes of a journal of these records, and where each of them ends.
  private static func journal(in folder: String) throws -> (bytes: [UInt8], ends: [Int]) {
    let path = folder + "/journal"
    let journal = try Journal(path)
    var ends: [Int] = []
    for record in records {
      try journal.append(record)
      ends.append(journal.length)
    }
    return (try [UInt8](Samples.bytes(path)), ends)
  }

  @Test func recordsComeBackInOrder() throws {
    try Samples.inFolder { folder in
      let (bytes, ends) = try Self.journal(in: folder)
      // By hand: 8 bytes of magic, then 12 bytes before each of 5, 0, 1, 40 and 4.
      #expect(ends == [25, 37, 50, 102, 118])
      #expect(bytes.count == 118)
      let contents = Journal.read(bytes)
      #expect(contents.records == Self.records)
      #expect(contents.end == 118 && contents.rest == 0)
    }
  }

  @Test func cutAnywhereItTellsWhatIsWhole() throws {
    try Samples.inFolder { folder in
      let (bytes, ends) = try Self.journal(in: folder)
      for length in bytes.indices {
        let contents = Journal.read(Array(bytes[..<length]))
        let whole = ends.count { $0 <= length }
        #expect(contents.records == Array(Self.records.prefix(whole)), "cut at \(length)")
        #expect(contents.end == (length < 8 ? 0 : whole == 0 ? 8 : ends[whole - 1]))
        #expect(contents.end + contents.rest == length)
      }
    }
  }

  @Test func aBitThatIsAnotherEndsItBeforeItsRecord() throws {
    try Samples.inFolder { folder in
      let (bytes, ends) = try Self.journal(in: folder)
      for place in bytes.indices {
        for bit in 0..<8 {
          var damaged = bytes
          damaged[place] ^= 1 << UInt8(bit)
          let whole = place < 8 ? 0 : ends.count { $0 <= place }
          #expect(
            Journal.read(damaged).records == Array(Self.records.prefix(whole)),
            "bit \(bit) of byte \(place)")
        }
      }
    }
  }

  @Test func aRecordInAnotherPlaceIsNone() throws {
    try Samples.inFolder { folder in
      let (bytes, ends) = try Self.journal(in: folder)
      // The fourth record, behind the first.
      let moved = Array(bytes[..<ends[0]]) + Array(bytes[ends[2]..<ends[3]])
      #expect(Journal.read(moved).records == [Self.records[0]])
    }
  }

  @Test func goingOnCutsWhatIsTornAndAppends() throws {
    try Samples.inFolder { folder in
      let (bytes, ends) = try Self.journal(in: folder)
      let path = folder + "/journal"
      for length in [0, 5, 8, 30, ends[3], ends[3] + 11, bytes.count] {
        try Data(bytes[..<length]).write(to: URL(filePath: path))
        let contents = Journal.read(try [UInt8](Samples.bytes(path)))
        let journal = try Journal(path, after: contents)
        try journal.append(Array("more".utf8))
        let found = Journal.read(try [UInt8](Samples.bytes(path)))
        #expect(found.records == contents.records + [Array("more".utf8)], "cut at \(length)")
        #expect(found.rest == 0)
      }
    }
  }

  @Test func itGoesToTheDiskOnceAndNotAtOnceAgain() throws {
    try Samples.inFolder { folder in
      let counter = CallCounter()
      let journal = try Journal(folder + "/journal", calls: counter.calls)
      try journal.append([1])
      // A busy machine may have taken a fifth of a second until here: of many one is quick.
      let isEarly = try (0..<100).contains { number in
        let journal = try Journal(folder + "/journal-\(number)")
        try journal.append([1])
        return !journal.isSyncDue
      }
      #expect(isEarly, "a fifth of a second has to pass")
      try journal.sync()
      try journal.sync()
      #expect(counter.syncs == 1, "nothing new was appended")
      usleep(250_000)
      #expect(!journal.isSyncDue, "nothing new was appended")
      try journal.append([2])
      // On a slow disk a hundred times what the first took may still have to pass.
      for _ in 0..<600 where !journal.isSyncDue { usleep(100_000) }
      #expect(journal.isSyncDue)
    }
  }

  @Test func aFailingCallIsAFaultWithItsStep() throws {
    for (n, step) in [(1, "open"), (2, "ftruncate"), (3, "write"), (4, "write"), (5, "fdatasync")] {
      try Samples.inFolder { folder in
        let counter = CallCounter(failing: n)
        let fault = #expect(throws: ResultFault.self) {
          let journal = try Journal(folder + "/journal", calls: counter.calls)
          try journal.append([1, 2, 3])
          try journal.sync()
        }
        let reason = String(cString: strerror(ENOSPC))
        #expect(fault == .disk(path: folder + "/journal", step: step, reason: reason))
        #expect(fault?.isOfTheDisk == true)
      }
    }
  }
}

/// Counts calls, and lets the n-th fail for lack of space.
final class CallCounter: @unchecked Sendable {
  private let failing: Int
  private(set) var count = 0
  private(set) var syncs = 0

  init(failing: Int = 0) { self.failing = failing }

  private func fails() -> Bool {
    count += 1
    if count == failing { errno = ENOSPC }
    return count == failing
  }

  var calls: FileCalls {
    let system = FileCalls.system
    var calls = system
    calls.openFile = { self.fails() ? -1 : system.openFile($0, $1) }
    calls.write = { self.fails() ? -1 : system.write($0, $1) }
    calls.sync = { self.fails() ? -1 : system.sync($0) }
    calls.syncData = {
      self.syncs += 1
      return self.fails() ? -1 : system.syncData($0)
    }
    calls.truncate = { self.fails() ? -1 : system.truncate($0, $1) }
    calls.rename = { self.fails() ? -1 : system.rename($0, $1) }
    calls.makeFolder = { self.fails() ? -1 : system.makeFolder($0) }
    calls.remove = { self.fails() ? -1 : system.remove($0) }
    calls.removeFolder = { self.fails() ? -1 : system.removeFolder($0) }
    calls.openFolder = { self.fails() ? -1 : system.openFolder($0) }
    return calls
  }
}
