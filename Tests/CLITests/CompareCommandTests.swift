import Foundation
import Testing

@Suite("fedsim compare and replay")
struct CompareCommandTests {
  private func tree(_ text: String) throws -> [String: Any] {
    try #require(JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
  }

  @Test("a run is reproduced: exit code 0; a file that was changed: 1; no result: 2")
  func replay() throws {
    let fedsim = try Command()
    #expect(try fedsim("run", "s.yaml", "-q", "-o", "r.h5").code == 0)
    let same = try fedsim("replay", "r.h5", "--threads", "2")
    #expect(same.code == 0 && same.out == "same bytes: r.h5\n" && same.error == "")
    #expect(fedsim.names == ["r.h5", "r.h5.provenance.json", "s.yaml"])
    // One byte of the resolved scenario's name: `s` becomes `t`.
    var bytes = try fedsim.bytes("r.h5")
    let place = try #require(bytes.range(of: Data("name: \"s\"\n".utf8)))
    bytes[place.upperBound - 3] = UInt8(ascii: "t")
    try bytes.write(to: URL(fileURLWithPath: "\(fedsim.folder)/x.h5"))
    let other = try fedsim("replay", "x.h5", "--json")
    #expect(other.code == 1 && other.error == "")
    #expect(try tree(other.out)["verdict"] as? String == "different")
    #expect((try tree(other.out)["warnings"] as? [String])?.count == 1)
    for (arguments, expected) in [
      (["nowhere.h5"], "nowhere.h5: there is no such file"),
      (["s.yaml"], "s.yaml: this is not a result of FedSim"),
      (["r.h5", "--threads", "0"], "--threads: found 0"),
    ] {
      let wrong = try fedsim.run(["replay"] + arguments)
      #expect(wrong.code == 2 && wrong.out == "" && wrong.error.contains(expected), "\(arguments)")
    }
  }

  @Test("a bundle: exit code 0 where its run is the same, 2 where it or an option is wrong")
  func bundle() throws {
    let fedsim = try Command()
    #expect(try fedsim("run", "s.yaml", "-q", "-o", "r.h5").code == 0)
    let written = try fedsim("bundle", "r.h5")
    #expect(written.code == 0 && written.error == "", "\(written)")
    #expect(written.out.hasPrefix("wrote r.bundle.zip: "), "\(written)")
    #expect(
      written.out.hasSuffix(" bytes, 0 assertions, no data files\n"), "\(written)")
    #expect(try fedsim("bundle", "r.h5", "--output", "b.zip").code == 0)
    #expect(try fedsim.areEqual("b.zip", "r.bundle.zip"))
    let same = try fedsim("replay", "b.zip", "--threads", "2")
    #expect(same.code == 0 && same.out == "same bytes: b.zip\n" && same.error == "", "\(same)")
    let json = try tree(try fedsim("replay", "b.zip", "--json").out)
    #expect((json["replay"] as? [String: Any])?["verdict"] as? String == "sameBytes")
    var bytes = try fedsim.bytes("b.zip")
    let place = try #require(bytes.range(of: Data("name: \"s\"\n".utf8)))
    bytes[place.upperBound - 3] = UInt8(ascii: "t")
    try bytes.write(to: URL(fileURLWithPath: "\(fedsim.folder)/b.zip"))
    let damaged = try fedsim("replay", "b.zip")
    #expect(damaged.code == 2 && damaged.out == "", "\(damaged)")
    #expect(damaged.error.hasPrefix("b.zip:scenario.yaml: "), "\(damaged)")
    #expect(damaged.error.hasSuffix("1 fault; nothing was run\n"), "\(damaged)")
    for (arguments, expected) in [
      (["r.h5", "--licence", "mine"], "--licence: `mine` is no address"),
      (["r.h5", "--date", "2026-02-30"], "`2026-02-30` is no date"),
      (["r.h5", "--claims", "s.yaml"], "s.yaml: this scenario has no assertions (`expect`)"),
      (["s.yaml"], "s.yaml: this is not a result of FedSim"),
    ] {
      let wrong = try fedsim.run(["bundle"] + arguments)
      #expect(wrong.code == 2 && wrong.out == "" && wrong.error.contains(expected), "\(wrong)")
    }
  }

  @Test("two files: exit code 0 if they hold the same, 1 if not, with the setting and the event")
  func twoFiles() throws {
    let fedsim = try Command()
    _ = try fedsim("run", "s.yaml", "-q", "-o", "a.h5")
    _ = try fedsim("run", "s.yaml", "-q", "-o", "b.h5")
    _ = try fedsim("run", "s.yaml", "-q", "-o", "c.h5", "--set", "server.trigger.threshold=3")
    let same = try fedsim("compare", "a.h5", "b.h5")
    #expect(same.code == 0 && same.out == "same bytes: a.h5 and b.h5\n")
    let other = try fedsim("compare", "a.h5", "c.h5")
    #expect(other.code == 1 && other.error == "")
    #expect(other.out.hasPrefix("different: a.h5 | c.h5\n"))
    // The outcomes are first, then the settings, then where the runs diverge.
    let lines = other.out.split(separator: "\n").map(String.init)
    let places = ["outcomes", "settings that differ: 1", "metadata", "first differing hour: 1"]
      .map { lines.firstIndex(of: $0) ?? -1 }
    #expect(places[0] == 1 && places == places.sorted(), "\(lines)")
    let accuracy = lines.first { $0.hasPrefix("  central accuracy at the end: ") }
    #expect(accuracy?.contains(#/: [01]\.\d{4} \| [01]\.\d{4}$/#) == true, "\(lines)")
    #expect(!other.out.contains("the seeds differ"))
    _ = try fedsim("run", "s.yaml", "-q", "-o", "d.h5", "--seed", "77")
    #expect(
      try fedsim("compare", "a.h5", "d.h5", "--no-replay").out
        .contains(" | 77): these runs diverge"))
    #expect(other.out.contains("\n  server.trigger.threshold.updates: 2 | 3\n"))
    #expect(other.out.contains("the event is the same, but its effects differ\n"))
    #expect(other.out.contains("    → server: published, version 1, count 2\n"))
    let json = try tree(try fedsim("compare", "a.h5", "c.h5", "--json").out)
    #expect(json["search"] as? String == "played")
    #expect((json["event"] as? [String: Any])?["kind"] as? String == "outcome")
    let still = try fedsim("compare", "a.h5", "c.h5", "--no-replay")
    #expect(still.code == 1 && still.out.contains("not searched (--no-replay)"))
  }

  @Test("seeds in pairs: exit code 0, a claim from enough of them and none from too few")
  func seeds() throws {
    let fedsim = try Command()
    var files: (a: [String], b: [String]) = ([], [])
    for seed in 1...6 {
      files.a.append("a\(seed).h5")
      files.b.append("b\(seed).h5")
      _ = try fedsim("run", "s.yaml", "-q", "-o", "a\(seed).h5", "--seed", "\(seed)")
      // A rate at which nothing is learned.
      _ = try fedsim(
        "run", "s.yaml", "-q", "-o", "b\(seed).h5", "--seed", "\(seed)", "--set",
        "task.training.optimizer={sgd: 0.000001}")
    }
    let some = try fedsim.run(
      ["compare", "--b"] + files.b + ["--a"] + files.a.reversed()
        + ["--measures", "finalAccuracy"])
    #expect(some.code == 0 && some.error == "", "\(some.error)")
    #expect(some.out.hasPrefix("6 pairs: seeds 1, 2, 3, 4, 5, 6\n"))
    #expect(some.out.contains("final accuracy: a is better (higher is better)"), "\(some.out)")
    let few = try fedsim.run(
      ["compare", "--a"] + files.a + ["--b"] + files.b.prefix(5)
        + ["--measures", "finalAccuracy"])
    #expect(few.code == 0)
    #expect(few.out.contains("left out, because only --a has them: seeds 6\n"))
    #expect(
      few.out.contains(
        "no claim is possible: with 5 pairs p cannot be below 0.05; at least 6 are needed"))
    #expect(
      few.out.contains(
        "final accuracy: no claim: too few pairs, and at least 6 that differ are needed\n"))
    let one = try fedsim.run(["compare", "--a", files.a[0], "--b", files.b[0]])
    #expect(one.code == 0 && !one.out.contains("observed effect"), "\(one.out)")
    #expect(
      one.out.contains(
        "no pair has it on both sides: final RMSE, lowest RMSE, joules to target, worst decile\n"))
    // The rate is a matter of the policy; another fleet is not.
    #expect(!one.out.contains("warning"))
    _ = try fedsim(
      "run", "s.yaml", "-q", "-o", "c1.h5", "--seed", "1", "--set",
      "fleet.phones.background.processing.earliestBegin=2 h")
    let unlike = try fedsim("compare", "--a", "a1.h5", "--b", "c1.h5")
    #expect(
      unlike.out.hasPrefix(
        "warning: the two sides differ in more than the policy, which may cause the differences "
          + "found: "
          + "fleet.phones.background.processing.earliestBegin\n"), "\(unlike.out)")
    _ = try fedsim(
      "run", "s.yaml", "-q", "-o", "d1.h5", "--seed", "1", "--set", "seeds.world=9")
    let otherWorld = try fedsim("compare", "--a", "a1.h5", "--b", "d1.h5")
    #expect(otherWorld.out.contains("different sub-seeds or data on the two sides"))
    #expect(otherWorld.out.contains("seeds 1\n"))
    let json = try tree(
      try fedsim.run(["compare", "--json", "--a"] + files.a + ["--b"] + files.b).out)
    let lines = (json["comparison"] as? [String: Any])?["lines"] as? [[String: Any]]
    #expect(lines?.first?["measure"] as? String == "finalAccuracy")
  }

  @Test("wrong arguments are reported with what was expected: exit code 2")
  func wrong() throws {
    let fedsim = try Command()
    _ = try fedsim("run", "s.yaml", "-q", "-o", "a.h5")
    _ = try fedsim("run", "s.yaml", "-q", "-o", "b.h5", "--seed", "2")
    for (arguments, expected) in [
      (["a.h5"], "found one file, expected two"),
      (["a.h5", "b.h5", "a.h5"], "found 3 files, expected two"),
      (["--a", "a.h5"], "found only --a, expected --a and --b"),
      (["b.h5", "--a", "a.h5", "--b", "a.h5"], "found b.h5 together with --a and --b"),
      (["--a", "a.h5", "--b", "a.h5", "--alpha", "2"], "--alpha: found 2.0"),
      (["--a", "a.h5", "--b", "a.h5", "--resamples", "3"], "--resamples: found 3"),
      (["a.h5", "b.h5", "--alpha", "0.1"], "found --alpha with two files"),
      (["a.h5", "b.h5", "--target", "0.5"], "found --target with two files"),
      (["a.h5", "b.h5", "--resamples", "500"], "found --resamples with two files"),
      (["a.h5", "b.h5", "--measures", "gini"], "found --measures with two files"),
      (["--a", "a.h5", "--b", "a.h5", "--no-replay"], "found --no-replay with --a and --b"),
      (["--a", "a.h5", "--b", "a.h5", "--folder", "."], "found --folder with --a and --b"),
      (["--a", "a.h5", "--b", "a.h5", "--threads", "1"], "found --threads with --a and --b"),
      (["--a", "a.h5", "--b", "a.h5", "--target", "7"], "--target: found 7.0"),
      (["--a", "a.h5", "--b", "a.h5", "--measures", "ginni"], "did you mean `gini`?"),
      (["--a", "a.h5", "--b", "b.h5"], "no seed is on both sides: --a has 1, --b has 2"),
      (["--a", "a.h5", "a.h5", "--b", "a.h5"], "its seed, 1, is also that of a.h5;"),
      (["a.h5", "s.yaml"], "s.yaml: this is not a result of FedSim"),
    ] {
      let result = try fedsim.run(["compare"] + arguments)
      #expect(result.code == 2 && result.out == "", "\(arguments)")
      #expect(result.error.contains(expected), "\(arguments): \(result.error)")
    }
  }
}
