import Foundation
import Results
import Runs
import Scenarios
import Synchronization
import Testing

/// A run that cannot write is not lost, and leaves nothing half made.
@Suite("Interrupted runs")
struct InterruptedRunTests {
  /// The bytes of the undisturbed run.
  private static let whole = Result { () throws -> Data in
    let folder = try Folder()
    _ = try Run(Night.scenario("stop.after=1 d"), output: folder("r.h5")).perform()
    return try Data(contentsOf: URL(filePath: folder("r.h5")))
  }

  /// A run of the same, by these calls, with a checkpoint after each round or so.
  private func run(
    _ folder: Folder, _ calls: FileCalls = .system, every pace: CheckpointPace = .rounds(1)
  ) throws -> Run {
    var run = Run(try Night.scenario("stop.after=1 d"), output: folder("r.h5"))
    run.safety.checkpoints = pace
    run.safety.calls = calls
    return run
  }

  /// Resumes a run that was interrupted, or begins it where nothing had been begun.
  private func goOn(
    _ folder: Folder, _ calls: FileCalls = .system, options: RunOptions = RunOptions(),
    tell: (String) -> Void = { _ in }
  ) throws -> RunSummary {
    guard folder.names.contains("r.h5.run"),
      FileManager.default.fileExists(atPath: folder("r.h5.run/run.json"))
    else { return try run(folder, calls).perform() }
    return try Run.resuming(folder("r.h5"), options: options, calls: calls).perform(tell: tell)
  }

  /// How many calls an undisturbed run makes on files.
  private func calls() throws -> Int {
    let (folder, failing) = (try Folder(), FailingCalls())
    _ = try run(folder, failing.calls).perform()
    #expect(try Data(contentsOf: URL(filePath: folder("r.h5"))) == Self.whole.get())
    return failing.count
  }

  @Test("a run leaves its result and its provenance, and no folder")
  func plain() throws {
    let folder = try Folder()
    _ = try run(folder).perform()
    #expect(folder.names == ["r.h5", "r.h5.provenance.json"])
  }

  @Test("whichever call fails, the run says why, leaves nothing, and resumes to the same bytes")
  func everyCall() throws {
    let whole = try Self.whole.get()
    let count = try calls()
    #expect(count > 60, "a run with checkpoints makes many calls")
    var harmless: [String] = []
    for n in 1...count {
      let (folder, failing) = (try Folder(), FailingCalls(at: n))
      let run = try run(folder, failing.calls)
      do throws(RunFailure) {
        _ = try run.perform()
        harmless.append(failing.hit)
        // A folder that was synced and cannot be closed has lost nothing.
        #expect(
          n > count - 12 || failing.hit == "closeFolder",
          "\(failing.hit), call \(n) of \(count), must not be passed over")
      } catch {
        guard case .failed(let reason) = error else {
          Issue.record("call \(n), \(failing.hit): \(error)")
          continue
        }
        #expect(reason.contains(String(cString: strerror(EIO))) && reason.contains("r.h5"))
        #expect(!folder.names.contains("r.h5"), "call \(n), \(failing.hit)")
        #expect(!folder.names.contains { $0.contains(".partial-") } || failing.hit == "remove")
        _ = try goOn(folder)
      }
      #expect(try Data(contentsOf: URL(filePath: folder("r.h5"))) == whole, "call \(n)")
    }
    // Once the result is in place: closing its folder, and taking the run's folder away.
    let known: Set = ["close", "closeFolder", "remove", "removeFolder"]
    #expect(Set(harmless).isSubset(of: known), "\(harmless)")
  }

  @Test("whenever the disk becomes full, the run ends, and resumes once there is room")
  func fullDisk() throws {
    let whole = try Self.whole.get()
    for n in stride(from: 1, through: try calls(), by: 3) {
      let folder = try Folder()
      let failing = FailingCalls(at: n, ENOSPC, isFull: true)
      let run = try run(folder, failing.calls)
      do throws(RunFailure) {
        _ = try run.perform()
      } catch {
        guard case .failed(let reason) = error else {
          Issue.record("call \(n), \(failing.hit): \(error)")
          continue
        }
        #expect(reason.contains("No space left on device"))
        #expect(!folder.names.contains("r.h5"))
        _ = try goOn(folder)
      }
      #expect(try Data(contentsOf: URL(filePath: folder("r.h5"))) == whole)
    }
  }

  @Test("a resumption fails at any call, and resumes again")
  func twice() throws {
    let whole = try Self.whole.get()
    let count = try calls()
    for n in stride(from: 2, through: count, by: 7) {
      let folder = try Folder()
      #expect(throws: RunFailure.self) {
        try run(folder, FailingCalls(at: count / 2).calls).perform()
      }
      var options = RunOptions()
      options.threads = 2
      options.compute = .eager
      do throws(any Error) {
        _ = try goOn(folder, FailingCalls(at: n).calls, options: options)
      } catch let error as RunFailure {
        guard case .failed = error else {
          Issue.record("call \(n): \(error)")
          continue
        }
        #expect(!folder.names.contains("r.h5"))
        _ = try goOn(folder)
      }
      #expect(try Data(contentsOf: URL(filePath: folder("r.h5"))) == whole, "call \(n)")
    }
  }

  @Test("a checkpoint that is damaged is left out, and said to be")
  func damagedCheckpoint() throws {
    let whole = try Self.whole.get()
    let count = try calls()
    for place in [0, 9, 20, 100, 1000, -1] {
      let folder = try FailingCalls.interrupt(at: 0.85, of: count) { try run($0, $1) }
      let path = folder("r.h5.run/checkpoint")
      var bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
      bytes[place < 0 ? bytes.count - 1 : place] ^= 4
      try Data(bytes).write(to: URL(filePath: path))
      var told: [String] = []
      _ = try goOn(folder) { told.append($0) }
      #expect(told.first?.hasSuffix("this checkpoint is ignored: the file is damaged") == true)
      #expect(told.last == "\(folder("r.h5")): the run starts again")
      #expect(try Data(contentsOf: URL(filePath: folder("r.h5"))) == whole)
    }
  }

  @Test("a journal that is cut or damaged does no harm to the result")
  func damagedJournal() throws {
    let whole = try Self.whole.get()
    let count = try calls()
    for share in [0, 0.001, 0.3, 0.9, 1] {
      let folder = try FailingCalls.interrupt(at: 0.85, of: count) { try run($0, $1) }
      let path = folder("r.h5.run/journal")
      let bytes = try Data(contentsOf: URL(filePath: path))
      try bytes.prefix(Int(Double(bytes.count) * share)).write(to: URL(filePath: path))
      var told: [String] = []
      _ = try goOn(folder) { told.append($0) }
      if share == 0 {
        #expect(
          told.first?.contains("the journal that belongs to it is missing") == true, "\(told)")
      }
      #expect(try Data(contentsOf: URL(filePath: folder("r.h5"))) == whole)
    }
  }

  @Test("where somebody removes its folder the run continues, and its result is whole")
  func removedFolder() throws {
    let whole = try Self.whole.get()
    let count = try calls()
    #expect(count >= 100)
    // Before the 40th call the run has not begun, and ends at once. The last are those of the
    // provenance, and those that remove the folder.
    var lastGathered = ""
    for n in Array(stride(from: 40, through: count - 20, by: 5)) + (count - 20..<count) {
      let folder = try Folder()
      let removedAt = Mutex("")
      let counting = FailingCalls()
      var calls = counting.calls
      // All that a run does while it lives begins with one of these.
      let path = folder("r.h5.run")
      @Sendable func remove(_ place: String) {
        guard counting.count >= n else { return }
        removedAt.withLock { if $0.isEmpty { $0 = place } }
        try? FileManager.default.removeItem(atPath: path)
      }
      calls.openFile = { path, flags in
        remove(path)
        return counting.calls.openFile(path, flags)
      }
      calls.write = { descriptor, bytes in
        remove("write")
        return counting.calls.write(descriptor, bytes)
      }
      var told: [String] = []
      _ = try run(folder, calls).perform { told.append($0) }
      if removedAt.withLock({ $0.isEmpty }) { break }
      lastGathered = removedAt.withLock { $0 == "write" ? lastGathered : $0 }
      #expect(try Data(contentsOf: URL(filePath: folder("r.h5"))) == whole, "call \(n)")
      #expect(folder.names == ["r.h5", "r.h5.provenance.json"], "call \(n)")
      #expect(told.count == 1 && told[0].contains("was removed during the run"), "\(told)")
    }
    #expect(lastGathered.hasSuffix("provenance.json"))
  }

  @Test("the time that a run took is that of all processes that played it")
  func spent() throws {
    let count = try calls()
    let folder = try FailingCalls.interrupt(at: 0.85, of: count) { try run($0, $1) }
    // As if the first had taken an hour.
    let path = folder("r.h5.run/journal")
    let contents = Journal.read([UInt8](try Data(contentsOf: URL(filePath: path))))
    try Journal(path, after: contents).append(JournalRecord.spent(3_600_000_000).bytes)
    let summary = try goOn(folder)
    #expect(summary.wallSeconds > 3600 && summary.wallSeconds < 3700)
    let provenance = try JSONDecoder().decode(
      Provenance.self, from: Data(contentsOf: URL(filePath: folder("r.h5.provenance.json"))))
    #expect(provenance.wallSeconds == summary.wallSeconds)
    #expect(try Data(contentsOf: URL(filePath: folder("r.h5"))) == Self.whole.get())
  }

  @Test("a link to a result that is not there yet stays a link, and is resumed")
  func link() throws {
    let folder = try Folder()
    try FileManager.default.createDirectory(
      atPath: folder("far"), withIntermediateDirectories: false)
    try FileManager.default.createSymbolicLink(
      atPath: folder("r.h5"), withDestinationPath: "far/x.h5")
    let count = try calls()
    #expect(throws: RunFailure.self) {
      try run(folder, FailingCalls(at: count / 2).calls).perform()
    }
    #expect(folder.names == ["far", "r.h5"])
    let inside = try FileManager.default.contentsOfDirectory(atPath: folder("far"))
    #expect(inside == ["x.h5.run"])
    _ = try Run.resuming(folder("r.h5")).perform()
    #expect(try Data(contentsOf: URL(filePath: folder("far/x.h5"))) == Self.whole.get())
    let link = try FileManager.default.destinationOfSymbolicLink(atPath: folder("r.h5"))
    #expect(link == "far/x.h5")
  }

  @Test("a run that is killed at any moment leaves nothing next to its result but an empty trial")
  func gathers() throws {
    let folder = try Folder()
    let made = Mutex<[String]>([])
    var calls = FileCalls.system
    calls.create = { path in
      made.withLock { $0.append(path) }
      return FileCalls.system.create(path)
    }
    calls.openFile = { path, flags in
      if flags & O_CREAT != 0 { made.withLock { $0.append(path) } }
      return FileCalls.system.openFile(path, flags)
    }
    _ = try run(folder, calls).perform()
    let outside = made.withLock { $0.filter { !$0.hasPrefix(folder("r.h5.run/")) } }
    #expect(outside == [folder("r.h5.partial-\(getpid())-0")])
    #expect(made.withLock { $0.contains(folder("r.h5.run/provenance.json")) })
  }

  @Test("a provenance whose result is a link to another disk is gathered next to it")
  func provenanceOnOtherDisk() throws {
    let folder = try Folder()
    var calls = FileCalls.system
    calls.rename = { from, to in
      guard from.hasSuffix(".run/provenance.json") else {
        return FileCalls.system.rename(from, to)
      }
      errno = EXDEV
      return -1
    }
    _ = try run(folder, calls).perform()
    #expect(folder.names == ["r.h5", "r.h5.provenance.json"])
    let bytes = try Data(contentsOf: URL(filePath: folder("r.h5.provenance.json")))
    #expect(try JSONDecoder().decode(Provenance.self, from: bytes).host.isEmpty == false)
  }

  @Test("a resumed run says where it was")
  func says() throws {
    let count = try calls()
    let folder = try FailingCalls.interrupt(at: 0.85, of: count) { try run($0, $1) }
    var told: [String] = []
    _ = try goOn(folder) { told.append($0) }
    #expect(told.count == 1)
    #expect(told.first?.contains("r.h5: resumes at 0 d ") == true, "\(told)")
  }
}
