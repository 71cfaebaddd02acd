import Foundation
import Results
import Testing

/// A folder of files appears at once, or not at all.
@Suite struct PlacedFolderTests {
  /// Calls of which the n-th write, sync, rename or creation fails.
  private final class Failing: @unchecked Sendable {
    private var left: Int
    init(at n: Int) { left = n }
    var wasReached: Bool { left <= 0 }

    private func fails() -> Bool {
      left -= 1
      if left == 0 { errno = ENOSPC }
      return left == 0
    }

    var calls: FileCalls {
      let system = FileCalls.system
      var calls = system
      calls.create = { self.fails() ? -1 : system.create($0) }
      calls.write = { self.fails() ? -1 : system.write($0, $1) }
      calls.sync = { self.fails() ? -1 : system.sync($0) }
      calls.rename = { self.fails() ? -1 : system.rename($0, $1) }
      return calls
    }
  }

  private static let files = [("a.csv", Array("new a".utf8)), ("b.csv", Array("new b".utf8))]

  /// The names in a folder with their contents.
  private static func contents(_ folder: String) throws -> [String] {
    try Samples.names(in: folder).map {
      "\($0): \(String(decoding: try Samples.bytes("\(folder)/\($0)"), as: UTF8.self))"
    }
  }

  @Test func itReplacesWhatStoodThere() throws {
    try Samples.inFolder { folder in
      let path = folder + "/out"
      try PlacedFolder(path).place(Self.files)
      #expect(try Self.contents(path) == ["a.csv: new a", "b.csv: new b"])
      try PlacedFolder(path + "/").place([("c.csv", [0x63])])
      #expect(try Self.contents(path) == ["c.csv: c"])
      #expect(try PlacedFolder(path).names == ["c.csv"])
      #expect(try Samples.names(in: folder) == ["out"])
    }
  }

  /// By hand: each file is made, written, synced, renamed, and its folder synced, in five calls.
  /// Then the new folder cannot take the name of one that holds files, so that gets another, and
  /// the new one gets the name: three calls. The last one, in its place, syncs the parent.
  @Test func whicheverCallFailsTheOldFolderStays() throws {
    var isThrough = false
    for n in 1...16 {
      try Samples.inFolder { folder in
        let path = folder + "/out"
        try PlacedFolder(path).place([("old.csv", Array("old".utf8))])
        let failing = Failing(at: n)
        let placed = try PlacedFolder(path, calls: failing.calls)
        var failed = false
        do { try placed.place(Self.files) } catch { failed = true }
        #expect(failed == failing.wasReached, "\(n)")
        let isNew = try Self.contents(path) == ["a.csv: new a", "b.csv: new b"]
        #expect(try isNew || Self.contents(path) == ["old.csv: old"], "\(n)")
        #expect(isNew == (n >= 14), "\(n)")
        #expect(try Samples.names(in: folder) == ["out"], "\(n)")
        isThrough = !failed
      }
    }
    #expect(isThrough)
  }

  @Test func aPlaceThatTakesNoFolderIsAFault() throws {
    try Samples.inFolder { folder in
      _ = FileManager.default.createFile(atPath: "\(folder)/file", contents: nil)
      #expect(throws: ResultFault.missingFolder(path: "\(folder)/no/a", folder: "\(folder)/no")) {
        try PlacedFolder("\(folder)/no/a")
      }
      for path in ["\(folder)/file", "", ".", "..", "/"] {
        #expect(throws: ResultFault.self) { try PlacedFolder(path) }
      }
      // Nobody, not even root, can make a folder in /proc.
      let fault = #expect(throws: ResultFault.self) { try PlacedFolder("/proc/a") }
      guard case .disk(path: "/proc/a", step: "mkdir", _) = fault else {
        Issue.record("found \(String(describing: fault))")
        return
      }
      let names = try Samples.names(in: folder)
      #expect(names == ["file"])
    }
  }
}
