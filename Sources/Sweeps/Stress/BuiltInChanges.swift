import FedSim
import Numerics
import Scenarios
import Schema

/// Changes that are right for any scenario: whatever the policy, no invariant may break under them.
enum BuiltInChanges {
  /// Of each group of the fleet.
  private static let ofGroups: [(path: String, values: [String])] = [
    (
      "link",
      [
        "{fixed: wifi}", "{markov: [{state: wifi, mean: 40 min}, {state: offline, mean: 20 min}]}",
        "{markov: [{state: wifi, mean: 6 h}, {state: offline, mean: 6 h}]}",
        "{markov: [{state: wifi, mean: 4 min}, {state: cellular, mean: 4 min},"
          + " {state: offline, mean: 2 min}]}",
      ]
    ),
    (
      "power",
      [
        "{fixed: plugged}",
        "{markov: [{state: plugged, mean: 2 h}, {state: unplugged, mean: 2 h}]}",
      ]
    ),
    (
      "usage",
      ["{fixed: locked}", "{markov: [{state: locked, mean: 1 h}, {state: active, mean: 10 min}]}"]
    ),
    ("interruption.onExpiry", ["checkpoint", "discard", "submitPartial"]),
    ("interruption.onModelMoved", ["finish", "restart", "rebase"]),
    ("participation.retrain", ["always", "newVersions"]),
    ("participation.repeats", ["false", "true"]),
    ("compute.perBatch", ["100 ms", "3 s", "1 min"]),
    ("network.requestTimeout", ["1 min", "2 s"]),
    ("outbox.capacity", ["0", "1", "2", "10"]),
    ("outbox.attempts", ["1", "3"]),
    ("outbox.timeToLive", ["null", "10 min"]),
    ("outbox.persists", ["true", "false"]),
  ]

  /// Of groups whose background time is given directly, and of those that ask for it.
  private static let windows = [
    "{fixed: open}", "{markov: [{state: open, mean: 30 min}, {state: closed, mean: 30 min}]}",
    "{markov: [{state: open, mean: 2 min}, {state: closed, mean: 10 min}]}",
  ]
  private static let budgets = ["4 min", "45 s", "30 min"]

  /// Of the server.
  private static let ofServer: [(path: String, values: [String])] = [
    ("maximumStaleness", ["null", "0", "1", "3"]),
    ("duplicates", ["replace", "append", "ignore"]),
    ("reachable", reaches), ("internet", reaches),
  ]
  private static let reaches = [
    "{fixed: up}", "{markov: [{state: up, mean: 1 h}, {state: down, mean: 10 min}]}",
    "{markov: [{state: up, mean: 5 min}, {state: down, mean: 5 min}]}",
  ]

  /// The most devices of a group in a world.
  private static let mostDevices = 32

  /// What varies in the worlds of a scenario.
  static func axes(of scenario: Scenario) -> [SweepAxis] {
    var axes: [SweepAxis] = []
    func add(_ path: String, _ values: [String]) {
      axes.append(SweepAxis(path: path, values: values.compactMap { Node(yaml: $0) }))
    }
    let length = Double(scenario.settings.stop.after.microseconds)
    let lengths = [1.0 / 24, 1.0 / 8, 1.0 / 3].map { share in
      SweepNumber(max(1e6, (length * share / 6e7).rounded() * 6e7), .duration).node
    }
    axes.append(SweepAxis(path: "stop.after", values: lengths))
    for (index, group) in scenario.settings.fleet.enumerated() {
      let place = "fleet[\(index)]"
      let counts = [1, 2, 3, 5, 8, 13, 21, mostDevices].filter { $0 <= group.count }
      if !counts.isEmpty { add("\(place).count", counts.map(String.init)) }
      for (path, values) in ofGroups { add("\(place).\(path)", values) }
      if group.background.windows != nil { add("\(place).background.windows", windows) }
      if group.background.processing != nil {
        add("\(place).background.processing.budgetMedian", budgets)
      }
    }
    for (path, values) in ofServer { add("server.\(path)", values) }
    return axes
  }

  /// Whether every world has a change of a key: large groups are made smaller in all.
  static func isAlways(_ path: String, _ scenario: Scenario) -> Bool {
    scenario.settings.fleet.enumerated().contains { index, group in
      path == "fleet[\(index)].count" && group.count > mostDevices
    }
  }

  /// What may be scripted on any device.
  private static let actions: [InjectionSettings.Verb] = [
    .launch, .expire, .kill, .dropLink, .throw, .forceQuit, .open, .reinstall, .reboot, .erase,
    .poison, .reconnect, .wrongURL,
  ]

  /// A scripted event on some device at some time.
  ///
  /// Draws: six words.
  static func event(in scenario: Scenario, _ stream: inout RandomStream) -> Node {
    let settings = scenario.settings
    let groups = settings.fleet.filter { $0.count > 0 }
    let draws = (0..<3).map { _ in stream.uniform() }
    let group = groups[Int(draws[0] * Double(groups.count))]
    let device = Int(draws[1] * Double(min(group.count, 3)))
    let seconds = (draws[2] * Double(settings.stop.after.microseconds) / 1e6).rounded(.down)
    let action = actions[Int(stream.below(UInt32(actions.count)))]
    return .mapping([
      ("at", SweepNumber(seconds * 1e6, .duration).node),
      ("device", .text("\(group.name)/\(device)")), ("action", .text(action.rawValue)),
    ])
  }
}
