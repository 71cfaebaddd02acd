extension Report {
  /// How many points a curve may have.
  private var mostPoints: Int { max(120, min(600, 2400 / max(1, lines.count))) }

  /// The axis of simulated time, the same on all figures: to the end of the longest run.
  var timeAxis: Figure.Axis {
    var axis = ReportRun.CurveAxis.time.axis
    let end = (runs + references.map(\.run)).map(\.lastMoment).max() ?? 0
    if end > 0 { axis.range = 0...end }
    return axis
  }

  /// Accuracy over something.
  func accuracy(_ along: ReportRun.CurveAxis, onlyCentral: Bool = false) -> Figure {
    curves(
      .accuracy, along, title: "Accuracy \(along.words)",
      .init("accuracy on the test samples", .share), onlyCentral: onlyCentral)
  }

  /// Loss over something.
  func loss(_ along: ReportRun.CurveAxis) -> Figure {
    curves(
      .loss, along, title: "Loss \(along.words)",
      .init("mean loss on the test samples", .number, includesZero: true))
  }

  /// What devices hold, or have in use.
  var held: Figure {
    curves(
      .held, .time, title: "What devices hold",
      .init("mean test accuracy of the versions on the devices", .share))
  }

  /// Accuracy of the models that belong to one user each.
  var ownModels: Figure {
    curves(
      .own, .time, title: "Users' personal models",
      .init("accuracy on the user's held-out samples, mean", .share),
      onlyCentral: true)
  }

  /// A column of `versions` over time, in the words of the first result that has it.
  func curve(of column: String) -> Figure {
    let table = (runs + references.map(\.run)).lazy.compactMap(\.versions).first { $0.has(column) }
    let quantities: [String: Quantity] = ["s": .time, "byte": .bytes, "J": .energy]
    let units = table?.units(column) ?? "1"
    let text = table?.longName(column) ?? column
    let label = units == "1" || quantities[units] != nil ? text : "\(text), \(units)"
    return curves(
      .named(column), .time, title: "Versions: \(column)",
      .init(label, quantities[units] ?? .number, includesZero: true))
  }

  /// A column of all lines over one axis: a line for one seed, a band for several.
  ///
  /// A band ends where the first of its seeds does, so that all of it is of the same seeds.
  private func curves(
    _ column: ReportColumn, _ along: ReportRun.CurveAxis, title: String, _ height: Figure.Axis,
    onlyCentral: Bool = false
  ) -> Figure {
    var series: [Figure.Series] = []
    var isAllCentral = true
    for line in lines where line.model != nil || !onlyCentral {
      let curves = line.runs.map { (line.curve($0, column, along), $0.end(along)) }
        .filter { !$0.0.isEmpty }
      guard let only = curves.first else { continue }
      if line.model == nil { isAllCentral = false }
      if curves.count == 1 {
        let points = extended(thinned(only.0, to: mostPoints), to: only.1)
        series.append(.init(line.name, .step(points), look: line.look))
      } else {
        series.append(
          .init("\(line.name) (\(curves.count) seeds)", .band(band(curves)), look: line.look))
      }
    }
    var height = height
    if isAllCentral, !series.isEmpty, column.isOfTestSamples {
      height.label += ", of models trained at the server"
    }
    var figure = Figure(title, x: along == .time ? timeAxis : along.axis, y: height, series)
    figure.namesOne = lines.count > 1
    if height.quantity == .share { figure.leaveOutClimb() }
    return figure
  }

  private func band(_ curves: [([Figure.Point], end: Double)]) -> [Figure.BandPoint] {
    let end = curves.map { max($0.end, $0.0[$0.0.count - 1].x) }.min() ?? 0
    let band = SeedBand(
      curves.map { points, _ in
        StepCurve(points.filter { $0.x <= end }.map { ($0.x, $0.y) }, end: end)
      }, mostPlaces: mostPoints)
    return band.places.indices.filter { !band.median[$0].isNaN }.map { place in
      Figure.BandPoint(
        band.places[place], low: band.low[place], middle: band.median[place],
        high: band.high[place])
    }
  }
}
