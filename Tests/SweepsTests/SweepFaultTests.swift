import Testing

import Scenarios
import Schema
import Sweeps

/// What is said of sections that cannot be played: where, and what was expected.
@Suite struct SweepFaultTests {
  @Test(
    "a fault is reported where it was written",
    arguments: [
      (
        "sweep: {}",
        ["s.yaml:12:8: sweep: nothing is varied: give a `grid`, another block, or `replicas`"]
      ),
      (
        "sweep: {gird: {a: [1]}}",
        [
          "s.yaml:12:9: sweep: unknown key `gird`; did you mean `grid`?"
        ]
      ),
      (
        "sweep: {grid: {server.triger.threshold: [1]}}",
        ["s.yaml:12:23: server: unknown key `triger`; did you mean `trigger`?"]
      ),
      (
        "sweep: {grid: {server.trigger.treshold: [1]}}",
        [
          "s.yaml:12:31: server.trigger: there is no aggregation trigger `treshold`;"
            + " did you mean `threshold`?"
        ]
      ),
      (
        "sweep: {grid: {fleet.phons.count: [1]}}",
        ["s.yaml:12:22: fleet: no entry of this list has the name `phons`; did you mean `phones`?"]
      ),
      (
        "sweep: {grid: {\"fleet[3].count\": [1]}}",
        ["s.yaml:12:21: fleet: found a list of 1, expected a list with an entry [3]"]
      ),
      (
        "sweep: {grid: {fleet.phones.count: [4, -1, many]}}",
        [
          "s.yaml:12:40: fleet[0].count: found `-1`, expected a whole number from 0 to 10000000",
          "s.yaml:12:44: fleet[0].count: found `many`, expected a whole number from 0 to 10000000",
        ]
      ),
      (
        "sweep: {grid: {fleet.phones.count: {from: 1, to: 2, steps: 3}}}",
        [
          "s.yaml:12:16: fleet[0].count: found `1.5`, expected a whole number from 0 to 10000000;"
            + " `integer: true` makes a range's values whole"
        ]
      ),
      (
        "sweep: {grid: {server.trigger.threshold: 3}}",
        [
          "s.yaml:12:42: sweep.grid.server.trigger.threshold: found `3`, expected a list of values,"
            + " a range {from, to}, or {choices: [value, …]}"
        ]
      ),
      (
        "sweep: {grid: {a.b: {from: 1, to: 2}}}",
        [
          "s.yaml:12:16: sweep.grid.a.b: missing key `steps`: expected a number of values: a "
            + "grid does not draw values"
        ]
      ),
      (
        "sweep: {grid: {a.b: {from: 1, to: 2, steps: 9, integer: true}}}",
        ["s.yaml:12:16: sweep.grid.a.b: 9 steps give the same value twice after rounding"]
      ),
      (
        "sweep: {random: {count: 3, axes: {a.b: {from: 2, to: 1}}}}",
        ["s.yaml:12:54: sweep.random.axes.a.b.to: a range must go from the lower to the higher end"]
      ),
      (
        "sweep: {random: {count: 3, axes: {a.b: {from: 0, to: 1, scale: log}}}}",
        ["s.yaml:12:47: sweep.random.axes.a.b.from: a logarithmic range must be above 0"]
      ),
      (
        "sweep: {random: {count: 3, axes: {a.b: {from: 1 s, to: 3}}}}",
        ["s.yaml:12:56: sweep.random.axes.a.b.to: `from` is a duration, but `to` is a number"]
      ),
      (
        "sweep: {random: {axes: {a.b: [1]}}}",
        [
          "s.yaml:12:17: sweep.random: missing key `count`: expected a whole number from"
            + " 1 to 100000"
        ]
      ),
      (
        "sweep: {zip: {a.b: [1, 2], c.d: [1]}}",
        [
          "s.yaml:12:28: sweep.zip.c.d: 1 values, but `a.b` has 2: a zip needs lists of equal "
            + "length"
        ]
      ),
      (
        "sweep: {list: [{a.b: 1}, {a.c: 2}]}",
        [
          "s.yaml:12:26: sweep.list[1]: missing key `a.b`: expected every point to have the paths"
            + " of the first",
          "s.yaml:12:27: sweep.list[1]: there is no path in the first point `a.c`;"
            + " did you mean `a.b`?",
        ]
      ),
      (
        "sweep: {grid: {seed: [1, 2]}, replicas: 2}",
        [
          "s.yaml:12:41: sweep.replicas: `seed` is an axis already, but replicas also give each "
            + "variant seeds"
        ]
      ),
      (
        "sweep: {grid: {fleet.phones.count: [4], \"fleet[0].count\": [5]}}",
        [
          "s.yaml:12:41: sweep: `fleet[0].count`: this key is varied by `fleet.phones.count`"
            + " already"
        ]
      ),
      (
        "sweep: {grid: {server.trigger: [2], server.trigger.threshold: [3]}}",
        [
          "s.yaml:12:37: sweep: `server.trigger.threshold`: one is below the other:"
            + " `server.trigger`"
        ]
      ),
      (
        "sweep: {grid: {a.b: [2, 5, 5]}}",
        ["s.yaml:12:28: sweep.grid.a.b: the value 5 appears twice"]
      ),
      (
        "sweep: {grid: {a.b: [1 h, 60 min]}}",
        ["s.yaml:12:27: sweep.grid.a.b: the value \"60 min\" appears twice"]
      ),
      (
        "sweep: {zip: {a.b: [1, 1, 1], c.d: [2, 3, 2]}}",
        ["s.yaml:12:27: sweep.zip: the point 1, 2 appears twice"]
      ),
      (
        "sweep: {list: [{a.b: 1}, {a.b: 2}, {a.b: 1}]}",
        ["s.yaml:12:42: sweep.list: the value 1 appears twice"]
      ),
      (
        "sweep: {replicas: 2, targets: [0.7, 0.7]}",
        ["s.yaml:12:31: sweep.targets: 0.7 appears twice"]
      ),
      (
        "sweep: {grid: {name: [a, b]}}", ["s.yaml:12:16: sweep: `name`: a sweep cannot vary this"]
      ),
    ])
  func section(text: String, expected: [String]) {
    #expect(Variants.faults(text + "\n") == expected)
  }

  @Test(
    "a fault of a constraint is at its column",
    arguments: [
      (
        "[treshold < 3]",
        [
          "s.yaml:14:17: sweep.constraints[0]: `treshold < 3`: there is no axis or value"
            + " `treshold`; did you mean `threshold`?"
        ]
      ),
      (
        "[\"threshold <\"]",
        ["s.yaml:14:29: sweep.constraints[0]: `threshold <`: expected a value at the end"]
      ),
      (
        "[threshold < 3 s]",
        [
          "s.yaml:14:27: sweep.constraints[0]: `threshold < 3 s`: `<` cannot be between a number"
            + " and a duration"
        ]
      ),
      (
        "[server.trigger.threshold.updates == 1]",
        [
          "s.yaml:14:17: sweep.constraints[0]: `server.trigger.threshold.updates == 1`:"
            + " `server.trigger.threshold` is varied, and this name is below it: name the axis"
        ]
      ),
      (
        "[threshold == fleet]",
        [
          "s.yaml:14:30: sweep.constraints[0]: `threshold == fleet`: `fleet` is a list, but only "
            + "single values can be compared"
        ]
      ),
      (
        "[threshold > 9]",
        ["s.yaml:14:17: sweep.constraints: no variant is left: each breaks one of these"]
      ),
    ])
  func constraint(text: String, expected: [String]) {
    let section = "sweep:\n  grid: {server.trigger.threshold: [1, 2]}\n  constraints: \(text)\n"
    #expect(Variants.faults(section) == expected)
  }

  @Test("more axes than a sequence has are an error at the first of them")
  func dimensions() {
    let axes = (0..<41).map { "a.x\($0): {from: 0, to: 1}" }.joined(separator: ", ")
    #expect(
      Variants.faults("sweep: {sobol: {count: 2, axes: {\(axes)}}}\n") == [
        "s.yaml:12:34: sweep.sobol.axes: 41 axes, and `sobol` has points of at most 40"
      ])
  }

  @Test("a sweep without end is refused before anything is made")
  func size() {
    let axes = (0..<9).map { "a.x\($0): {from: 1, to: 900, steps: 900}" }.joined(separator: ", ")
    #expect(
      Variants.faults("sweep: {grid: {\(axes)}}\n") == [
        "s.yaml:12:8: sweep: more cells than can be counted, expected at most 50000"
      ])
    #expect(
      Variants.faults(
        "sweep: {grid: {task.training.epochs: {from: 1, to: 60, steps: 60}}, replicas: 1000}\n")
        == [
          "s.yaml:12:8: sweep: 60000 cells, expected at most 50000"
        ])
  }

  @Test("faults of cells are reported once, all of them, and only the combination that has them")
  func combinations() {
    // A cohort of 6 cannot be formed of 4 phones, one of 4 can; and of 2 phones neither.
    let faults = Variants.faults(
      """
      sweep:
        grid:
          fleet.phones.count: [2, 4, 8]
          server:
            - {selector: {uniform: {cohort: 4}}, trigger: {cohort-complete: {}}}
            - {selector: {uniform: {cohort: 6}}, trigger: {cohort-complete: {}}}

      """)
    #expect(faults.count == 3, "\(faults)")
    #expect(faults.allSatisfy { $0.contains("server.selector: a cohort is formed when") })
  }

  @Test(
    "rungs grow, stay below the scenario's own end, and need validation samples",
    arguments: [
      (
        "rungs: [{versions: 4}, {versions: 4}]",
        ["s.yaml:12:55: sweep.halving.rungs[1]: this rung is not longer than the previous one"]
      ),
      (
        "rungs: [13 h]",
        [
          "s.yaml:12:40: sweep.halving.rungs[0]: the last rung is not shorter than the scenario's"
            + " own `stop`"
        ]
      ),
      (
        "metric: centralAccuracy, rungs: [1 h]",
        [
          "s.yaml:12:40: sweep.halving.metric: found `centralAccuracy`, expected one of"
            + " centralValidationAccuracy, centralValidationLoss, validationAccuracy"
        ]
      ),
      (
        "rungs: [1 h], keep: 3/2",
        [
          "s.yaml:12:52: sweep.halving.keep: found `3/2`, expected a share between 0 and 1, such as"
            + " `1/3` or 0.25"
        ]
      ),
    ])
  func halving(text: String, expected: [String]) {
    #expect(Variants.faults("sweep: {replicas: 2, halving: {\(text)}}\n") == expected)
  }

  @Test("halving without validation samples is refused")
  func halvingWithoutValidation() throws {
    let text = Variants.base.replacing("    validationFraction: 0.2\n", with: "")
    let scenario = try Scenario(
      text: text + "sweep: {replicas: 2, halving: {rungs: [1 h]}}\n", file: "s.yaml")
    let faults = #expect(throws: Faults.self) { try Sweep(scenario) }
    #expect(
      faults?.description
        == "s.yaml:11:31: sweep.halving: variants are compared by their accuracy on validation"
        + " samples: give `task.data.validationFraction`")
  }
}
