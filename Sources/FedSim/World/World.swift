import Numerics

/// The exogenous series of every device and of the server: functions of key and time alone.
struct World {
  /// Those of a group; nil where it has no such series. Shapes: [group × series].
  private var groups: [(any GroupTimeline)?] = []
  private static var kinds: Int { Int(Series.presence.rawValue) + 1 }
  private var server: [any Timeline] = []
  let end: SimTime

  init(_ inputs: SimulationInputs, end: SimTime) {
    self.end = end
    for group in inputs.fleet {
      groups += Series.allCases.map { Self.timelines($0, of: group, inputs) }
    }
    for (name, source) in inputs.serverSources {
      server.append(
        source.timeline(
          TimelineContext(
            space: .server, key: StreamKey(seed: inputs.seeds.world, purpose: Purpose(name)),
            device: "server", civilStart: inputs.civilStart, tables: inputs.tables,
            traces: inputs.traces, seed: inputs.seeds.world)))
    }
    if let restarts = inputs.serverRestarts { server.append(restarts) }
  }

  /// A device's series, made again from its key.
  static func timeline(
    _ series: Series, of group: FleetGroupSettings, ordinal: Int, _ inputs: SimulationInputs
  ) -> (any Timeline)? {
    guard let (source, space) = source(of: series, in: group) else { return nil }
    let base = source.timeline(context(space, of: group, inputs).device(ordinal))
    return series == .window
      ? WindowTimeline(base: base, grace: group.background.windowGrace) : base
  }

  /// The series of a group's devices.
  private static func timelines(
    _ series: Series, of group: FleetGroupSettings, _ inputs: SimulationInputs
  ) -> (any GroupTimeline)? {
    guard let (source, space) = source(of: series, in: group) else { return nil }
    let context = context(space, of: group, inputs)
    guard series == .window else { return source.timelines(context) }
    return SeparateTimelines(count: group.count) { ordinal in
      WindowTimeline(
        base: source.timeline(context.device(ordinal)), grace: group.background.windowGrace)
    }
  }

  private static func context(
    _ space: StateSpace, of group: FleetGroupSettings, _ inputs: SimulationInputs
  ) -> GroupContext {
    let first = TimelineContext(
      space: space,
      key: StreamKey(
        seed: inputs.seeds.world, purpose: Purpose(space.name), group: group.name, ordinal: 0),
      device: "", civilStart: inputs.civilStart, utcOffset: group.utcOffset,
      tables: inputs.tables, traces: inputs.traces, seed: inputs.seeds.world)
    return GroupContext(first: first, name: group.name, count: group.count)
  }

  private static func source(
    of series: Series, in group: FleetGroupSettings
  ) -> (any TimelineSource, StateSpace)? {
    switch series {
    case .power: (group.power.value, .power)
    case .link: (group.link.value, .link)
    case .usage: (group.usage.value, .usage)
    case .window: group.background.windows.map { ($0.value, .window) }
    case .ambient: group.thermal.map { ($0.ambient.value, .ambient) }
    case .setting: group.background.system.map { ($0.backgroundRefresh.value, .setting) }
    case .share: group.network.share.map { ($0.value, .share) }
    case .presence: group.presence.map { ($0.value, .presence) }
    }
  }

  /// Whether a group's devices have a series; windows count as closed for ever where none are
  /// given.
  func has(_ series: Series, group: Int) -> Bool {
    series.rawValue <= Series.window.rawValue || groups[place(series, group)] != nil
  }

  mutating func state(
    _ series: Series, group: Int, ordinal: Int, at time: SimTime
  ) -> UInt8 {
    groups[place(series, group)]?.state(of: ordinal, at: time) ?? 0
  }

  mutating func next(
    _ series: Series, group: Int, ordinal: Int, after time: SimTime
  ) -> (time: SimTime, state: UInt8)? {
    groups[place(series, group)]?.next(of: ordinal, after: time, before: end + .days(2))
  }

  /// Moves what is kept of each device's series into its row; `first`: each group's first device.
  mutating func move(to rows: DeviceRows, first: [Int]) {
    rows.columns(ofGroups: first.count) { group in
      for place in Self.kinds * group..<Self.kinds * (group + 1) {
        guard var series = groups[place] as? any RecordedTimeline else { continue }
        groups[place] = nil  // or the records would be there twice
        series.move(to: rows, device: first[group])
        groups[place] = series
      }
    }
  }

  @inline(__always)
  private func place(_ series: Series, _ group: Int) -> Int {
    Self.kinds * group + Int(series.rawValue)
  }

  mutating func state(_ series: ServerSeries, at time: SimTime) -> UInt8 {
    server[Int(series.rawValue)].state(at: time)
  }

  mutating func next(
    _ series: ServerSeries, after time: SimTime
  ) -> (time: SimTime, state: UInt8)? {
    guard server.indices.contains(Int(series.rawValue)) else { return nil }
    return server[Int(series.rawValue)].next(after: time, before: end + .days(2))
  }
}
