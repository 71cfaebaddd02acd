extension Scenario {
  /// The assumptions for a result file: a line each, with tabs between path, value, `default` or
  /// `scenario` (who chose the value), and what it means.
  public var assumptionLines: String {
    assumptions.map { assumption in
      let value = YAMLLines.inline(assumption.value) ?? assumption.value.json
      let origin = assumption.isDefault ? "default" : "scenario"
      return [assumption.path, value, origin, assumption.note].joined(separator: "\t")
    }.joined(separator: "\n")
  }
}
