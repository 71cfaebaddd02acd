import Foundation
import Results
import Runs
import Scenarios
import Testing

/// A result of what an interrupted run left.
@Suite("Recovered results")
struct RecoveryTests {
  /// A run that fails at a share of its calls, or soon after; the folder it left, and the document
  /// of the undisturbed run.
  private func interrupted(
    _ pace: CheckpointPace, at share: Double
  ) throws -> (folder: Folder, whole: ResultDocument) {
    func run(_ folder: Folder, _ calls: FileCalls) throws -> Run {
      var run = Run(try Night.scenario("stop.after=1 d"), output: folder("r.h5"))
      run.safety.checkpoints = pace
      run.safety.calls = calls
      return run
    }
    let (whole, counting) = (try Folder(), FailingCalls())
    _ = try run(whole, counting.calls).perform()
    return (
      try FailingCalls.interrupt(at: share, of: counting.count, run),
      try ResultFile.read(whole("r.h5"))
    )
  }

  /// The columns of a table that an evaluation at the end of the run does not fill in.
  private func columns(_ document: ResultDocument, _ group: String) -> [ResultDocument.Variable] {
    (document[group]?.variables ?? []).filter {
      !$0.name.hasPrefix("central") && $0.axes == [String(group.dropLast())]
    }
  }

  @Test("without a checkpoint it has the rounds and versions of the journal, and nothing else")
  func journalAlone() throws {
    let (folder, whole) = try interrupted(.never, at: 0.7)
    let recovery = try Recovery.perform(folder("r.h5"), output: folder("x.h5"))
    let found = try ResultFile.read(folder("x.h5"))
    #expect(found.root.groups.map(\.name) == ["rounds", "versions"])
    #expect(found.root[attribute: "isComplete"] == .integer(0))
    #expect(whole.root[attribute: "isComplete"] == nil)
    #expect(recovery.asOfSeconds == nil && recovery.contentDigest.count == 64)
    let versions = try #require(found.integers("versions/version"))
    #expect(versions.count == recovery.versions && versions.count > 2)
    #expect(found.integers("rounds/round")?.count == recovery.rounds)
    let last = try #require(found.numbers("versions/publishedAt")?.last)
    #expect(recovery.reachedSeconds >= last)
    #expect(found.root[variable: "simulatedTime"]?.values == .double([recovery.reachedSeconds]))
    #expect(folder.names == ["r.h5.run", "x.h5"])
  }

  @Test("its versions are those of the whole run, number for number")
  func sameVersions() throws {
    for share in [0.3, 0.6, 0.85] {
      let (folder, whole) = try interrupted(.rounds(2), at: share)
      let recovery = try Recovery.perform(folder("r.h5"))
      let found = try ResultFile.read(folder("r.h5"))
      let kept = columns(found, "versions")
      #expect(kept.map(\.name) == columns(whole, "versions").map(\.name) && !kept.isEmpty)
      for (part, all) in zip(kept, columns(whole, "versions")) {
        #expect(part.values.count == recovery.versions, "\(part.name)")
        #expect(part.values == all.values.prefix(recovery.versions), "\(part.name)")
      }
    }
  }

  @Test("all other tables are as of the checkpoint, and say so")
  func asOf() throws {
    let (folder, whole) = try interrupted(.rounds(2), at: 0.8)
    let recovery = try Recovery.perform(folder("r.h5"), output: folder("x.h5"))
    let found = try ResultFile.read(folder("x.h5"))
    let asOf = try #require(recovery.asOfSeconds)
    #expect(asOf > 0 && asOf <= recovery.reachedSeconds)
    #expect(found.root.groups.map(\.name) == whole.root.groups.map(\.name))
    for group in found.root.groups {
      let isOfTheJournal = ["rounds", "versions"].contains(group.name)
      #expect(group[attribute: "asOf"] == (isOfTheJournal ? nil : .number(asOf)), "\(group.name)")
    }
    let (some, all) = (
      try #require(found.integers("ledger/attemptsOpened")?.first),
      try #require(whole.integers("ledger/attemptsOpened")?.first)
    )
    #expect(some > 0 && some < all)
  }

  @Test("tables of a run that has not ended say nothing of whole runs")
  func comments() throws {
    let (folder, whole) = try interrupted(.rounds(2), at: 0.8)
    _ = try Recovery.perform(folder("r.h5"), output: folder("x.h5"))
    let found = try ResultFile.read(folder("x.h5"))
    for name in ["ledger", "effort"] {
      let comment = try #require(found[name]?[attribute: "comment"]?.text)
      #expect(comment.contains("as of `asOf`"), "\(comment)")
      #expect(found[name]?.attributes.filter { $0.name == "comment" }.count == 1)
      #expect(whole[name]?[attribute: "comment"]?.text.contains("asOf") == false)
    }
    #expect(found.root[variable: "simulatedTime"]?.longName.contains("had not ended") == true)
    #expect(
      whole.root[variable: "simulatedTime"]?.longName == "virtual time at which the run ended")
  }

  @Test("a run on a disk that can only be read is recovered to another one")
  func readOnly() throws {
    let (folder, _) = try interrupted(.rounds(2), at: 0.8)
    var calls = FileCalls.system
    let system = calls
    let run = folder("r.h5.run")
    calls.makeFolder = { path in
      errno = path == run ? EROFS : 0
      return path == run ? -1 : system.makeFolder(path)
    }
    calls.openFile = { path, flags in
      guard path.hasPrefix(run), flags & (O_WRONLY | O_RDWR | O_CREAT) != 0 else {
        return system.openFile(path, flags)
      }
      errno = EROFS
      return -1
    }
    let recovery = try Recovery.perform(folder("r.h5"), output: folder("x.h5"), calls: calls)
    #expect(recovery.versions > 1 && recovery.asOfSeconds != nil)
    #expect(!recovery.isCheckpointLeftOut)
    let failure = #expect(throws: RunFailure.self) {
      try Run.resuming(folder("r.h5"), calls: calls).perform()
    }
    #expect("\(try #require(failure))".contains("Read-only file system"))
  }

  @Test("a result that is replaced takes its provenance with it")
  func provenance() throws {
    let (folder, _) = try interrupted(.rounds(2), at: 0.8)
    try folder.write("{}", to: "x.h5.provenance.json")
    _ = try Recovery.perform(folder("r.h5"), output: folder("x.h5"))
    #expect(folder.names == ["r.h5.run", "x.h5"])
  }

  @Test("to recover changes nothing of the run, which resumes to the same bytes")
  func goesOn() throws {
    let (folder, whole) = try interrupted(.rounds(2), at: 0.5)
    let before = try FileManager.default.contentsOfDirectory(atPath: folder("r.h5.run")).sorted()
    _ = try Recovery.perform(folder("r.h5"))
    _ = try Recovery.perform(folder("r.h5.run"))
    let after = try FileManager.default.contentsOfDirectory(atPath: folder("r.h5.run")).sorted()
    #expect(before == after)
    let summary = try Run.resuming(folder("r.h5")).perform()
    #expect(.text(summary.contentDigest) == whole.root[attribute: ResultDocument.digestAttribute])
    #expect(folder.names == ["r.h5", "r.h5.provenance.json"])
  }

  @Test("a file that changed meanwhile is named, nothing is written, and put back it does no harm")
  func changedTable() throws {
    let folder = try Folder()
    let rows = (0..<12).map { "phones/\($0 % 9),\(3600 * $0 + 3600),\(3600 * $0 + 9000)\n" }
    try folder.write("device,from,to\n" + rows.joined(), to: "windows.csv")
    let text = Night.text.replacing(
      "background: {processing: {earliestBegin: 2 h, budgetMedian: 40 s}}",
      with: "background: {windows: {csv: windows.csv}}")
    func run(_ calls: FileCalls) throws -> Run {
      var run = Run(
        try Scenario(text: text, file: folder("night.yaml"), overrides: ["stop.after=1 d"]),
        output: folder("r.h5"))
      run.safety.checkpoints = .rounds(1)
      run.safety.calls = calls
      return run
    }
    let counting = FailingCalls()
    _ = try run(counting.calls).perform()
    let whole = try Data(contentsOf: URL(filePath: folder("r.h5")))
    try FileManager.default.removeItem(atPath: folder("r.h5"))
    #expect(throws: RunFailure.self) {
      try run(FailingCalls(at: counting.count * 4 / 5).calls).perform()
    }
    try folder.write("device,from,to\n" + rows.dropFirst(6).joined(), to: "windows.csv")
    let failure = #expect(throws: RunFailure.self) {
      try Run.resuming(folder("r.h5")).perform()
    }
    let reason = try #require(failure).description
    #expect(reason.contains("windows.csv") && reason.contains("has changed since"), "\(reason)")
    #expect(!folder.names.contains("r.h5"))
    // Put back as it was, the run continues as if nothing had been.
    try folder.write("device,from,to\n" + rows.joined(), to: "windows.csv")
    _ = try Run.resuming(folder("r.h5")).perform()
    #expect(try Data(contentsOf: URL(filePath: folder("r.h5"))) == whole)
  }
}

extension ResultValues {
  /// The first of the numbers.
  func prefix(_ count: Int) -> ResultValues {
    switch self {
    case .double(let values): .double(Array(values.prefix(count)))
    case .int64(let values): .int64(Array(values.prefix(count)))
    case .int32(let values): .int32(Array(values.prefix(count)))
    case .int8(let values): .int8(Array(values.prefix(count)))
    default: self
    }
  }
}
