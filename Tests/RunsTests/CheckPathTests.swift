import Foundation
import Testing
import Runs
import Scenarios
import Schema

@Suite("What a check looks at")
struct CheckPathTests {
  private func check(_ folder: Folder, _ paths: [String], records: Bool = false) -> CheckReport {
    var check = Check(paths.map { folder($0) })
    check.records = records
    return check.perform()
  }

  @Test("in folders only what has claims or a baseline, below at any depth, in order")
  func folders() throws {
    let folder = try Folder()
    for name in ["b", "a", "deep/er"] {
      try FileManager.default.createDirectory(
        atPath: folder(name), withIntermediateDirectories: true)
    }
    let claim = "expect: [{versions: {atLeast: 1}}]\n"
    try folder.write(CheckedFolder.small + claim, to: "b/2.yaml")
    try folder.write(CheckedFolder.small + claim, to: "a/1.yaml")
    try folder.write(CheckedFolder.small, to: "deep/er/3.yaml")
    try folder.write(CheckedFolder.small, to: "deep/er/4.yaml")
    #expect(check(folder, ["deep/er/4.yaml"], records: true).count(.recorded) == 1)
    let report = check(folder, [""])
    #expect(
      report.scenarios.map { $0.path.split(separator: "/").last } == [
        "1.yaml", "2.yaml", "4.yaml",
      ])
    #expect(report.unchecked.count == 1 && report.exitCode == 0)
    // A folder records what has a baseline, and --all the rest.
    #expect(check(folder, ["deep"], records: true).scenarios.count == 1)
    var all = Check([folder("deep")])
    (all.records, all.recordsAll) = (true, true)
    #expect(all.perform().count(.recorded) == 1)
    #expect(check(folder, ["deep"]).count(.holds) == 2)
  }

  @Test("links to folders are followed, and one to a folder that it is in leads nowhere new")
  func links() throws {
    let (folder, other) = (try Folder(), try Folder())
    try other.write(CheckedFolder.small + "expect: [{versions: {atLeast: 1}}]\n", to: "s.yaml")
    try FileManager.default.createSymbolicLink(
      atPath: folder("other"), withDestinationPath: other.path)
    try FileManager.default.createSymbolicLink(
      atPath: folder("self"), withDestinationPath: folder.path)
    let report = check(folder, [""])
    #expect(report.scenarios.map { $0.path.hasSuffix("/other/s.yaml") } == [true])
    #expect(report.exitCode == 0)
  }

  @Test(
    "a folder that cannot be read is bad input",
    .disabled(if: geteuid() == 0, "root reads every folder"))
  func unread() throws {
    let folder = try CheckedFolder(
      CheckedFolder.small + "expect: [{versions: {atLeast: 1}}]\n")
    let locked = folder.folder("locked")
    try FileManager.default.createDirectory(atPath: locked, withIntermediateDirectories: true)
    chmod(locked, 0)
    defer { chmod(locked, 0o700) }
    let report = Check([folder.folder.path]).perform()
    #expect(report.exitCode == 2 && report.count(.holds) == 1)
    #expect(report.scenarios[0].path == locked + "/")
    #expect(report.scenarios[0].faults == ["cannot read this folder"])
  }

  @Test("a file that is named and has nothing to check is bad input")
  func nothing() throws {
    let folder = try CheckedFolder()
    let report = Check([folder.path]).perform()
    #expect(report.exitCode == 2)
    #expect(
      report.scenarios[0].faults[0].contains("there is nothing to check: no `expect`, and no"))
  }

  @Test("two scenarios that would have one baseline are bad input, and nothing is written")
  func twins() throws {
    let folder = try CheckedFolder()
    try folder.folder.write(CheckedFolder.small, to: "s.yml")
    var record = Check([folder.path, folder.folder("s.yml")])
    record.records = true
    let report = record.perform()
    #expect(report.scenarios.map(\.status) == [.badInput, .badInput])
    #expect(
      report.scenarios[0].faults == [
        "\(folder.path): \(folder.folder("s.baseline")) would also be the recording of"
          + " \(folder.folder("s.yml")): rename one of them"
      ])
    #expect(folder.folder.names == ["s.yaml", "s.yml"])
  }

  @Test("a path that is not there, and a baseline without its scenario, are bad input")
  func missing() throws {
    let folder = try CheckedFolder()
    _ = folder.record()
    let gone = Check([folder.folder("none.yaml"), folder.path]).perform()
    #expect(gone.exitCode == 2 && gone.count(.holds) == 1)
    #expect(gone.scenarios[0].faults == ["there is no such file or folder"])
    try FileManager.default.moveItem(atPath: folder.path, toPath: folder.folder("t.yaml"))
    let orphan = Check([folder.folder.path]).perform()
    #expect(orphan.exitCode == 2)
    #expect(orphan.scenarios[0].faults == ["there is no scenario next to this recording"])
  }

  @Test("a file that is one long text is not printed as a whole")
  func longText() throws {
    let folder = try Folder()
    try folder.write(String(repeating: "word ", count: 5_000), to: "a.yaml")
    let report = check(folder, ["a.yaml"])
    #expect(report.exitCode == 2)
    // Sixteen words are 80 characters.
    let shown = String(repeating: "word ", count: 16)
    #expect(report.scenarios[0].faults[0].contains("found `\(shown)…`, expected a mapping"))
  }

  @Test("a scenario that is wrong is reported with its place, and the others are checked")
  func badInput() throws {
    let folder = try CheckedFolder()
    _ = folder.record()
    try folder.folder.write("fleet: 7\n", to: "a.yaml")
    let report = Check([folder.folder.path]).perform()
    #expect(report.exitCode == 2)
    #expect(report.scenarios.map(\.status) == [.badInput, .holds])
    #expect(report.scenarios[0].faults[0].contains("/a.yaml:1:8: fleet: found `7`"))
  }
}
