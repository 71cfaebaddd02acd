import Foundation
import Testing

import FedSim
import Results
import Runs
import Scenarios
import Sweeps
import Synchronization

/// The tables of a sweep that was played in this process, against runs of the same scenarios.
@Suite final class SweepTableTests {
  private let folder = NSTemporaryDirectory() + "fedsim-sweep-\(UUID().uuidString)"

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  private static let section = """
    sweep:
      grid:
        server.trigger.threshold: [1, 2]
        stop.after: [6 h, 12 h]
      constraints: [not (threshold == 2 and after == 6 h)]
      replicas: 2
      targets: [0.3, 0.99]

    """

  /// Plays all cells, and gives the table and the player.
  private func played(
    _ section: String, leavingOut: Set<Int> = []
  ) throws -> (SweepTable, CellPlayer) {
    let plan = try SweepPlan(
      Variants.sweep(section), build: "", store: folder + "/store", options: RunOptions())
    let sweep = SweepFolder(folder + "/s")
    try sweep.write(plan)
    let player = try CellPlayer(sweep, threads: 1)
    var rows: [String: CellRow] = [:]
    for (index, cell) in plan.manifest.cells.enumerated() where !leavingOut.contains(index) {
      let answer = player.play(cell.id)
      #expect(answer.kind == .played)
      // What a worker says of a cell that it played is what its file says.
      let row = try #require(player.row(cell.id))
      #expect(answer.row == row)
      rows[cell.id] = row
    }
    let table = SweepTable(
      plan.manifest, rows: rows, played: [Array(plan.manifest.variants.indices)])
    return (table, player)
  }

  @Test("a folder that takes no more files costs one cell; the next is not played")
  func aFolderThatTakesNoMoreFiles() throws {
    let (_, player) = try played(Self.section, leavingOut: Set(2..<6))
    let system = FileCalls.system
    let tries = Mutex(0)
    player.calls.create = { _ in
      tries.withLock { $0 += 1 }
      errno = EACCES
      return -1
    }
    let ids = player.manifest.cells.map(\.id)
    let (lost, refused) = (player.play(ids[2]), player.play(ids[3]))
    #expect(lost.kind == .failed && refused.kind == .refused)
    #expect(lost.reason?.contains("the result cannot be written") == true)
    #expect(refused.reason?.contains("Permission denied") == true)
    #expect(tries.withLock { $0 } == 2)
    player.calls = system
    #expect(player.play(ids[3]).kind == .played)
  }

  /// The fields of a table, the names of its columns first.
  private func rows(of text: String) -> [[String]] {
    text.split(separator: "\n").map {
      $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    }
  }

  /// All columns of numbers as a recorder saw the run.
  private func figures(
    _ simulation: Simulation, _ recorder: RunRecorder
  ) throws -> [(name: String, value: Double?)] {
    let (versions, ledgers) = (recorder.versions, simulation.books.ledgers)
    let last = try #require(recorder.evaluations.last ?? nil)
    let validation = try #require(last.validation)
    let accuracies = recorder.evaluations.map { $0?.test.accuracy ?? -1 }
    let validations = recorder.evaluations.compactMap { $0?.validation?.accuracy }
    let best = accuracies.max()
    let stale = versions.dropFirst().map(\.meanStaleness)
    return [
      ("versions", Double(versions.count - 1)), ("rounds", Double(recorder.rounds.count)),
      ("simulatedTime", simulation.now.seconds),
      ("finalAccuracy", last.test.accuracy), ("bestAccuracy", best),
      ("bestVersion", accuracies.firstIndex { $0 == best }.map(Double.init)),
      ("finalLoss", last.test.meanLoss), ("finalValidationAccuracy", validation.accuracy),
      ("bestValidationAccuracy", validations.max()),
      ("finalValidationLoss", validation.meanLoss),
      ("deviceAccuracy", versions.last { !$0.validationAccuracy.isNaN }?.validationAccuracy),
      ("aggregatedUpdates", Double(versions.reduce(0) { $0 + $1.updates })),
      ("meanStaleness", stale.reduce(0, +) / Double(stale.count)),
      ("bytesUp", Double(ledgers.bytesUp)), ("bytesDown", Double(ledgers.bytesDown)),
      ("batchesUsed", Double(ledgers.batchesUsed)),
      ("batchesWasted", Double(ledgers.batchesWasted)),
    ]
  }

  @Test("arrays have the sweep's axes as dimensions, and NaN where a cell failed or is excluded")
  func arrays() throws {
    let (table, _) = try played(Self.section, leavingOut: [1])
    let document = table.document
    try document.validate()
    #expect(
      document.root.axes.prefix(3).map { "\($0.name) \($0.length)" }
        == ["threshold 2", "after 2", "replica 2"])
    #expect(document.root[variable: "threshold"]?.values == .double([1, 2]))
    #expect(document.root[variable: "after"]?.values == .double([21_600, 43_200]))
    #expect(document.root[variable: "after"]?.units == "s")
    // Cells by threshold, end, replica: (1, 6 h), (1, 12 h), (2, 6 h) excluded, (2, 12 h).
    let outcome = try #require(document.root[variable: "outcome"])
    #expect(outcome.flagMeanings == ["finished", "stopped", "failed", "excluded"])
    #expect(outcome.values == .int8([0, 2, 0, 0, 3, 3, 0, 0]))
    let accuracy = try #require(document.root[variable: "finalAccuracy"])
    #expect(accuracy.axes == ["threshold", "after", "replica"])
    let values = accuracy.values.asDoubles
    #expect(values.map(\.isNaN) == [false, true, false, false, true, true, false, false])
    // The same numbers from separate runs; the variants are (1, 6 h), (1, 12 h), (2, 12 h).
    let seeds = ReplicaSeeds.seeds(2, of: 7)
    let csv = rows(of: table.csv)
    var reached: [Bool] = []
    for (place, variant, threshold, hours, replica) in [
      (0, 0, 1, 6, 0), (3, 1, 1, 12, 1), (6, 2, 2, 12, 0),
    ] {
      let scenario = try Scenario(
        text: Variants.base,
        overrides: [
          "server.trigger.threshold=\(threshold)", "stop.after=\(hours) h",
          "seed=\(seeds[replica])",
        ])
      var simulation = try scenario.makeSimulation()
      let recorder = RunRecorder()
      simulation.run(observers: [recorder])
      let row = csv[1 + 2 * variant + replica]
      for (name, expected) in try figures(simulation, recorder) {
        let column = try #require(csv[0].firstIndex(of: name), "\(name)")
        #expect(Double(row[column]) == expected, "\(name) of \(threshold), \(hours) h")
      }
      #expect(values[place] == recorder.evaluations.last??.test.accuracy)
      let time = document.root[variable: "simulatedTime"]?.values.asDoubles[place]
      #expect(time == simulation.now.seconds)
      let updates = document.root[variable: "aggregatedUpdates"]?.values.asDoubles[place]
      #expect(updates == Double(recorder.versions.reduce(0) { $0 + $1.updates }))
      let times = document.root[variable: "timeToAccuracy"]?.values.asDoubles ?? []
      for (index, target) in [0.3, 0.99].enumerated() {
        let first = zip(recorder.versions, recorder.evaluations).first {
          ($0.1?.test.accuracy ?? 0) >= target
        }
        let time = times[2 * place + index]
        #expect(first == nil ? time.isNaN : time == first?.0.publishedAt.seconds)
        reached.append(first != nil)
      }
    }
    #expect(reached.contains(true) && reached.contains(false), "both kinds are seen")
    // No phone has a battery.
    #expect(!csv[0].contains("finalBatteryLevel"))
    #expect(document.root[variable: "finalBatteryLevel"] == nil)
    let versions = try #require(document.root.axes.first { $0.name == "version" }?.length)
    let curve = try #require(document.root[variable: "centralAccuracy"])
    #expect(curve.axes == ["threshold", "after", "replica", "version"])
    #expect(curve.values.count == 8 * versions)
    let excluded = curve.values.asDoubles[4 * versions..<6 * versions].filter { !$0.isNaN }
    #expect(excluded.isEmpty)
  }

  @Test("the mean staleness is that of the versions made of updates")
  func meanStaleness() throws {
    // All four ask at 0 and train version 0; each update is a version: 0, 1, 2 and 3 versions old.
    let (table, _) = try played(
      "sweep: {grid: {fleet.phones.background: [{processing: null, windows: {fixed: {intervals: "
        + "[{from: 0 s, to: 1 h}]}}}], server.trigger.threshold: [1]}}\n")
    #expect(table.document.root[variable: "versions"]?.values.asDoubles == [4])
    #expect(table.document.root[variable: "meanStaleness"]?.values.asDoubles == [1.5])
  }

  @Test("a number that needs a feature is in the tables where a cell has it")
  func needsFeature() throws {
    let (table, _) = try played(
      "sweep: {grid: {fleet.phones.battery.initialLevel: [0.5, 0.9]}}\n")
    let csv = rows(of: table.csv)
    let column = try #require(csv[0].firstIndex(of: "finalBatteryLevel"))
    let levels = try #require(table.document.root[variable: "finalBatteryLevel"]?.values.asDoubles)
    #expect(csv.dropFirst().map { Double($0[column]) } == levels.map { $0 })
    #expect(csv.allSatisfy { $0.count == csv[0].count })
    for (level, initial) in zip(levels, ["0.5", "0.9"]) {
      let scenario = try Scenario(
        text: Variants.base, overrides: ["fleet.phones.battery.initialLevel=\(initial)"])
      var simulation = try scenario.makeSimulation()
      let recorder = RunRecorder()
      simulation.run(observers: [recorder])
      #expect(level == recorder.versions.last { !$0.batteryLevel.isNaN }?.batteryLevel)
    }
  }

  @Test("a table is written and read back, and cells of one process share their data")
  func files() throws {
    let section =
      "sweep: {grid: {server.trigger.threshold: [1, 2], task.training.epochs: [1, 2]}}\n"
    let (table, player) = try played(section)
    // Four cells of one seed: the first reads, three find what it has read.
    #expect(player.dataHits == 3)
    let sweep = SweepFolder(folder + "/s")
    try table.write(to: sweep)
    let document = try ResultFile.read(sweep.arraysPath)
    #expect(document.root[variable: "seed"]?.values == .int64([7]))
    #expect(
      document.root[variable: "finalLoss"]?.values.asDoubles.contains(where: \.isNaN) == false)
    let csv = try String(contentsOfFile: sweep.tablePath, encoding: .utf8)
    #expect(csv == table.csv)
    #expect(csv.split(separator: "\n").count == 5)
    #expect(!FileManager.default.fileExists(atPath: sweep.failedPath))
  }

  @Test("the table of versions has each version of each cell, if it is wanted")
  func versions() throws {
    let (table, _) = try played("sweep: {grid: {server.trigger.threshold: [1, 2]}}\n")
    let sweep = SweepFolder(folder + "/s")
    try table.write(to: sweep, versions: true)
    let found = rows(of: try String(contentsOfFile: sweep.versionsPath, encoding: .utf8))
    #expect(
      found[0] == [
        "cell", "variant", "replica", "seed", "threshold", "version", "publishedAt",
        "centralAccuracy", "centralLoss", "centralValidationAccuracy",
      ])
    var rows = found.dropFirst()
    for variant in 0..<2 {
      let scenario = try Scenario(
        text: Variants.base, overrides: ["server.trigger.threshold=\(variant + 1)"])
      var simulation = try scenario.makeSimulation()
      let recorder = RunRecorder()
      simulation.run(observers: [recorder])
      let cell = self.rows(of: table.csv)[1 + variant][0]
      for (record, evaluation) in zip(recorder.versions, recorder.evaluations) {
        let next = rows.popFirst()
        let row = try #require(next)
        let keys = [cell, "\(variant)", "0", "7", "\(variant + 1)", "\(record.version)"]
        #expect(Array(row.prefix(6)) == keys)
        #expect(
          row.dropFirst(6).map { Double($0) } == [
            record.publishedAt.seconds, evaluation?.test.accuracy, evaluation?.test.meanLoss,
            evaluation?.validation?.accuracy,
          ])
      }
      #expect(recorder.versions.count > 3)
    }
    #expect(rows.isEmpty)
    try table.write(to: sweep)
    #expect(!FileManager.default.fileExists(atPath: sweep.versionsPath))
  }

  @Test("words, and values that are mappings, are reported by their places")
  func words() throws {
    let section = """
      sweep:
        list:
          - {server.trigger: {threshold: 2}, task.model: softmax}
          - {server.trigger: {every: 1 h}, task.model: softmax}

      """
    let (table, _) = try played(section)
    let document = table.document
    try document.validate()
    #expect(document.root[variable: "list"]?.values == .int64([0, 1]))
    let trigger = try #require(document.root[variable: "trigger"])
    #expect(trigger.axes == ["list"])
    #expect(trigger.values == .int8([0, 1]))
    #expect(
      trigger[attribute: "values"]
        == .texts(["{\"threshold\":2}", "{\"every\":\"1 h\"}"]))
    #expect(document.root[variable: "model"]?.values == .int8([0, 0]))
    #expect(table.csv.contains(",\"{\"\"threshold\"\":2}\",softmax,finished,"))
  }

  @Test("a sweep of more axes than a table usually has keeps all of them")
  func manyAxes() throws {
    let section = """
      sweep:
        grid:
          server.trigger.threshold: [1, 2]
          task.training.epochs: [1]
          task.training.batchSize: [5]
          task.training.optimizer.sgd.learningRate: [0.1]
          fleet.phones.compute.perBatch: [1 s]

      """
    let (table, _) = try played(section)
    try table.document.validate()
    #expect(table.document.root[variable: "finalAccuracy"]?.axes.count == 6)
    try table.write(to: SweepFolder(folder + "/s"))
    let read = try ResultFile.read(folder + "/s/table.h5")
    #expect(read.root[variable: "centralAccuracy"]?.axes.count == 7)
  }

  @Test("a field is in quotes where it holds a comma, a quote or any end of a line")
  func fields() {
    for (text, field) in [
      ("a b", "a b"), ("a,b", "\"a,b\""), ("a \"b\"", "\"a \"\"b\"\"\""), ("a\nb", "\"a\nb\""),
      ("a\rb", "\"a\rb\""), ("a\r\nb", "\"a\r\nb\""),
    ] {
      // By bytes: texts are equal where they look alike.
      #expect(Array(SweepTable.field(text).utf8) == Array(field.utf8), "\(text.debugDescription)")
    }
  }

  @Test("tables that cannot be written are no bad input: the cells were played")
  func unwritable() throws {
    let (table, _) = try played("sweep: {grid: {server.trigger.threshold: [1]}}\n")
    let sweep = SweepFolder(folder + "/s")
    try FileManager.default.createDirectory(
      atPath: sweep.tablePath, withIntermediateDirectories: true)
    let failure = try #require(throws: RunFailure.self) { try table.write(to: sweep) }
    #expect(!failure.isBadInput)
    #expect(failure.description.hasPrefix("the tables cannot be written: \(sweep.tablePath)"))
    #expect(failure.description.hasSuffix("; the same command continues"))
  }
}
