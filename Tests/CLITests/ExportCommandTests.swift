import Foundation
import Testing

@Suite("fedsim export")
struct ExportCommandTests {
  @Test("a result is written in each format, twice to the same bytes")
  func formats() throws {
    let fedsim = try Command()
    #expect(try fedsim("run", "s.yaml", "-q", "-o", "r.h5").code == 0)
    for (path, format) in [
      ("a.npz", "npz"), ("a.safetensors", "safetensors"), ("a.json", nil), ("a.jsonl", nil),
    ] {
      let written = try fedsim.run(
        ["export", "r.h5", "--to", path] + (format.map { ["--format", $0] } ?? []))
      #expect(written.code == 0 && written.error == "", "\(written.error)")
      #expect(written.out.hasPrefix("wrote \(path): "))
      let first = try fedsim.bytes(path)
      #expect(try fedsim("export", "r.h5", "--to", path).code == 2)
      #expect(try fedsim("export", "r.h5", "--to", path, "--force").code == 0)
      #expect(try fedsim.bytes(path) == first)
    }
    let tables = try fedsim("export", "r.h5", "--to", "tables", "--format", "csv")
    #expect(tables.code == 0 && tables.out.contains(" files, "), "\(tables.error)")
    #expect(fedsim.names.contains("tables/versions.csv"))
    #expect(
      try fedsim("export", "r.h5", "--to", "one", "--format", "csv", "--group", "versions").code
        == 0)
    #expect(try fedsim.areEqual("one/versions.csv", "tables/versions.csv"))
  }

  @Test(
    "what cannot be exported exits with 2 and leaves nothing",
    arguments: [
      (["r.h5", "--to", "x"], "the ending of `x` is not"),
      (["r.h5", "--to", "x.nzp"], "give --format, one of csv, npz, safetensors, automatic"),
      (["r.h5", "--to", "x", "--format", "nzp"], "'nzp' is invalid"),
      (["s.yaml", "--to", "x.npz"], "s.yaml: this is not a result of FedSim"),
      (["none.h5", "--to", "x.npz"], "none.h5: there is no such file"),
      (["r.h5", "--to", "no/x.npz"], "the folder no does not exist"),
      (["r.h5", "--to", "x.npz", "--group", "version"], "did you mean `versions`?"),
      (["r.h5", "--to", "s.yaml", "--format", "csv"], "found a file in place of a folder"),
      (["r.h5", "--to", ".", "--format", "csv"], "a path that is no folder's name"),
      (["r.h5"], "Missing expected argument '--to"),
      (["r.h5", "--to", "x.npz", "--device", "phones/0"], "--device: needs --format requests"),
      (["r.h5", "--to", "x.jsonl", "--from", "soon"], "--from: found `soon`, expected a duration"),
      (["r.h5", "--to", "x.jsonl", "--device", "x/0"], "there is no device `x/0`"),
      (["r.h5", "--to", "x.jsonl", "--group", "versions"], "--group has no effect on requests"),
    ])
  func refusals(arguments: [String], message: String) throws {
    let fedsim = try Command()
    _ = try fedsim("run", "s.yaml", "-q", "-o", "r.h5")
    let before = fedsim.names
    let result = try fedsim.run(["export"] + arguments)
    #expect(result.code == 2 && result.out == "")
    #expect(result.error.contains(message), "\(result.error)")
    #expect(fedsim.names == before)
  }
}
