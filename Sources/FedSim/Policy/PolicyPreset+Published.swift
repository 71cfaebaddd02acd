import Schema

extension PolicyPreset {
  /// Policies by the names of their papers.
  static let published: [PolicyPreset] = [
    PolicyPreset(
      name: "fedasync",
      summary:
        "Each update is mixed into the model at once, with less weight if stale (Xie et al. 2020)",
      settings: .mapping([
        ("payload", .text("weights")), ("selector", .text("open")),
        ("trigger", .text("every-arrival")), ("aggregator", .text("uniform-mean")),
        ("staleness", part("polynomial", "0.5")), ("optimizer", part("mixing", "0.6")),
      ])),
    PolicyPreset(
      name: "fedbuff",
      summary:
        "A buffer of 10 updates, staleness weights, 100 devices at once (Nguyen et al. 2022)",
      settings: .mapping([
        ("payload", .text("delta")), ("selector", part("concurrent", "100")),
        ("trigger", part("buffer", "10")), ("aggregator", .text("uniform-mean")),
        ("staleness", part("polynomial", "0.5")), ("duplicates", .text("overwrite")),
      ])),
    synchronous(
      "fedavgm", "FedAvg with server momentum (Hsu et al. 2019)",
      [("optimizer", part("momentum", "0.9"))]),
    synchronous(
      "fedadagrad", "Server Adagrad (Reddi et al. 2021)",
      [("optimizer", .text("adagrad"))]),
    synchronous(
      "fedadam", "Server Adam (Reddi et al. 2021)", [("optimizer", .text("adam"))]),
    synchronous(
      "fedyogi", "Server Yogi (Reddi et al. 2021)", [("optimizer", .text("yogi"))]),
    synchronous(
      "fedmedian", "Coordinate-wise median (Yin et al. 2018)",
      [("aggregator", .text("median"))]),
    synchronous(
      "fedtrimmedavg", "Coordinate-wise trimmed mean, 0.2 at each end (Yin et al. 2018)",
      [("aggregator", part("trimmed-mean", "0.2"))]),
    synchronous(
      "krum", "The update nearest to its neighbours (Blanchard et al. 2017)",
      [("aggregator", .text("krum"))]),
    synchronous(
      "multi-krum", "The mean of the updates nearest to their neighbours (Blanchard et al. 2017)",
      [("aggregator", .text("multi-krum"))]),
    synchronous(
      "bulyan", "Krum, then the values nearest to the median (El Mhamdi et al. 2018)",
      [("aggregator", .text("bulyan"))]),
    synchronous(
      "rfa", "The geometric median (Pillutla et al. 2022)",
      [("aggregator", .text("geometric-median"))]),
    synchronous(
      "q-fedavg", "Updates of devices with a high loss have more weight (Li et al. 2020)",
      [("aggregator", .text("q-ffl"))]),
    synchronous(
      "afl", "Groups of devices with a higher loss have more weight (Mohri et al. 2019)",
      [("aggregator", .text("agnostic"))]),
    synchronous(
      "fednova", "Differences divided by the length of their training (Wang et al. 2020)",
      [("aggregator", .text("normalised-mean"))]),
    synchronous(
      "oort", "Useful and fast devices, and unknown ones (Lai et al. 2021)",
      [("selector", .mapping([("oort", sizes(cohort: "10", overSelection: "1.3"))]))]),
    PolicyPreset(
      name: "power-of-choice",
      summary: "Cohorts of the 6 with the highest loss of 12 candidates (Cho et al. 2020)",
      settings: synchronous(but: [
        (
          "selector",
          .mapping([
            (
              "power-of-choice",
              .mapping([("cohort", .text("6")), ("candidates", .text("12"))])
            )
          ])
        ),
        ("aggregator", .text("uniform-mean")),
      ])),
    synchronous(
      "refl",
      "The least available devices first, late updates weighted (Abdelmoniem et al. 2023)",
      [
        (
          "selector",
          .mapping([("availability-aware", sizes(cohort: "10", overSelection: "1.3"))])
        ),
        ("aggregator", .text("refl-mean")),
      ]),
  ]

  private static func sizes(cohort: String, overSelection: String) -> Node {
    .mapping([("cohort", .text(cohort)), ("overSelection", .text(overSelection))])
  }

  /// As `synchronous-fedavg`, but for some keys.
  private static func synchronous(
    _ name: String, _ summary: String, _ others: [(String, Node)]
  ) -> PolicyPreset {
    PolicyPreset(
      name: name, summary: "Cohorts of 10 of 13 waiting devices: " + summary,
      settings: synchronous(but: others))
  }

  /// The settings of `synchronous-fedavg`, but for some keys.
  static func synchronous(but others: [(String, Node)]) -> Node {
    .mapping(
      [("payload", .text("delta"))]
        + plain.filter { plain in !others.contains { $0.0 == plain.0 } } + others)
  }

  private static let plain: [(String, Node)] = [
    ("selector", .mapping([("uniform", sizes(cohort: "10", overSelection: "1.3"))])),
    (
      "trigger",
      .mapping([("cohort-complete", Node(.null)), ("deadline", .text("10 min"))])
    ),
    ("aggregator", .text("sample-weighted-mean")),
  ]

  /// A part with the setting that a bare value represents.
  private static func part(_ name: String, _ value: String) -> Node {
    .mapping([(name, .text(value))])
  }
}
