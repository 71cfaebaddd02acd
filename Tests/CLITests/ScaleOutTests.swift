import Foundation
import Testing

@Suite("Trainings computed by other processes")
struct ScaleOutTests {
  @Test("worker processes give the bytes of threads", arguments: [1, 3])
  func workers(count: Int) throws {
    let fedsim = try Command()
    #expect(try fedsim("run", "s.yaml", "-q", "-o", "a.h5").code == 0)
    let run = try fedsim("run", "s.yaml", "-q", "-o", "b.h5", "--workers", "\(count)")
    #expect(run.code == 0 && run.error == "", "\(run.error)")
    #expect(try fedsim.bytes("a.h5") == fedsim.bytes("b.h5"))
  }

  /// A pipe names a plan that it has sent by its place, for 64 plans at a time: here are 140.
  @Test("so they do where each round trains in another way")
  func plans() throws {
    let fedsim = try Command()
    let configs = (1...140).map { "{fromRound: \($0), learningRate: \(Double($0) / 1000)}" }
    let scenario = Command.scenario.replacing("12 h", with: "30 d")
      .replacing("trigger: {threshold: 2}", with: "trigger: {threshold: 1}")
    try fedsim.write(
      scenario + "  clientConfig: [\(configs.joined(separator: ", "))]\n", to: "plans.yaml")
    #expect(try fedsim("run", "plans.yaml", "-q", "-o", "a.h5").code == 0)
    let run = try fedsim("run", "plans.yaml", "-q", "-o", "b.h5", "--workers", "2", "--json")
    #expect(run.code == 0 && run.error == "", "\(run.error)")
    let found = try JSONSerialization.jsonObject(with: Data(run.out.utf8)) as? [String: Any]
    #expect((found?["version"] as? Int ?? 0) > 140, "\(run.out)")
    #expect(try fedsim.bytes("a.h5") == fedsim.bytes("b.h5"))
  }

  @Test("what cannot be is refused")
  func refusals() throws {
    let fedsim = try Command()
    for (words, part) in [
      (["run", "s.yaml", "--workers", "0"], "--workers: found 0, expected a number from 1"),
      (["sweep", "s.yaml", "--launcher", "srun"], "--launcher: needs --ranks"),
      (["plan-ranks", "s.yaml", "--latency", "5"], "--latency: found `5`"),
      (["plan-ranks", "s.yaml", "--bandwidth", "fast"], "--bandwidth: found `fast`"),
      (["plan-ranks", "none.yaml"], "none.yaml"),
    ] {
      let result = try fedsim.run(words)
      #expect(result.code == 2 && result.error.contains(part), "\(words): \(result.error)")
    }
    #expect(fedsim.names == ["s.yaml"])
  }

  @Test("without its library, --mpi says how to build it, and nothing is run")
  func noLibrary() throws {
    let fedsim = try Command()
    let result = try fedsim.run(
      ["run", "s.yaml", "--mpi"], ["FEDSIM_MPI": "/nowhere/libfedsim-mpi.so"])
    #expect(result.code == 2, "\(result.error)")
    #expect(result.error.contains("/nowhere/libfedsim-mpi.so") && result.error.contains("make mpi"))
    #expect(fedsim.names == ["s.yaml"])
  }

  @Test("plan-ranks measures a scenario and shows 1 to 64 ranks")
  func plan() throws {
    let fedsim = try Command()
    let result = try fedsim("plan-ranks", "s.yaml")
    #expect(result.code == 0, "\(result.error)")
    let lines = result.out.split(separator: "\n").map(String.init)
    #expect(lines.count == 10 && lines[0].hasPrefix("a version: "))
    let first = lines.suffix(7).map { $0.split(separator: " ").first.flatMap { Int($0) } }
    #expect(first == [1, 2, 4, 8, 16, 32, 64])
    let json = try fedsim("plan-ranks", "s.yaml", "--json")
    let plan = try JSONSerialization.jsonObject(with: Data(json.out.utf8)) as? [String: Any]
    #expect((plan?["rows"] as? [Any])?.count == 7)
  }

  @Test("a list says how an aggregator is divided among ranks")
  func list() throws {
    let lines = try Command()("list", "aggregator").out.split(separator: "\n").map(String.init)
    func note(of part: String) -> String? {
      lines.firstIndex { $0.hasPrefix("  \(part): ") }.map { lines[$0 + 1] }
    }
    #expect(note(of: "sample-weighted-mean")?.contains("slice of the parameters") == true)
    #expect(note(of: "uniform-mean")?.contains("slice of the parameters") == true)
    for part in ["krum", "median", "trimmed-mean"] {
      #expect(note(of: part)?.contains("gathers all updates") == true)
    }
  }
}
