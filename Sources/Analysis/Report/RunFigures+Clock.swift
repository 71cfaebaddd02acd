import Results

extension RunFigures {
  /// The clock of all figures by the hour of day: that of the devices, each group by its own
  /// offset; UTC where participations are not known by group and offsets differ, so that two
  /// figures never have two clocks.
  var isOfDevicesDay: Bool {
    let offsets = run.document.table("fleetHours")?.numbers("utcOffset") ?? []
    return participationsAreByGroup || Set(offsets).count == 1 || !showsParticipations
  }

  /// Whether participations are counted by group.
  var participationsAreByGroup: Bool {
    run.document.table("hours")?.has("eligibleByGroup") == true
  }

  /// Whether participations have a figure by hour of day.
  private var showsParticipations: Bool {
    run.length >= 86_400
      && run.document.table("hours")?.numbers("eligible")?.contains { $0 > 0 } == true
  }

  /// The axis of hours of day.
  var hourAxis: Figure.Axis {
    .init(
      isOfDevicesDay ? "hour of the devices' day" : "hour of day (UTC)", .hourOfDay, range: 0...24)
  }

  /// Sums by the hour of day on the clock of the figures; each row has a value per group.
  func byHourOfDay(_ rows: [[Double]], offsets: [Double]) -> [Double] {
    var sums = [Double](repeating: 0, count: 24)
    for (group, offset) in offsets.enumerated() {
      let hours = Self.folded(
        rows.map { $0[group] }, offset: (isOfDevicesDay ? offset : 0) + startOfDay)
      for hour in sums.indices { sums[hour] += hours[hour] }
    }
    return sums
  }

  /// Sums over whole hours by the local hour of day, each with how many seconds it is of.
  ///
  /// `offset` is local time minus simulated time, in seconds.
  package static func folded(_ hours: [Double], offset: Double) -> [Double] {
    var sums = [Double](repeating: 0, count: 24)
    let first = Int((offset / 3600).rounded(.down))
    for (hour, value) in hours.enumerated() {
      let place = (hour + first) % 24
      sums[place < 0 ? place + 24 : place] += value
    }
    return sums
  }

  /// Seconds from midnight to the start of the run.
  var startOfDay: Double {
    let start = run.document.table("")?.number("startTime") ?? 0
    let rest = start.truncatingRemainder(dividingBy: 86_400)
    return rest < 0 ? rest + 86_400 : rest
  }
}
