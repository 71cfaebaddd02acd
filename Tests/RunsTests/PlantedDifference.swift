import Foundation
import Testing

import FedSim
import Results
import Runs
import Scenarios

/// Two runs that differ in one thing, and where that first shows.
struct PlantedDifference: Sendable, CustomStringConvertible {
  /// What differs.
  let name: String
  /// What the scenario of the first run is laid over with.
  var before: [String] = []
  /// What that of the second is laid over with, on top.
  var after: [String] = []
  /// The key by which the second run's ties are shaken.
  var shakeTies: UInt64?
  /// The scenario; nil: `Night`.
  var text = Night.text
  /// The settings that differ, as `path: a | b`.
  let settings: [String]
  /// How the runs diverge at their first differing event; nil: all events are the same.
  let kind: EventDifference.Kind?
  /// The first version that differs; nil: none does.
  var version: Int?
  /// A part of the text of the answer.
  var words = ""

  var description: String { name }

  static let all = [
    PlantedDifference(
      name: "a batch size", after: ["task.training.batchSize=8"],
      settings: ["task.training.batchSize: 4 | 8"], kind: .outcome, version: 1),
    PlantedDifference(
      name: "a swapped tie", shakeTies: 3, settings: [], kind: .order,
      words: "both runs have these events in a different order: a tie was decided differently"),
    PlantedDifference(
      name: "the world's seed", after: ["seeds.world=8"], settings: ["seeds.world: null | 8"],
      kind: .event, version: 1),
    PlantedDifference(
      name: "the seed of the data", after: ["seeds.data=8"], settings: ["seeds.data: null | 8"],
      kind: nil, version: 0),
    PlantedDifference(
      name: "the seed of initial weights", after: ["seeds.init=8"],
      settings: ["seeds.init: null | 8"], kind: nil, version: 0),
    PlantedDifference(
      name: "the seed of trainings", after: ["seeds.training=8"],
      settings: ["seeds.training: null | 8"], kind: nil, version: 1),
    PlantedDifference(
      name: "the seed of the policy", before: cohorts, after: ["seeds.policy=8"],
      settings: ["seeds.policy: null | 8"], kind: .event, version: 1),
    PlantedDifference(
      name: "a threshold off by one",
      before: ["server.trigger={threshold: 3}"], after: ["server.trigger={threshold: 4}"],
      settings: ["server.trigger.threshold.updates: 3 | 4"], kind: .outcome, version: 1),
    PlantedDifference(
      // One more holds no version from the start.
      name: "one device more", after: ["fleet.tablets.count=4"],
      settings: ["fleet.tablets.count: 3 | 4"], kind: .event, version: 0),
    PlantedDifference(
      name: "another rule of staleness",
      before: ["server.trigger={threshold: 1}"], after: ["server.maximumStaleness=0"],
      settings: ["server.maximumStaleness: null | 0"], kind: .outcome, version: 7),
    PlantedDifference(
      name: "the server's rate", after: ["server.optimizer={sgd: 0.5}"],
      settings: ["server.optimizer.sgd.learningRate: 1 | 0.5"], kind: nil, version: 1),
    PlantedDifference(
      name: "a learning rate", after: ["task.training.optimizer={sgd: 0.11}"],
      settings: ["task.training.optimizer.sgd.learningRate: 0.1 | 0.11"], kind: nil, version: 1),
    PlantedDifference(
      name: "an expiry one microsecond later",
      after: [PlantedStory.window("0 s", "90 s", "95000001 us", of: "phones")],
      text: PlantedStory.text,
      settings: [
        "fleet.phones.background.windows.fixed.intervals.[0].to: "
          + "\"1 min 35 s\" | \"1 min 35 s 1 us\""
      ], kind: .event, words: "0 d 00:01:35.000001 phones/0"),
    PlantedDifference(
      name: "a scripted event",
      after: ["inject=[{at: 3 h, device: phones/2, action: dropLink, lasting: 1 min}]"],
      settings: ["inject.[0]: absent"], kind: .event, words: "scripted event 0"),
  ]

  /// Rounds whose cohorts are drawn.
  private static let cohorts = [
    "server.selector={uniform: {cohort: 2, minimumWaiting: 4}}",
    "server.trigger=[cohort-complete, {deadline: 2 h}]",
  ]

  /// The two scenarios.
  func scenarios() throws -> (Scenario, Scenario) {
    (
      try Scenario(text: text, file: "night.yaml", overrides: before),
      try Scenario(text: text, file: "night.yaml", overrides: before + after)
    )
  }

  /// How the second run is played.
  var options: RunOptions {
    var options = RunOptions()
    options.shakeTies = shakeTies
    return options
  }
}

/// All events of a run, each with what came of it, as lines: what an observer hears, and nothing
/// of digests.
final class EveryEvent: Observer {
  private(set) var lines: [String] = []
  private var happened = ""
  private(set) var times: [SimTime] = []

  var wantsEveryEvent: Bool { true }

  func happened(_ event: ObservedEvent) { happened += " \(event)" }

  func handled(_ event: Event, at time: SimTime, _ simulation: borrowing Simulation) {
    // Generations count what was cancelled; they are no part of what happens.
    let text = "\(event)".replacing(/generation: \d+/, with: "")
    lines.append("\(time) \(text)\(happened)")
    times.append(time)
    happened = ""
  }

  /// The events of a scenario's run.
  static func of(_ scenario: Scenario, _ options: RunOptions = RunOptions()) throws -> EveryEvent {
    let tape = EveryEvent()
    var simulation = try scenario.makeSimulation(options)
    simulation.run(observers: [tape])
    return tape
  }

  /// The first place at which two runs differ; nil: they do not.
  static func firstDifference(_ a: EveryEvent, _ b: EveryEvent) -> Int? {
    for place in 0..<max(a.lines.count, b.lines.count) {
      guard place < a.lines.count, place < b.lines.count else { return place }
      if a.lines[place] != b.lines[place] { return place }
    }
    return nil
  }
}

/// The first row in which two tables differ, by the texts of all columns that both have.
func firstDifferentRow(_ a: ResultDocument, _ b: ResultDocument, _ group: String) -> Int? {
  let (first, second) = (a[group], b[group])
  let count = (first?.axes[0].length ?? 0, second?.axes[0].length ?? 0)
  for row in 0..<max(count.0, count.1) {
    if row >= min(count.0, count.1) { return row }
    for variable in first?.variables ?? [] {
      guard variable.axes == [group == "rounds" ? "round" : "version"],
        let other = second?[variable: variable.name]
      else { continue }
      let texts = ("\(variable.values.asDoubles[row])", "\(other.values.asDoubles[row])")
      if texts.0 != texts.1 { return row }
    }
  }
  return nil
}
