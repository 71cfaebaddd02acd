import Foundation
import Testing

@Suite("fedsim trace")
struct TraceCommandTests {
  @Test("traces are written and run again, whatever the host's time zone")
  func writtenAndRead() throws {
    let fedsim = try Command()
    // Over the night in which New York's clocks go from 02:00 to 03:00.
    let start = "start=2025-03-08T20:00:00Z"
    let written = try fedsim(
      "trace", "s.yaml", "--output", "t.json", "--days", "2", "--set", start, "--set",
      "fleet.phones.link={markov: [{state: wifi, mean: 1 h}, {state: offline, mean: 40 min}]}")
    #expect(written.code == 0 && written.error == "", "\(written.error)")
    #expect(written.out.hasPrefix("wrote t.json: 4 devices, "))
    #expect(written.out.contains("{flash: {file: t.json, gapPolicy: offline}}"))
    let link = "fleet.phones.link={flash: {file: t.json, gapPolicy: offline}}"
    for (zone, name) in [("UTC", "a.h5"), ("America/New_York", "b.h5"), ("Asia/Kolkata", "c.h5")] {
      let run = try fedsim(
        "run", "s.yaml", "-q", "-o", name, "--set", start, "--set", link,
        environment: ["TZ": zone])
      #expect(run.code == 0, "\(run.error)")
    }
    #expect(try fedsim.areEqual("a.h5", "b.h5") && fedsim.areEqual("a.h5", "c.h5"))
    #expect(try fedsim("trace", "s.yaml", "-o", "u.json", "--days", "2", "--set", start).code == 0)
    #expect(try !fedsim.areEqual("t.json", "u.json"))
  }

  @Test(
    "what cannot be written exits with 2 and leaves no file",
    arguments: [
      (["s.yaml"], "Missing expected argument '--output"),
      (["s.yaml", "-o", "no/t.json"], "the folder no does not exist"),
      (["s.yaml", "-o", "t", "--format", "flsh"], "provide one of 'flash' and 'csv'"),
      (["s.yaml", "-o", "t", "--format", "csv"], "needs --series"),
      (["s.yaml", "-o", "t", "--days", "0"], "expected a number from 1"),
      (["s.yaml", "-o", "t", "--group", "phone"], "did you mean `phones`?"),
      (
        ["s.yaml", "-o", "t", "--set", "fleet.phones.link={flash: x.json}"], "x.json: No such file"
      ),
      (["none.yaml", "-o", "t"], "none.yaml"),
    ])
  func refusals(arguments: [String], message: String) throws {
    let fedsim = try Command()
    let result = try fedsim.run(["trace"] + arguments)
    #expect(result.code == 2 && result.out == "")
    #expect(result.error.contains(message), "\(result.error)")
    #expect(fedsim.names == ["s.yaml"])
  }
}
