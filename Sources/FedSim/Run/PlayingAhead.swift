/// Playing a device on ahead of the others: what it does is its own affair until it meets the
/// server, so its events can be played in one go while its state is in the cache.
///
/// The result is the same as in the order of all events: such an event reads and changes nothing
/// but its device, its own updates and participations, and counts that are sums. Whatever takes a
/// number (an update, a participation), looks at the open round, or reaches the server waits for
/// its turn.
struct PlayingAhead: Codable {
  /// Whether a device may be played on in this run at all.
  var isOn = false
  /// Whether that holds while its app runs, too: then nothing comes from the server unasked.
  var coversSessions = false
  /// Whether the event under way was played ahead of its turn.
  var isAhead = false
  /// Events that were.
  var count = 0
}

extension PlayingAhead {
  /// How far devices may be played on in this run.
  ///
  /// Not at all where somebody looks at every event, where the end of the run is not known before,
  /// where the server restarts, or where a device out of session touches others or is touched.
  static func makePlayingAhead(_ devices: inout Devices, _ cx: inout Context) -> PlayingAhead {
    PlayingAhead(
      isOn: cx.inputs.shortcuts.playsAhead && !cx.audience.wantsEveryEvent
        && cx.inputs.stop.rounds == nil
        && cx.inputs.stop.versions == nil && cx.inputs.stop.accuracy == nil
        && devices.identities.isEmpty && cx.inputs.server.restarts == nil
        && !cx.features.isOn && cx.inputs.server.service == nil && cx.inputs.injections.isEmpty
        && cx.inputs.server.aggregationTime == nil && cx.inputs.server.central == nil
        && devices.fleetTables.presence.isEmpty && !devices.fleetTables.mayQueue
        && !cx.inputs.fleet.contains { $0.background.runsUnasked },
      coversSessions: cx.network.server.staysOnline && cx.network.server.isReachable
        && cx.world.next(.reachable, after: cx.now) == nil
        && !Rounds.mayCohortsBreak(cx))
  }

  /// Whether an event of a device concerns nobody else, and nothing can reach the device before it.
  static func isOwnAffair(
    _ event: Event, _ device: Int, _ devices: inout Devices, _ server: inout Server,
    _ cx: inout Context
  ) -> Bool {
    // The server may still answer a request that the device no longer waits for.
    if server.waiting.request(of: device) != nil { return false }
    if devices[device].hasSession {
      guard cx.ahead.coversSessions else { return false }
      // An answer may be on its way; only what has been sent is known to be the next.
      if cx.network[transferOf: device]?.phase == .awaiting {
        guard case .response(_, let generation, _) = event else { return false }
        return cx.network[transferOf: device]?.id == generation
      }
      if case .world(.link, _, _) = event {
        // With the link back, who was accepted may ask for work again.
        guard devices[device].sessionKind?.isPoll == true else { return false }
      }
    }
    switch event {
    case .world(.window, _, _), .world(.presence, _, _): return false
    case .world, .softExpiry, .hardExpiry, .transferEnd, .response: break
    case .trainingEnd(_, let generation):
      // A training becomes an update.
      if devices[device].runGenerationNow == generation { return false }
    case .deviceTimer(let timer, _, _):
      switch timer {
      case .earliestBegin, .scan, .body, .requestTimeout: break
      default: return false
      }
    default:
      // Tasks that start are among them: who stops before one needs less memory than in it.
      return false
    }
    return true
  }
}
