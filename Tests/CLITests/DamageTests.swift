import Foundation
import Testing

/// Results that are damaged: each is an error or a warning of the command, and never its end.
@Suite("damaged results")
struct DamageTests {
  /// libhdf5 1.10.8 ends the process that lists this file's groups (signal 6, or 11), or refuses
  /// it: that depends on what memory holds that it has not written.
  private static let crash = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("../ResultsTests/Fixtures/crash.h5").standardized.path

  @Test(
    "what ends libhdf5's process is an error of every command that reads a result",
    arguments: [
      ["export", "X", "--to", "x.npz"], ["report", "X"], ["compare", "r.h5", "X"],
      ["explain", "X", "--device", "phones/0"], ["replay", "X"], ["bundle", "X"],
      ["plot", "X", "--figure", "accuracy-by-version"],
    ])
  func crash(arguments: [String]) throws {
    let fedsim = try Command()
    _ = try fedsim("run", "s.yaml", "-q", "-o", "r.h5")
    let before = fedsim.names
    // Memory that holds the same each time, in which it ends.
    let result = try fedsim.run(
      arguments.map { $0 == "X" ? Self.crash : $0 }, ["MALLOC_PERTURB_": "165"])
    #expect(result.code == 2 && result.out == "", "\(result)")
    #expect(result.error.contains("this is not a result of FedSim"), "\(result.error)")
    #expect(
      result.error.contains("damage that HDF5 does not survive (signal "), "\(result.error)")
    #expect(fedsim.names == before)
  }

  @Test("a run does not replace a damaged file under its name, and says what it is")
  func standing() throws {
    let fedsim = try Command()
    let bytes = try Data(contentsOf: URL(fileURLWithPath: Self.crash))
    try bytes.write(to: URL(fileURLWithPath: "\(fedsim.folder)/r.h5"))
    let result = try fedsim("run", "s.yaml", "-q", "-o", "r.h5")
    #expect(result.code == 2, "\(result)")
    #expect(try fedsim.bytes("r.h5") == bytes)
  }

  @Test("a result that was changed and can be read is read, with a warning")
  func changed() throws {
    let fedsim = try Command()
    _ = try fedsim("run", "s.yaml", "-q", "-o", "r.h5")
    var bytes = try fedsim.bytes("r.h5")
    // A word of the scenario's text, which is in the file as it is.
    let place = try #require(bytes.firstRange(of: Data("softmax".utf8)))
    bytes.replaceSubrange(place, with: Data("softmix".utf8))
    try bytes.write(to: URL(fileURLWithPath: "\(fedsim.folder)/r.h5"))
    for arguments in [["export", "r.h5", "--to", "x.npz"], ["report", "r.h5", "-o", "x.html"]] {
      let result = try fedsim.run(arguments)
      #expect(result.code == 0, "\(result)")
      #expect(
        result.error.hasPrefix("warning: r.h5 is not as FedSim wrote it: its content has the"),
        "\(result.error)")
    }
  }

  @Test("a changed result next to the original is not said to equal it, but to be changed")
  func changedTwin() throws {
    let fedsim = try Command()
    _ = try fedsim("run", "s.yaml", "-q", "-o", "r.h5", "--set", "name=nightly")
    var bytes = try fedsim.bytes("r.h5")
    // A word of the resolved scenario that its reader takes as well, no part of a policy.
    let place = try #require(bytes.firstRange(of: Data("name: \"nightly\"".utf8)))
    bytes.replaceSubrange(place, with: Data("name: \"nightla\"".utf8))
    try bytes.write(to: URL(fileURLWithPath: "\(fedsim.folder)/val.h5"))
    for arguments in [["plot", "--figure", "funnel"], ["report"]] {
      let result = try fedsim.run(arguments + ["r.h5", "val.h5"])
      #expect(result.code == 2, "\(result)")
      #expect(!result.error.contains("equals that of"), "\(result.error)")
      #expect(result.error.contains("val.h5: it has the same policy and the same seed, 1, as r.h5"))
      #expect(result.error.contains("note: val.h5 is not as FedSim wrote it"), "\(result.error)")
    }
  }
}
