import Foundation
import Learning
import Results
import Scenarios
import Schema

/// Holds scenarios to their claims and to what was recorded of them, or records them.
public struct Check: Sendable {
  /// How many runs are played at once.
  public var jobs = 1
  /// Whether baselines are written: of scenarios that were named, and of those that have one.
  public var records = false
  /// Whether, in folders too, scenarios without a baseline get one.
  public var recordsAll = false
  /// Whether baselines hold every event in words, however many there are.
  public var keepsEvents = false
  /// How runs are computed.
  public var options = RunOptions()

  private let paths: [String]
  private let registry: Registry

  /// A check of scenario files, and of all below folders.
  public init(_ paths: [String], registry: Registry = .standard) {
    self.paths = paths
    self.registry = registry
  }

  /// A scenario with all that has to be played for it.
  private struct Plan: Sendable {
    let file: CheckedFile
    var scenario: Scenario?
    var old: Baseline?
    var comparisons: [SeedClaim] = []
    var playsItself = false
    var faults: [String] = []
  }

  /// A run that is to be played.
  private struct Job: Sendable {
    let plan: Int
    let scenario: Scenario
    let keeping: PlayedRun.Keeping
  }

  /// Plays all that is to be played, and judges it; `progress` is called after each run.
  public func perform(
    progress: @escaping @Sendable (_ done: Int, _ of: Int) -> Void = { _, _ in }
  ) -> CheckReport {
    let (files, faults) = CheckPaths.files(paths)
    var unchecked: [String] = []
    var plans: [Plan] = []
    for file in files {
      let plan = plan(file)
      if plan.scenario != nil, !plan.playsItself, plan.comparisons.isEmpty, plan.faults.isEmpty {
        unchecked.append(file.path)
      } else {
        plans.append(plan)
      }
    }
    let jobs = self.jobs(plans)
    let done = Counter()
    let played = WorkerPool(threads: max(1, self.jobs)).map(jobs.count) { index, _ in
      defer { progress(done.next(), jobs.count) }
      return Self.play(jobs[index], options)
    }
    var reports = faults.map { ScenarioReport(path: $0, status: .badInput, faults: [$1]) }
    for (index, plan) in plans.enumerated() {
      let runs = zip(jobs, played).filter { $0.0.plan == index }.map(\.1)
      reports.append(report(plan, runs))
    }
    return CheckReport(scenarios: reports, unchecked: unchecked)
  }

  // MARK: What is to be played

  private func plan(_ file: CheckedFile) -> Plan {
    var plan = Plan(file: file)
    do throws(Faults) {
      let scenario = try Scenario(contentsOf: file.path, registry: registry)
      plan.scenario = scenario
      plan.comparisons = try SeedClaim.all(of: scenario)
      if file.hasBaseline { plan.old = try Self.baseline(file.baseline) }
    } catch {
      plan.faults = error.faults.map(\.description)
    }
    guard plan.faults.isEmpty, let scenario = plan.scenario else { return plan }
    plan.playsItself = scenario.hasClaims || file.hasBaseline || isRecorded(file)
    if file.hasBaseline || isRecorded(file), let twin = file.twin {
      plan.faults = [
        "\(file.path): \(file.baseline) would also be the recording of \(twin): rename one of them"
      ]
    }
    if file.isNamed, !plan.playsItself, plan.comparisons.isEmpty {
      plan.faults = [
        "\(file.path): there is nothing to check: no `expect`, and no \(file.baseline); record one"
          + " with `fedsim check --record \(file.path)`"
      ]
    }
    return plan
  }

  private func isRecorded(_ file: CheckedFile) -> Bool {
    records && (file.isNamed || recordsAll || file.hasBaseline)
  }

  private static func baseline(_ path: String) throws(Faults) -> Baseline {
    guard let data = FileManager.default.contents(atPath: path) else {
      throw Faults([Fault(at: Place(file: path), .file("cannot read this file"))])
    }
    return try Baseline(String(decoding: data, as: UTF8.self), file: path)
  }

  private func jobs(_ plans: [Plan]) -> [Job] {
    var jobs: [Job] = []
    for (index, plan) in plans.enumerated() where plan.faults.isEmpty {
      guard let scenario = plan.scenario else { continue }
      if plan.playsItself {
        var keeping = PlayedRun.Keeping.nothing
        if plan.old != nil || isRecorded(plan.file) {
          var least = 0
          if case .lines(let lines)? = plan.old?.events { least = lines.count }
          keeping = .events(inWords: keepsEvents, atLeast: least)
        }
        jobs.append(Job(plan: index, scenario: scenario, keeping: keeping))
      }
      for comparison in plan.comparisons {
        for scenario in comparison.a + comparison.b {
          jobs.append(Job(plan: index, scenario: scenario, keeping: .nothing))
        }
      }
    }
    return jobs
  }

  private static func play(_ job: Job, _ options: RunOptions) -> Result<PlayedRun, Faults> {
    do throws(Faults) {
      return .success(try PlayedRun(job.scenario, options, keeping: job.keeping))
    } catch {
      return .failure(error)
    }
  }

  // MARK: Its outcome

  private func report(_ plan: Plan, _ runs: [Result<PlayedRun, Faults>]) -> ScenarioReport {
    var report = ScenarioReport(path: plan.file.path, status: .holds)
    report.faults = plan.faults
    var played: [PlayedRun] = []
    for run in runs {
      switch run {
      case .success(let run): played.append(run)
      case .failure(let faults):
        report.faults += faults.faults.map(\.description).filter { !report.faults.contains($0) }
      }
    }
    guard report.faults.isEmpty, let scenario = plan.scenario else {
      report.status = .badInput
      return report
    }
    report.seconds = played.reduce(0) { $0 + $1.seconds }
    report.faults = played.flatMap(\.broken).map { "the ledgers do not add up: \($0)" }
    guard report.faults.isEmpty else {
      report.status = .failed
      return report
    }
    var rest = played[...]
    if plan.playsItself, let own = rest.popFirst() {
      report.claims = scenario.verdicts(own.facts)
      record(own, plan, in: &report)
    }
    for comparison in plan.comparisons {
      let a = rest.prefix(comparison.a.count).map(\.facts)
      rest = rest.dropFirst(a.count)
      let b = rest.prefix(comparison.b.count).map(\.facts)
      rest = rest.dropFirst(b.count)
      report.claims.append(comparison.verdict(a, b, of: scenario))
    }
    if report.status == .holds || report.status == .recorded,
      report.claims.contains(where: { !$0.holds })
    {
      report.status = .broken
    }
    return report
  }

  /// Compares with the baseline, and writes it where that is asked for.
  private func record(_ run: PlayedRun, _ plan: Plan, in report: inout ScenarioReport) {
    guard var new = run.baseline else { return }
    let file = plan.file
    var recording = ScenarioReport.Recording(
      file: file.baseline, isSame: plan.old != nil, findings: [], notes: [])
    if let old = plan.old {
      recording.findings = old.findings(against: new) { run.events?.words($0) }
      recording.notes = old.notes(against: new)
      recording.isSame = recording.findings.isEmpty
      new.tolerances = old.tolerances
    }
    if isRecorded(file), new != plan.old {
      recording.isNew = plan.old == nil
      do throws(ResultFault) {
        try PlacedFile.place(Array(new.text.utf8), at: file.baseline)
        recording.isWritten = true
      } catch {
        report.faults = [error.description]
        report.status = error.isOfTheDisk ? .failed : .badInput
      }
    }
    report.baseline = recording
    guard report.status == .holds else { return }
    if recording.isWritten, !recording.isSame {
      report.status = .recorded
    } else if !recording.isSame, !isRecorded(file) {
      report.status = .broken
    }
  }
}

/// Counts runs that are done, on several threads.
private final class Counter: @unchecked Sendable {
  private let lock = NSLock()
  private var count = 0

  func next() -> Int {
    lock.lock()
    defer { lock.unlock() }
    count += 1
    return count
  }
}
