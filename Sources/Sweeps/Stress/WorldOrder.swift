import DataSets
import Foundation
import Runs
import Scenarios
import Schema

/// A world that is to be played: all that another process needs for it.
package struct WorldOrder: Codable, Sendable {
  /// Its number among the orders of one call.
  var number: Int
  /// Where relative paths start.
  var file: String
  /// The scenario as YAML.
  var text: String
  /// The key of `--shake-ties`.
  var shakeTies: UInt64?
  /// Whether it is looked whether the run is reproduced.
  var replays: Bool
  /// With more turns than this it is given up; nil: never.
  var most: Int?
  /// Whether the digest of its result is asked for; nil: no.
  var digests: Bool?

  /// Plays it here.
  func play(_ registry: Registry, _ options: RunOptions) -> WorldAnswer {
    var options = options
    options.shakeTies = shakeTies
    do throws(Faults) {
      let scenario = try Scenario(text: text, file: file, registry: registry)
      let trial = try Trial(
        scenario, options, replays: replays, most: most, digests: digests == true)
      return WorldAnswer(number: number, trial: trial, isTooLong: trial == nil ? true : nil)
    } catch {
      return WorldAnswer(number: number, faults: error.faults.map(\.description))
    }
  }
}

/// What came of a world.
package struct WorldAnswer: Codable, Sendable {
  var number: Int
  /// What was found; nil where it was not played to its end.
  var trial: Trial?
  /// Why it is no world.
  var faults: [String]?
  /// How the process ended that played it.
  var crash: String?
  /// Whether it took too long.
  var isTooLong: Bool?

  /// What is broken.
  var findings: [Trial.Finding] {
    if let crash { return [Trial.Finding(kind: crash, text: crash)] }
    return trial?.findings ?? []
  }
}

/// Plays worlds, several at once.
package protocol WorldPlayer: AnyObject {
  /// How many are played at once.
  var width: Int { get }
  /// Whether it was ordered to stop.
  var isInterrupted: Bool { get }
  /// The answers in the order of the orders; nil for worlds that were not over at the deadline.
  func play(
    _ orders: [WorldOrder], until deadline: ContinuousClock.Instant?
  ) throws(RunFailure) -> [WorldAnswer?]
}

/// Plays worlds in this process, one after the other; what crashes there ends it.
package final class InProcessPlayer: WorldPlayer {
  private let registry: Registry
  private var options: RunOptions

  /// A player with these parts.
  package init(_ registry: Registry, options: RunOptions = RunOptions()) {
    self.registry = registry
    self.options = options
    self.options.dataCache = options.dataCache ?? DataCache()
  }

  /// One.
  package var width: Int { 1 }
  /// Nobody tells it to stop.
  package var isInterrupted: Bool { false }

  /// Plays worlds.
  package func play(
    _ orders: [WorldOrder], until deadline: ContinuousClock.Instant?
  ) throws(RunFailure) -> [WorldAnswer?] {
    orders.map { order in
      if let deadline, deadline <= .now { return nil }
      return order.play(registry, options)
    }
  }
}
