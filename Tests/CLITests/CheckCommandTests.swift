import Foundation
import Testing

@Suite("fedsim check")
struct CheckCommandTests {
  private static let claim = "expect:\n  - {versions: {atLeast: 1}, centralAccuracy: {atMost: 1}}\n"

  private func command(_ claim: String = claim) throws -> Command {
    let fedsim = try Command()
    try fedsim.write(Command.scenario + claim, to: "s.yaml")
    return fedsim
  }

  @Test("claims that hold exit with 0 and leave no file")
  func holds() throws {
    let fedsim = try command()
    let result = try fedsim("check", ".")
    #expect(result.code == 0 && result.error == "", "\(result)")
    #expect(result.out == "ok        ./s.yaml  (2 assertions)\n1 scenario: 1 hold\n")
    #expect(fedsim.names == ["s.yaml"])
  }

  @Test("a broken claim exits with 1 and says what was found, in check and in run")
  func broken() throws {
    let fedsim = try command("expect:\n  - {versions: {atMost: 0}}\n")
    let line = Command.scenario.split(separator: "\n", omittingEmptySubsequences: false).count + 1
    let words = "s.yaml:\(line):16: versions at the end: at most 0: found "
    let check = try fedsim("check", "s.yaml")
    #expect(check.code == 1)
    #expect(check.out.hasPrefix("BROKEN    s.yaml\n  \(words)"), "\(check.out)")
    #expect(check.out.hasSuffix("\n1 scenario: 0 hold, 1 broken\n"))
    let run = try fedsim("run", "s.yaml", "-q", "-o", "o.h5")
    #expect(run.code == 1)
    #expect(run.error.hasPrefix("broken: \(words)"), "\(run.error)")
    #expect(run.error.hasSuffix("assertions: 1 of 1 broken\n"))
    #expect(fedsim.names.contains("o.h5"), "the result is written all the same")
  }

  @Test("a run whose claims hold says so, and its result is that of a run without claims")
  func run() throws {
    let fedsim = try command()
    try fedsim.write(Command.scenario, to: "plain.yaml")
    let run = try fedsim("run", "s.yaml", "-q", "-o", "a.h5", "--set", "name=x")
    #expect(run.code == 0 && run.error == "assertions: all 2 hold\n")
    let plain = try fedsim("run", "plain.yaml", "-q", "-o", "b.h5", "--set", "name=x")
    #expect(plain.error == "")
    #expect(try fedsim.areEqual("a.h5", "b.h5"))
  }

  @Test("--record writes the baseline, and a change is reported with its first round")
  func record() throws {
    let fedsim = try command("")
    let recorded = try fedsim("check", "--record", "s.yaml")
    #expect(recorded.code == 0)
    #expect(
      recorded.out == "recorded  s.baseline  (new)\n1 scenario: 0 hold, 1 recorded\n",
      "\(recorded.out)")
    #expect(fedsim.names == ["s.baseline", "s.yaml"])
    #expect(try fedsim("check", "s.yaml").out.hasPrefix("ok        s.yaml  (as recorded)\n"))
    try fedsim.write(
      Command.scenario.replacing("threshold: 2", with: "threshold: 3"), to: "s.yaml")
    let broken = try fedsim("check", "s.yaml")
    #expect(broken.code == 1)
    #expect(broken.out.contains("  this run differs from the recording s.baseline:\n"))
    #expect(broken.out.contains("    event "), "\(broken.out)")
    #expect(broken.out.contains("    round 1 ("), "\(broken.out)")
    let again = try fedsim("check", "--record", ".")
    #expect(again.code == 0 && again.out.hasPrefix("recorded  ./s.baseline\n"))
    #expect(again.out.contains("    round 1 ("), "with a recording it tells what moved")
    #expect(try fedsim("check", ".").code == 0)
  }

  @Test("Ctrl-C ends a check with 130 and says so")
  func interrupt() throws {
    let fedsim = try Command()
    // A hundred years, so that it cannot be over too soon.
    let long = Command.scenario.replacing("after: 12 h", with: "after: 36500 d")
    try fedsim.write(long + Self.claim, to: "s.yaml")
    let process = try fedsim.process(["check", "s.yaml"])
    let error = Pipe()
    process.standardError = error
    try process.run()
    // Until it looks at the signal, the signal is ignored, blocked or caught by nobody.
    let path = "/proc/\(process.processIdentifier)/status"
    for _ in 0..<1_200 where process.isRunning {
      let status = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
      let masks = status.matches(of: #/Sig(?:Blk|Ign|Cgt):\s*([0-9a-f]+)/#)
      if masks.contains(where: { (UInt64($0.1, radix: 16) ?? 0) & 2 != 0 }) { process.interrupt() }
      usleep(50_000)
    }
    if process.isRunning {
      Issue.record("still running after a minute")
      kill(process.processIdentifier, SIGKILL)
    }
    process.waitUntilExit()
    #expect(process.terminationReason == .exit && process.terminationStatus == 130)
    let text = String(decoding: error.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    #expect(text.hasSuffix("interrupted; the check is not finished, and nothing is reported\n"))
    #expect(fedsim.names == ["s.yaml"])
  }

  @Test("the report as JUnit has a case a claim and one for the baseline")
  func junit() throws {
    let fedsim = try command()
    _ = try fedsim("check", "--record", "s.yaml")
    try fedsim.write(
      Command.scenario + "expect:\n  - {versions: {below: 1}}\n  - {rounds: {atLeast: 1}}\n",
      to: "s.yaml")
    #expect(try fedsim("check", ".", "--junit", "r.xml").code == 1)
    let text = String(decoding: try fedsim.bytes("r.xml"), as: UTF8.self)
    #expect(
      text.contains("<testsuites name=\"fedsim check\" tests=\"3\" failures=\"1\" errors=\"0\">"))
    #expect(text.contains("<testcase classname=\"./s.yaml\" name=\"recording\"/>"))
    #expect(text.contains("name=\"versions at the end: below 1\">"))
    #expect(text.contains("<failure message=\"./s.yaml:"))
    let parser = XMLCheck()
    #expect(parser.isWellFormed(text))
    #expect(
      parser.names == ["testsuites", "testsuite", "testcase", "failure", "testcase", "testcase"])
  }

  @Test("the report as JSON has every verdict")
  func json() throws {
    struct Report: Decodable {
      struct Scenario: Decodable {
        struct Claim: Decodable {
          var claim: String
          var holds: Bool
          var found: String
        }
        var path: String
        var status: String
        var claims: [Claim]
      }
      var scenarios: [Scenario]
    }
    let fedsim = try command()
    let result = try fedsim("check", "s.yaml", "--json")
    let report = try JSONDecoder().decode(Report.self, from: Data(result.out.utf8))
    #expect(report.scenarios.map(\.status) == ["holds"])
    #expect(report.scenarios[0].claims.map(\.holds) == [true, true])
  }

  @Test(
    "bad input exits with 2",
    arguments: [
      (["check"], "Missing expected argument"),
      (["check", "none"], "there is no such file or folder"),
      (["check", "s.yaml", "--jobs", "0"], "expected a number from 1 to 1024"),
      (["check", "s.yaml", "--all"], "--all needs --record"),
      (["check", "s.yaml", "--junit", "nowhere/r.xml"], "the folder nowhere does not exist"),
      (["check", "plain.yaml"], "there is nothing to check"),
      (["check", "empty"], "there is nothing to check"),
      (["check", "wrong.yaml"], "did you mean `versions`?"),
    ])
  func badInput(arguments: [String], message: String) throws {
    let fedsim = try command()
    try fedsim.write(Command.scenario, to: "plain.yaml")
    try fedsim.write(Command.scenario + "expect: [{version: 3}]\n", to: "wrong.yaml")
    try FileManager.default.createDirectory(
      atPath: fedsim.folder + "/empty", withIntermediateDirectories: true)
    let result = try fedsim.run(arguments)
    #expect(result.code == 2, "\(result)")
    #expect((result.out + result.error).contains(message), "\(result)")
  }
}

/// Reads XML far enough to say whether every element is closed in its turn.
private final class XMLCheck {
  var names: [String] = []

  func isWellFormed(_ text: String) -> Bool {
    var open: [String] = []
    for tag in text.matches(of: #/<([?/]?)([A-Za-z]+)((?:[^>"]|"[^"<]*")*)>/#) {
      let name = String(tag.2)
      if tag.1 == "?" { continue }
      if tag.1 == "/" {
        guard open.popLast() == name else { return false }
      } else {
        names.append(name)
        if !tag.3.hasSuffix("/") { open.append(name) }
      }
    }
    return open.isEmpty
  }
}
