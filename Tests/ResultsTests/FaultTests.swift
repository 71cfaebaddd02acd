import Foundation
import Results
import Testing

/// What happens to a result when its path, its disk or its document is wrong.
@Suite struct FaultTests {
  @Test func aMissingFolderIsRefusedBeforeTheRun() throws {
    try Samples.inFolder { folder in
      #expect(throws: ResultFault.missingFolder(path: "\(folder)/no/a.h5", folder: "\(folder)/no"))
      {
        try ResultFile.prepare("\(folder)/no/a.h5")
      }
      _ = FileManager.default.createFile(atPath: "\(folder)/file", contents: nil)
      #expect(throws: ResultFault.missingFolder(path: "\(folder)/file/a", folder: "\(folder)/file"))
      {
        try ResultFile.prepare("\(folder)/file/a")
      }
    }
  }

  @Test(arguments: [
    ("loop", "/devices/one", "a link to a group that is elsewhere, too"),
    (
      "deep", String(repeating: "/x", count: 16), "more than 16 groups one in the other"
    ),
  ])
  func groupsThatNeverEndAreNotFollowed(name: String, place: String, found: String) throws {
    let path = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "Fixtures/\(name).h5").path
    let fault = #expect(throws: ResultFault.self) { try ResultFile.read(path) }
    guard case .notAResult(_, place, found, _) = fault else {
      Issue.record("found \(String(describing: fault))")
      return
    }
  }

  @Test func aFolderOrADeviceIsNoFile() throws {
    try Samples.inFolder { folder in
      #expect(throws: ResultFault.notAFile(path: folder, found: "a folder")) {
        try ResultFile.prepare(folder)
      }
      #expect(throws: ResultFault.notAFile(path: folder + "/", found: "a folder's path")) {
        try ResultFile.prepare(folder + "/")
      }
    }
    #expect(throws: ResultFault.notAFile(path: "/dev/null", found: "a device or socket")) {
      try ResultFile.prepare("/dev/null")
    }
    #expect(throws: ResultFault.notAFile(path: "", found: "an empty path")) {
      try ResultFile.prepare("")
    }
  }

  @Test func aFolderThatTakesNoFileIsRefusedBeforeTheRun() throws {
    // Nobody, not even root, can make a file in /proc.
    let fault = #expect(throws: ResultFault.self) { try ResultFile.prepare("/proc/a.h5") }
    guard case .disk(path: "/proc/a.h5", step: "open", _) = fault else {
      Issue.record("found \(String(describing: fault))")
      return
    }
  }

  @Test func preparingLeavesNothingAndKeepsWhatStands() throws {
    try Samples.inFolder { folder in
      _ = try ResultFile.prepare(folder + "/a.h5")
      #expect(try Samples.names(in: folder) == [])
      let old = Data([0x89, 0x48, 0x44, 0x46, 0x0D, 0x0A, 0x1A, 0x0A, 1])
      try old.write(to: URL(filePath: folder + "/b.h5"))
      _ = try ResultFile.prepare(folder + "/b.h5")
      #expect(try Samples.names(in: folder) == ["b.h5"])
      #expect(try Samples.bytes(folder + "/b.h5") == old)
    }
  }

  @Test func aFileThatIsNoResultIsNotReplaced() throws {
    try Samples.inFolder { folder in
      let path = folder + "/scenario.yaml"
      try Data("seed: 1".utf8).write(to: URL(filePath: path))
      let found = "a file that is not a result, and is not replaced"
      #expect(throws: ResultFault.notAFile(path: path, found: found)) {
        try ResultFile.prepare(path)
      }
      #expect(try Samples.bytes(path) == Data("seed: 1".utf8))
      try Data().write(to: URL(filePath: path))
      _ = try ResultFile.prepare(path)
    }
  }

  @Test func aLinkStaysALink() throws {
    try Samples.inFolder { folder in
      let old = Data([0x89, 0x48, 0x44, 0x46, 0x0D, 0x0A, 0x1A, 0x0A, 1])
      try old.write(to: URL(filePath: folder + "/real.h5"))
      try FileManager.default.createSymbolicLink(
        atPath: folder + "/link.h5", withDestinationPath: "real.h5")
      try ResultFile.prepare(folder + "/link.h5").write(Samples.result())
      let kind = try FileManager.default.attributesOfItem(atPath: folder + "/link.h5")[.type]
      #expect(kind as? FileAttributeType == .typeSymbolicLink)
      #expect(try ResultFile.read(folder + "/real.h5")["rounds"] != nil)
    }
  }

  @Test func aFileThatWasGatheredOnAnotherDiskIsGatheredAgain() throws {
    try Samples.inFolder { folder in
      var calls = FileCalls.system
      calls.rename = { from, to in
        guard from == folder + "/far" else { return FileCalls.system.rename(from, to) }
        errno = EXDEV
        return -1
      }
      func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder)
      }
      try PlacedFile.place([1, 2], at: folder + "/a", through: folder + "/far", calls: calls)
      #expect(try names() == ["a"])
      #expect(try Samples.bytes(folder + "/a") == Data([1, 2]))
      calls.create = { _ in
        errno = ENOSPC
        return -1
      }
      #expect(throws: ResultFault.self) {
        try PlacedFile.place([3], at: folder + "/b", through: folder + "/far", calls: calls)
      }
      #expect(try names() == ["a"])
    }
  }

  @Test func aFullDiskIsAFault() throws {
    // Linux's device that is always full.
    let full = open("/dev/full", O_WRONLY)
    try #require(full >= 0)
    defer { close(full) }
    #expect(
      throws: ResultFault.disk(path: "a.h5", step: "write", reason: "No space left on device")
    ) { try FileCalls.system.writeAll([1, 2, 3], to: full, path: "a.h5") }
  }

  /// Calls of which the n-th fails, and of which each write takes at most 5 bytes.
  private final class Failing: @unchecked Sendable {
    private var left: Int
    init(at n: Int) { left = n }

    func fails() -> Bool {
      left -= 1
      if left == 0 { errno = EIO }
      return left == 0
    }

    var calls: FileCalls {
      let system = FileCalls.system
      var calls = system
      calls.create = { self.fails() ? -1 : system.create($0) }
      calls.write = { descriptor, bytes in
        self.fails() ? -1 : system.write(descriptor, .init(rebasing: bytes.prefix(5)))
      }
      calls.sync = { self.fails() ? -1 : system.sync($0) }
      calls.close = { descriptor in
        let fails = self.fails()
        let status = system.close(descriptor)
        if fails { errno = EIO }
        return fails ? -1 : status
      }
      calls.rename = { self.fails() ? -1 : system.rename($0, $1) }
      calls.openFolder = { self.fails() ? -1 : system.openFolder($0) }
      return calls
    }
  }

  @Test func aFolderThatTookAFileIsNotTriedAgain() throws {
    try Samples.inFolder { folder in
      let path = folder + "/a.h5"
      let failing = Failing(at: 1)
      let file = try ResultFile.prepare(path, calls: failing.calls, isTried: true)
      #expect(throws: ResultFault.disk(path: path, step: "open", reason: "Input/output error")) {
        try file.write(Samples.result())
      }
      #expect(throws: ResultFault.disk(path: path, step: "open", reason: "Input/output error")) {
        try ResultFile.prepare(path, calls: Failing(at: 1).calls)
      }
    }
  }

  @Test("Whichever call fails, nothing half written is left", arguments: [false, true])
  func whicheverCallFails(isStreamed: Bool) throws {
    let new = Array("the new bytes".utf8)
    var outcomes: [String] = []
    for n in 1...13 {
      try Samples.inFolder { folder in
        let path = folder + "/a.h5"
        try Data("old".utf8).write(to: URL(filePath: path))
        let failing = Failing(at: n)
        var step = "none"
        do {
          let place = try PlacedFile(path, calls: failing.calls)
          if isStreamed {
            let file = try StreamedFile(place)
            try file.add(new.prefix(4))
            try file.add(new.dropFirst(4))
            #expect(file.count == 13)
            try file.finish()
          } else {
            try place.place(new)
          }
        } catch ResultFault.disk(_, let failed, let reason) {
          step = failed
          #expect(reason == String(cString: strerror(EIO)))
        }
        #expect(try Samples.names(in: folder) == ["a.h5"])
        let found = try Samples.bytes(path)
        let isNew = found == Data(new)
        #expect(isNew || found == Data("old".utf8))
        outcomes.append("\(step) \(isNew ? "new" : "old")")
      }
    }
    // By hand: 13 bytes in three writes; two calls probe the folder, then create, write x3, sync,
    // close, rename, open the folder, sync it, close it. A failing close of the folder does no
    // harm.
    #expect(
      outcomes == [
        "open old", "close old", "open old", "write old", "write old", "write old", "fsync old",
        "close old", "rename old", "open folder new", "fsync folder new", "none new", "none new",
      ])
  }

  @Test func aPartialFileOfADeadProcessIsNoObstacle() throws {
    try Samples.inFolder { folder in
      let path = folder + "/a.h5"
      let stale = "\(path).partial-\(getpid())-0"
      try Data("stale".utf8).write(to: URL(filePath: stale))
      try ResultFile.prepare(path).write(Samples.result())
      #expect(try Samples.bytes(stale) == Data("stale".utf8))
      #expect(try ResultFile.read(path)["rounds"] != nil)
    }
  }

  @Test func whatIsNoResultIsAFaultWithItsPath() throws {
    try Samples.inFolder { folder in
      for (name, bytes) in [("text.h5", Data("no HDF5 file at all".utf8)), ("empty.h5", Data())] {
        try bytes.write(to: URL(filePath: "\(folder)/\(name)"))
        let fault = #expect(throws: ResultFault.self) { try ResultFile.read("\(folder)/\(name)") }
        guard case .hdf5(path: "\(folder)/\(name)", place: "/", call: "H5Fopen", _) = fault else {
          Issue.record("found \(String(describing: fault))")
          return
        }
      }
      let fault = #expect(throws: ResultFault.self) { try ResultFile.read("\(folder)/none.h5") }
      #expect("\(try #require(fault))".contains("none.h5: /: H5Fopen failed"))
    }
  }

  @Test func aCutFileIsAFault() throws {
    try Samples.inFolder { folder in
      let path = folder + "/a.h5"
      try ResultFile.prepare(path).write(Samples.result(versions: 3000))
      let whole = try Samples.bytes(path)
      for share in [0.1, 0.5, 0.9] {
        try whole.prefix(Int(Double(whole.count) * share)).write(to: URL(filePath: path))
        #expect(throws: ResultFault.self) { try ResultFile.read(path) }
      }
    }
  }

  @Test func theProvenanceStandsBesideTheResult() throws {
    try Samples.inFolder { folder in
      let provenance = Provenance(
        host: "example", startedAt: "2025-11-17T00:00:00Z", wallSeconds: 1.5,
        commandLine: ["fedsim", "run", "a/b.yaml"], threads: 2, kernels: "avx2",
        versions: ["engine": "0.0.1", "HDF5": ResultFile.libraryVersion], contentDigest: "00")
      try provenance.write(beside: folder + "/a.h5")
      #expect(try Samples.names(in: folder) == ["a.h5.provenance.json"])
      let data = try Samples.bytes(folder + "/a.h5.provenance.json")
      #expect(try JSONDecoder().decode(Provenance.self, from: data) == provenance)
      let text = String(decoding: data, as: UTF8.self)
      #expect(text.contains("a/b.yaml"))
      let keys = ["commandLine", "contentDigest", "host", "kernels", "startedAt", "threads"]
      let places = try keys.map { try #require(text.range(of: "\"\($0)\"")).lowerBound }
      #expect(places == places.sorted())
    }
  }
}
