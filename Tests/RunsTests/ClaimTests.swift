import Foundation
import Testing

import FedSim
import Runs
import Scenarios
import Schema

@Suite("Claims about a run")
struct ClaimTests {
  /// Three devices that are always there; two of them make a version.
  ///
  /// Each has 4 samples in batches of 2, 10 s a batch: a round takes 20 s and what is sent.
  private static let text = """
    name: three
    seed: 2
    stop: {rounds: 4, after: 1 h}
    task:
      data:
        source: {blobs: {classes: 2, features: 2, train: 12, test: 10}}
        partition: {iid: {clients: 3}}
      model: softmax
      training: {epochs: 1, batchSize: 2, optimizer: {sgd: 0.1}}
    fleet:
      - name: phones
        count: 3
        background: {windows: {fixed: open}}
        participation: {repeats: true, pause: 1 s}
        compute: {perBatch: 10 s}
    server:
      policy: synchronous-fedavg
      selector: {uniform: {cohort: 2, overSelection: 1}}
      trigger: {cohort-complete: {}}
    record: {evaluateEvery: {versions: 2}}

    """

  private func verdicts(_ claims: String, _ text: String = text) throws -> [ClaimVerdict] {
    let folder = try CheckedFolder(text + "expect:\n" + claims)
    let report = folder.check()
    #expect(report.status == .holds || report.status == .broken, "\(report.text)")
    return report.claims
  }

  @Test(
    "a claim holds or not as the tables say",
    arguments: [
      // Four rounds of two updates of four samples each.
      ("{versions: 4}", true, "4"), ("{rounds: 4}", true, "4"),
      ("{versions: {between: [3, 5]}}", true, "4"), ("{versions: {above: 4}}", false, "4"),
      ("{updates: 2}", true, "2"), ("{at: {version: 3}, samples: {equals: 8}}", true, "8"),
      ("{at: {version: 3}, samples: {equals: 9, tolerance: 1}}", true, "8"),
      ("{at: {version: 3}, samples: {equals: 10, tolerance: 1}}", false, "8"),
      ("{at: {version: 3}, rounds: 3}", true, "3"), ("{at: {round: 2}, versions: 2}", true, "2"),
      ("{at: {round: 2}, outcome: published}", true, "published"),
      ("{at: {round: 2}, outcome: skipped}", false, "published"),
      ("{at: {round: 1}, aggregated: 2}", true, "2"), ("{cohort: 2}", true, "2"),
      // Before anything is published there is version 0, and no round.
      ("{at: {time: 1 s}, versions: 0}", true, "0"),
      ("{at: {time: 1 s}, cohort: 2}", false, "nothing: no round was closed by then"),
      ("{at: {version: 9}, updates: 2}", false, "nothing: the run reached version 4 only"),
      ("{at: {round: 9}, cohort: 2}", false, "nothing: the run closed 4 rounds only"),
      // Odd versions were not evaluated; the last one always is.
      (
        "{at: {version: 3}, centralAccuracy: {atLeast: 0}}", false,
        "nothing: version 3 was not evaluated (record.evaluateEvery)"
      ),
      ("{update.aggregated: 8}", true, "8"), ("{update.rejectedStale: 0}", true, "0"),
      ("{attempt.killed: {atMost: 0}}", true, "0"), ("{transmission.linkLost: 0}", true, "0"),
      ("{timeToAccuracy: {target: 0, atMost: 0 s}}", true, "0 s"),
      // The longest time there is, which no `Double` is.
      ("{endedAt: {atMost: 9223372036854775807 us}}", true, nil),
      ("{roundsToAccuracy: {target: 0, equals: 0}}", true, "0"),
      ("{eventDigest: \"0123456789abcdef\"}", false, nil),
    ] as [(String, Bool, String?)])
  func claim(claim: String, holds: Bool, found: String?) throws {
    let verdict = try verdicts("  - \(claim)\n")
    #expect(verdict.map(\.holds) == [holds], "\(verdict)")
    if let found { #expect(verdict[0].found == found) }
  }

  @Test("what a run finds can be claimed: digests, accuracies and times hold of the same run")
  func found() throws {
    let first = try verdicts(
      """
        - {eventDigest: "0000000000000000", modelDigest: "0000000000000000", endedAt: 0 s}
        - {centralAccuracy: -1, centralLoss: -1, bestAccuracy: -1, meanStalenessSeconds: -1}
        - {publishedAt: 0 s, closedAt: 0 s, bytesUp: 0, bytesDown: 0, events: 0}

      """)
    #expect(first.allSatisfy { !$0.holds })
    let claims = first.map {
      let name = $0.claim.split(separator: " ")[0]
      return "  - {\(name): \(name.hasSuffix("Digest") ? "\"\($0.found)\"" : $0.found)}\n"
    }
    let again = try verdicts(claims.joined())
    #expect(again.count == 12 && again.allSatisfy { $0.holds }, "\(again)")
  }

  @Test("what a claim finds is the run's outcome")
  func figures() throws {
    let verdicts = try verdicts(
      """
        - {bytesUp: 0, bytesDown: 0, events: 0, batchesUsed: 0, endedAt: 0 s}
        - {centralAccuracy: -1, centralLoss: -1, bestAccuracy: -1, meanStalenessSeconds: -1}

      """)
    let found = Dictionary(
      uniqueKeysWithValues: verdicts.map { ($0.claim.prefix { $0 != " " }, $0.found) })
    var simulation = try Scenario(text: Self.text).makeSimulation()
    let recorder = RunRecorder()
    simulation.run(observers: [recorder])
    let ledgers = simulation.books.ledgers
    #expect(ledgers.bytesUp != ledgers.bytesDown && ledgers.bytesUp > 0)
    #expect(found["bytesUp"] == "\(ledgers.bytesUp)")
    #expect(found["bytesDown"] == "\(ledgers.bytesDown)")
    #expect(found["events"] == "\(simulation.books.tallies.events)")
    #expect(found["batchesUsed"] == "\(ledgers.batchesUsed)")
    #expect(found["endedAt"] == (simulation.now - .start).description)
    let last = try #require(recorder.versions.last)
    let evaluation = try #require(recorder.evaluations.last ?? nil)
    let best = recorder.evaluations.compactMap { $0?.test.accuracy }.max()
    #expect(last.meanStalenessSeconds > 0)
    for (name, expected) in [
      ("centralAccuracy", evaluation.test.accuracy), ("centralLoss", evaluation.test.meanLoss),
      ("bestAccuracy", best), ("meanStalenessSeconds", last.meanStalenessSeconds),
    ] {
      #expect(found[Substring(name)].flatMap { Double($0) } == expected, "\(name)")
    }
  }

  @Test("a target that is never reached is reached never, and not an error")
  func never() throws {
    let verdict = try verdicts(
      """
        - {timeToAccuracy: {target: 1, atMost: 1 h}, versionsToAccuracy: {target: 1, above: 100}}

      """, Self.text.replacing("optimizer: {sgd: 0.1}", with: "optimizer: {sgd: 1e-9}"))
    // Ten test samples of two classes are not all guessed right by the first weights.
    #expect(verdict.map(\.holds) == [false, true])
    #expect(verdict[0].found == "never")
  }

  @Test("a verdict says what is claimed, and where it is")
  func words() throws {
    let verdict = try verdicts("  - {at: {time: 30 s}, centralAccuracy: {atLeast: 2, below: 3}}\n")
    #expect(verdict[0].claim == "centralAccuracy at 30 s: at least 2, below 3")
    let line = Self.text.split(separator: "\n", omittingEmptySubsequences: false).count + 1
    #expect(verdict[0].place.hasSuffix("/s.yaml:\(line):41"), "\(verdict[0].place)")
  }

  @Test("no claim changes anything of a run or of its resolved scenario")
  func unchanged() throws {
    let plain = try Scenario(text: Self.text)
    let claimed = try Scenario(text: Self.text + "expect: [{versions: 4}]\n")
    #expect(plain.digest == claimed.digest && plain.resolvedText == claimed.resolvedText)
    #expect(claimed.settings.expect?.count == 1)
  }

  @Test("a file that is based on another one replaces its claims")
  func base() throws {
    let folder = try CheckedFolder(Self.text + "expect: [{versions: 4}, {rounds: 4}]\n")
    try folder.folder.write("base: s.yaml\nexpect: [{cohort: 2}]\n", to: "t.yaml")
    let scenario = try Scenario(contentsOf: folder.folder("t.yaml"))
    #expect(scenario.settings.expect?.map { $0.conditions[0].metric.name } == ["cohort"])
  }
}

@Suite("Claims over seeds")
struct ComparisonTests {
  private static let text = CheckedFolder.small.replacing("after: 8 h", with: "after: 3 h")

  private func comparison(
    _ seeds: Int, aIs: ComparisonSettings.Direction = .lower
  ) -> ComparisonSettings {
    var settings = ComparisonSettings()
    (settings.seeds, settings.aIs) = (seeds, aIs)
    settings.metric = Metric.named("timeToAccuracy")!
    return settings
  }

  private let hour = 3_600_000_000.0

  @Test("the probability is that of the signed ranks, all signs counted")
  func probability() {
    // Differences -1, -2, -3, -4, +5 (hours): the ranks above 0 sum to 5. Of 32 choices of signs,
    // these sums are at most 5: {} {1} {2} {3} {4} {5} {1,2} {1,3} {1,4} {2,3}: 10 of 32.
    let a = [1, 1, 1, 1, 6].map { $0 * hour }
    let b = [2, 3, 4, 5, 1].map { $0 * hour }
    let (holds, found) = SeedClaim.judge(a, b, comparison(5))
    #expect(!holds)
    #expect(found.contains("a lower in 4 of 5 pairs"))
    #expect(found.contains("exact one-sided signed-rank p = 0.3125"), "\(found)")
    #expect(found.contains("medians 1 h and 3 h"), "\(found)")
  }

  @Test("five pairs that all agree support a claim at 0.05, to one side only")
  func agreeing() {
    let (a, b) = ([1, 2, 3, 4, 5].map { $0 * hour }, [2, 4, 6, 8, 10].map { $0 * hour })
    let lower = SeedClaim.judge(a, b, comparison(5))
    // 2^-5 = 0.03125.
    #expect(lower.holds && lower.found.contains("p = 0.0313"), "\(lower.found)")
    let higher = SeedClaim.judge(a, b, comparison(5, aIs: .higher))
    #expect(!higher.holds && higher.found.contains("p = 1"), "\(higher.found)")
    #expect(higher.found.contains("most pairs do not agree"))
  }

  @Test("never is later than any time, and twice never is a tie")
  func never() {
    let a = [1.0, 1, 1, 1, 1, .infinity, 1].map { $0 * hour }
    let b = [2.0, 2, .infinity, 2, 2, .infinity, 2].map { $0 * hour }
    let (holds, found) = SeedClaim.judge(a, b, comparison(7))
    // Six pairs are left, and all agree: 2^-6 = 0.015625.
    #expect(holds && found.contains("p = 0.0156") && found.contains("equal in 1"), "\(found)")
  }

  @Test("what falls short says how many seeds the effect that was seen would need")
  func seedsNeeded() {
    let a = [1, 2, 3, 9, 5, 6, 7].map { $0 * hour }
    let b = [4, 5, 6, 4, 9, 5, 10].map { $0 * hour }
    let (holds, found) = SeedClaim.judge(a, b, comparison(7))
    #expect(!holds)
    // Differences -3, -3, -3, 5, -4, 1, -3: of the 21 pairs of them six have a sum above 0, those
    // of 5 with any other. (1.6449 + 0.8416)² / (3·(6/21 - ½)²) = 44.88.
    #expect(
      found.hasSuffix(
        "; if the effect is as observed, 45 seeds would show it four times out of five"),
      "\(found)")
  }

  @Test("equal pairs do not speak against a claim: all others say so, and more seeds can show it")
  func ties() {
    // 2 of 6 pairs differ, to the claimed side: 2^-2 = 0.25. Five that differ come below 0.05
    // (2^-5 = 0.03125), and with two of six differing these are among 5 * 6 / 2 = 15.
    let (a, b) = ([1, 1, 1, 1, 1, 1].map { $0 * hour }, [2, 2, 1, 1, 1, 1].map { $0 * hour })
    let (holds, found) = SeedClaim.judge(a, b, comparison(6))
    #expect(!holds && found.contains("a lower in 2 of 6 pairs, equal in 4"), "\(found)")
    #expect(found.contains("p = 0.25;") && found.hasSuffix("about 15 seeds"), "\(found)")
    // The other way round they speak against it.
    let against = SeedClaim.judge(b, a, comparison(6))
    #expect(!against.holds && against.found.contains("most pairs do not agree"))
    let equal = SeedClaim.judge(a, a, comparison(6))
    #expect(!equal.holds && equal.found.hasSuffix("no pair distinguishes the variants"))
  }

  @Test("a claim over seeds is played in pairs, and its verdict is the same for any jobs")
  func played() throws {
    let claim = """
      expect:
        - compare:
            a: {set: [server.trigger.threshold=2]}
            b: {set: [server.trigger.threshold=6]}
            seeds: 5
            metric: versions
            aIs: higher

      """
    let folder = try CheckedFolder(Self.text + claim)
    let reports = [1, 3].map { jobs in folder.check { $0.jobs = jobs } }
    #expect(reports[0].claims == reports[1].claims)
    // A third of the threshold gives more versions with every seed.
    #expect(reports[0].claims.map(\.holds) == [true], "\(reports[0].text)")
    #expect(reports[0].claims[0].found.hasPrefix("a higher in 5 of 5 pairs"))
    try folder.edit("aIs: higher", "aIs: lower")
    let broken = folder.check()
    #expect(broken.status == .broken && broken.text.contains("most pairs do not agree"))
  }

  @Test("a variant is held against a number, each seed being one difference from it")
  func against() throws {
    var against = comparison(5, aIs: .higher)
    against.than = SweepNumber(2 * hour, .duration)
    // Differences -1, 1, 2, 3, 4 hours: 1 and -1 share the ranks 1 and 2, so the negative ranks sum
    // to 1.5. Of 32 choices of signs these sums are at most 1.5: {} {1.5} {1.5}: 3 of 32.
    let a = [1, 3, 4, 5, 6].map { $0 * hour }
    let (holds, found) = SeedClaim.judge(a, a.map { _ in 2 * hour }, against)
    #expect(!holds && found.hasPrefix("a higher in 4 of 5 runs; median 4 h; "), "\(found)")
    #expect(found.contains("p = 0.0938"), "\(found)")

    let claim = """
      expect:
        - compare: {than: 0, seeds: 5, metric: versions, aIs: higher}

      """
    let folder = try CheckedFolder(Self.text + claim)
    let report = folder.check()
    #expect(report.claims.map(\.holds) == [true], "\(report.text)")
    #expect(report.claims[0].claim.hasPrefix("versions of a is higher than 0, with 5 seeds"))
    try folder.edit("than: 0", "than: 100000")
    #expect(folder.check().status == .broken)
    try folder.edit(
      "than: 100000, seeds: 5, metric: versions", "than: 4 h, seeds: 5, metric: endedAt")
    try folder.edit("aIs: higher", "aIs: lower")
    // All five runs end at 3 h.
    let timed = folder.check()
    #expect(timed.claims.map(\.holds) == [true], "\(timed.text)")
    #expect(timed.claims[0].claim.hasPrefix("endedAt of a is lower than 4 h, with 5 seeds"))
    try folder.edit("than: 4 h", "than: 4")
    #expect(folder.check().text.contains("`endedAt` is a time, such as `30 min`"))
    try folder.edit("than: 4,", "than: -4 h,")
    let negative = folder.check()
    #expect(negative.status == .badInput && negative.text.contains("than: no time is below 0"))
    try folder.edit("than: -4 h,", "than: 1, b: {set: [name=x]},")
    let refused = folder.check()
    #expect(refused.status == .badInput && refused.text.contains("`than` replaces `b`"))
  }

  @Test("a preset in a variant is laid over what is written, not over its resolved form")
  func preset() throws {
    let claim = """
      expect:
        - compare:
            a: {set: [server.policy=synchronous-fedavg, fleet.phones.count=60]}
            seeds: 5
            metric: cohort
            aIs: higher

      """
    let text = Self.text.replacing("  trigger: {threshold: 3}\n", with: "")
    let report = try CheckedFolder(text + claim).check()
    // The open policy forms no cohorts.
    #expect(report.claims.map(\.holds) == [true], "\(report.text)")
  }

  @Test("what is wrong with a variant is bad input, at its place")
  func badVariant() throws {
    let claim = """
      expect:
        - compare: {a: {set: [server.triger=3]}, seeds: 5, metric: versions, aIs: higher}

      """
    let folder = try CheckedFolder(Self.text + claim)
    let report = folder.check()
    #expect(report.status == .badInput)
    #expect(report.faults.count == 1, "\(report.faults)")
    #expect(report.faults[0].contains("expect[0].compare.a: "))
    #expect(report.faults[0].contains("did you mean `trigger`?"))
    let scenario = try Scenario(contentsOf: folder.path)
    #expect(throws: RunFailure.self) { try Run.check(scenario, RunOptions()) }
    // The preset's cohort is too large for the fleet, wherever that would be in the file.
    try folder.edit("server.triger=3", "server.policy=synchronous-fedavg")
    try folder.edit("  trigger: {threshold: 3}\n", "")
    let large = folder.check().faults
    #expect(large.count == 1 && large[0].contains("compare.a: server.selector: a cohort is formed"))
  }
}
