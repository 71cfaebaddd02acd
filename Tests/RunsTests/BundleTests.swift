import Foundation
import Testing

import DataSets
import Numerics
import Results
import Runs
import Scenarios
import Schema

@Suite("fedsim bundle packs a result, and replay checks it elsewhere")
struct BundleTests {
  /// A table of intervals, and the override that names it.
  private static let table = "device,from,to\nphones/0,7200,7800\nphones/1,20000,21000\n"
  /// Its digest, by coreutils' `sha256sum`.
  private static let tableDigest =
    "7f99f24b560b43d90cd6b68407dd261ef62afadb2fe4c5c2cee3397480570079"
  private static let namesTable =
    "fleet.phones.background={windows: {csv: w.csv}, processing: null}"

  /// A folder with the result `r.h5` of a run.
  private func folder(_ overrides: String...) throws -> Folder {
    let folder = try Folder()
    try folder.write(Self.table, to: "w.csv")
    let scenario = try Scenario(
      text: Night.text, file: folder("night.yaml"), overrides: overrides)
    _ = try Run(scenario, output: folder("r.h5")).perform()
    return folder
  }

  /// The members of a zip archive.
  private func members(_ path: String) throws -> [(name: String, contents: [UInt8])] {
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    let archive = try ZipArchive(bytes: bytes, file: path)
    return try archive.members.map {
      ($0.name, try archive.contents(of: $0, limit: 1 << 30))
    }
  }

  /// Writes members as an archive.
  private func write(
    _ members: [(name: String, contents: [UInt8])], to path: String
  ) throws {
    try Data(ZipArchive.bytes(of: members)).write(to: URL(fileURLWithPath: path))
  }

  /// What `bundle.json` says.
  private func manifest(_ path: String) throws -> [String: Any] {
    let json = try JSONSerialization.jsonObject(with: Data(try members(path)[0].contents))
    return try #require(json as? [String: Any])
  }

  /// Packs `r.h5` of a folder; nil: its run is not reproduced.
  @discardableResult
  private func pack(
    _ folder: Folder, to name: String = "a.zip", _ change: (inout ResultBundle) -> Void = { _ in }
  ) throws -> ResultBundle.Summary? {
    var bundle = ResultBundle(folder("r.h5"))
    change(&bundle)
    if case .written(let summary) = try bundle.write(to: folder(name)) { return summary }
    return nil
  }

  /// What a bundle is refused with; empty: it is not refused.
  private func refusal(_ path: String) -> String {
    do throws(RunFailure) {
      _ = try BundleReplay(path)
      return ""
    } catch {
      return error.isBadInput ? error.description : "no bad input: \(error)"
    }
  }

  @Test("two bundles of one result have the same bytes, and replay in another folder is the same")
  func roundTrip() throws {
    let folder = try folder(Self.namesTable)
    let summary = try #require(try pack(folder))
    try pack(folder, to: "b.zip") { $0.replays = false }
    let bytes = try Data(contentsOf: URL(fileURLWithPath: folder("a.zip")))
    #expect(try Data(contentsOf: URL(fileURLWithPath: folder("b.zip"))) == bytes)
    #expect(summary.bytes == bytes.count && summary.dataFiles == 1 && summary.claims == 0)
    #expect(
      try members(folder("a.zip")).map(\.name)
        == ["bundle.json", "scenario.yaml", "result.h5", "ro-crate-metadata.json"])
    let other = try Folder()
    try bytes.write(to: URL(fileURLWithPath: other("a.zip")))
    try other.write(Self.table, to: "w.csv")
    let replay = try BundleReplay(other("a.zip"))
    #expect(replay.replay.verdict == .sameBytes && replay.isSame && replay.dataFiles == 1)
    #expect(replay.text == "same bytes: \(other("a.zip"))\ndata: 1 file as in the bundle")
    #expect(other.names == ["a.zip", "w.csv"])
  }

  @Test("the manifest has the digest of each data file, by the path that the scenario gives")
  func digests() throws {
    let folder = try folder(Self.namesTable)
    try pack(folder)
    let tree = try manifest(folder("a.zip"))
    let files = try #require(tree["dataFiles"] as? [[String: Any]])
    #expect(files.map { $0["path"] as? String } == ["w.csv"])
    #expect(files.map { $0["sha256"] as? String } == [Self.tableDigest])
    #expect(files.map { $0["bytes"] as? Int } == [Self.table.utf8.count])
    let document = try ResultFile.read(folder("r.h5"))
    for name in ["dataDigest", "eventDigest", "engineVersion"] {
      #expect(tree[name] as? String == document.root[attribute: name]?.text, "\(name)")
    }
    #expect(tree["contentDigest"] as? String == document.contentDigest)
  }

  @Test("a data file that is missing or has another digest is named, and nothing is played")
  func dataFiles() throws {
    let folder = try folder(Self.namesTable)
    try pack(folder)
    try folder.write(Self.table.replacingOccurrences(of: "7800", with: "7801"), to: "w.csv")
    let changed = refusal(folder("a.zip"))
    #expect(changed.hasPrefix("\(folder("w.csv")): this data file has SHA-256 "), "\(changed)")
    #expect(changed.contains("but the bundle's run read \(Self.tableDigest)"))
    try FileManager.default.removeItem(atPath: folder("w.csv"))
    let missing = refusal(folder("a.zip"))
    #expect(missing.hasPrefix("w.csv: this data file of the bundle's run is missing"), "\(missing)")
    #expect(missing.contains(Self.tableDigest))
    #expect(missing.contains("; put it there, or name its folder by --folder"))
  }

  @Test("a result whose table of intervals has changed since its run is not packed")
  func changedTable() throws {
    let folder = try folder(Self.namesTable)
    try folder.write(Self.table.replacingOccurrences(of: "7200", with: "7300"), to: "w.csv")
    #expect(try pack(folder) == nil)
    try folder.write(Self.table, to: "w.csv")
    #expect(try pack(folder) != nil)
  }

  @Test("a bundle of a result whose run is another is different, and says where")
  func different() throws {
    let folder = try folder()
    var document = try ResultFile.read(folder("r.h5"))
    document.edit("versions", "samples") { $0[5] += 7 }
    _ = try ResultFile.prepare(folder("r.h5")).write(document)
    #expect(try pack(folder) { $0.date = "2026-02-28" } == nil)
    #expect(folder.names == ["r.h5", "r.h5.provenance.json", "w.csv"])
    try pack(folder) { ($0.date, $0.replays) = ("2026-02-28", false) }
    let replay = try BundleReplay(folder("a.zip"))
    #expect(!replay.isSame && replay.replay.version?.number == 5)
    #expect(replay.text.hasPrefix("different: \(folder("a.zip")) (the file | replayed)"))
  }

  @Test("an altered, missing or unknown member is refused by its name")
  func altered() throws {
    let folder = try folder()
    try pack(folder)
    let whole = try members(folder("a.zip"))
    #expect(refusal(folder("a.zip")) == "")
    for (index, name) in whole.map(\.name).enumerated() {
      var changed = whole
      changed.remove(at: index)
      try write(changed, to: folder("x.zip"))
      let missing = refusal(folder("x.zip"))
      #expect(missing.contains("found no member `\(name)`"), "\(missing)")
      guard index > 0 else { continue }
      changed = whole
      changed[index].contents[changed[index].contents.count / 2] ^= 1
      try write(changed, to: folder("x.zip"))
      let altered = refusal(folder("x.zip"))
      #expect(altered.hasPrefix("\(folder("x.zip")):\(name): found "), "\(altered)")
      #expect(altered.contains("this member was altered"), "\(altered)")
    }
    for name in ["../evil.yaml", "/etc/evil", "a/../../evil", "..\\evil"] {
      try write(whole + [(name, [1])], to: folder("x.zip"))
      let refused = refusal(folder("x.zip"))
      #expect(
        refused.contains("found a member `\(name)`, which leads out of the folder"), "\(refused)")
    }
    try write(whole + [("notes.txt", [1])], to: folder("x.zip"))
    #expect(refusal(folder("x.zip")).contains("found a member `notes.txt`, expected only bundle"))
    let bytes = try Data(contentsOf: URL(fileURLWithPath: folder("a.zip")))
    try bytes.prefix(bytes.count / 2).write(to: URL(fileURLWithPath: folder("x.zip")))
    #expect(refusal(folder("x.zip")).contains("found no end of a zip archive"))
    #expect(folder.names == ["a.zip", "r.h5", "r.h5.provenance.json", "w.csv", "x.zip"])
  }

  @Test("a manifest that is of another run, or of another layout, is refused")
  func manifests() throws {
    let folder = try folder()
    try pack(folder)
    let whole = try members(folder("a.zip"))
    let text = String(decoding: whole[0].contents, as: UTF8.self)
    let digest = try ResultFile.read(folder("r.h5")).contentDigest
    for (old, new, expected) in [
      (digest, String(digest.reversed()), "bundle.json does not belong to result.h5"),
      ("fedsim-bundle-1", "fedsim-bundle-2", "found the format `fedsim-bundle-2`"),
      ("\"claims\"", "\"claim\"", "found other keys or values than a bundle has"),
      ("\"format\"", "\"form\"", "found no JSON with a `format`"),
      ("ro-crate-metadata.json", "other.json", "found members scenario.yaml, result.h5, other"),
    ] {
      let changed = text.replacingOccurrences(of: old, with: new)
      #expect(changed != text)
      try write(
        [("bundle.json", Array(changed.utf8))] + whole.dropFirst(), to: folder("x.zip"))
      let refused = refusal(folder("x.zip"))
      #expect(refused.contains(expected), "\(refused)")
    }
    // A scenario with its right digest that is not the result's.
    var changed = whole
    changed[1].contents = Array(
      String(decoding: whole[1].contents, as: UTF8.self)
        .replacingOccurrences(of: "\nseed: 7\n", with: "\nseed: 17\n").utf8)
    #expect(changed[1].contents != whole[1].contents)
    let digests = [whole[1], changed[1]].map { sha256($0.contents) }
    let size = "\"bytes\" : \(whole[1].contents.count)"
    changed[0].contents = Array(
      text.replacingOccurrences(of: digests[0], with: digests[1])
        .replacingOccurrences(of: size, with: "\"bytes\" : \(changed[1].contents.count)").utf8)
    try write(changed, to: folder("x.zip"))
    #expect(refusal(folder("x.zip")).contains("scenario.yaml is not the scenario of result.h5"))
  }

  @Test("a member that claims to be too large is refused before it is inflated")
  func tooLarge() throws {
    let folder = try folder()
    try pack(folder)
    var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: folder("a.zip"))))
    // The first entry of the directory: its size is at byte 24 (APPNOTE 4.3.12), here 4 GiB - 2.
    let entry = try #require(
      bytes.indices.dropLast(4).first { Array(bytes[$0..<$0 + 4]) == [0x50, 0x4b, 1, 2] })
    bytes.replaceSubrange(entry + 24..<entry + 28, with: [0xfe, 0xff, 0xff, 0xff])
    try Data(bytes).write(to: URL(fileURLWithPath: folder("x.zip")))
    let refused = refusal(folder("x.zip"))
    #expect(refused.contains("bundle.json: found 4294967294 bytes, expected at most 268435456"))
  }

  @Test("a result that was altered, or has no day, is not packed")
  func refusedResults() throws {
    let folder = try folder()
    func message(_ date: String?) -> String {
      var bundle = ResultBundle(folder("r.h5"))
      bundle.date = date
      do throws(RunFailure) {
        guard case .written = try bundle.write(to: folder("a.zip")) else { return "different" }
        return ""
      } catch {
        return error.isBadInput ? error.description : "no bad input: \(error)"
      }
    }
    for date in ["2026-02-29", "26-02-01", "2026-13-01", "2026-1-01", "2026-01-00", "today"] {
      #expect(message(date).contains("`\(date)` is no date, expected YYYY-MM-DD"))
    }
    #expect(message("2024-02-29") == "")
    try FileManager.default.removeItem(atPath: folder("r.h5.provenance.json"))
    #expect(message(nil).contains("there is no provenance of this result"))
    #expect(message("2026-11-27") == "")
    var bytes = try Data(contentsOf: URL(fileURLWithPath: folder("r.h5")))
    let place = try #require(bytes.range(of: Data("name: \"night\"".utf8)))
    bytes[place.upperBound - 2] = UInt8(ascii: "s")
    try bytes.write(to: URL(fileURLWithPath: folder("r.h5")))
    #expect(message("2026-11-27").contains("is not as FedSim wrote it"))
  }

  @Test("claims are in the bundle, from the scenario of the run, and replay says which hold")
  func claims() throws {
    let folder = try Folder()
    let claims = "expect: [{versions: {atLeast: 1}}, {versions: {atMost: 0}}]\n"
    try folder.write(Night.text + claims, to: "night.yaml")
    let scenario = try Scenario(contentsOf: folder("night.yaml"))
    _ = try Run(scenario, output: folder("r.h5")).perform()
    let summary = try #require(try pack(folder))
    #expect(summary.claims == 2 && summary.broken.count == 1 && summary.warning == nil)
    let replay = try BundleReplay(folder("a.zip"))
    #expect(replay.isSame && replay.claims.map(\.holds) == [true, false])
    let lines = replay.text.split(separator: "\n")
    #expect(lines.count == 3 && lines[1].hasPrefix("broken: versions"), "\(replay.text)")
    #expect(lines.last == "assertions: 1 of 2 broken")
    #expect(try manifest(folder("a.zip"))["claims"] as? [String] == replay.claims.map(\.claim))
    // The scenario in the bundle is one that `fedsim check` plays.
    let text = String(decoding: try members(folder("a.zip"))[1].contents, as: UTF8.self)
    #expect(try Scenario(text: text).settings.expect?.count == 2)
    #expect(try Scenario(text: text).digest == scenario.digest)
    // Claims that were changed in the bundle.
    var changed = try members(folder("a.zip"))
    let other = text.replacingOccurrences(of: "atLeast: 1\n", with: "atLeast: 3\n")
    #expect(other != text)
    let manifest = String(decoding: changed[0].contents, as: UTF8.self)
      .replacingOccurrences(of: sha256(changed[1].contents), with: sha256(Array(other.utf8)))
    (changed[0].contents, changed[1].contents) = (Array(manifest.utf8), Array(other.utf8))
    try write(changed, to: folder("x.zip"))
    #expect(refusal(folder("x.zip")).contains("bundle.json does not belong to"))
  }

  @Test("claims of a scenario that has changed since are left out with a warning, or named")
  func otherClaims() throws {
    let folder = try folder()
    try folder.write(
      Night.text.replacingOccurrences(of: "seed: 7", with: "seed: 8")
        + "expect: [{versions: {atLeast: 1}}]\n", to: "night.yaml")
    let without = try #require(try pack(folder))
    #expect(without.claims == 0)
    #expect(without.warning?.hasPrefix("\(folder("night.yaml")) is not there or is not") == true)
    let with = try #require(try pack(folder) { $0.claims = folder("night.yaml") })
    #expect(with.claims == 1 && with.broken.isEmpty && with.warning == nil)
    try folder.write(Night.text, to: "night.yaml")
    #expect(try pack(folder)?.warning == nil)
    #expect(throws: RunFailure.self) {
      try pack(folder) { $0.claims = folder("night.yaml") }
    }
  }

  /// SHA-256 in hexadecimal digits.
  private func sha256(_ bytes: [UInt8]) -> String {
    var digest = SHA256()
    digest.update(bytes)
    return digest.hexDigest()
  }
}
