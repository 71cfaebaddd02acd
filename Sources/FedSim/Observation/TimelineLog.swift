/// The states of some devices over time, as intervals.
///
/// An interval is 24 bytes; they are stored in pages, so a long run leaves no outgrown copies.
public final class TimelineLog: SavedObserver {
  /// A part of a device's state that is recorded.
  public enum Part: String, CaseIterable, Sendable {
    case power, link, usage, window, app, work, energy, heat, outbox, version

    /// The words of its states by number; empty where a state is a plain number.
    public var states: [String] {
      switch self {
      case .power: StateSpace.power.states
      case .link: StateSpace.link.states
      case .usage: StateSpace.usage.states
      case .window: StateSpace.window.states
      case .app: ["none"] + SessionKind.allCases.map(\.rawValue)
      case .work: DeviceView.Work.allCases.map(\.rawValue)
      case .energy: DeviceView.Energy.allCases.map(\.rawValue)
      case .heat: ["nominal", "fair", "serious", "critical"]
      case .outbox, .version: []
      }
    }
  }

  /// A stretch of time in which a part of a device's state stayed as it was.
  public struct Interval: Sendable, Equatable, Codable {
    /// Its first moment.
    public let from: SimTime
    /// The first moment after it; for the last one, the end of the run.
    public let to: SimTime
    /// The device's number in the fleet.
    public let device: Int32
    /// The state's number.
    public let state: Int32
  }

  /// The intervals of each part, in the order in which they ended.
  public private(set) var intervals = Part.allCases.map { _ in PagedArray<Interval>() }
  /// Devices in the order in which they were named, each once.
  public private(set) var devices: [Int]
  private var open: [Open] = []
  /// The place of each device of the fleet in `devices`, or -1.
  private var places: [Int32] = []

  /// The states that a device is in, and since when.
  struct Open: Codable {
    var states: [Int32]
    var since: [SimTime]
  }

  /// What a log remembers.
  public struct Memory: Codable {
    let devices: [Int]
    let intervals: [PagedArray<Interval>]
    let open: [Open]
    let places: [Int32]
  }

  public var memory: Memory {
    get { Memory(devices: devices, intervals: intervals, open: open, places: places) }
    set {
      (devices, intervals) = (newValue.devices, newValue.intervals)
      (open, places) = (newValue.open, newValue.places)
    }
  }

  /// A log of these devices.
  public init(_ devices: [Int]) {
    var seen: [Int] = []
    for device in devices where !seen.contains(device) { seen.append(device) }
    self.devices = seen
  }

  /// They are wanted.
  public var wantsEveryEvent: Bool { true }

  /// Begins the first intervals.
  public func began(_ simulation: borrowing Simulation) {
    let now = simulation.cx.now
    places = Array(repeating: -1, count: simulation.cx.inputs.deviceCount)
    for (place, device) in devices.enumerated() {
      places[device] = Int32(place)
      let states = Self.states(DeviceView(device, in: simulation))
      open.append(Open(states: states, since: states.map { _ in now }))
    }
  }

  /// Ends and begins intervals where something changed.
  public func handled(_ event: Event, at time: SimTime, _ simulation: borrowing Simulation) {
    if let device = event.device {
      if places[device] >= 0 { look(Int(places[device]), simulation) }
    } else {
      for place in devices.indices { look(place, simulation) }
    }
  }

  /// Ends the last intervals.
  public func ended(_ simulation: borrowing Simulation) {
    for place in devices.indices {
      for part in Part.allCases.indices { close(place, part, at: simulation.cx.now) }
    }
  }

  private func look(_ place: Int, _ simulation: borrowing Simulation) {
    let states = Self.states(DeviceView(devices[place], in: simulation))
    for part in states.indices where states[part] != open[place].states[part] {
      close(place, part, at: simulation.cx.now)
      open[place].states[part] = states[part]
      open[place].since[part] = simulation.cx.now
    }
  }

  /// An interval of no length is none: several things may change at one time.
  private func close(_ place: Int, _ part: Int, at time: SimTime) {
    let since = open[place].since[part]
    guard since < time else { return }
    intervals[part].append(
      Interval(
        from: since, to: time, device: Int32(devices[place]), state: open[place].states[part]))
  }

  private static func states(_ view: DeviceView) -> [Int32] {
    func place<State: Equatable>(_ state: State, _ all: [State]) -> Int32 {
      Int32(all.firstIndex(of: state)!)
    }
    return [
      view.isPlugged ? 1 : 0, Int32(view.link), view.isActive ? 1 : 0, Int32(view.window),
      view.app.map { place($0, SessionKind.allCases) + 1 } ?? 0,
      place(view.work, DeviceView.Work.allCases), place(view.energy, DeviceView.Energy.allCases),
      Int32(view.heat.rawValue), Int32(view.outbox), Int32(view.heldVersion),
    ]
  }
}
