import Foundation
import Results
import Runs
import Scenarios
import Schema

/// Searches worlds for one in which an invariant or a claim breaks, and writes it as a scenario.
public struct Stress {
  /// How much is searched.
  public struct Options: Sendable {
    /// How many worlds, the unchanged scenario included.
    public var worlds = 200
    /// For how long, in seconds by the wall clock; nil: until all worlds were played.
    public var seconds: Double?
    /// How many different failures are looked for.
    public var failures = 1
    /// For how long a world is made smaller, in seconds.
    public var shrinkSeconds = 60.0
    /// In how many runs at most.
    public var shrinkTrials = 2000
    /// Every which world is played again, with more threads, and from its middle.
    public var replayEvery = 4
    /// The key of `--shake-ties` of world 0.
    public var shakeTies: UInt64?
    /// Where scenarios are written; nil: next to the scenario.
    public var folder: String?

    /// As by default.
    public init() {}
  }

  /// What was found.
  public struct Failure: Sendable {
    /// The world.
    public let world: Int
    /// What broke in it.
    public let first: String
    /// What breaks in the smaller one.
    public let text: String
    /// The file that was written.
    public let file: String
    /// Its lines.
    public let lines: Int
    /// The runs that making it smaller took.
    public let trials: Int
    /// The command that shows it.
    public let command: String
  }

  /// The outcome of a search.
  public struct Report: Sendable {
    /// Worlds that were played to their ends.
    public internal(set) var played = 0
    /// Worlds that were no valid scenarios.
    public internal(set) var passedOver = 0
    /// Worlds that took too long.
    public internal(set) var tooLong = 0
    /// What was found.
    public internal(set) var failures: [Failure] = []
    /// How long it took, in seconds.
    public internal(set) var seconds = 0.0
    /// Whether it was ordered to stop.
    public internal(set) var isInterrupted = false

    /// One line for a person.
    public var text: String {
      var line = "\(played) world\(played == 1 ? "" : "s") in \(Int(seconds.rounded())) s"
      if passedOver > 0 { line += ", \(passedOver) drawn scenarios that are invalid" }
      if tooLong > 0 { line += ", \(tooLong) stopped at the time limit" }
      if failures.isEmpty { return line + ": nothing broken" }
      return line + ": \(failures.count == 1 ? "one failure" : "\(failures.count) failures")"
    }
  }

  /// What a search reports while it runs.
  public enum News: Sendable {
    /// This many worlds were played.
    case played(Int)
    /// A world failed.
    case failed(world: Int, text: String)
  }

  /// The worlds.
  public let space: StressSpace
  /// How much is searched.
  public let options: Options

  /// A search in the worlds of a scenario.
  ///
  /// Throws: `RunFailure.input` with every fault of the `stress` section.
  public init(_ scenario: Scenario, _ options: Options = Options()) throws(RunFailure) {
    do throws(Faults) { space = try StressSpace(scenario) } catch { throw .input(error.faults) }
    self.options = options
  }

  /// Searches in this process, one world after the other, as a test does; what crashes ends it.
  ///
  /// Throws: `RunFailure` where worlds cannot be played at all, or a file cannot be written.
  public func search(options run: RunOptions = RunOptions()) throws(RunFailure) -> Report {
    try search(InProcessPlayer(space.scenario.registry, options: run))
  }

  /// Searches.
  ///
  /// Order: worlds are judged by their numbers, so the first failure is the same however many are
  /// played at once.
  /// Throws: `RunFailure` where worlds cannot be played at all, or a file cannot be written.
  package func search(
    _ player: any WorldPlayer, _ news: (News) -> Void = { _ in }
  ) throws(RunFailure) -> Report {
    try StressFile.Place(space.scenario, folder: options.folder).check()
    let began = ContinuousClock.now
    let deadline = options.seconds.map { began + .seconds($0) }
    var report = Report()
    var known: [String] = []
    var next = 0
    var firstFaults: [Fault]? = []
    func isOver() -> Bool {
      next >= options.worlds || report.failures.count >= options.failures
        || player.isInterrupted || deadline.map { $0 <= .now } ?? false
    }
    while !isOver() {
      // The unchanged scenario comes first, alone.
      let size = next == 0 ? 1 : min(8 * player.width, options.worlds - next)
      let drawn = draw(next..<next + size)
      next += size
      let valid = drawn.filter { $0.world != nil }
      try refuse(drawn, &firstFaults)
      report.passedOver += drawn.count - valid.count
      let orders = valid.compactMap { drawn in
        drawn.world.map { space.order($0, replays: replays(drawn.number)) }
      }
      let answers = try player.play(orders, until: deadline)
      for (drawn, answer) in zip(valid, answers) {
        guard let answer, let world = drawn.world else { continue }
        try count(answer, of: drawn.number, in: &report)
        guard report.failures.count < options.failures,
          let finding = answer.findings.first(where: { !known.contains($0.kind) })
        else { continue }
        known.append(finding.kind)
        news(.failed(world: drawn.number, text: finding.text))
        var shrinker = Shrinker(
          space, player, world, answer, finding,
          .init(trials: options.shrinkTrials, deadline: .now + .seconds(options.shrinkSeconds)),
          replays: replays(drawn.number) && answer.crash == nil && isReplay(finding))
        try shrinker.shrink(drawn.changes)
        report.failures.append(try write(shrinker, drawn.number))
      }
      news(.played(report.played))
    }
    report.isInterrupted = player.isInterrupted
    let wall = (ContinuousClock.now - began).components
    report.seconds = Double(wall.seconds) + Double(wall.attoseconds) * 1e-18
    return report
  }

  private func replays(_ world: Int) -> Bool { world % options.replayEvery == 0 }

  /// Whether a finding came up as a world was played again.
  private func isReplay(_ finding: Trial.Finding) -> Bool {
    ["played", "saved", "saving"].contains { finding.kind.hasPrefix($0) }
  }

  private func count(
    _ answer: WorldAnswer, of number: Int, in report: inout Report
  ) throws(RunFailure) {
    if let faults = answer.faults {
      // What the files say is known by playing alone.
      guard number > 0 else {
        throw .failed("the scenario cannot be played: " + faults.joined(separator: "\n"))
      }
      report.passedOver += 1
    } else if answer.isTooLong == true {
      report.tooLong += 1
    } else {
      report.played += 1
    }
  }

  // MARK: Worlds

  struct Drawn {
    let number: Int
    var changes: [WorldChange] = []
    var world: World?
    /// Why it is none.
    var faults: [Fault]?
  }

  /// The worlds of a range of numbers.
  func draw(_ numbers: Range<Int>) -> [Drawn] {
    numbers.map { number in
      var drawn = Drawn(number: number)
      do throws(Faults) {
        if number > 0 { drawn.changes = try space.changes(of: number) }
        drawn.world = try space.compose(drawn.changes).world
        if number == 0 { drawn.world?.shakeTies = options.shakeTies }
      } catch {
        drawn.faults = error.faults
      }
      return drawn
    }
  }

  /// How many worlds may be no valid scenarios, from the first on.
  private static let mostRefused = 32

  /// Throws: `RunFailure.input` where none of the first worlds is a valid scenario, with what is
  /// wrong with the first of them; `faults` is nil once one is.
  private func refuse(_ drawn: [Drawn], _ faults: inout [Fault]?) throws(RunFailure) {
    for world in drawn where world.number > 0 {
      guard let known = faults else { return }
      guard let found = world.faults else {
        faults = nil
        return
      }
      if known.isEmpty { faults = found }
      let isLast = world.number == min(Self.mostRefused, options.worlds - 1)
      if isLast, let faults { throw .input(faults) }
    }
  }

  // MARK: Files

  private func write(_ shrinker: Shrinker, _ world: Int) throws(RunFailure) -> Failure {
    let place = StressFile.Place(space.scenario, folder: options.folder)
    let needsReplay = isReplay(shrinker.finding)
    var file = StressFile(
      scenario: space.scenario, world: shrinker.best, number: world,
      finding: shrinker.finding, needsReplay: needsReplay)
    let path = try file.place(place)
    return Failure(
      world: world, first: shrinker.target.text, text: shrinker.finding.text, file: path,
      lines: file.lineCount, trials: shrinker.trials, command: file.command(path))
  }
}
