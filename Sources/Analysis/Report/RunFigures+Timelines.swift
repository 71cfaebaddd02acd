import Results

extension RunFigures {
  /// The intervals of one part of devices' states.
  struct Intervals {
    var device: [Double] = []
    var from: [Double] = []
    var to: [Double] = []
    var state: [String] = []

    init(_ document: ResultDocument, _ part: String) {
      guard let table = document.table("timeline/\(part)"), let devices = table.numbers("device"),
        let from = table.numbers("from"), let to = table.numbers("to")
      else { return }
      let states =
        table.words("state") ?? table.numbers("state")?.map { Markup.significant($0, 9) } ?? []
      guard states.count == devices.count else { return }
      (device, self.from, self.to, state) = (devices, from, to, states)
    }

    /// Those of a device in a state that is none of some, as stretches.
    func stretches(
      _ device: Double, without: [String], depth: (String) -> Double = { _ in 1 },
      name: (String) -> String = { $0 }
    ) -> [GanttFigure.Stretch] {
      self.device.indices.filter { self.device[$0] == device && !without.contains(state[$0]) }.map {
        .init(from[$0], to[$0], name(state[$0]), depth: depth(state[$0]))
      }
    }
  }

  /// Which part of the run is shown.
  func timelineNote(_ range: ClosedRange<Double>) -> String {
    let shown = range.upperBound - range.lowerBound
    guard shown < run.length else { return "The whole run, \(Markup.duration(run.length))." }
    return
      "\(Markup.duration(shown)) of the run, from \(Markup.duration(range.lowerBound)) on: the "
      + "part in which these devices trained longest."
  }

  /// The figures of the devices whose states the result holds; at most six.
  var gantts: [GanttFigure] {
    let work = Intervals(run.document, "work")
    var devices: [Double] = []
    for device in work.device where !devices.contains(device) { devices.append(device) }
    devices.sort()
    let range = busiest(work, devices, until: run.length)
    return devices.prefix(6).map { gantt(device: $0, work, range) }
  }

  /// Twelve hours of the run, or all of a shorter one: those in which these devices trained
  /// longest.
  private func busiest(
    _ work: Intervals, _ devices: [Double], until end: Double
  ) -> ClosedRange<Double> {
    let (hour, span) = (3_600.0, 12 * 3_600.0)
    guard end > span else { return 0...max(end, 1) }
    let training = work.device.indices.filter { Self.isTraining(work.state[$0]) }
    var (best, most) = (0.0, -1.0)
    for start in stride(from: 0, through: end - span, by: hour) {
      var sum = 0.0
      for place in training {
        sum += max(0, min(work.to[place], start + span) - max(work.from[place], start))
      }
      if sum > most { (best, most) = (start, sum) }
    }
    return best...(best + span)
  }

  private static func isTraining(_ state: String) -> Bool { state == "training" }

  private func gantt(
    device: Double, _ work: Intervals, _ range: ClosedRange<Double>
  ) -> GanttFigure {
    let app = Intervals(run.document, "app")
    let sessions = app.stretches(device, without: ["none"], name: Markup.words)
    let busy = work.stretches(device, without: ["none", "idle"], name: Markup.words)
    let training = busy.filter { Self.isTraining($0.name) }
    let sending = busy.filter { !Self.isTraining($0.name) }
    // A training that ends with its session and without an upload was cut off.
    let ends = sessions.map(\.to)
    let cut = training.filter { one in
      ends.contains(one.to) && !sending.contains { $0.from == one.to }
    }
    let rows: [GanttFigure.Row] = [
      .init(
        "charging", look: 5,
        Intervals(run.document, "power").stretches(device, without: ["unplugged"])),
      .init(
        "link", look: 4,
        Intervals(run.document, "link").stretches(
          device, without: ["offline"], depth: { $0 == "wifi" ? 1 : 0.45 })),
      .init(
        "in use", look: 3,
        Intervals(run.document, "usage").stretches(device, without: ["locked"])),
      .init("app runs", look: 7, sessions),
      .init(
        "training", look: 0, training,
        moments: cut.map { ($0.to, "interrupted by the end of the session") }),
      .init("transfers", look: 2, sending),
      .init(
        "outbox", look: 1,
        Intervals(run.document, "outbox").stretches(
          device, without: ["0"], name: { "\($0) updates wait" })),
    ]
    return GanttFigure(
      name(of: Int(device)),
      "dark: Wi-Fi, light: cellular; a stroke: training was interrupted",
      range, rows.filter { !$0.stretches.isEmpty || $0.name == "training" })
  }

  /// A device's path, such as phones/17.
  private func name(of device: Int) -> String {
    guard let table = run.document.table("devices"), let ordinals = table.integers("ordinal"),
      ordinals.indices.contains(device)
    else { return "device \(device)" }
    let group = table.words("group")?[device]
    return group.map { "\($0)/\(ordinals[device])" } ?? "device \(device)"
  }
}
