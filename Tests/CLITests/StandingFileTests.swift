import Foundation
import Testing

/// Files that commands make: each replaces one of the same kind, and nothing else.
@Suite("files that are there already")
struct StandingFileTests {
  /// Each option that writes a file, but `run --output`, with `X` for the path.
  static let commands = [
    ["trace", "s.yaml", "-o", "X"],
    ["trace", "s.yaml", "-o", "X", "--format", "csv", "--series", "power"],
    ["run", "s.yaml", "-q", "-o", "r.h5", "--timings", "X"],
    ["check", "s.yaml", "--junit", "X"],
    ["stress", "s.yaml", "-q", "--digests", "X", "--seeds", "1", "--jobs", "1"],
    ["bundle", "r.h5", "-o", "X"],
    ["report", "r.h5", "-o", "X"], ["plot", "r.h5", "--figure", "funnel", "-o", "X.svg"],
    ["export", "r.h5", "--format", "npz", "--to", "X"], ["init", "X"],
    ["recover", "r.h5", "-o", "X"],
  ]

  @Test("a scenario, a result or a note under the path is not replaced", arguments: commands)
  func refused(arguments: [String]) throws {
    let fedsim = try Command()
    try fedsim.write(Command.scenario + "expect: [{rounds: {atLeast: 0}}]\n", to: "s.yaml")
    #expect(try fedsim("run", "s.yaml", "-q", "-o", "r.h5").code == 0)
    #expect(try fedsim("run", "s.yaml", "-q", "-o", "other.h5", "--seed", "2").code == 0)
    try fedsim.write("mine", to: "notes.txt")
    for path in ["s.yaml", "r.h5", "other.h5", "notes.txt"] {
      let path = arguments.last == "X.svg" ? "\(path).svg" : path
      if path.hasSuffix(".svg") { try fedsim.write("mine", to: path) }
      let (bytes, names) = (try fedsim.bytes(path), fedsim.names)
      let result = try fedsim.run(
        arguments.map { $0.hasPrefix("X") ? path : $0 })
      #expect(result.code == 2, "\(path): \(result)")
      #expect(try fedsim.bytes(path) == bytes, "\(path): \(result)")
      #expect(fedsim.names == names, "\(path)")
    }
  }

  @Test(
    "a file of the same kind is replaced",
    arguments: commands.dropLast(3))
  func replaced(arguments: [String]) throws {
    let fedsim = try Command()
    try fedsim.write(Command.scenario + "expect: [{rounds: {atLeast: 0}}]\n", to: "s.yaml")
    #expect(try fedsim("run", "s.yaml", "-q", "-o", "r.h5").code == 0)
    for _ in 1...2 {
      let result = try fedsim.run(arguments.map { $0 == "X" ? "out" : $0 })
      #expect(result.code == 0, "\(result)")
    }
  }

  @Test(
    "timings are not written over the result of the run, nor traces over what they are of")
  func own() throws {
    let fedsim = try Command()
    let timings = try fedsim("run", "s.yaml", "-q", "-o", "n.h5", "--timings", "./n.h5")
    #expect(timings.code == 2 && timings.error.contains("this is the path of the result"))
    #expect(fedsim.names == ["s.yaml"], "\(timings)")
    let csv = ["--format", "csv", "--series", "power", "-o", "power.csv"]
    #expect(try fedsim.run(["trace", "s.yaml"] + csv).code == 0)
    let before = try fedsim.bytes("power.csv")
    let power = ["--set", "fleet.phones.power={csv: {file: power.csv, period: 43200 s}}"]
    let trace = try fedsim.run(["trace", "s.yaml"] + csv + power)
    #expect(trace.code == 2 && trace.error.contains("the scenario reads this file"), "\(trace)")
    #expect(try fedsim.bytes("power.csv") == before)
  }
}
