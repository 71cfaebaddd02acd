import Foundation
import Testing

import FedSim
import Runs
import Scenarios
import Schema

/// What depends on the order of simultaneous events: played, and held against what the page of
/// policies says.
@Suite("Ties")
struct TieTests {
  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()
  private static let keys: [UInt64] = [1, 2, 3]
  private static let seams = [
    "client selector", "aggregation trigger", "aggregator", "server optimizer",
    "staleness weight", "update transform", "local algorithm", "attack",
  ]

  /// Devices that are always there, alike in two groups: what one does many do in the same
  /// microsecond. Without that nothing depends on who is first: anybody may train, and a timer says
  /// when it is time.
  private static let world = """
    name: ties
    seed: 3
    stop: {versions: 6, after: 1 h}
    task:
      data:
        source: {blobs: {classes: 3, features: 4, train: 160, test: 30}}
        partition: {iid: {clients: 16}}
      model: {mlp: {hidden: [3]}}
      training: {epochs: 1, batchSize: 5, optimizer: {sgd: 0.1}}
    fleet:
      - &phones
        name: phones
        count: 12
        link: {fixed: wifi}
        background: {windows: {fixed: open}}
        participation: {repeats: true, pause: 10 s}
        compute: {perBatch: 5 s}
      - {<<: *phones, name: slow, count: 4, compute: {perBatch: 15 s}}
    server:
      payload: delta
      selector: open
      trigger: {every: {period: 20 s, minimum: 1}}
      aggregator: uniform-mean

    """

  /// A cohort of nine of sixteen of whom six are wanted, and who they are depends on nothing: all
  /// wait when it is drawn.
  private static let drawn =
    "server.selector={uniform: {cohort: 6, overSelection: 1.5, minimumWaiting: 16}}"
  private static let inTime = "server.trigger={deadline: 40 s}"

  /// The worlds in which a part is played: its name alone where that does.
  private static func worlds(of part: String, at seam: String) -> [[String]] {
    switch seam {
    case "client selector": selectors[part] ?? [["server.selector={\(part): 4}", inTime]]
    case "aggregation trigger": triggers[part] ?? [[drawn, "server.trigger=\(part)"]]
    case "aggregator":
      [["server.aggregator=" + (part == "norm-bounded-mean" ? "{\(part): 0.05}" : part)]]
    case "server optimizer", "local algorithm":
      // The two halves of FedDyn go together.
      if part == "feddyn" {
        [["server.optimizer=feddyn", "task.training.algorithm=feddyn"]]
      } else if part == "fedbn" {
        [
          [
            "task.training.algorithm=fedbn",
            "task.model={layers: [{dense: 7}, batch-normalisation, relu, {dense: 5}]}",
          ]
        ]
      } else if seam == "server optimizer" {
        [["server.optimizer=\(part)"]]
      } else {
        [["task.training.algorithm=" + (part == "personal-layers" ? "{\(part): [dense2]}" : part)]]
      }
    case "staleness weight":
      [["server.staleness=" + (part == "hinge" ? "{hinge: {slope: 2, from: 0}}" : part)]]
    case "update transform": [["server.transforms=\(part)"]]
    default: [["fleet[0].adversary={share: 0.5, attack: \(part)}"]]
    }
  }

  private static let selectors: [String: [[String]]] = [
    "open": [[]],
    "concurrent": [["server.selector={concurrent: 4}"]],
    "fraction": [["server.selector={fraction: 0.5}"]],
    "cycles": [["server.selector={cycles: {mode: asDocumented, maximumWorkers: 4}}"]],
    "scripted": [
      [
        "server.selector={scripted: {cohorts: [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 0, 1]]}}",
        inTime, "stop.versions=3",
      ]
    ],
    "power-of-choice": ["reported", "current"].map {
      [
        "server.selector={power-of-choice: {cohort: 2, candidates: 4, losses: \($0)}}", inTime,
      ]
    },
    "believed-online": [
      [
        "server.selector={believed-online: {of: {concurrent: 4}}}", "fleet[0].heartbeats={}",
        "fleet[1].heartbeats={}",
      ]
    ],
    "minimum-interval": [
      ["server.selector={minimum-interval: {rounds: 2, of: {uniform: 4}}}", inTime]
    ],
  ]

  private static let triggers: [String: [[String]]] = [
    "every": [[]],
    "every-arrival": [["server.trigger=every-arrival"]],
    "buffer": [["server.trigger={buffer: 5}"]],
    "threshold": [["server.trigger={threshold: 5}"]],
    "first": [[drawn, "server.trigger={first: 5}"]],
    "quorum": [[drawn, "server.trigger={quorum: {share: 0.5, after: 40 s}}"]],
    "deadline": [[drawn, inTime]],
    "all": [
      ["server.trigger={all: {of: {threshold: 5, every: {period: 20 s, minimum: 1}}}}"],
      [drawn, "server.trigger={all: {of: {first: 3, threshold: 5}}}"],
    ],
    "cycle-end": [
      ["server.selector={cycles: {maximumDiffs: 5}}", "server.trigger=cycle-end"]
    ],
  ]

  /// When versions came, of how many updates, and their bits.
  private final class Trail: Observer {
    var versions: [[UInt64]] = []
    func published(_ record: VersionRecord, _ simulation: borrowing Simulation) {
      versions.append(
        [UInt64(record.publishedAt.microseconds), UInt64(record.updates)]
          + simulation.model.values.map { UInt64($0.bitPattern) })
    }
  }

  private static func played(_ scenario: Scenario, _ key: UInt64?) throws -> [[UInt64]] {
    var options = RunOptions()
    options.shakeTies = key
    let trail = Trail()
    var simulation = try scenario.makeSimulation(options)
    simulation.run(observers: [trail])
    return trail.versions
  }

  /// Whether some key changes the result.
  private static func moves(_ scenario: Scenario) throws -> Bool {
    let plain = try played(scenario, nil)
    #expect(plain.count > 3, "\(scenario.settings.name) comes to \(plain.count - 1) versions")
    for key in keys where try played(scenario, key) != plain { return true }
    return false
  }

  /// What the page says of the parts of a seam, by the first word of a row under «Ties».
  private static func said(of row: String, all: [String]) throws -> (moves: [String], not: [String])
  {
    let page = try String(
      contentsOf: root.appendingPathComponent("docs/selection.md"), encoding: .utf8)
    let section = page.components(separatedBy: "\n## Ties\n").last?
      .components(separatedBy: "\n## ").first
    let line = section?.components(separatedBy: "\n").first { $0.hasPrefix("| \(row) |") }
    let cells = try #require(line, "no row «\(row)» under «Ties»").components(separatedBy: "|")
    try #require(cells.count == 5, "\(row): three columns")
    func names(_ cell: String) -> [String] {
      if cell.trimmingCharacters(in: .whitespaces) == "all" { return all }
      return cell.components(separatedBy: "`").enumerated().filter { $0.offset % 2 == 1 }
        .map(\.element)
    }
    return (names(cells[2]), names(cells[3]))
  }

  /// The row as it should be.
  private static func row(_ name: String, _ moving: [String], _ others: [String]) -> String {
    func cell(_ names: [String], _ rest: [String]) -> String {
      if names.isEmpty { return "none" }
      return rest.isEmpty && name != "scenario"
        ? "all" : names.map { "`\($0)`" }.joined(separator: ", ")
    }
    return "| \(name) | \(cell(moving, others)) | \(cell(others, moving)) |"
  }

  private static func compare(_ name: String, _ all: [String], _ moving: [String]) throws {
    let others = all.filter { !moving.contains($0) }
    let said = try said(of: name, all: all)
    #expect(
      said.moves.sorted() == moving.sorted() && said.not.sorted() == others.sorted(),
      "docs/selection.md under «Ties» should have: \(row(name, moving, others))")
  }

  @Test("a part is said to depend on ties if some order moves it, and else not", arguments: seams)
  func parts(seam: String) throws {
    let foreign = ["python", ProgramSelector.name]
    let all = Registry.standard.catalog.parts(of: seam).map(\.name)
      .filter { !foreign.contains($0) }
    #expect(!all.isEmpty)
    var moving: [String] = []
    for part in all {
      let worlds = try Self.worlds(of: part, at: seam).map {
        try Scenario(text: Self.world, file: "\(seam) \(part)", overrides: $0)
      }
      for world in worlds where try Self.moves(world) {
        moving.append(part)
        break
      }
    }
    try Self.compare(seam, all, moving)
  }

  @Test("a policy's scenario is said to depend on ties if some order moves it, and else not")
  func scenarios() throws {
    let folder = Self.root.appendingPathComponent("scenarios/policies")
    let all = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      .filter { $0.hasSuffix(".yaml") }.sorted()
    #expect(!all.isEmpty)
    var moving: [String] = []
    for name in all {
      let scenario = try Scenario(contentsOf: folder.appendingPathComponent(name).path)
      if try Self.moves(scenario) { moving.append(name) }
    }
    func short(_ names: [String]) -> [String] { names.map { String($0.dropLast(5)) } }
    try Self.compare("scenario", short(all), short(moving))
  }

  @Test("a cohort drawn when all wait, whose updates all have time, depends on no order")
  func everybodyWaits() throws {
    for selector in [
      "{uniform: {cohort: 4, minimumWaiting: 16}}", "{weighted: {cohort: 4, minimumWaiting: 16}}",
      "{round-robin: {cohort: 4, minimumWaiting: 16}}",
      "{availability-aware: {cohort: 4, minimumWaiting: 16}}",
      "{oort: {cohort: 4, minimumWaiting: 16}}",
      "{power-of-choice: {cohort: 4, candidates: 8, minimumWaiting: 16}}",
    ] {
      let scenario = try Scenario(
        text: Self.world, file: selector,
        overrides: ["server.selector=" + selector, Self.inTime])
      #expect(try !Self.moves(scenario), "\(selector)")
    }
  }
}
