import Foundation
import Runs
import Scenarios
import Schema
import Sweeps
import Testing

/// Searches whose worlds are played by other processes: a shell replaces one that crashes.
@Suite("Worlds in separate processes")
struct StressProcessTests {
  private static let section = """
    stress:
      vary:
        fleet.phones.outbox.capacity: [0, 1, 5]
        server.trigger.threshold: {from: 1, to: 8, integer: true}

    """

  /// Ends by a signal where phones keep five updates and the threshold is above 3, and finds
  /// nothing elsewhere. It looks at the text alone.
  private static let script = """
    while read -r line; do
      n=$(printf %s "$line" | sed 's/.*"number":\\([0-9]*\\).*/\\1/')
      case "$line" in
        *"capacity: 5"*) case "$line" in *"updates: "[4-8]*) kill -ABRT $$ ;; esac ;;
      esac
      printf '{"number":%s,"trial":{"findings":[],"eventDigest":"","modelDigest":""}}\\n' "$n"
    done
    """

  private func player(_ jobs: Int, _ script: String = Self.script) -> ProcessPlayer {
    var options = ProcessPlayer.Options()
    options.jobs = jobs
    options.program = "/bin/sh"
    options.arguments = ["-c", script, "worker"]
    return ProcessPlayer(options)
  }

  @Test("a crash is a failure, and what is left of the scenario is what it takes")
  func crash() throws {
    var texts: [String] = []
    for jobs in [1, 3] {
      let searched = try Searched(Self.section)
      let report = try searched.search(200, player: player(jobs))
      let failure = try #require(report.failures.first)
      #expect(failure.text == "the worker was ended by signal 6")
      texts.append(try Searched.text(failure.file))
    }
    #expect(texts[0] == texts[1], "however many are played at once")
    let lines = texts[0].split(separator: "\n")
    #expect(lines[0] == "# the worker was ended by signal 6")
    #expect(lines[1].hasPrefix("# Found by `fedsim stress s.yaml`: world "))
    #expect(lines[1].hasSuffix(" of seed 7, shrunk."))
    #expect(lines[2] == "#   fedsim run s.stress-1.yaml --audit")
    // 4 is the lowest threshold that crashes; nothing else matters to the shell; what
    // bounds a run stays.
    #expect(
      lines.dropFirst(3) == [
        "stop: {after: 250 ms}", "task: none", "fleet: [{outbox: {capacity: 5}}]",
        "server: {trigger: {threshold: {updates: 4}}}",
      ])
  }

  @Test("workers that end before they have done anything are accounted for")
  func noWorker() throws {
    let searched = try Searched(Self.section)
    #expect(throws: RunFailure.self) {
      _ = try searched.search(3, player: player(1, "exit 3"))
    }
  }

  @Test("an answer that is no answer ends the search with what was found", .timeLimit(.minutes(1)))
  func noAnswer() throws {
    let searched = try Searched(Self.section)
    do {
      _ = try searched.search(
        3, player: player(1, "while read -r line; do echo '{\"number\":}'; done"))
      Issue.record("the search did not notice")
    } catch {
      #expect("\(error)".contains("a worker's answer is not understood: {\"number\":}"))
    }
  }

  @Test("a world that takes too long is given up, and is no failure")
  func timeout() throws {
    var options = ProcessPlayer.Options()
    options.program = "/bin/sh"
    options.arguments = ["-c", "read -r line; exec sleep 60", "worker"]
    options.timeout = 0.2
    let report = try Searched(Self.section).search(3, player: ProcessPlayer(options))
    #expect(report.failures.isEmpty && report.played == 0 && report.tooLong == 3)
  }

  @Test("a search ends when its time is over")
  func time() throws {
    let began = ContinuousClock.now
    let sleeper = player(1, "read -r line; exec sleep 60")
    let report = try Searched(Self.section).search(100, player: sleeper) { $0.seconds = 0.3 }
    #expect(report.played == 0 && report.failures.isEmpty)
    #expect(ContinuousClock.now - began < .seconds(20))
  }
}

@Suite("Scenarios in few lines")
struct CompactTests {
  @Test("a tree reads back as it was, in as few lines as are asked for")
  func reading() throws {
    let text = """
      name: "a: b"
      stop: {after: 12 h, rounds: 3}
      fleet:
        - name: phones
          count: 4
          link: {markov: [{state: wifi, mean: 40 min}, {state: offline, mean: 10 min}]}
          zones: [[1, "2"], [], {}]
          "odd, key": null
      server: {trigger: [{threshold: 6}, every], text: "#no, {comment}"}

      """
    let node = try YAMLReader.read(text, file: "s.yaml")
    for most in [30, 8, 4, 1] {
      let lines = node.compactYAML(mostLines: most)
      #expect(lines.count <= most)
      let back = try YAMLReader.read(lines.joined(separator: "\n") + "\n", file: "s.yaml")
      #expect(back.json == node.json, "\(lines)")
    }
  }
}
