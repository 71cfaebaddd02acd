/// Playing a device on ahead of the others: what it does is its own affair until it meets the
/// server, so its events can be played in one go while its state is at hand.
///
/// The result is the same as in the order of all events: such an event reads and changes nothing
/// but its device and counts that are sums.
extension Simulation {
  /// Whether a device may be played on in this run at all.
  ///
  /// Not where somebody looks at every event, where the end of the run is not known before, or
  /// where a device out of session is touched by others, or touches them.
  var mayPlayAhead: Bool {
    inputs.playsAhead && !wantsEveryEvent && inputs.stop.rounds == nil
      && inputs.stop.versions == nil && inputs.stop.accuracy == nil && identities.isEmpty
      && !exchange.isOn && inputs.server.service == nil && inputs.injections.isEmpty
      && fleetTables.presence.isEmpty && !fleetTables.mayQueue
      && !inputs.fleet.contains { $0.background.continued != nil }
  }

  /// Whether an event of a device concerns nobody else, and nothing can come to the device before.
  func isOwnAffair(_ event: Event, at time: SimTime, of device: Int) -> Bool {
    guard devices[device].session == nil, time < outlook.nextLook else { return false }
    switch event {
    case .world(.window, _, _), .world(.presence, _, _): return false
    case .world: break
    case .deviceTimer(let timer, _, _):
      switch timer {
      case .idle, .earliestBegin, .scan, .body: break
      default: return false
      }
    case .softExpiry, .hardExpiry, .trainingEnd, .transferEnd: break
    case .taskStart:
      // A refresh task asks for news only; any other takes part in the round that is open then.
      let scheduler = devices[device].scheduler
      let request = scheduler.requests.first { $0.identifier == scheduler.starting }
      guard request?.kind == .refresh else { return false }
    default: return false
    }
    return server.waiting.isEmpty || !server.place(of: device).isThere
  }
}
