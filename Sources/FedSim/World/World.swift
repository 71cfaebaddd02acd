import Numerics

/// The exogenous series of every device and of the server: functions of key and time alone.
struct World {
  /// [device × series count + series]; nil where a device has no such series.
  private var devices: [(any Timeline)?] = []
  private var server: [any Timeline] = []
  let end: SimTime
  private static let width = Series.allCases.count

  init(_ inputs: SimulationInputs, end: SimTime) {
    self.end = end
    devices.reserveCapacity(Self.width * inputs.deviceCount)
    for group in inputs.fleet {
      for ordinal in 0..<group.count {
        for series in Series.allCases {
          devices.append(Self.timeline(series, of: group, ordinal: ordinal, inputs))
        }
      }
    }
    for (name, source) in [
      ("reachable", inputs.server.reachable), ("internet", inputs.server.internet),
    ] {
      server.append(
        source.value.timeline(
          TimelineContext(
            space: .server, key: StreamKey(seed: inputs.seeds.world, purpose: Purpose(name)),
            device: "server", civilStart: inputs.civilStart, tables: inputs.tables,
            traces: inputs.traces, seed: inputs.seeds.world)))
    }
  }

  /// A device's series, made anew from its key.
  static func timeline(
    _ series: Series, of group: FleetGroupSettings, ordinal: Int, _ inputs: SimulationInputs
  ) -> (any Timeline)? {
    func make(_ source: any TimelineSource, _ space: StateSpace) -> any Timeline {
      source.timeline(
        TimelineContext(
          space: space,
          key: StreamKey(
            seed: inputs.seeds.world, purpose: Purpose(space.name), group: group.name,
            ordinal: UInt32(ordinal)),
          device: "\(group.name)/\(ordinal)", civilStart: inputs.civilStart,
          utcOffset: group.utcOffset, tables: inputs.tables, traces: inputs.traces,
          seed: inputs.seeds.world))
    }
    switch series {
    case .power: return make(group.power.value, .power)
    case .link: return make(group.link.value, .link)
    case .usage: return make(group.usage.value, .usage)
    case .window:
      guard let source = group.background.windows?.value else { return nil }
      return WindowTimeline(base: make(source, .window), grace: group.background.windowGrace)
    case .ambient: return group.thermal.map { make($0.ambient.value, .ambient) }
    case .setting:
      return group.background.system.map { make($0.backgroundRefresh.value, .setting) }
    case .share: return group.network.share.map { make($0.value, .share) }
    case .presence: return group.presence.map { make($0.value, .presence) }
    }
  }

  /// Whether a device has a series; windows count as closed for ever where none are given.
  func has(_ series: Series, _ device: Int) -> Bool {
    series.rawValue <= Series.window.rawValue
      || devices[Self.width * device + Int(series.rawValue)] != nil
  }

  mutating func state(_ series: Series, of device: Int, at time: SimTime) -> UInt8 {
    devices[Self.width * device + Int(series.rawValue)]?.state(at: time) ?? 0
  }

  mutating func next(
    _ series: Series, of device: Int, after time: SimTime
  ) -> (time: SimTime, state: UInt8)? {
    devices[Self.width * device + Int(series.rawValue)]?.next(after: time, before: end + .days(2))
  }

  mutating func state(_ series: ServerSeries, at time: SimTime) -> UInt8 {
    server[Int(series.rawValue)].state(at: time)
  }

  mutating func next(
    _ series: ServerSeries, after time: SimTime
  ) -> (time: SimTime, state: UInt8)? {
    server[Int(series.rawValue)].next(after: time, before: end + .days(2))
  }
}
