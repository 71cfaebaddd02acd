import Analysis
import Results

extension Comparison {
  /// The outcomes of two runs, whether they differ or not: versions, updates, accuracies.
  static func outcomes(
    _ a: ResultDocument, _ b: ResultDocument
  ) -> [DocumentComparison.Difference] {
    zip(outcomes(of: a), outcomes(of: b)).compactMap { first, second in
      first.value == nil && second.value == nil
        ? nil : DocumentComparison.Difference(first.name, first.value, second.value)
    }
  }

  private static func outcomes(of document: ResultDocument) -> [(name: String, value: String?)] {
    let table = ResultTable(document, "versions")
    let versions = table?.integers("version")
    let evaluated = table?.numbers("centralAccuracy")?.filter { !$0.isNaN }
    let errors = table?.numbers("centralRMSE")?.filter { !$0.isNaN }
    let updates = table?.integers("updates")?.reduce(0, +)
    return [
      ("versions", versions.map { "\(max(0, $0.count - 1))" }),
      ("updates aggregated", updates.map { "\($0)" }),
      ("central accuracy at the end", evaluated?.last.map(text)),
      ("best central accuracy", evaluated?.max().map(text)),
      (
        "central loss at the end",
        table?.numbers("centralLoss")?.last { !$0.isNaN }.map(text)
      ),
      ("central RMSE at the end", errors?.last.map(text)),
      ("lowest central RMSE", errors?.min().map(text)),
    ]
  }

  /// Four digits behind the point, rounded.
  private static func text(_ number: Double) -> String {
    let whole = Int64((number.magnitude * 10_000).rounded())
    let digits = String(whole % 10_000)
    return (number < 0 && whole > 0 ? "-" : "") + "\(whole / 10_000)."
      + String(repeating: "0", count: 4 - digits.count) + digits
  }

  /// What to say of runs of different seeds; nil: they have one seed.
  var noteOnSeeds: String? {
    guard let seed = settings.first(where: { $0.place == "seed" }) else { return nil }
    return
      "the seeds differ (\(seed.a ?? "none") | \(seed.b ?? "none")): these runs diverge by chance "
      + "from the first event on. Runs of the same seeds are compared in pairs by "
      + "`fedsim compare --a A1.h5 A2.h5 … --b B1.h5 B2.h5 …`"
  }
}
