import FedSim

/// Watches one device and the server through a run, for a story.
final class DeviceWatch: Observer {
  /// The device's number in the fleet.
  let device: Int
  /// What happened to the device and to the server, in order.
  private(set) var happenings: [Happening] = []
  /// The device whenever it changed.
  private(set) var views: [(time: SimTime, view: DeviceView)] = []
  /// The server whenever it changed.
  private(set) var standings: [(time: SimTime, standing: ServerStanding)] = []
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

  func happened(_ happening: Happening) {
    guard happening.device == device || happening.device < 0 else { return }
    happenings.append(happening)
  }

  func closed(_ record: RoundRecord, _ simulation: borrowing Simulation) { rounds.append(record) }

  func ended(_ simulation: borrowing Simulation) { end = simulation.now }

  private func look(_ simulation: borrowing Simulation) {
    let view = simulation.view(of: device)
    if views.last?.view != view { views.append((simulation.now, view)) }
    let standing = simulation.serverStanding
    if standings.last?.standing != standing { standings.append((simulation.now, standing)) }
  }

  /// The device just before a time; at the start, as it began.
  func view(before time: SimTime) -> DeviceView {
    (views.last { $0.time < time } ?? views[0]).view
  }

  /// The device at a time.
  func view(at time: SimTime) -> DeviceView { (views.last { $0.time <= time } ?? views[0]).view }

  /// The server at a time.
  func standing(at time: SimTime) -> ServerStanding {
    (standings.last { $0.time <= time } ?? standings[0]).standing
  }
}
