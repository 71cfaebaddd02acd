extension Report {
  /// Accuracy and loss over time, versions, bytes and energy.
  func learning() -> [String] {
    var figures: [String] = []
    for along in ReportRun.Along.allCases {
      figures.append(
        part(
          curves(
            "centralAccuracy", along, title: "Accuracy \(along.words)",
            .init(
              "accuracy on the test samples", .share, includesZero: true))))
    }
    for along in [ReportRun.Along.time, .versions] {
      figures.append(
        part(
          curves(
            "centralLoss", along, title: "Loss \(along.words)",
            .init(
              "mean loss on the test samples", .number, includesZero: true))))
    }
    figures.append(
      part(
        curves(
          "heldAccuracy", .time, title: "What devices hold",
          .init(
            "mean accuracy of the versions on the devices", .share, includesZero: true))))
    if groups.count == 1, references.isEmpty {
      figures.append(part(spread(groups[0].runs[0])))
      figures.append(part(trainingLoss(groups[0].runs[0])))
    }
    return figures.filter { !$0.isEmpty }
  }

  /// How many points a curve may have.
  private var mostPoints: Int { max(120, min(600, 2400 / max(1, groups.count))) }

  /// A column of all groups over one axis: a line for one seed, a band for several.
  func curves(
    _ column: String, _ along: ReportRun.Along, title: String, _ height: Figure.Axis
  ) -> Figure {
    var series: [Figure.Series] = []
    for group in groups {
      let curves = group.runs.map { ($0.curve(column, over: along), $0.end(along)) }
        .filter { !$0.0.isEmpty }
      guard let only = curves.first else { continue }
      if curves.count == 1 {
        var points = thinned(only.0, to: mostPoints)
        if only.1 > points[points.count - 1].x {
          points.append(.init(only.1, points[points.count - 1].y))
        }
        series.append(.init(group.name, .step(points), look: group.look))
      } else {
        let band = SeedBand(
          curves.map { points, end in
            StepCurve(points.map { ($0.x, $0.y) }, end: max(end, points[points.count - 1].x))
          }, mostPlaces: mostPoints)
        let points = band.places.indices.filter { !band.median[$0].isNaN }.map { place in
          Figure.BandPoint(
            band.places[place], low: band.low[place], middle: band.median[place],
            high: band.high[place])
        }
        series.append(
          .init("\(group.name) (\(curves.count) seeds)", .band(points), look: group.look))
      }
    }
    for (place, reference) in references.enumerated() {
      let points = thinned(reference.run.curve(column, over: along), to: mostPoints)
      guard let last = points.last else { continue }
      let end = max(last.x, reference.run.end(along))
      series.append(
        .init(reference.name, .step(points + [.init(end, last.y)]), look: 7 - place % 2))
    }
    return Figure(title, x: along.axis, y: height, series)
  }

  /// How accuracy spreads over devices, where that was recorded.
  private func spread(_ run: ReportRun) -> Figure {
    let names = [
      ("best tenth", "federatedAccuracyBestTenth"), ("mean", "federatedAccuracy"),
      ("worst tenth", "federatedAccuracyWorstTenth"),
    ]
    let series = names.map { name, column in
      Figure.Series(name, .step(thinned(run.curve(column, over: .time), to: 400)))
    }
    return Figure(
      "Accuracy on devices' own samples", x: ReportRun.Along.time.axis,
      y: .init("accuracy", .share, includesZero: true),
      series.filter { !$0.mark.points.isEmpty })
  }

  /// The loss of trainings beside that of the test samples.
  private func trainingLoss(_ run: ReportRun) -> Figure {
    Figure(
      "Loss of trainings and on test samples", x: ReportRun.Along.time.axis,
      y: .init("mean loss", .number, includesZero: true),
      [
        .init(
          "trainings", .line(thinned(run.curve("trainingLoss", over: .time), to: 400)), look: 1),
        .init(
          "test samples", .step(thinned(run.curve("centralLoss", over: .time), to: 400)), look: 0),
      ].filter { !$0.mark.points.isEmpty })
  }
}
