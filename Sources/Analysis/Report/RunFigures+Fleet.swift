import Results

extension RunFigures {
  /// A step an hour, each as wide as its hour; hours of which nothing is known are gaps.
  package static func byHour(_ values: [Double]) -> Figure.Mark {
    var points: [Figure.Point] = []
    for (hour, value) in values.enumerated() {
      points.append(.init(Double(hour), value))
      let isLast = hour + 1 == values.count || !values[hour + 1].isFinite
      if value.isFinite, isLast { points.append(.init(Double(hour + 1), value)) }
    }
    return .step(points)
  }

  /// Shares of devices that were online, plugged in, idle, all of it, and training.
  var byHourOfDay: Figure {
    let title = "The fleet by hour of day"
    let x = hourAxis
    let y = Figure.Axis(
      "share of devices; all three: online, plugged in and idle", .share, includesZero: true)
    guard let table = run.document.table("fleetHours"), let present = table.rows("present"),
      let offsets = table.numbers("utcOffset")
    else { return Figure(title, x: x, y: y, []) }
    let all = byHourOfDay(present, offsets: offsets)
    let rows: [(String, [String])] = [
      ("online", ["wifi", "cellular"]), ("plugged in", ["plugged"]), ("idle", ["idle"]),
      ("all three", ["pluggedIdleOnline"]), ("training", ["training"]),
    ]
    var series: [Figure.Series] = []
    for (name, columns) in rows {
      var sums = [Double](repeating: 0, count: 24)
      for column in columns {
        guard let values = table.rows(column) else { continue }
        for (hour, value) in byHourOfDay(values, offsets: offsets).enumerated() {
          sums[hour] += value
        }
      }
      let shares = zip(sums, all).map { $1 > 0 ? $0 / $1 : Double.nan }
      series.append(.init(name, Self.byHour(shares)))
    }
    return Figure(title, x: x, y: y, series)
  }

  /// Participations by the hour of day in which their session began.
  var participationsByHour: Figure {
    let offsets = run.document.table("fleetHours")?.numbers("utcOffset") ?? []
    let y = Figure.Axis("participations a day", .number, includesZero: true)
    var series: [Figure.Series] = []
    if let table = run.document.table("hours"), run.length >= 86_400 {
      let days = run.length / 86_400
      for name in ["eligible", "trained", "aggregated"] {
        var sums = [Double](repeating: 0, count: 24)
        if participationsAreByGroup, let rows = table.rows(name + "ByGroup") {
          sums = byHourOfDay(rows, offsets: offsets)
        } else if let counts = table.numbers(name) {
          sums = byHourOfDay(counts.map { [$0] }, offsets: [offsets.first ?? 0])
        }
        guard sums.contains(where: { $0 > 0 }) else { continue }
        series.append(.init(name, Self.byHour(sums.map { $0 / days })))
      }
    }
    return Figure("Participations by hour of day", x: hourAxis, y: y, series)
  }

  /// Aggregated updates over the run, by day or by hour.
  var sessions: Figure {
    var points: [Figure.Point] = []
    let isLong = run.length > 4 * 86_400
    let width = isLong ? 86_400.0 : 3_600.0
    if let counts = run.document.table("hours")?.numbers("aggregated") {
      let each = isLong ? 24 : 1
      for start in stride(from: 0, to: counts.count, by: each) {
        let sum = counts[start..<min(start + each, counts.count)].reduce(0, +)
        points.append(.init((Double(start / each) + 0.5) * width, sum))
      }
    }
    return Figure(
      "Updates that became part of a version",
      x: .init("simulated time", .time, includesZero: true),
      y: .init("updates \(isLong ? "a day" : "an hour"), by start of their session", .whole),
      points.contains { $0.y > 0 }
        ? [.init("aggregated", .columns(points, width: width))] : [])
  }

  /// Versions between an update's base and its aggregation.
  var staleness: Figure {
    var points: [Figure.Point] = []
    var width = 1.0
    if let table = run.document.table("staleness"), let updates = table.numbers("updates") {
      // At most sixty columns.
      let each = max(1, (updates.count + 59) / 60)
      width = Double(each)
      for start in stride(from: 0, to: updates.count, by: each) {
        let sum = updates[start..<min(start + each, updates.count)].reduce(0, +)
        points.append(.init(Double(start) + (width - 1) / 2, sum))
      }
    }
    // Five places at least, so that a single column is at a whole number.
    let end = max(4.5, (points.last?.x ?? 0) + width / 2)
    return Figure(
      "Staleness of aggregated updates",
      x: .init("versions since the update's base", .whole, range: -0.5...end),
      y: .init(width > 1 ? "updates for each \(Int(width)) versions" : "updates", .whole),
      points.contains { $0.y > 0 } ? [.init("updates", .columns(points, width: width))] : [])
  }

  /// How evenly devices take part: the share of devices with at most this many aggregated updates,
  /// or files that the server learned from.
  var participations: Figure {
    let updates = run.document.table("devices")?.numbers("aggregated") ?? []
    let files = run.document.table("collection")?.numbers("trained") ?? []
    let isOfFiles = !updates.contains { $0 > 0 } && files.contains { $0 > 0 }
    let counts = isOfFiles ? files : updates
    var points: [Figure.Point] = []
    if counts.contains(where: { $0 > 0 }) {
      points = [.init(0, 0)] + Statistics.distribution(counts).map { .init($0.value, $0.share) }
    }
    return Figure(
      "How evenly devices participate",
      x: .init(
        isOfFiles ? "files of a device used in training" : "aggregated updates of a device",
        .whole, includesZero: true),
      y: .init("share of devices with at most this number", .share, range: 0...1),
      points.isEmpty ? [] : [.init("devices", .step(thinned(points, to: 400)))])
  }

  /// Labels among aggregated samples next to those that the devices have.
  var labels: Figure {
    var series: [Figure.Series] = []
    if let shares = run.versions?.rows("labelShare"),
      let samples = run.versions?.numbers("samples"),
      let histogram = run.document.table("partition")?.rows("labelHistogram"),
      let count = shares.first?.count, count > 0, histogram.first?.count == count
    {
      var aggregated = [Double](repeating: 0, count: count)
      for (row, weight) in zip(shares, samples) where weight > 0 && row.allSatisfy(\.isFinite) {
        for label in 0..<count { aggregated[label] += row[label] * weight }
      }
      var held = [Double](repeating: 0, count: count)
      for row in histogram { for label in 0..<count { held[label] += row[label] } }
      let rows = [("data of the devices", held, 7), ("aggregated samples", aggregated, 0)]
        .filter { $0.1.reduce(0, +) > 0 }
      // Side by side, the pair around its label.
      let width = 0.8 / Double(max(1, rows.count))
      for (place, row) in rows.enumerated() {
        let shift = (Double(place) - Double(rows.count - 1) / 2) * width
        let all = row.1.reduce(0, +)
        let points = row.1.enumerated().map { Figure.Point(Double($0) + shift, $1 / all) }
        series.append(.init(row.0, .columns(points, width: width - 0.02), look: row.2))
      }
    }
    return Figure(
      series.count == 1 ? "Labels in the data" : "Labels in the data, and in what was aggregated",
      x: .init("label", .whole),
      y: .init("share of samples", .share, includesZero: true), series)
  }
}
