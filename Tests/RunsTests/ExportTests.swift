import Foundation
import Testing

import DataSets
import FedSim
import Results
import Runs
import Scenarios

@Suite("Results in other formats")
struct ExportTests {
  /// Two versions, a category, a table over two axes, single numbers, a tensor.
  private static let document = ResultDocument(
    attributes: [
      .init("Conventions", .text(ResultDocument.conventions)), .init("title", .text("small")),
      .init("seed", .unsigned(18_446_744_073_709_551_615)),
    ],
    variables: [
      .init("simulatedTime", [], .double([0.1]), units: "s", longName: "end")
    ],
    texts: [.init("scenario", "name: small\n")],
    groups: [
      .init(
        "versions", attributes: [.init("comment", .text("Published, or not"))],
        axes: [.init("version", length: 2), .init("label", length: 3)],
        variables: [
          .init("version", ["version"], .int64([0, 1]), units: "1", longName: "version"),
          .init(
            "loss", ["version"], .double([.nan, 0.1 + 0.2]), units: "1", longName: "loss, mean",
            attributes: [.init("coordinates", .text("publishedAt"))]),
          .init(
            "outcome", ["version"], codes: [1, 0], meanings: ["won", "lost"], longName: "end"),
          .init(
            "share", ["version", "label"], .float([0.1, 1, 2, -.infinity, 4, 1e-30]), units: "1",
            longName: "share"),
          .init("most", [], .int64([9_007_199_254_740_993]), units: "byte", longName: "most"),
        ]),
      .init(
        "model", attributes: [.init("version", .integer(1))],
        axes: [.init("d_w_axis0", length: 2), .init("d_w_axis1", length: 1)],
        variables: [
          .init(
            "d_w", ["d_w_axis0", "d_w_axis1"], .float([0.5, -1]), units: "1",
            longName: "tensor d.w", attributes: [.init("tensor", .text("d.w"))])
        ]),
    ])

  private static func file(in folder: Folder) throws -> String {
    let path = folder("small.h5")
    try ResultFile.prepare(path).write(document)
    return path
  }

  private static func text(_ path: String) throws -> String {
    try String(contentsOfFile: path, encoding: .utf8)
  }

  /// 0.1 + 0.2 is 0.30000000000000004, the shortest decimal that is not read as 0.3; the float
  /// nearest to 0.1 reads back from 0.1.
  @Test("tables hold a row per place, categories as words, numbers that read back")
  func tables() throws {
    let folder = try Folder()
    let summary = try Export(try Self.file(in: folder), as: .csv).write(to: folder("out"))
    let names = try FileManager.default.contentsOfDirectory(atPath: folder("out")).sorted()
    #expect(
      names == [
        "metadata.csv", "model.d_w.csv", "run.csv", "scenario.yaml", "schema.csv",
        "versions.csv", "versions.scalars.csv", "versions.version.label.csv",
      ])
    func table(_ name: String) throws -> String { try Self.text(folder("out/\(name).csv")) }
    #expect(
      try table("versions")
        == "version,loss,outcome\n0,NaN,lost\n1,0.30000000000000004,won\n")
    #expect(
      try table("versions.version.label")
        == "version,label,share\n0,0,0.1\n0,1,1.0\n0,2,2.0\n1,0,-inf\n1,1,4.0\n1,2,1e-30\n")
    #expect(try table("versions.scalars") == "most\n9007199254740993\n")
    #expect(try table("run") == "simulatedTime\n0.1\n")
    #expect(try table("model.d_w") == "d_w_axis0,d_w_axis1,d_w\n0,0,0.5\n1,0,-1.0\n")
    #expect(try Self.text(folder("out/scenario.yaml")) == "name: small\n")
    let schema = try table("schema").split(separator: "\n").map(String.init)
    #expect(schema.contains("metadata.csv,,remarks,,,,,,,,,"))
    #expect(schema.contains("scenario.yaml,,text,/,scenario,,,,,,,"))
    #expect(
      schema.contains(
        "versions.csv,version,axis,/versions,version,version,int64,1,version,,,"))
    #expect(
      schema.contains(
        "versions.csv,loss,variable,/versions,loss,version,double,1,\"loss, mean\",,,publishedAt"))
    #expect(
      schema.contains(
        "versions.csv,outcome,variable,/versions,outcome,version,category,1,end,0=won 1=lost,,"))
    #expect(
      schema.contains(
        "versions.version.label.csv,label,place,/versions,,label,int64,1,\"place along label, from "
          + "0\",,,"))
    // Every column of every table, and the two files that are no tables.
    #expect(schema.count == 1 + 2 + 1 + 3 + 3 + 1 + 3)
    let remarks = try table("metadata")
    #expect(remarks.contains("\n/,,seed,18446744073709551615\n"))
    #expect(remarks.contains("\n/versions,,comment,\"Published, or not\"\n"))
    #expect(remarks.contains("\n/model,d_w,tensor,d.w\n"))
    #expect(summary.files == 8 && summary.variables == 7)
  }

  @Test("an archive holds every variable under its path, with its type and shape")
  func arrays() throws {
    let folder = try Folder()
    let summary = try Export(try Self.file(in: folder), as: .npz).write(to: folder("out.npz"))
    let bytes = try Data(contentsOf: URL(fileURLWithPath: folder("out.npz")))
    let archive = try NPZ(bytes: Array(bytes), file: "out.npz")
    #expect(
      archive.names == [
        "schema.json", "scenario", "simulatedTime", "versions/version", "versions/loss",
        "versions/outcome", "versions/share", "versions/most", "model/d_w",
      ])
    #expect(summary.files == 1 && summary.variables == 7 && summary.bytes == bytes.count)
    #expect(
      try archive.array(named: "versions/share")
        == NPYArray(shape: [2, 3], floats: [0.1, 1, 2, -.infinity, 4, 1e-30]))
    #expect(
      try archive.array(named: "versions/outcome") == NPYArray(shape: [2], values: .int8([1, 0])))
    #expect(
      try archive.array(named: "versions/most")
        == NPYArray(shape: [], values: .int64([9_007_199_254_740_993])))
    let text = String(decoding: bytes.filter { $0 != 0 }, as: UTF8.self)
    #expect(text.contains("\"flag_meanings\": \"won lost\""))
  }

  /// 0.5 is 0x3F000000, -1 is 0xBF800000.
  @Test("a model has the bytes that the format's description asks for")
  func safetensors() throws {
    let folder = try Folder()
    _ = try Export(try Self.file(in: folder), as: .safetensors).write(to: folder("m"))
    let bytes = Array(try Data(contentsOf: URL(fileURLWithPath: folder("m"))))
    let digest = Self.document.contentDigest
    var header =
      #"{"__metadata__":{"format":"np","source":"FedSim","group":"model","version":"1","#
      + #""Conventions":"CF-1.10 FedSim-1","title":"small","seed":"18446744073709551615","#
      + #""contentDigest":"\#(digest)","scenario":"name: small\n"},"#
      + #""d.w":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]}}"#
    while header.utf8.count % 8 != 0 { header += " " }
    #expect(bytes[0] == UInt8(header.utf8.count & 0xff))
    #expect(bytes[1] == UInt8(header.utf8.count >> 8) && bytes[2..<8].allSatisfy { $0 == 0 })
    #expect(String(decoding: bytes[8..<(bytes.count - 8)], as: UTF8.self) == header)
    #expect(bytes.suffix(8) == [0, 0, 0, 0x3F, 0, 0, 0x80, 0xBF])
  }

  @Test("the automatic backend's answer is the last model file, and that there is a model")
  func automaticBackend() throws {
    let folder = try Folder()
    for set in [["record.modelFiles=models"], ["record.modelFiles=models", Self.bySamples]] {
      let scenario = try Scenario(text: Night.text, file: "night.yaml", overrides: set)
      var run = Run(scenario, output: folder("night.h5"))
      run.safety.replacesOthers = true
      _ = try run.perform()
      var export = Export(folder("night.h5"), as: .automaticBackendJSON)
      export.replaces = true
      let summary = try export.write(to: folder("latest.json"))
      #expect(summary.variables == 4)
      let stored = try Self.text(folder("models/global_model_latest.json"))
      let answer = try Self.text(folder("latest.json"))
      #expect(answer == "{\"model_available\": true, " + stored.dropFirst())
    }
  }

  private static let bySamples = "record.averageAccuracy=samples"

  @Test("only the groups asked for are written")
  func groups() throws {
    let folder = try Folder()
    var export = Export(try Self.file(in: folder), as: .csv)
    export.groups = ["model"]
    _ = try export.write(to: folder("out"))
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder("out")).sorted()
        == ["metadata.csv", "model.d_w.csv", "run.csv", "scenario.yaml", "schema.csv"])
  }

  private func refusal(_ export: Export, to path: String) -> String {
    do throws(RunFailure) {
      _ = try export.write(to: path)
      return "written"
    } catch {
      return error.description
    }
  }

  @Test("what is there stays, unless an export made it and may be replaced")
  func places() throws {
    let folder = try Folder()
    let result = try Self.file(in: folder)
    var export = Export(result, as: .csv)
    #expect(refusal(export, to: folder("out")) == "written")
    #expect(refusal(export, to: folder("out")).hasSuffix("--force replaces it"))
    export.replaces = true
    export.groups = ["versions"]
    #expect(refusal(export, to: folder("out")) == "written")
    let names = try FileManager.default.contentsOfDirectory(atPath: folder("out"))
    #expect(!names.contains("model.d_w.csv") && names.contains("versions.csv"))
    // A file of somebody else: nothing is replaced, whatever is asked for.
    try folder.write("mine", to: "out/notes.txt")
    #expect(
      refusal(export, to: folder("out")).contains(
        "contains `notes.txt`, which is not from an export"))
    try FileManager.default.createDirectory(
      atPath: folder("other"), withIntermediateDirectories: true)
    #expect(refusal(export, to: folder("other")) == "written")
    try folder.write("mine", to: "a.npz")
    let arrays = Export(result, as: .npz)
    #expect(refusal(arrays, to: folder("a.npz")).hasSuffix("--force replaces it"))
    #expect(try Self.text(folder("a.npz")) == "mine")
    #expect(refusal(export, to: folder("a.npz")).contains("found a file in place of a folder"))
    var own = Export(result, as: .npz)
    own.replaces = true
    #expect(refusal(own, to: result).contains("cannot be written over its own result"))
    #expect(refusal(arrays, to: folder("no/a.npz")).contains("does not exist"))
    #expect(folder.names == ["a.npz", "other", "out", "small.h5"])
  }

  @Test("a result without what was asked for is refused, with the nearest name")
  func refusals() throws {
    let folder = try Folder()
    let result = try Self.file(in: folder)
    var export = Export(result, as: .csv)
    export.groups = ["verions"]
    #expect(refusal(export, to: folder("o")).contains("did you mean `versions`?"))
    var model = Export(result, as: .safetensors)
    model.groups = ["versions"]
    #expect(
      refusal(model, to: folder("o")).contains(
        "`versions` holds no tensors; groups with tensors: model"))
    model.groups = ["model", "versions"]
    #expect(refusal(model, to: folder("o")).contains("takes one model"))
    let json = Export(result, as: .automaticBackendJSON)
    #expect(refusal(json, to: folder("o")).contains("no version was published"))
    #expect(refusal(Export(folder("none"), as: .npz), to: folder("o")).contains("no such file"))
    try folder.write("not HDF5", to: "text.h5")
    #expect(
      refusal(Export(folder("text.h5"), as: .npz), to: folder("o")).contains(
        "not a result of FedSim"))
    var without = Self.document
    without.root.groups.removeAll { $0.name == "model" }
    try ResultFile.prepare(folder("w.h5")).write(without)
    #expect(
      refusal(Export(folder("w.h5"), as: .safetensors), to: folder("o"))
        .contains("the run learned nothing, or was recorded with finalModel: false"))
    #expect(folder.names == ["small.h5", "text.h5", "w.h5"])
  }
}
