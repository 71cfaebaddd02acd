extension RunSummary {
  /// What to say where most updates were rejected because they are not finite; nil: they were not.
  public var divergence: String? {
    guard let updates = ledgers.first(where: { $0.name == "updates" }),
      let rejected = updates.outcomes.first(where: { $0.name == "rejectedNotFinite" })?.count,
      2 * rejected > updates.opened
    else { return nil }
    return "the training diverged: \(rejected) of \(updates.opened) updates were rejected, since "
      + "their parameters are not finite; try a smaller learning rate, or `clipNorm`"
  }
}
