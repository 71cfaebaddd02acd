import Foundation
import Runs
import Scenarios
import Schema
import Sweeps
import Testing

/// A folder with a scenario that is searched.
final class Searched {
  /// Phones that come and go, under a policy that is right.
  static let policy = """
    seed: 7
    stop: {after: 12 h}
    task:
      data:
        source: {blobs: {classes: 3, features: 4, train: 120, test: 30}}
        partition: {iid: {clients: 12}}
      model: softmax
      training: {epochs: 1, batchSize: 5, optimizer: {sgd: 0.1}}
    fleet:
      - name: phones
        count: 4
        link: {markov: [{state: wifi, mean: 40 min}, {state: offline, mean: 10 min}]}
        background:
          windows: {markov: [{state: open, mean: 20 min}, {state: closed, mean: 20 min}]}
        participation: {repeats: true, pause: 5 min}
        compute: {perBatch: 10 s}
        outbox: {capacity: 2}
    server:
      {payload: delta, trigger: {threshold: 6}, aggregator: sample-weighted-mean, optimizer: sgd}

    """

  /// The same with a version for every two updates; four phones never make six at once.
  static let eager = policy.replacing("threshold: 6", with: "threshold: 2")

  let folder: String
  let path: String

  init(_ section: String, policy: String = Searched.policy) throws {
    folder = NSTemporaryDirectory() + "fedsim-stress-\(UUID().uuidString)"
    path = folder + "/s.yaml"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try Data((policy + section).utf8).write(to: URL(fileURLWithPath: path))
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  func search(
    _ worlds: Int, _ registry: Registry = .standard, player: (any WorldPlayer)? = nil,
    _ change: (inout Stress.Options) -> Void = { _ in }
  ) throws -> Stress.Report {
    var options = Stress.Options()
    options.worlds = worlds
    options.shrinkTrials = 400
    change(&options)
    let scenario = try Scenario(contentsOf: path, registry: registry)
    return try Stress(scenario, options).search(player ?? InProcessPlayer(registry))
  }

  /// What is broken in a file, with other values.
  static func findings(
    _ path: String, _ registry: Registry = .standard, _ overrides: [String] = []
  ) throws -> [String] {
    let scenario = try Scenario(contentsOf: path, overrides: overrides, registry: registry)
    let trial = try #require(try Trial(scenario, RunOptions(), replays: true))
    return trial.findings.map(\.text)
  }

  static func text(_ path: String) throws -> String {
    String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self)
  }
}

@Suite("Searching for the world that breaks a policy")
struct StressTests {
  /// A backlog of more than twice the threshold needs phones enough, a low threshold, and an
  /// internet that is away for long; none of the lists begins with what it takes.
  private static let section = """
    stress:
      vary:
        server.trigger.threshold: {from: 1, to: 12, integer: true}
        server.internet:
          - {fixed: up}
          - {markov: [{state: up, mean: 2 h}, {state: down, mean: 1 min}]}
          - {markov: [{state: up, mean: 2 h}, {state: down, mean: 40 min}]}
        fleet.phones.count: {from: 1, to: 12, integer: true}
        fleet.phones.outbox.capacity: [0, 1, 5]
        task.training.batchSize: [5, 10]
      expect: [{update.roundSkipped: 0, attempt.opened: {atLeast: 0}}]

    """

  @Test("a defect that needs three things at once is found, and its file of 30 lines shows it")
  func coincidence() throws {
    let wrong = Registry.standard.adding(ForgetfulThreshold.self)
    let searched = try Searched(Self.section)
    let report = try searched.search(200, wrong)
    let failure = try #require(report.failures.first)
    #expect(failure.world > 0, "the scenario as it stands does not show it")
    #expect(failure.text.hasPrefix("update.roundSkipped at the end: 0: found "))
    #expect(failure.lines <= 30)
    #expect(failure.file == searched.folder + "/s.stress-1.yaml")
    #expect(failure.command == "fedsim run \(failure.file) --audit")
    // The file is complete in itself, shows the defect, and is right without it.
    let text = try Searched.text(failure.file)
    #expect(text.split(separator: "\n").count == failure.lines)
    #expect(!text.contains("base:") && !text.contains("stress:"))
    #expect(!text.contains("attempt.opened"), "a claim that holds is left out")
    #expect(try Searched.findings(failure.file, wrong) == [failure.text])
    #expect(try Searched.findings(failure.file) == [])
    // Each of the three is needed.
    for other in ["server.internet={fixed: up}", "server.trigger={threshold: 12}"] {
      #expect(try Searched.findings(failure.file, wrong, [other]) == [], "\(other)")
    }
    #expect(try Searched.findings(failure.file, wrong, ["stop={versions: 2}"]) == [])
  }

  @Test("with the right part nothing breaks in the same worlds")
  func nothing() throws {
    let report = try Searched(Self.section).search(60)
    #expect(report.failures.isEmpty)
    #expect(report.played == 60 && report.passedOver == 0)
    #expect(report.text.hasPrefix("60 worlds in ") && report.text.hasSuffix(": nothing broken"))
  }

  @Test("without a section the built-in changes find a version that is not finite")
  func builtIn() throws {
    let wrong = Registry.standard.adding(VanishingMean.self)
    let searched = try Searched("", policy: Searched.eager)
    let failure = try #require(try searched.search(200, wrong).failures.first)
    #expect(failure.text.hasSuffix(" is not finite"))
    #expect(failure.lines <= 30)
    #expect(try Searched.findings(failure.file, wrong).contains(failure.text))
    #expect(try Searched.findings(failure.file) == [])
  }

  @Test("a part that remembers outside of its memory is found: the run is not reproduced")
  func unsteady() throws {
    let wrong = Registry.standard.adding(UnsteadySGD.self)
    let searched = try Searched("", policy: Searched.eager)
    let failure = try #require(
      try searched.search(1, wrong) { $0.shrinkTrials = 0 }.failures.first)
    #expect(failure.first == "played again, the run differs")
    #expect(failure.command == "fedsim stress \(failure.file) --seeds 1")
  }

  @Test("where no file can be written nothing is searched")
  func noPlace() throws {
    let searched = try Searched(Self.section)
    let failure = try #require(throws: RunFailure.self) {
      try searched.search(60) { $0.folder = searched.folder + "/missing" }
    }
    #expect(failure.isBadInput)
    #expect(failure.description.contains("/missing does not exist"), "\(failure)")
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: searched.folder) == ["s.yaml"])
  }

  @Test("a world depends on the seed and its number alone, and not on how many there are")
  func worlds() throws {
    let scenario = try Scenario(text: Searched.policy + Self.section, file: "s.yaml")
    let (a, b) = (try StressSpace(scenario), try StressSpace(scenario))
    #expect(try a.text(of: 5) == b.text(of: 5))
    #expect(try a.text(of: 5) != a.text(of: 6))
    let other = try Scenario(
      text: Searched.policy + Self.section, file: "s.yaml", overrides: ["seed=8"])
    #expect(try StressSpace(other).text(of: 5) != a.text(of: 5))
  }

  @Test("worlds have all values of ranges and of lists, both ends among them, and no others")
  func ranges() throws {
    let space = try StressSpace(Scenario(text: Searched.policy + Self.section, file: "s.yaml"))
    var (counts, capacities, sizes) = (Set<Int>(), Set<Int>(), Set<Int>())
    for number in 1...200 {
      let world = try Scenario(text: space.text(of: number)).settings
      counts.insert(world.fleet[0].count)
      capacities.insert(world.fleet[0].outbox.capacity)
      sizes.insert(world.task.training.batchSize)
    }
    // That one of twelve is in none of 200 worlds has a chance of (1 - 0.75/12)^200 = 2.5e-6.
    #expect(counts == Set(1...12))
    #expect(capacities == [0, 1, 5])
    #expect(sizes == [5, 10])
  }

  @Test("what cannot be varied is reported with its place, before anything is played")
  func faults() throws {
    func faults(_ section: String) -> [String] {
      do throws(Faults) {
        let scenario = try Scenario(text: Searched.policy + section, file: "s.yaml")
        _ = try StressSpace(scenario)
        return []
      } catch {
        return error.faults.map(\.description)
      }
    }
    #expect(
      faults("stress: {vary: {server.trigger.treshold: [1]}}\n").first?
        .contains("did you mean `threshold`?") == true)
    #expect(
      faults("stress: {vary: {seed: {from: 3, to: 1}}}\n") == [
        "s.yaml:20:37: stress.vary.seed.to: a range must go from the lower to the higher end"
      ])
    #expect(
      faults("stress: {vary: {name: [a]}}\n") == [
        "s.yaml:20:17: stress: `name`: a search cannot vary this"
      ])
    #expect(
      faults("stress: {vary: {fleet.tablets.count: [1]}}\n").first?.contains(
        "no entry of this list has the name `tablets`") == true)
    #expect(
      faults("stress: {expect: [{compare: {}}]}\n").first?.contains("missing key") == true)
    #expect(
      faults("stress: {vary: {seed: [1, two]}}\n").first?.contains("expected a whole number")
        == true)
  }
}
