/// The figures of a single result.
package struct RunFigures {
  let run: ReportRun
  /// The axis of simulated time.
  let timeAxis: Figure.Axis

  /// How accuracy spreads over devices, where that was recorded.
  var spread: Figure {
    let isError = run.has("versions/federatedRMSE")
    let column = isError ? "federatedRMSE" : "federatedAccuracy"
    let names = [
      ("best tenth", "\(column)BestTenth"), ("mean", column),
      ("worst tenth", "\(column)WorstTenth"),
    ]
    let series = names.map { name, column in
      let points = thinned(run.curve(column, over: .time), to: 400)
      return Figure.Series(name, .step(extended(points, to: run.length)))
    }
    return Figure(
      "\(isError ? "RMSE" : "Accuracy") on devices' own samples", x: timeAxis,
      y: isError
        ? .init("RMSE", .number, includesZero: true)
        : .init("accuracy", .share, includesZero: true),
      series.filter { !$0.mark.points.isEmpty })
  }

  /// The loss of trainings next to that of the test samples.
  var trainingLoss: Figure {
    let trained = thinned(run.curve("trainingLoss", over: .time), to: 400)
    let tested = thinned(run.curve("centralLoss", over: .time), to: 400)
    return Figure(
      "Loss of trainings and on test samples", x: timeAxis,
      y: .init("mean loss", .number, includesZero: true),
      trained.isEmpty
        ? []
        : [
          .init("trainings", .line(trained), look: 1),
          .init("test samples", .step(extended(tested, to: run.length)), look: 0),
        ].filter { !$0.mark.points.isEmpty })
  }
}
