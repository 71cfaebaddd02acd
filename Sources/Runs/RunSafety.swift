import Results
import Schema

/// How a run is kept while it lives. No result depends on it.
public struct RunSafety: Sendable {
  /// When checkpoints are written.
  public var checkpoints = CheckpointPace.itself
  /// How often the result so far is placed under the result's name; nil: never.
  public var publishEvery: WallTime?
  /// Whether an unfinished run next to the result is given up.
  public var restarts = false
  /// Whether the result of another run under the result's name is replaced.
  public var replacesOthers = false
  /// Whether journal and checkpoints are kept at all; for measuring what they cost.
  public var isOn = true

  /// Whether the result's folder has taken a file of this process before, so that it is not tried.
  package var isFolderTried = false
  /// The calls by which files are written; tests let them fail.
  package var calls = FileCalls.system

  /// Checkpoints in time, nothing published before the end.
  public init() {}
}

/// When checkpoints are written. The host's clock decides when, and never what.
public enum CheckpointPace: Equatable, Sendable {
  /// Every ten seconds, and less often where that takes more than a hundredth of the time.
  case itself
  /// Never: a resumed run starts again from its beginning.
  case never
  /// This long after the last one, by the wall's clock, or later where they would cost too much.
  case time(WallTime)
  /// After this many closed rounds, or later where they would cost too much.
  case rounds(Int)

  /// Reads `30 s`, `5 rounds` or `0`; nil for anything else.
  public init?(_ text: String) {
    if text == "0" {
      self = .never
    } else if let rounds = Self.rounds(text) {
      self = .rounds(rounds)
    } else if let time = WallTime(text) {
      self = .time(time)
    } else {
      return nil
    }
  }

  private static func rounds(_ text: String) -> Int? {
    let words = text.split(separator: " ")
    guard words.count == 2, words[1] == "rounds" || words[1] == "round", let count = Int(words[0]),
      count > 0
    else { return nil }
    return count
  }

  /// As it is written.
  public var text: String? {
    switch self {
    case .itself: nil
    case .never: "0"
    case .time(let time): time.text
    case .rounds(let count): Words.count(count, "round")
    }
  }
}

/// A time above zero by the wall's clock.
public struct WallTime: Equatable, Sendable {
  /// As it is written, such as `30 s`.
  public let text: String
  let duration: Duration

  /// Reads a time such as `30 s`; nil for anything else.
  public init?(_ text: String) {
    let units: [(name: String, size: Int64)] = [
      ("s", 1_000_000), ("ms", 1_000), ("min", 60_000_000), ("h", 3_600_000_000),
    ]
    guard let microseconds = Text.quantity(text, units: units), microseconds > 0 else {
      return nil
    }
    self.text = text
    duration = .microseconds(microseconds)
  }
}

/// Decides when the next checkpoint is due.
///
/// A checkpoint holds all versions until then. Where one is asked for after each of ten thousand
/// short rounds, they would take a hundred times as long as the run; so the next waits where they
/// have taken more than ten seconds, and more than half of the time. Where none is asked for, each
/// waits for a hundred times what it is expected to take: as long as the last one, and the first by
/// the number of devices. The first waits for half an hour at most.
package struct CheckpointClock {
  private let pace: CheckpointPace
  private let began: ContinuousClock.Instant
  private var last: ContinuousClock.Instant
  /// What the next is expected to take.
  private var cost: Duration
  private var spent = Duration.zero
  private var rounds = 0
  private var length: Int

  /// The journal's growth after which a checkpoint is worth while, so that little is played again.
  private static let growth = 8 << 20
  /// What checkpoints may take however short the run is.
  private static let allowance = Duration.seconds(10)
  /// About how many nanoseconds saving a device takes.
  private static let deviceCost: Int64 = 20_000
  /// How long the first checkpoint waits at most: a fleet of any size makes progress, also where
  /// its processes are ended from time to time.
  private static let longestWait = Duration.seconds(1800)

  /// The time of a run that begins now, whose journal has this length.
  package init(
    _ pace: CheckpointPace, journal length: Int, devices: Int,
    at now: ContinuousClock.Instant = .now
  ) {
    self.pace = pace
    cost = min(.nanoseconds(Self.deviceCost * Int64(devices)), Self.longestWait / 100)
    self.length = length
    (began, last) = (now, now)
  }

  /// Whether a checkpoint is due.
  package func isDue(
    rounds: Int, journal length: Int, at now: @autoclosure () -> ContinuousClock.Instant = .now
  ) -> Bool {
    switch pace {
    case .never: return false
    case .rounds(let count): return rounds - self.rounds >= count && isAffordable(now())
    case .time(let time):
      let now = now()
      return now - last >= time.duration && isAffordable(now)
    case .itself:
      let since = now() - last
      guard since >= cost * 100 else { return false }
      return since >= .seconds(10) || since >= .seconds(1) && length - self.length >= Self.growth
    }
  }

  private func isAffordable(_ now: ContinuousClock.Instant) -> Bool {
    spent <= Self.allowance || spent * 2 <= now - began
  }

  /// A checkpoint was written, and took this long.
  package mutating func wrote(
    rounds: Int, journal length: Int, cost: Duration, at now: ContinuousClock.Instant = .now
  ) {
    last = now
    self.cost = cost
    spent += cost
    self.rounds = rounds
    self.length = length
  }
}
