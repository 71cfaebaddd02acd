import FedSim

/// Watches one device and the server through a run, for a story.
final class DeviceWatch: Observer {
  /// The device's number in the fleet.
  let device: Int
  /// What happened to the device and to the server, in order.
  private(set) var observed: [ObservedEvent] = []
  /// The device whenever it changed.
  private(set) var views: [(time: SimTime, view: DeviceView)] = []
  /// The server whenever it changed.
  private(set) var snapshots: [(time: SimTime, snapshot: ServerSnapshot)] = []
  /// The rounds.
  private(set) var rounds: [RoundRecord] = []
  /// When the run ended.
  private(set) var end = SimTime.start

  init(_ device: Int) { self.device = device }

  var wantsEveryEvent: Bool { true }

  func began(_ simulation: borrowing Simulation) { look(simulation) }

  func handled(_ event: Event, at time: SimTime, _ simulation: borrowing Simulation) {
    guard event.device == nil || event.device == device else { return }
    look(simulation)
  }

  func happened(_ event: ObservedEvent) {
    guard event.device == device || event.device < 0 else { return }
    observed.append(event)
  }

  func closed(_ record: RoundRecord, _ simulation: borrowing Simulation) { rounds.append(record) }

  func ended(_ simulation: borrowing Simulation) { end = simulation.now }

  private func look(_ simulation: borrowing Simulation) {
    let view = DeviceView(device, in: simulation)
    if views.last?.view != view { views.append((simulation.now, view)) }
    let snapshot = ServerSnapshot(simulation)
    if snapshots.last?.snapshot != snapshot { snapshots.append((simulation.now, snapshot)) }
  }

  /// The device just before a time; at the start, as it began.
  func view(before time: SimTime) -> DeviceView {
    (views.last { $0.time < time } ?? views[0]).view
  }

  /// The device at a time.
  func view(at time: SimTime) -> DeviceView { (views.last { $0.time <= time } ?? views[0]).view }

  /// The server at a time.
  func snapshot(at time: SimTime) -> ServerSnapshot {
    (snapshots.last { $0.time <= time } ?? snapshots[0]).snapshot
  }
}
