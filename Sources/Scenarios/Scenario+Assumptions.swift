extension Scenario {
  /// The assumptions for a result file: a line each, with tabs between path, value, and what it
  /// means. Who chose the value is not said: a resolved scenario has to give the same file.
  public var assumptionLines: String {
    assumptions.map { assumption in
      let value = YAMLLines.inline(assumption.value) ?? assumption.value.json
      return [assumption.path, value, assumption.note].joined(separator: "\t")
    }.joined(separator: "\n")
  }
}
