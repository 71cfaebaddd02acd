import Testing

import Scenarios
import Schema
import Sweeps

/// Which variants a section yields, and in which order.
@Suite struct SweepTests {
  @Test("a grid is every combination, the last axis fastest")
  func grid() throws {
    let values = try Variants.values(
      """
      sweep:
        grid:
          server.trigger.threshold: [1, 2]
          fleet.phones.count: {from: 2, to: 6, steps: 3, integer: true}

      """)
    #expect(
      values == [["1", "2"], ["1", "4"], ["1", "6"], ["2", "2"], ["2", "4"], ["2", "6"]])
  }

  @Test("blocks multiply: a zip and a list go in step, a grid goes through all")
  func blocks() throws {
    let sweep = try Variants.sweep(
      """
      sweep:
        grid: {server.trigger.threshold: [1, 2]}
        zip: {task.training.batchSize: [5, 10], task.training.epochs: [2, 1]}
        list: [{stop.after: 6 h}, {stop.after: 12 h}]

      """)
    #expect(sweep.dimensions.map(\.name) == ["threshold", "list", "zip"])
    #expect(sweep.dimensions.map(\.points.count) == [2, 2, 2])
    let values = sweep.variants.map { $0.values.map(\.json) }
    #expect(values.count == 8)
    #expect(values[0] == ["1", "\"6 h\"", "5", "2"])
    #expect(values[3] == ["1", "\"12 h\"", "10", "1"])
    #expect(values[7] == ["2", "\"12 h\"", "10", "1"])
  }

  @Test("ranges have values of the kind of their ends")
  func ranges() throws {
    func values(_ range: String) throws -> [String] {
      try Variants.values("sweep: {grid: {x.y: \(range)}}\n").map { $0[0] }
    }
    // Equal ratios: 1 · 10^(k/2), to six digits.
    #expect(
      try values("{from: 0.001, to: 1, steps: 4, scale: log}") == ["0.001", "0.01", "0.1", "1"])
    #expect(
      try values("{from: 1, to: 10, steps: 3, scale: log}") == ["1", "3.16228", "10"])
    #expect(try values("{from: 0, to: 1, steps: 5}") == ["0", "0.25", "0.5", "0.75", "1"])
    // Two seeds, which are one `Double`.
    #expect(
      try Variants.values("sweep: {grid: {seed: [9007199254740992, 9007199254740993]}}\n").count
        == 2)
    // The largest quantity there is, which no `Double` is: 106,751,991 d are 9,223,372,022,400 s,
    // and 14,454.775807 s are left.
    #expect(
      try values("{from: 1 s, to: 9223372036854775807 us, steps: 2}")
        == ["\"1 s\"", "\"106751991 d 4 h 54 s 775 ms 807 us\""])
    #expect(
      try values("{from: 10 min, to: 1 h, steps: 3}")
        == ["\"10 min\"", "\"35 min\"", "\"1 h\""])
    // 1 to 100 by fourth roots of 100: 1, 3.16, 10, 31.6, 100, as whole numbers.
    #expect(
      try values("{from: 1, to: 100, steps: 5, scale: log, integer: true}")
        == ["1", "3", "10", "32", "100"])
    // 5, 28.75, 52.5, 76.25, 100 to the nearest multiple of 8 within the ends.
    #expect(
      try values("{from: 5, to: 100, steps: 5, multipleOf: 8}") == ["8", "32", "56", "80", "96"])
  }

  @Test("sampled points take values as their coordinates say")
  func sampled() throws {
    // Sobol: (0.5, 0.5), (0.75, 0.25), (0.25, 0.75).
    #expect(
      try Variants.values(
        """
        sweep:
          sobol:
            count: 3
            axes:
              a.b: {from: 0, to: 8}
              c.d: [one, two, three, four]

        """) == [["4", "\"three\""], ["6", "\"two\""], ["2", "\"four\""]])
    // Halton in base 2: 1/2, 1/4, 3/4, 1/8; of 1…4 each has a quarter of [0, 1).
    #expect(
      try Variants.values(
        "sweep: {halton: {count: 4, axes: {a.b: {from: 1, to: 4, integer: true}}}}\n")
        == [["3"], ["2"], ["4"], ["1"]])
    // One axis of Sobol's: ½, ¾, ¼. 100 to these powers; 52.5, 76.25 and 28.75 to the nearest 8.
    func first(_ range: String) throws -> [String] {
      try Variants.values("sweep: {sobol: {count: 3, axes: {a.b: \(range)}}}\n").map { $0[0] }
    }
    #expect(try first("{from: 1, to: 100, scale: log}") == ["10", "31.6228", "3.16228"])
    #expect(try first("{from: 5, to: 100, multipleOf: 8}") == ["56", "80", "32"])
  }

  @Test("draws follow the scenario's seed, or their own")
  func draws() throws {
    func values(_ extra: String, seed: Int) throws -> [[String]] {
      let text =
        "sweep: {random: {count: 5\(extra), axes: {a.b: {from: 0, to: 1}}}}\nx-a: \(seed)\n"
      let scenario = try Scenario(
        text: Variants.base + text, file: "s.yaml", overrides: ["seed=\(seed)"])
      return try Sweep(scenario).variants.map { $0.values.map(\.json) }
    }
    #expect(try values("", seed: 1) == values("", seed: 1))
    #expect(try values("", seed: 1) != values("", seed: 2))
    #expect(try values(", seed: 9", seed: 1) == values(", seed: 9", seed: 2))
  }

  @Test("a constraint keeps what it holds for, and may name values that are not varied")
  func constraints() throws {
    let values = try Variants.values(
      """
      sweep:
        grid:
          server.trigger.threshold: [1, 2, 3, 5]
          task.training.epochs: [1, 2]
        constraints:
          - threshold <= fleet.phones.count
          - not (server.trigger.threshold == 3 and epochs == 2)

      """)
    #expect(values == [["1", "1"], ["1", "2"], ["2", "1"], ["2", "2"], ["3", "1"]])
  }

  @Test(
    "a constraint compares what a short form means, and a part by its name",
    arguments: [
      // The scenario's threshold is 2, its end 12 h; epochs are 1, 2 and 3.
      ("epochs < 2 or server.trigger.threshold == 2", ["1", "2", "3"]),
      ("epochs < 2 or server.trigger.threshold != 2", ["1"]),
      ("server.trigger.threshold.updates >= epochs", ["1", "2"]),
      ("stop == 12 h and stop.after >= 720 min", ["1", "2", "3"]),
      ("epochs == 3 or task.model != 'softmax'", ["3"]),
    ])
  func shortForms(constraint: String, expected: [String]) throws {
    let section = "grid: {task.training.epochs: [1, 2, 3]}, constraints: [\"\(constraint)\"]"
    #expect(try Variants.values("sweep: {\(section)}\n").map { $0[0] } == expected)
  }

  @Test("values of an axis are compared so, too, and an axis goes by any path to it")
  func shortFormsOfAxes() throws {
    #expect(
      try Variants.values(
        """
        sweep:
          grid:
            fleet.phones.count: [2, 4]
            server.trigger.threshold: [1, {updates: 3}]
          constraints: ["fleet[0].count == 4", threshold > 1]

        """) == [["4", #"{"updates":3}"#]])
  }

  @Test("names are the shortest ends of paths that differ, and never a column's own")
  func names() throws {
    let sweep = try Variants.sweep(
      """
      sweep:
        grid:
          server.selector.uniform.cohort: [1]
          a.count: [1]
          b.count: [1]
          task.data.partition.dirichlet-by-device.alpha: [1]
          stop.versions: [1]

      """)
    #expect(sweep.axes.map(\.name) == ["cohort", "a_count", "b_count", "alpha", "stop_versions"])
  }

  @Test("replicas have the same seeds for every variant, the scenario's own first")
  func pairing() throws {
    let plan = try Variants.plan(
      "sweep: {grid: {server.trigger.threshold: [1, 2, 3]}, replicas: 4}\n")
    let manifest = plan.manifest
    #expect(manifest.cells.count == 12)
    let seeds = try #require(manifest.seeds)
    #expect(seeds[0] == 7)
    #expect(Set(seeds).count == 4)
    #expect(seeds.allSatisfy { $0 < 1 << 53 })
    for (cell, text) in zip(manifest.cells, plan.texts) {
      #expect(text.contains("\nseed: \(seeds[cell.replica])\n"))
      #expect(text.contains("    threshold:\n      updates: \(cell.variant + 1)\n"))
    }
    #expect(Set(manifest.cells.map(\.id)).count == 12)
    // More replicas leave the first ones as they are.
    #expect(ReplicaSeeds.seeds(9, of: 7).prefix(4) == seeds[...])
  }

  @Test("a cell is called by what it plays: the section around it, and its place, do not matter")
  func identity() throws {
    let one = try Variants.plan("sweep: {grid: {server.trigger.threshold: [1, 2]}}\n").manifest
    let other = try Variants.plan(
      "sweep: {list: [{server.trigger.threshold: 2}, {server.trigger.threshold: 3}]}\n"
    ).manifest
    #expect(one.cells[1].id == other.cells[0].id)
    #expect(one.cells[0].id != other.cells[1].id)
    let digest = String(repeating: "0", count: 64)
    let id = CellIdentity.id(scenario: digest, files: "", engineVersion: "1.0.0")
    // printf 'FedSim cell 1\n1.0.0\n%064d\n\n' 0 | sha256sum | cut -c1-32
    #expect(id == "c79f65949f1c3c653fe47661f3239dff")
    #expect(id != CellIdentity.id(scenario: digest, files: "", engineVersion: "1.0.1"))
    #expect(id != CellIdentity.id(scenario: digest, files: "a", engineVersion: "1.0.0"))
  }

  @Test("a sweep section is no part of a resolved scenario")
  func aside() throws {
    let plain = try Scenario(text: Variants.base, file: "s.yaml")
    let swept = try Variants.scenario("sweep: {replicas: 3}\n")
    #expect(plain.digest == swept.digest)
    #expect(!swept.resolvedText.contains("sweep"))
  }
}
