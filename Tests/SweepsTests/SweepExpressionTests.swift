import Testing

import Scenarios

/// Conditions over axes: what they mean, and what is said of those that mean nothing.
@Suite struct SweepExpressionTests {
  private static let values: [String: SweepScalar] = [
    "a": .number(3, .number), "b": .number(4, .number), "server.x[0].y": .number(10, .number),
    "every": .number(1800, .duration), "timeout": .number(60, .duration),
    "rate": .number(20e6, .rate), "slow": .flag(true), "policy": .text("fedavg"),
    "dirichlet-by-device.alpha": .number(0.5, .number),
  ]

  private func holds(_ text: String) throws(SweepExpression.Problem) -> Bool {
    try SweepExpression(text).holds { Self.values[$0] }
  }

  @Test(
    "a condition holds as it reads",
    arguments: [
      ("a < b", true), ("a >= b", false), ("a == 3", true), ("a != 3", false),
      // Products bind more than sums, sums more than comparisons.
      ("a + b * 2 == 11", true), ("(a + b) * 2 == 14", true), ("a - b - 1 == -2", true),
      ("-a + 3 == 0", true), ("- -a == 3", true), ("12 / b / 3 == 1", true), ("7 % b == 3", true),
      // `not` binds less than a comparison, `and` more than `or`.
      ("not a > b", true), ("not not slow", true), ("a > b or slow and a < b", true),
      ("(a > b or slow) and a > b", false), ("true or a", true), ("false and a", false),
      ("slow", true), ("slow == true", true), ("policy == \"fedavg\"", true),
      ("policy != 'fedavg'", false), ("policy == 3", false),
      ("every == 30 min", true), ("every >= timeout * 30", true), ("every / timeout == 30", true),
      ("timeout < 1 min 30 s", true), ("every + timeout == 31min", true),
      ("rate > 10 Mbit/s", true), ("rate * 2 == 40 Mbit/s", true), ("1.5e1 > 1e1", true),
      (".5 == dirichlet-by-device.alpha", true), ("server.x[0].y == 10", true), ("a-1 == 2", true),
    ])
  func meaning(text: String, expected: Bool) throws {
    #expect(try holds(text) == expected, "\(text)")
  }

  @Test(
    "what means nothing is reported with its column",
    arguments: [
      ("", 1, "expected a value at the end"), ("a <", 4, "expected a value at the end"),
      ("a = 3", 3, "`=` has no meaning here; equality is `==`"),
      ("a && b", 3, "`&` has no meaning here; write `and`"),
      ("(a < b", 1, "this `(` is never closed"), ("a < b)", 6, "this `)` closes nothing"),
      ("a b", 3, "expected an operator here, such as `and` or `<`"),
      ("1 < a < 5", 7, "one comparison at a time: join two with `and`"),
      ("a < * b", 5, "expected a value here, found `*`"),
      ("policy == \"x", 11, "the text that begins here has no end"),
      ("a < c", 5, "there is no axis `c`"),
      ("a + 1", 1, "expected a condition that holds or does not"),
      ("a < every", 3, "`<` cannot be between a number and a duration"),
      ("policy < 3", 8, "`<` cannot be between a text and a number"),
      ("every * timeout == 3", 7, "`*` cannot be between a duration and a duration"),
      ("a and slow", 3, "`and` joins conditions, but found a number"),
      ("a / (b - 4) == 1", 3, "this expression divides by zero"),
      ("-slow", 1, "`-` needs a number behind it"),
      ("1.2.3 < a", 1, "`1.2.3` is not a number"), ("a < 3 ½", 7, "`½` has no meaning here"),
    ])
  func faults(text: String, column: Int, message: String) {
    let problem = #expect(throws: SweepExpression.Problem.self) { try holds(text) }
    #expect(problem == SweepExpression.Problem(column: column, message: message))
  }

  @Test("an expression that is nested without end is refused, and nothing breaks")
  func depth() {
    let deep = String(repeating: "(", count: 900) + "a" + String(repeating: ")", count: 900)
    #expect(throws: SweepExpression.Problem(column: 101, message: "this is nested too deeply")) {
      try SweepExpression(deep)
    }
    #expect(throws: SweepExpression.Problem.self) {
      try SweepExpression(String(repeating: "a + ", count: 600) + "a < 3")
    }
    let long = String(repeating: "not ", count: 400) + "a < b"
    #expect(throws: Never.self) { try holds(long) }
  }

  @Test("names are reported in the order of the text")
  func names() throws {
    let names = try SweepExpression("a.b < c and not d-e[2].f").names
    #expect(names.map(\.text) == ["a.b", "c", "d-e[2].f"])
    #expect(names.map(\.column) == [1, 7, 17])
  }
}
